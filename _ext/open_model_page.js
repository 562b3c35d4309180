
/* ------------------------------------------------------------------ what the reader sees

   The sentence stands in a field of text and can be edited there; everything else on the page
   follows from it, from the word looked from, the heads switched off and the temperature. */

const MOST_WORDS = 60, SHOWN = 8;
const ids = new Map(WORDS.map((word, id) => [word, id]));
/* Words of any script; a sign or a picture of several parts stays one. */
const split = (text) => text.toLowerCase().match(
  /[\p{L}\p{M}\p{N}_]+|\p{RI}{2}|\p{Extended_Pictographic}(?:[\ufe0f\p{EMod}]|\u200d\p{Extended_Pictographic})*|\S/gu) ?? [];
const short = (word) => ([...word].length > 24 ? `${[...word].slice(0, 23).join("")}…` : word);
const percent = (p) => (p >= 0.995 ? "100\u00a0%" : p < 0.005 ? "under 1\u00a0%" : `${Math.round(100 * p)}\u00a0%`);
const hundredths = (p) => p.toFixed(2).replace(/^0/, "");
let parts = 0;

/* An element with properties and children; `aria…` and `className` are properties, too. */
const make = (tag, properties = {}, ...children) => {
  const { role, forId, ...others } = properties;
  const made = Object.assign(document.createElement(tag), others);
  if (role) made.setAttribute("role", role);
  if (forId) made.htmlFor = forId;
  made.append(...children);
  return made;
};
const button = (text, onclick, properties = {}) =>
  make("button", { type: "button", textContent: text, onclick, ...properties });

/* Probabilities of all words; at temperature 0 the likeliest has all. */
const chances = (logits, temperature) => {
  if (temperature > 0) return softmax(Array.from(logits, (v) => v / temperature));
  const best = Math.max(...logits);
  return Array.from(logits, (v) => Number(v === best));
};

const draw = (probabilities) => {
  let rest = Math.random();
  const drawn = probabilities.findIndex((p) => (rest -= p) < 0);
  return drawn < 0 ? probabilities.indexOf(Math.max(...probabilities)) : drawn;
};

/* One list of choices for each part of the sentence; every part but the first can be left out. */
const sentenceChoices = (sentence, changed) => {
  const lists = sentence.map((alternatives, place) => {
    const options = [...alternatives, ...(place ? [""] : [])];
    return make("select", { ariaLabel: place ? `attractor ${place}` : "subject", onchange: () => changed(text()) },
      ...options.map((value) => make("option", { value, textContent: value || "(left out)" })));
  });
  const text = () => lists.map((list) => list.value).filter(Boolean).join(" ");
  return { lists, text, reset: () => lists.forEach((list) => { list.selectedIndex = 0; }) };
};

/* A word and how likely it is, as a line with a bar. */
const bar = (word, p, note = "", onclick = null) => {
  const inside = [
    make("span", { className: "word", textContent: word }),
    make("span", { className: "bar", ariaHidden: "true" }, make("i")),
    make("span", { className: "share", textContent: percent(p) + note }),
  ];
  inside[1].firstChild.style.width = `${100 * p}%`;
  return make("li", {}, onclick ? make("button", { type: "button", onclick }, ...inside) : make("div", {}, ...inside));
};

/* A map as a drawing: ten depths of ink, one path each, so that it takes the page's colours. The
   deepest is the largest weight of the map, so that no map is blank. */
const drawing = (map, row, label) => {
  const n = map.length, svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", `-.5 -.5 ${n + 1} ${n + 1}`);
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", label);
  const depths = Array.from({ length: 11 }, () => ""), largest = Math.max(...map.flatMap((looks) => [...looks]));
  map.forEach((looks, i) => looks.forEach((p, j) => { depths[Math.round((10 * p) / largest)] += `M${j} ${i}h1v1h-1z`; }));
  svg.innerHTML = depths.map((path, depth) => depth && path && `<path d="${path}" opacity="${depth / 10}"/>`)
    .filter(Boolean).join("") + `<rect x="0" y="${row}" width="${n}" height="1"/>`;
  return svg;
};

