/* Lecture 6: shuffle the words; slide the positions of a query and a key, the base and the slope.
   config: {words: [[word, x, y], …] (three), q, k: vectors with as many features as there are in
   pairs, i, j: positions, longest: the last position, bases: to choose from, base, slope: indices} */
lamplight.explorable("order", (stage, config) => {
  const { html, svg, set, softmax, dot, number, slider, button, status } = lamplight;
  const { words, q, k, longest, bases } = config;
  const BLUE = "#0072b2", LAMP = "var(--lamp)", WIDE = 3.8;
  const orders = [[0, 1, 2], [2, 1, 0], [1, 2, 0], [0, 2, 1], [2, 0, 1], [1, 0, 2]];
  let order = 0, { i, j, base, slope } = config;

  /* The bag of words: attention without weights, over vectors with or without a position. */
  const attend = (vectors) => vectors.map((query) => {
    const weights = softmax(vectors.map((v) => dot(query, v)));
    return [0, 1].map((f) => dot(weights, vectors.map((v) => v[f])));
  });
  const outputs = (n) => {
    const bare = orders[n].map((w) => words[w].slice(1));
    const placed = bare.map(([x, y], t) => [x + Math.sin(t), y + Math.cos(t)]);
    const found = [attend(bare), attend(placed)], byWord = [];
    orders[n].forEach((w, t) => { byWord[w] = found.map((f) => f[t]); });
    return byWord;
  };
  const first = outputs(0);
  const body = html("tbody");
  const table = html("table", { class: "grow" }, html("thead", {}, html("tr", {},
    ...["word", "no positions", "with positions"].map((n) =>
      html("th", { scope: "col" }, n)))), body);
  const write = (v) => `(${number(v[0])}, ${number(v[1])})`;
  const showWords = () => {
    const now = outputs(order);
    body.replaceChildren(...orders[order].map((w) => html("tr", {},
      html("th", { scope: "row" }, words[w][0]), ...now[w].map((v) => html("td", {}, write(v))))));
    const changed = [0, 1].map((c) => now.filter((v, w) => write(v[c]) !== write(first[w][c])).length);
    return `“${orders[order].map((w) => words[w][0]).join(" ")}”: without positions ${changed[0]} of 3 `
      + `outputs changed, with positions ${changed[1]} of 3.`;
  };

  /* The dials of the pairs, and what the score and the weight are at each distance. */
  const speed = (h) => bases[base] ** (-2 * h / q.length);
  const turn = (v, t) => v.map((x, f) => {
    const a = t * speed(f >> 1), other = v[f ^ 1];
    return f % 2 ? other * Math.sin(a) + x * Math.cos(a) : x * Math.cos(a) - other * Math.sin(a);
  });
  const score = (a, b) => dot(turn(q, a), turn(k, b));
  const factor = (distance) => Math.exp(-(2 ** -slope) * Math.abs(distance));
  const dials = svg("svg", { viewBox: "0 0 320 88", role: "img", style: "max-width:24rem" });
  const hands = [...Array(q.length / 2).keys()].map((h) => {
    const at = { transform: `translate(${40 + 80 * h} 34)` };
    const make = (color, width) => svg("line", { style: `stroke:${color}`, "stroke-width": width });
    const query = make(BLUE, 5), key = make(LAMP, 2.5), name = svg("text", { y: 50, "text-anchor": "middle" });
    dials.append(svg("g", at, svg("circle", { r: 32, fill: "none", stroke: "currentColor", opacity: 0.4 }),
      query, key, name));
    return { query, key, name };
  });
  const plot = svg("svg", { viewBox: "0 0 320 180", role: "img", style: "max-width:24rem" },
    svg("path", { d: "M8 52H312M8 160H312M160 12V160", stroke: "currentColor", opacity: 0.3 }),
    svg("text", { x: 4, y: 12 }, "rotary score"), svg("text", { x: 4, y: 104 }, "ALiBi factor"),
    svg("text", { x: 4, y: 176 }, `i − j: −${longest}`),
    svg("text", { x: 160, y: 176, "text-anchor": "middle" }, "0"),
    svg("text", { x: 312, y: 176, "text-anchor": "end" }, `${longest}`));
  const line = (color) => svg("polyline", { fill: "none", "stroke-width": 2, style: `stroke:${color}` });
  const mark = (color) => svg("circle", { r: 6, style: `fill:${color}` });
  const curves = [line(BLUE), line(LAMP)], marks = [mark(BLUE), mark(LAMP)];
  plot.append(...curves, ...marks);
  const heights = [(d) => 52 - 72 / q.length * score(d, 0), (d) => 160 - 50 * factor(d)];
  const distances = [...Array(8 * longest + 1).keys()].map((n) => n / 4 - longest);

  const showPositions = () => {
    const [a, b] = [turn(q, i), turn(k, j)];
    hands.forEach(({ query, key, name }, h) => {
      set(query, { x2: 30 * a[2 * h], y2: -30 * a[2 * h + 1] });
      set(key, { x2: 30 * b[2 * h], y2: -30 * b[2 * h + 1] });
      name.textContent = `${+speed(h).toPrecision(2)} rad`;
    });
    heights.forEach((y, n) => {
      set(curves[n], { points: distances.map((d) => `${160 + WIDE * d},${y(d).toFixed(1)}`).join(" ") });
      set(marks[n], { cx: 160 + WIDE * (i - j), cy: y(i - j) });
    });
    const told = `Query at ${i}, key at ${j}, i − j = ${number(i - j, 0)}: rotary score `
      + `${number(score(i, j))}, ALiBi multiplies the weight by ${number(factor(i - j))} before softmax normalizes.`;
    set(dials, { "aria-label": "Dials of the pairs, with a blue hand for the query and an orange one for the key" });
    set(plot, { "aria-label": `Rotary score and ALiBi factor by distance. ${told}` });
    return told;
  };
  const said = status();
  const move = (change) => (value) => { change(value); said.textContent = showPositions(); };
  const at = { min: 0, max: longest };
  const slides = [
    slider("query at i", { ...at, value: i }, move((v) => { i = v; })),
    slider("key at j", { ...at, value: j }, move((v) => { j = v; })),
    slider("base", { min: 0, max: bases.length - 1, value: base,
      format: (v) => bases[v].toLocaleString("en") }, move((v) => { base = v; })),
    slider("slope", { min: 1, max: 8, value: slope, format: (v) => `1/${2 ** v}` },
      move((v) => { slope = v; })),
  ];
  const together = move(() => {
    const by = Math.max(i, j) + 10 > longest ? -Math.min(i, j) : 10;
    i += by; j += by;
    slides[0].set(i); slides[1].set(j);
  });
  stage.append(
    html("div", { class: "row" }, table, html("div", {}, button("Shuffle the words", () => {
      order = (order + 1) % orders.length;
      said.textContent = showWords();
    }))),
    html("div", { class: "row" }, html("div", { class: "grow" }, dials, plot),
      html("div", { class: "grow" }, ...slides.map((s) => s.element), button("Move both", together))), said);
  showWords();
  said.textContent = showPositions();
});
