/* Lecture 3: a trained head answers wishes. A gardener is the sum of three parts (label, wish, seeds),
   so scores and logits are sums over parts.
   config: {labels, wishes, seeds: a jar's label, its gardener's wish (a jar) and its kind of seeds,
            scores: [query part][key part], logits: [value part][kind], bias}; the parts are the
            labels, the wishes for them, and the kinds of seeds */
lamplight.explorable("seed_swap", (stage, config) => {
  const { html, softmax, number, choose, button, bar, status } = lamplight;
  const { labels, scores, logits, bias } = config, n = labels.length;
  const names = labels.map((l) => String(l).padStart(2, "0")), kinds = "abcdefgh";
  const wishes = [...config.wishes], seeds = [...config.seeds];
  let asks = 0;
  const parts = (i) => [i, n + wishes[i], 2 * n + seeds[i]];
  const score = (i, j) => parts(i).reduce((sum, a) => sum + parts(j).reduce((s, b) => s + scores[a][b], 0), 0);

  const rows = names.map((name) => html("tr", {}, html("th", { scope: "row" }, name), html("td"), html("td"), html("td")));
  const table = html("table", {}, html("thead", {}, html("tr", {}, ...["key", "value", "score", "weight"].map(
    (h) => html("th", { scope: "col" }, h)))), html("tbody", {}, ...rows));
  const said = status();
  const wish = choose("Her wish", names, names[wishes[asks]], (w) => { wishes[asks] = names.indexOf(w); draw(); });
  const who = choose("Gardener", names, names[asks], (w) => {
    asks = names.indexOf(w);
    wish.pick(names[wishes[asks]], true);
    draw();
  });
  stage.append(
    html("p", {}, "The gardener with the jar labelled"), who.element,
    html("p", { style: "margin:1rem 0 0" }, "wishes for (query)"), wish.element,
    html("div", { style: "margin:1rem 0 .6rem" }, table), button("Pass the seeds on", () => { seeds.unshift(seeds.pop()); draw(); }), said);

  const draw = () => {
    const all = names.map((_, j) => score(asks, j)), weights = softmax(all);
    const out = bias.map((b, kind) => b + weights.reduce(
      (sum, w, j) => sum + w * parts(j).reduce((s, part) => s + logits[part][kind], 0), 0));
    rows.forEach((row, j) => {
      row.className = j === wishes[asks] ? "on" : "";
      row.cells[1].textContent = kinds[seeds[j]];
      row.cells[2].textContent = number(all[j], 1);
      row.cells[3].replaceChildren(bar(weights[j], 140), number(weights[j]));
    });
    const best = weights.indexOf(Math.max(...weights)), kind = out.indexOf(Math.max(...out));
    said.textContent = `A wish for ${names[wishes[asks]]}: most weight, ${number(weights[best])}, goes to jar `
      + `${names[best]}. The head answers “${kinds[kind]}”: ${kind === seeds[wishes[asks]] ? "right" : "wrong"}.`;
  };
  draw();
});