/* Where a head looks from one word, in words. */
const mostLooked = (looks, words, n = 3) => [...looks.entries()].sort(([, a], [, b]) => b - a)
  .slice(0, n).filter(([, p]) => p >= 0.005).map(([j, p]) => `${words[j]} ${hundredths(p)}`).join(", ");

const openSmall = (root, { sentence, answers, page, quiet }) => {
  const lines = make("ul", { className: "next" }), says = make("p", { role: "status" });
  const show = (text) => {
    const { logits } = read(split(text).map((word) => ids.get(word)));
    const p = chances(logits.at(-1), 1);
    const [first, second] = answers.map((word) => p[ids.get(word)]);
    lines.replaceChildren(...answers.map((word) => bar(word, p[ids.get(word)])));
    const longer = 1 - first - second;
    says.textContent = `The model says: ${text} ${answers[first > second ? 0 : 1]}.` +
      (longer >= 0.005 ? ` It gives ${percent(longer)} to other words, because the sentence could go on before its verb.` : "");
  };
  const choices = sentenceChoices(sentence, show);
  root.replaceChildren(
    make("div", { className: "choices", role: "group", ariaLabel: "The sentence" }, ...choices.lists,
      make("span", { textContent: " ___" })),
    lines, says,
    make("p", {}, make("a", { href: page, textContent: "Open the whole model" }),
      ": every head, to be looked into and switched off."));
  show(choices.text());
  if (!quiet) choices.lists[0].focus();
};

