/* Lecture 9: the next token of a translation, if cross-attention may read only some source words.
   config: {subjects: [word, …], rest: [word, …] after the subject of the source, written: [word, …]
   after the subject of the translation, next: [subject in the source][subject in the translation][n]:
   its likeliest tokens, [[probability, gloss, Latin], …]}; the n-th entry is for the set of source
   words whose bits are set in n. */
lamplight.explorable("allowed_words", (stage, { subjects, rest, written, next }) => {
  const { html, number, choose, tick, bar, status } = lamplight;
  let source = 0, target = 0, allowed = next[0][0].length - 1;
  const words = () => [subjects[source], ...rest], has = (i) => !!(allowed & (1 << i));
  const said = status(), list = html("tbody");
  said.style.minHeight = "3em";  // so that the table stays where it is
  const names = words().map(() => html("span")), ticks = names.map((name, i) =>
    tick(name, true, () => { allowed ^= 1 << i; draw(); }));

  const draw = () => {
    names.forEach((name, i) => { name.textContent = words()[i]; });
    ticks.forEach(({ input }, i) => { input.disabled = allowed === 1 << i; });  // at least one word
    const found = next[source][target][allowed], [[p, gloss, latin]] = found;
    const only = words().filter((_, i) => has(i));
    const reads = only.length > rest.length ? "every word" : `only ${only.join(", ")}`;
    said.textContent = `It reads ${reads}, and writes ${latin ? `“${gloss}” (${latin})` : gloss}, probability ${number(p)}.`;
    list.replaceChildren(...found.map(([share, meaning]) => html("tr", {}, html("th", { scope: "row" }, meaning),
      html("td", {}, bar(share, 120), number(share)))));
  };
  const whole = (all) => subjects.map((word) => [word, ...all].join(" "));
  const row = (label, element) => html("div", { class: "row", style: "align-items:center;gap:.4rem;margin:.5rem 0" },
    html("span", {}, label), element);
  const pick = (label, options, change) => row(label, choose(label, options, options[0], (option) => {
    change(options.indexOf(option));
    draw();
  }).element);
  stage.append(
    pick("Source", whole(rest), (i) => { source = i; }),
    pick("Written so far", whole(written).map((text) => `“${text}”`), (i) => { target = i; }),
    row("May read", html("div", { class: "row", role: "group", "aria-label": "May read" }, ...ticks.map(({ element }) => element))),
    said, html("table", {}, html("thead", {}, html("tr", {}, ...["next token", "probability"].map(
      (head) => html("th", { scope: "col" }, head)))), list));
  draw();
});
