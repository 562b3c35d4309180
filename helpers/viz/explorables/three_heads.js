/* Lecture 13: how much attention three heads pay to a token, and what becomes of the verb.
   config: {shares, sets: {label: key}, sentences: [{tokens, own: lead of "are" over "is", attention: {key:
            [[of each token], of each head]}, and for each key leads[token][share]}], start: [sentence, token]} */
lamplight.explorable("three_heads", (stage, config) => {
  const { html, softmax, number, choose, slider, button, bar, status } = lamplight;
  const { shares, sets, sentences } = config, labels = Object.keys(sets), words = html("div");
  let [at, place] = config.start, heads = labels[0], dose = -1;

  const names = sentences.map(({ tokens }) => tokens.join(""));
  const said = status(), table = html("table"), tight = "padding:.2rem .35rem";
  const verbs = ["is", "are"].map((verb) => html("tr", {}, html("th", { scope: "row" }, verb), html("td")));
  table.append(html("tbody", {}, ...verbs));
  const share = slider("attention", {
    min: -1, max: shares.length - 1, value: dose,
    format: (v) => (v < 0 ? "untouched" : number(shares[v])),
  }, (v) => { dose = v; draw(); });
  const picker = html("select", { "aria-label": "Sentence", style: "max-width:100%",
    onchange: () => { at = +picker.value; place = 1; rest(); } },
  ...names.map((name, i) => html("option", { value: i }, `${name} …`)));
  picker.value = at;
  share.element.style.flexWrap = "nowrap";
  share.input.style.minWidth = "4rem";
  const rest = () => { dose = -1; share.set(dose); draw(); };
  stage.append(picker, choose("Heads", labels, heads, (label) => { heads = label; draw(); }).element, words,
    table, said, html("div", { class: "row" }, share.element, button("Reset", rest)));

  /* What a head pays to each token: the chosen share to one, and to the others less in proportion. */
  const paid = (own) => own.map((weight, i) => (dose < 0 ? weight : i === place ? shares[dose]
    : weight * (1 - shares[dose]) / (1 - own[place])));
  const strip = (rows, i) => html("span", { "aria-hidden": "true",
    style: "align-items:flex-end;display:flex;gap:2px;height:2.6rem;justify-content:center" },
  ...rows.map((row) => html("i", { style: "background:var(--lamp);border-radius:1px;min-height:1px;width:5px;"
    + `height:${(100 * row[i]).toFixed(1)}%` })));
  const draw = () => {
    const sentence = sentences[at], { tokens } = sentence, own = sentence.attention[sets[heads]];
    const focus = words.contains(document.activeElement), rows = own.map(paid);
    words.replaceChildren(html("div", { class: "row", role: "group", "aria-label": "Word to attend to",
      style: "align-items:flex-end;gap:.25rem;margin:.6rem 0" }, ...tokens.map((token, i) => html("span", {},
      strip(rows, i), html("button", { type: "button", "aria-pressed": String(i === place), style: tight,
        onclick: () => { place = i; draw(); } }, token.trim()))), html("span", { style: tight }, "___")));
    if (focus) words.querySelector("[aria-pressed=true]").focus();
    const lead = dose < 0 ? sentence.own : sentence[sets[heads]][place][dose];
    softmax([0, lead]).forEach((p, i) => verbs[i].cells[1].replaceChildren(bar(p, 170), number(p)));
    const [more, less] = lead > 0 ? ["are", "is"] : ["is", "are"], ratio = number(Math.exp(Math.abs(lead)), 1);
    const word = `“${tokens[place].trim()}”`, now = own.map((row) => number(row[place])).join(", ");
    said.textContent = (dose < 0 ? `Untouched, with ${now} of their attention on ${word}`
      : `${number(shares[dose])} of their attention on ${word}`)
      + `: “${more}” is ${ratio} times as likely as “${less}”.`;
  };
  draw();
});