const openWhole = (root, { sentence }) => {
  const name = `open-model-${parts++}`, off = new Set();
  let from = null, chosen = null, temperature = 1;

  const field = make("textarea", { id: name, rows: 2, spellcheck: false, autocapitalize: "none" });
  const problem = make("p", { className: "problem", role: "alert" });
  const places = make("div", { className: "places", role: "radiogroup", ariaLabel: "Look from the word" });
  const list = make("ol", { className: "next" });
  const status = make("p", { role: "status" });
  const heads = make("div", { className: "layers" });
  const closer = make("div", { className: "closer", role: "region", tabIndex: 0, ariaLabel: "Weights of the head" });
  const title = make("h2");

  const choices = sentenceChoices(sentence, (text) => write(text));
  const write = (text) => { field.value = text; from = null; show(); };
  const append = (word) => write(`${field.value.trim()} ${word}`.trim());
  const words = () => split(field.value);

  const known = () => {
    const all = words(), unknown = all.filter((word) => !ids.has(word));
    problem.textContent = unknown.length
      ? `The model does not know ${unknown.map((word) => `“${short(word)}”`).join(", ")} and reads the text without ` +
        `${unknown.length > 1 ? "these" : "this"}. The words it knows are under “All words”.`
      : all.length > MOST_WORDS ? `Only the last ${MOST_WORDS} words are read.` : "";
    return all.filter((word) => ids.has(word)).slice(-MOST_WORDS);
  };

  const show = () => {
    const text = known(), numbers = text.map((word) => ids.get(word));
    const at = from === null || from >= text.length ? text.length - 1 : from;
    showPlaces(text, at);
    if (!text.length) {
      for (const part of [list, heads, closer]) part.replaceChildren();
      title.textContent = "";
      status.textContent = "Write a word: the model needs one to go on from.";
      return;
    }
    const { logits, maps } = read(numbers, off);
    chosen ??= hardest(maps, at);
    showNext(text, at, logits[at], off.size ? read(numbers).logits[at] : null);
    showHeads(text, at, maps);
    showCloser(text, at, maps);
    remember();
  };

  /* What is set stands in the address, so that it survives a reload and can be sent to somebody. */
  const remember = () => {
    const address = new URL(location);
    address.searchParams.set("text", field.value);
    for (const [key, value, usual] of [["off", [...off].sort().join(","), ""], ["temperature", String(temperature), "1"]])
      if (value === usual) address.searchParams.delete(key); else address.searchParams.set(key, value);
    try { history.replaceState(null, "", address); } catch {} // some browsers do not, for files
  };
  const recall = () => {
    const asked = new URLSearchParams(location.search);
    for (const key of (asked.get("off") ?? "").split(",")) {
      const [layer, head] = key.split(".").map(Number), box = cards[layer]?.[head]?.box;
      if (box) { off.add(`${layer}.${head}`); box.checked = false; }
    }
    const heated = Number(asked.get("temperature") ?? 1);
    if (heated >= 0 && heated <= 2) { temperature = heated; slider.value = heated; heat.textContent = heated.toFixed(1); }
    return asked.get("text");
  };

  const showPlaces = (text, at) => {
    const held = places.contains(document.activeElement), all = words();
    let t = Math.min(0, text.length - all.filter((word) => ids.has(word)).length); // those before were too many
    places.replaceChildren(...all.map((word) => {
      if (!ids.has(word)) return make("s", { textContent: short(word), title: "not known to the model" });
      const place = t++;
      return place < 0 ? make("s", { textContent: word }) : make("label", {},
        make("input", { type: "radio", name: `${name}-at`, checked: place === at, onchange: () => { from = place; show(); } }),
        make("span", { textContent: word }));
    }));
    if (held) places.querySelector(":checked")?.focus();
  };

  const showNext = (text, at, logits, whole) => {
    const p = chances(logits, temperature), before = whole && chances(whole, temperature);
    const best = [...p.keys()].filter((id) => id).sort((a, b) => p[b] - p[a]).slice(0, SHOWN);
    const held = [...list.children].findIndex((line) => line.contains(document.activeElement));
    list.replaceChildren(...best.map((id) => bar(WORDS[id], p[id],
      before ? ` (${percent(before[id])})` : "",
      () => write([...text.slice(0, at + 1), WORDS[id]].join(" ")))));
    list.children[held]?.firstChild.focus();
    status.textContent = `After “${text.slice(0, at + 1).slice(-3).join(" ")}”: ` +
      best.slice(0, 3).map((id) => `${WORDS[id]} ${percent(p[id])}`).join(", ") +
      (off.size ? `. Off: ${[...off].sort().map((head) => `head ${head[2]} of layer ${head[0]}`).join(", ")}; ` +
        "in brackets, with all heads on." : "");
  };

  const cards = STORED.heads.map((nHeads, layer) => Array.from({ length: nHeads }, (_, head) => {
    const key = [layer, head].join("."), label = `layer ${layer}, head ${head}`;
    const box = make("input", { type: "checkbox", checked: true, ariaLabel: `${label} is on`, onchange: () => {
      if (box.checked) off.delete(key); else off.add(key);
      show();
    } });
    const look = button("Look closer", () => { chosen = [layer, head]; show(); }, { ariaLabel: `Look closer at ${label}` });
    const map = make("div", { className: "map" }), says = make("p");
    const card = make("div", { className: "head" }, make("label", {}, box, ` head ${head}`), map, says, look);
    return { card, box, map, says, look, label };
  }));

  const showHeads = (text, at, maps) => {
    if (!heads.firstChild)
      heads.append(...cards.map((row, layer) => make("div", { role: "group", ariaLabel: `Layer ${layer}` },
        make("p", { className: "layer", textContent: `Layer ${layer}` }),
        make("div", { className: "heads" }, ...row.map(({ card }) => card)))));
    cards.forEach((row, layer) => row.forEach(({ card, box, map, says, look, label }, head) => {
      const looks = mostLooked(maps[layer][head][at], text);
      says.textContent = `${text[at]} → ${looks}`;
      map.replaceChildren(drawing(maps[layer][head], at, `Map of ${label}. From ${text[at]} it looks at ${looks}`));
      card.classList.toggle("off", !box.checked);
      look.ariaPressed = String(chosen[0] === layer && chosen[1] === head);
    }));
  };

  /* At first the head of the last layer that looks hardest at one earlier word. */
  const hardest = (maps, at) => {
    const strength = maps.at(-1).map((map) => Math.max(...map[at].slice(0, -1), 0));
    return [maps.length - 1, strength.indexOf(Math.max(...strength))];
  };

  const showCloser = (text, at, maps) => {
    const [layer, head] = chosen, map = maps[layer][head];
    title.textContent = `Layer ${layer}, head ${head}, in numbers`;
    const row = (word, t) => make("tr", { className: t === at ? "on" : "" },
      make("th", { scope: "row", textContent: word }),
      ...text.map((_, j) => {
        const p = map[t][j] ?? 0, cell = make("td", { textContent: j > t ? "" : hundredths(p) });
        cell.style.setProperty("--ink", `${Math.round(42 * p)}%`);
        return cell;
      }));
    closer.replaceChildren(make("table", {},
      make("caption", { textContent: "Each row is a word that looks, each column one that is looked at. A row sums to 1." }),
      make("thead", {}, make("tr", {}, make("td"),
        ...text.map((word) => make("th", { scope: "col" }, make("span", { textContent: word }))))),
      make("tbody", {}, ...text.map(row))));
  };

  const writeOn = (most) => {
    let text = known(), whole = words();
    for (let i = 0; i < most; i++) {
      const { logits } = read(text.slice(-MOST_WORDS).map((word) => ids.get(word)), off);
      const p = chances(logits.at(-1), temperature);
      p[0] = 0; // the filler is no word
      text = [...text, WORDS[draw(p)]];
      whole = [...whole, text.at(-1)];
      if (/^[.?]$/.test(text.at(-1))) break;
    }
    write(whole.join(" "));
  };

  const heat = make("span", { textContent: "1.0" });
  const slider = make("input", { id: `${name}-heat`, type: "range", min: 0, max: 2, step: 0.1, value: 1, oninput: () => {
    temperature = Number(slider.value);
    heat.textContent = temperature.toFixed(1);
    show();
  } });
  field.addEventListener("input", () => { from = null; show(); });

  root.replaceChildren(
    make("h2", { textContent: "The sentence" }),
    make("div", { className: "choices", role: "group", ariaLabel: "The opening sentence, part by part" }, ...choices.lists),
    make("label", { forId: name, textContent: "or your own words, in lower case:" }), field, problem,
    make("details", {}, make("summary", { textContent: `All ${WORDS.length - 1} words` }),
      make("div", { className: "words" }, ...WORDS.slice(1).map((word) => button(word, () => append(word))))),
    make("div", { className: "row" },
      button("Take the last word away", () => write(words().slice(0, -1).join(" "))),
      button("The opening sentence", () => { choices.reset(); write(choices.text()); })),
    make("div", { className: "bench" },
    make("div", { className: "next-part" }, make("h2", { textContent: "What comes next" }), list, status,
      make("p", { textContent: "Press a word to add it after the one that is looked from." }),
    make("div", { className: "row" },
      make("label", { forId: slider.id, textContent: "temperature " }), slider, heat),
    make("div", { className: "row" },
      button("Write one word", () => writeOn(1)), button("Write to the end of the sentence", () => writeOn(30)))),
    make("div", { className: "heads-part" }, make("h2", { textContent: "Where the heads look" }),
    make("p", { textContent: "Looked from:" }), places, heads,
    make("div", { className: "row" }, button("Switch all heads on", () => {
      off.clear();
      cards.flat().forEach(({ box }) => { box.checked = true; });
      show();
    })))),
    title, closer);
  write(recall() ?? choices.text());
  field.focus({ preventScroll: true });
};

const open = (root) => {
  if (!document.getElementById("open-model-style"))
    document.head.append(make("style", { id: "open-model-style", textContent: STYLE }));
  const about = JSON.parse(root.dataset.about);
  (about.kind === "small" ? openSmall : openWhole)(root, about);
};

return { open, read, words: WORDS, heads: STORED.heads };
