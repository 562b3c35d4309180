/* Lecture 3: slide d_k, divide by √d_k or not; softmax collapses or stays.
   config: {keys, draws, most: the largest power of two, start: the first power, seed} */
lamplight.explorable("scale_scores", (stage, config) => {
  const { html, softmax, number, random, normal, slider, tick, button, status, bar } = lamplight;
  const { keys, draws, most } = config, all = [...Array(keys).keys()];
  let power = config.start, divide = false, seed = config.seed, sums;

  /* kept[power][key] of a draw: dot products of a query with its keys, of the first 2^power numbers.
     A wider head goes on with the same numbers, which are drawn when they are needed. */
  const make = () => {
    sums = [...Array(draws).keys()].map((draw) =>
      ({ next: random(1000 * seed + draw), dots: Array(keys).fill(0), width: 0, kept: [] }));
  };
  const grow = (one) => {
    while (one.kept.length <= power) {
      const q = normal(one.next);
      for (const k of all) one.dots[k] += q * normal(one.next);
      if (++one.width === 2 ** one.kept.length) one.kept.push([...one.dots]);
    }
  };
  const measure = (weights) => ({
    top: Math.max(...weights),
    entropy: -weights.reduce((sum, w) => sum + (w > 0 ? w * Math.log(w) : 0), 0),
    gradient: weights.reduce((sum, w) => sum + w * (1 - w), 0),
  });

  const rows = all.map((k) => html("tr", {}, html("th", { scope: "row" }, String(k + 1)),
    html("td"), html("td")));
  const above = (text) =>
    html("caption", { style: "caption-side:top;text-align:left;color:inherit;padding:0" }, text);
  const table = html("table", {}, above("One of the queries"), html("thead", {}, html("tr", {}, ...["key", "score", "weight"].map(
    (name) => html("th", { scope: "col" }, name)))), html("tbody", {}, ...rows));
  const full = { top: 1, entropy: Math.log(keys), gradient: 1 - 1 / keys };
  const names = { top: "largest weight", entropy: `entropy (at most ${number(full.entropy)})`,
    gradient: `slope, sum of w(1 − w) (at most ${number(full.gradient)})` };
  const meters = Object.fromEntries(Object.keys(names).map((n) => [n, html("td")]));
  const means = html("table", {}, above(`Mean of ${draws} random queries`),
    html("tbody", {}, ...Object.entries(meters).map(([n, cell]) =>
      html("tr", {}, html("th", { scope: "row", style: "white-space:normal" }, names[n]), cell))));
  const said = status();
  const width = slider("d_k", { min: 0, max: most, value: power, format: (v) => String(2 ** v) },
    (v) => { power = v; draw(); });
  const divided = tick("divide by √d_k", divide, (on) => { divide = on; draw(); });
  stage.append(html("div", { class: "row" }, width.element, divided.element,
    button("Draw again", () => { seed += 1; make(); draw(); })),
  html("div", { class: "row" }, html("div", { class: "grow" }, table),
    html("div", { class: "grow" }, means)), said);

  const draw = () => {
    const scale = divide ? 1 / Math.sqrt(2 ** power) : 1;
    const found = sums.map((one) => {
      grow(one);
      const scores = one.kept[power].map((s) => s * scale), weights = softmax(scores);
      return { scores, weights, ...measure(weights) };
    });
    rows.forEach((row, k) => {
      row.cells[1].textContent = number(found[0].scores[k], 1);
      row.cells[2].replaceChildren(bar(found[0].weights[k], 70), number(found[0].weights[k]));
    });
    const mean = (n) => found.reduce((sum, f) => sum + f[n], 0) / draws;
    for (const [n, cell] of Object.entries(meters))
      cell.replaceChildren(bar(mean(n) / full[n], 70), number(mean(n)));
    const hard = mean("top") > 0.8 ? "on average one key gets more than 0.8 of the weight, and softmax reacts little to the scores"
      : mean("top") > 0.6 ? "softmax is saturating" : "several keys share the weight";
    said.textContent = `d_k = ${2 ** power}, ${divide ? "divided" : "not divided"}: ${hard}.`;
  };
  make();
  draw();
});
