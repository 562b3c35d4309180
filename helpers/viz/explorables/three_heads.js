/* Lecture 13: how much attention three heads pay to a token, and what becomes of the verb.
   config: {shares, sets: {label: key}, sentences: [{tokens, own: lead of "are" over "is", and for each
            key leads[token][share]}], start: [sentence, token]} */
lamplight.explorable("three_heads", (stage, config) => {
  const { html, softmax, number, choose, slider, button, bar, status } = lamplight;
  const { shares, sets, sentences } = config, labels = Object.keys(sets), words = html("div");
  let [at, place] = config.start, heads = labels[0], dose = -1;

  const names = sentences.map(({ tokens }) => tokens.join(""));
  const said = status(), table = html("table"), tight = "padding:.2rem .35rem";
  const verbs = ["is", "are"].map((verb) => html("tr", {}, html("th", { scope: "row" }, verb), html("td")));
  table.append(html("tbody", {}, ...verbs));
  const share = slider("attention to that word", {
    min: -1, max: shares.length - 1, value: dose,
    format: (v) => (v < 0 ? "untouched" : number(shares[v])),
  }, (v) => { dose = v; draw(); });
  const picker = html("select", { "aria-label": "Sentence", style: "max-width:100%",
    onchange: () => { at = +picker.value; place = 1; rest(); } },
  ...names.map((name, i) => html("option", { value: i }, `${name} …`)));
  picker.value = at;
  const rest = () => { dose = -1; share.set(dose); draw(); };
  stage.append(picker, words,
    choose("Heads", labels, heads, (label) => { heads = label; draw(); }).element,
    html("div", { class: "row" }, share.element, button("Reset", rest)), table, said);

  const draw = () => {
    const sentence = sentences[at], { tokens } = sentence;
    const focus = words.contains(document.activeElement);
    words.replaceChildren(html("div", { class: "row", role: "group", "aria-label": "Word to attend to",
      style: "gap:.25rem;margin:.6rem 0" }, ...tokens.map((token, i) => html("button", { type: "button",
      "aria-pressed": String(i === place), style: tight, onclick: () => { place = i; draw(); } }, token.trim())),
    html("span", { style: tight }, "___")));
    if (focus) words.querySelector("[aria-pressed=true]").focus();
    const lead = dose < 0 ? sentence.own : sentence[sets[heads]][place][dose];
    softmax([0, lead]).forEach((p, i) => verbs[i].cells[1].replaceChildren(bar(p, 170), number(p)));
    const [more, less] = lead > 0 ? ["are", "is"] : ["is", "are"], ratio = number(Math.exp(Math.abs(lead)), 1);
    said.textContent = `${dose < 0 ? "The model as it is" : `${number(shares[dose])} of their attention on “${
      tokens[place].trim()}”`}: “${more}” is ${ratio} times as likely as “${less}”.`;
  };
  draw();
});
