/* Present: the core of a lecture as slides, made from the page itself, so that figures, explorables,
   predictions and quizzes are the real ones. A slide holds a heading, the first sentence of its
   section and what there is to see; a cell with the tag `no-slide` is left out, and one with `slide` in
   its metadata brings a sentence along; code that the page shows without running it is left out. What code
   computed stays covered until Space shows it, as does a cell with the tag `cover`, so that a class can
   predict it; one with the tag `slide-at-ID` is shown at the end of the section ID. KEYS says what the keys do; Present goes on from where it was left, and so do the notes. A
   slide is drawn as large as it fits. The
   print button gives a hand-out to fill in, without results, as does printing from an address with
   `?present&fill-in`; without these all folds are open. What the reader guessed or chose is on neither. */

(() => {
  const WIDTH = 1280, HEIGHT = 720, ROOM = 600, TIGHT = 1.4, CLOSE = 1.35, SMALLEST = 0.3, LARGEST = 1.25, READABLE = 16, BRIEF = 0.7;
  const END = /(?<!\bet al|\bn\.d|\be\.g|\bi\.e)[.?!:](?=\s|$)/;
  const KEYS = [
    ["→ ←, or a clicker", "turn the slides"],
    ["a number, Enter", "go to that slide"],
    ["Space", "show the result, then turn"],
    ["Shift + Space", "hide the result again, then turn back"],
    ["N", "speaker’s notes in a second window"],
    ["F", "full screen"],
    ["B", "show nothing, until the next key B"],
    ["?", "these keys"],
    ["Esc", "back to the page"],
  ];
  const RESULT = { true: "Hide the result", false: "Show the result" };
  const FOR_READERS = /^(What you will be able to do|Limits)$/, SUMMARY = "What we showed", QUIZ = "Check yourself";
  const make = (tag, properties = {}, ...children) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  };
  const heading = (section) => {
    const title = section.querySelector("h1, h2, h3").cloneNode(true);
    title.querySelector(".headerlink")?.remove();
    return make("h2", {}, ...title.childNodes);
  };
  /* As it is written: d_k and not "dk". */
  const titleOf = (section) => {
    const title = heading(section);
    for (const low of title.querySelectorAll("sub")) low.prepend("_");
    return title.textContent.trim();
  };
  const OTHER = "section, h1, h2, h3, style, script, details, .ways-on, .go-on, .run-it, .finish, .fine-print, .tag_no-slide, [class*=tag_slide-at-], .highlight-python, .toctree-wrapper";
  const LEADS = ".message, div.math";
  const SHOWN = ".drawing, .explorable, .quiz, .attention"; // not computed, or moved by hand
  let stage = null, slides = [], at = 0, moved = [], button = null, notes = null, tell = null, typed = "";
  const asked = new URLSearchParams(location.search);
  let toFillIn = asked.has("fill-in"); // the hand-out: without results

  /* A copy of a paragraph up to the end of its first sentence; bold sentences at its start are one. */
  const firstSentence = (paragraph) => {
    const copy = paragraph.cloneNode(true), lead = copy.firstChild;
    copy.className = "message";
    if (lead.nodeName === "STRONG" && /[.?!]$/.test(lead.textContent)) {
      copy.replaceChildren(lead);
      return copy;
    }
    const walker = document.createTreeWalker(copy, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const text = walker.currentNode, end = text.data.search(END);
      if (end < 0 || text.parentElement.closest("math, code")) continue;
      const rest = document.createRange();
      rest.setStart(text, end + 1);
      rest.setEndAfter(copy.lastChild);
      rest.deleteContents();
      break;
    }
    return copy;
  };

  /* A cell whose result waits for Space: its output keeps its place. */
  const covered = (cell) => {
    const output = cell.querySelector(".cell_output");
    if (output && (cell.matches(".tag_cover") || !output.querySelector(SHOWN)))
      output.before(make("details", { className: "cover" }, make("summary", { textContent: cell.matches(".tag_cover") ? "Show the drawing" : RESULT.false })));
    return cell;
  };

  const take = (node) => {
    const mark = document.createComment("");
    node.replaceWith(mark);
    moved.push([node, mark]);
    return node;
  };

  /* What of a section is shown, in order; each entry is one block, taken from the page. What the page
     says around it and the slide leaves out goes to the speaker: a paragraph with the block that it
     introduces, the last ones with the last block, and what happened with its prediction. */
  const blocks = (section, lead) => {
    const found = [];
    let said = false, aloud = [];
    const push = (block, more = {}) => {
      block.aloud = [...(block.aloud ?? []), ...aloud, ...block.querySelectorAll(".explanation > p:not(.admonition-title)")];
      aloud = [];
      found.push(Object.assign(block, more));
    };
    for (const node of [...section.children]) {
      if (node.matches(OTHER) || (node.matches(".cell") && !node.textContent.trim()) || (titleOf(section) === SUMMARY && node.querySelector("table"))) continue;
      if (node.matches("p")) {
        if (node.querySelector("img") || /^Time:/.test(node.textContent)) continue;
        if (said || !lead) aloud.push(node);
        if (!said) push(lead ? take(node) : firstSentence(node));
        said = true;
      } else if (node.querySelector(".quiz:not(.predict) fieldset"))
        for (const question of node.querySelectorAll(".quiz:not(.predict) fieldset"))
          push(make("div", { className: "quiz" }, take(question)), { room: titleOf(section) === QUIZ && 1.36 * ROOM });
      else if (node.matches("div, ul, ol, table, figure, dl, blockquote"))
        push(take(node.matches(".cell") ? covered(node) : node), { alone: node.matches(".prediction") });
    }
    found.at(-1)?.aloud.push(...aloud);
    return found;
  };

  const add = (section) => {
    const body = make("div", { className: "slide-body bd-article" }, heading(section));
    const slide = make("section", { className: slides.length ? "slide bd-content" : "slide bd-content title" }, body);
    slide.dataset.section = section.querySelector("h1") ? "Opening" : titleOf(section);
    stage.append(slide);
    slides.push(slide);
    return body;
  };

  /* One or more slides of a section: a block that no longer fits begins the next one, and takes along
     the formula before it. A prediction has a slide for itself and for the words and formulas that it
     speaks of. Questions of the quiz fit as large as they are, so that there is room for the reasons
     of answers. */
  const build = (section, lead) => {
    if (FOR_READERS.test(titleOf(section))) return true;
    const parts = [...blocks(section, lead), ...[...document.querySelectorAll(`.tag_slide-at-${section.id}`)].map(take)];
    const inner = [...section.children].filter((node) => node.matches("section"));
    let body = parts.length ? add(section) : null;
    for (const part of parts) {
      const before = [...body.children].slice(1), said = before.every((block) => block.matches(".message"));
      const words = before.every((block) => block.matches(LEADS));
      body.append(part);
      const high = body.scrollHeight > (part.alone ? ROOM * CLOSE : part.room || ROOM * TIGHT);
      if (!said && (body.alone || (part.alone && !words) || high)) {
        const formulas = before.slice(before.findLastIndex((block) => !block.matches("div.math")) + 1);
        body = add(section);
        body.append(...(words ? [] : formulas), part);
      }
      body.alone = part.alone;
    }
    for (const other of inner) {
      if (titleOf(other) === "Deeper") return false;
      if (build(other) === false) return false;
    }
    return true;
  };

  /* Draw a slide as large as it fits, but its heading no larger than others. What an explorable says
     may become longer. A result of several parts is tried in two columns as well, with its reason below; of a long reason the
     slide has the beginning, and the notes have the rest. */
  const fit = (slide = slides[at]) => {
    const body = slide.firstChild, room = slide.querySelector("[data-explorable]") ? 0.94 * ROOM : ROOM;
    const fits = (zoom) => {
      body.style.zoom = zoom;
      body.style.setProperty("--grown", Math.max(1, zoom));
      body.style.setProperty("--shrunk", Math.min(1, zoom));
      body.style.setProperty("--zoom", zoom);
      return body.scrollHeight * zoom <= (zoom > 1 ? room : ROOM) + 1 && body.scrollWidth <= body.clientWidth + 1;
    };
    const best = () => {
      let [small, large] = fits(1) ? [1, LARGEST] : [SMALLEST, 1];
      if (large > 1 && fits(large)) return large;
      for (let turn = 0; turn < 6; turn++) {
        const middle = (small + large) / 2;
        if (fits(middle)) small = middle;
        else large = middle;
      }
      return small;
    };
    body.classList.remove("wide", "brief");
    let zoom = best();
    if (zoom < LARGEST && slide.querySelector(".result[open] > .cell ~ .cell")) {
      body.classList.add("wide");
      const other = best();
      body.classList.toggle("wide", other > zoom);
      zoom = Math.max(zoom, other);
    }
    if (zoom < BRIEF && slide.querySelector(".result[open] .explanation > p + p + p")) {
      body.classList.add("brief");
      zoom = best();
    }
    fits(zoom);
    enlarge(slide);
  };

  /* Text of a figure that nobody at the back could read becomes larger, texts of one size together, while
     none of them meets another or leaves the figure. */
  let sizes = new Map();
  const enlarge = (slide) => {
    for (const [text, size] of sizes) if (slide.contains(text)) text.style.fontSize = size;
    const seen = stage.classList.contains("on-paper") ? 1 : parseFloat(stage.style.getPropertyValue("--fit"));
    for (const svg of slide.querySelectorAll("figure svg")) {
      const frame = svg.getBoundingClientRect(), groups = new Map();
      const texts = [...svg.querySelectorAll("text")].filter((text) => text.getBoundingClientRect().width);
      for (const text of texts) {
        const { b, d } = text.getScreenCTM(), size = parseFloat(getComputedStyle(text).fontSize) * Math.hypot(b, d) / seen;
        const key = Math.round(size * 10) / 10;
        if (key < READABLE && !text.querySelector("tspan[x]")) groups.set(key, [...(groups.get(key) ?? []), text]);
      }
      const clashes = () => {
        const boxes = texts.map((text) => text.getBoundingClientRect());
        return boxes.reduce((sum, a, n) => sum + (a.left < frame.left - 1 || a.right > frame.right + 1 ? 1 : 0)
          + boxes.slice(0, n).filter((b) => a.left < b.right + 5 && b.left < a.right + 5 && a.top + 2 < b.bottom && b.top + 2 < a.bottom).length, 0);
      };
      for (const [key, group] of [...groups].sort(([a], [b]) => a - b)) {
        const before = clashes(), own = group.map((text) => parseFloat(getComputedStyle(text).fontSize));
        for (const text of group) if (!sizes.has(text)) sizes.set(text, text.style.fontSize);
        for (let size = READABLE; size > key; size -= 0.5) {
          group.forEach((text, n) => { text.style.fontSize = `${(own[n] * size) / key}px`; });
          if (clashes() <= before) break;
          for (const text of group) text.style.fontSize = sizes.get(text);
        }
      }
    }
  };

  const scale = () => {
    if (stage) stage.style.setProperty("--fit", Math.min(innerWidth / WIDTH, innerHeight / HEIGHT));
  };

  const address = () => {
    const url = new URL(location);
    if (stage) url.searchParams.set("present", at + 1);
    else url.searchParams.delete("present");
    try { history.replaceState(null, "", url); } catch {} // some browsers do not, for files
  };

  const show = (number) => {
    if (!stage) return;
    at = Math.max(0, Math.min(slides.length - 1, number));
    slides.forEach((slide, n) => slide.classList.toggle("on", n === at));
    stage.querySelector(".count").textContent = `${at + 1} / ${slides.length}`;
    stage.classList.remove("blank", "helping");
    fit();
    address();
    tell?.();
  };

  /* The window opens at once, since browsers allow that only in answer to a key or a click. */
  const openNotes = () => {
    if (tell && !notes.closed) return notes.focus();
    const inWindow = (name) => open("", name, "popup,width=900,height=700");
    let view = inWindow("lamplight-notes");
    try { view?.document; } catch { // from files, a page loaded anew may not write into its old window
      view.close();
      view = inWindow("_blank");
    }
    if (view) window.lamplightJoin(view);
  };
  /* The window of notes asks for this again and again, so that it goes on after this page was left. */
  window.lamplightJoin = (view) => {
    if (!stage || (view === notes && tell)) return;
    notes = view;
    notes.onkeydown = onKey;
    const fill = () => { tell = window.lamplightNotes(notes, { slides, at: () => at, show, fit }); };
    if (window.lamplightNotes) return fill();
    const root = document.documentElement.dataset.content_root ?? "../";
    document.head.append(make("script", { src: `${root}_static/sessions.js`, onload: fill }));
  };

  /* What a fold of a result is called depends on whether it is open. */
  const named = (fold) => { if (fold.matches?.(".result")) fold.firstElementChild.textContent = RESULT[!!stage && fold.open]; };
  /* Whether the words above a field say no more than the question of the slide. */
  const repeats = (legend) => {
    const words = (part) => part.textContent.toLowerCase().match(/[\p{L}\d.]*[\p{L}\d]/gu) ?? [];
    const question = words(legend.closest(".prediction").querySelector(".admonition"));
    return words(legend).every((word) => question.includes(word) || word.length < 4);
  };
  const fullScreen = () => (document.fullscreenElement ? document.exitFullscreen() : document.documentElement.requestFullscreen?.())?.catch(() => {});
  const help = () => stage.classList.toggle("helping");

  const start = (number = 0) => {
    const article = document.querySelector("article.bd-article"), top = article.querySelector("section");
    stage = make("div", { className: "present", role: "region", ariaLabel: "Slides", tabIndex: -1 });
    document.body.append(stage);
    document.documentElement.classList.add("presenting");
    build(top, true);
    const turn = (text, label, step) => make("button", { type: "button", textContent: text, ariaLabel: label, onclick: () => show(at + step) });
    /* A click leaves the focus where it is, or Space would press the button again. */
    const still = (event) => event.preventDefault();
    stage.append(make("nav", { ariaLabel: "Slides", onmousedown: still }, turn("←", "Previous slide", -1), make("span", { className: "count" }),
      turn("→", "Next slide", 1), make("button", { type: "button", textContent: "?", ariaLabel: "Keys", title: "What the keys do (?)", onclick: help }), make("button", { type: "button", textContent: "Notes", title: "Speaker's notes in a second window (N)", onclick: openNotes }),
      make("button", { type: "button", textContent: "Hand-out", title: "Print the slides for students: without results, with lines to write on", onclick: () => { toFillIn = true; print(); } }),
      make("button", { type: "button", textContent: "With results", title: "Print the slides with all results", onclick: () => { toFillIn = false; print(); } }),
      make("button", { type: "button", textContent: "Full screen", title: "Full screen (F)", onclick: fullScreen }),
      make("button", { type: "button", textContent: "Close", onclick: stop })));
    stage.append(make("dl", { className: "keys", onclick: help }, ...KEYS.flatMap(([key, does]) =>
      [make("dt", {}, key), make("dd", {}, does)])));
    stage.querySelectorAll(".result").forEach(named);
    stage.querySelectorAll(".prediction .predict legend").forEach((legend) => legend.classList.toggle("asked", repeats(legend)));
    stage.addEventListener("toggle", ({ target }) => { named(target); fit(); }, true);
    /* An answer makes the slide taller, and the keys turn slides again. */
    stage.addEventListener("change", (event) => {
      fit();
      if (event.target.closest(".quiz")) stage.focus();
    });
    /* A link opens beside the slides, so that the class does not lose them. */
    stage.addEventListener("click", (event) => {
      const link = event.target.closest(".slide a[href]");
      if (link) event.preventDefault(), open(link.href, "_blank", "noopener");
    });
    scale();
    show(number);
    stage.focus();
    if (notes && !notes.closed) window.lamplightJoin(notes); // they went on while the slides were closed
  };

  const stop = () => {
    for (const [node, mark] of moved.reverse()) mark.replaceWith(node);
    for (const [text, size] of sizes) text.style.fontSize = size;
    document.querySelectorAll("article details.cover").forEach((cover) => cover.remove());
    tell?.(false);
    moved = [];
    slides = [];
    sizes = new Map();
    stage.remove();
    stage = tell = null;
    document.querySelectorAll(".result").forEach(named);
    if (document.fullscreenElement) fullScreen();
    document.documentElement.classList.remove("presenting");
    address();
    button.focus();
  };

  const onKey = (event) => {
    if (!stage || event.ctrlKey || event.metaKey || event.altKey) return;
    const own = event.target.closest("input, select, textarea, [role=slider]");
    const pressed = event.target.closest("button, a, summary, label");
    const number = typed;
    typed = !own && /^\d$/.test(event.key) ? typed + event.key : "";
    const keys = { PageDown: 1, PageUp: -1, ...(own ? {} : { ArrowRight: 1, ArrowLeft: -1 }) };
    if (stage.classList.contains("helping")) { if (event.key !== "Shift") help(); }
    else if (event.key === "Escape") event.view === notes ? notes.close() : stop();
    else if (number && event.key === "Enter") show(number - 1);
    else if (keys[event.key]) show(at + keys[event.key]);
    else if (event.key === " " && !own && !pressed) {
      const back = event.shiftKey, folds = [...slides[at].querySelectorAll("details:not(.fold-code)")]
        .filter((fold) => fold.open === back && fold.querySelector("summary").checkVisibility());
      const fold = back ? folds.at(-1) : folds[0];
      if (fold) fold.open = !back;
      else show(at + (back ? -1 : 1));
    } else if (event.key === "Home" && !own) show(0);
    else if (event.key === "End" && !own) show(slides.length - 1);
    else if (/^[b.]$/i.test(event.key) && !own) stage.classList.toggle("blank");
    else if (/^n$/i.test(event.key) && !own) openNotes();
    else if (/^f$/i.test(event.key) && !own) fullScreen();
    else if (event.key === "?" && !own) help();
    else return;
    event.preventDefault();
  };
  addEventListener("keydown", onKey);
  let from = null;
  addEventListener("touchstart", (event) => {
    const { clientX, clientY } = event.touches[0];
    from = stage && !event.target.closest("input, [role=slider], svg, pre") ? [clientX, clientY] : null;
  }, { passive: true });
  addEventListener("touchend", (event) => {
    if (!from) return;
    const { clientX, clientY } = event.changedTouches[0], x = clientX - from[0];
    if (Math.abs(x) > 50 && Math.abs(x) > 2 * Math.abs(clientY - from[1])) show(at - Math.sign(x));
  });
  addEventListener("resize", () => { scale(); if (stage) fit(); });
  /* On paper all folds are open, or those of results closed, and so they are when a slide is made to fit. */
  let turned = [];
  addEventListener("beforeprint", () => {
    if (!stage) return;
    stage.classList.add("on-paper");
    stage.classList.toggle("fill-in", toFillIn);
    turned = [...stage.querySelectorAll("details:not(.fold-code)")]
      .filter((fold) => fold.open === (toFillIn && fold.matches(".result")));
    for (const fold of turned) fold.open = !fold.open;
    for (const slide of slides) {
      slide.classList.add("on");
      fit(slide);
    }
  });
  addEventListener("afterprint", () => {
    for (const fold of turned) fold.open = !fold.open;
    turned = [];
    toFillIn = asked.has("fill-in");
    if (!stage) return;
    stage.classList.remove("on-paper", "fill-in");
    show(at);
  });

  addEventListener("load", () => {
    const bar = document.querySelector(".article-header-buttons");
    if (!bar || !/lectures\/[^/]+\.html$/.test(location.pathname)) return;
    button = make("button", { type: "button", className: "btn btn-sm present-button", title: "Present as slides", ariaLabel: "Present as slides", onclick: () => start(at) });
    button.innerHTML = '<svg class="icon" aria-hidden="true" viewBox="0 0 24 24"><path d="M2 3h20v2H2zm1 3h18v11h-8v2l4 3h-3l-2-1.5L10 22H7l4-3v-2H3zm6 2v7l6-3.5z"/></svg>';
    bar.prepend(button);
    if (asked.has("present")) start((parseInt(asked.get("present")) || 1) - 1);
  });
})();
