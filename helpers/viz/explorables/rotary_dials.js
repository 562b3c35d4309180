/* Lecture 6: slide the positions i and j of two vectors whose pairs of features turn like the hands of
   a clock, and the base of their speeds.
   config: {names: of the two, q, k: vectors whose pairs of features have length 1, ahead: by how many
   positions k is turned besides, at the base in use (0 if not given), i, j: positions, longest: the
   last position, bases: to choose from, base: index} */
lamplight.explorable("rotary_dials", (stage, config) => {
  const { html, svg, set, dot, number, slider, button, status } = lamplight;
  const { names: [first, second], q, k, ahead = 0, longest, bases } = config;
  const BLUE = "#0072b2", LAMP = "var(--lamp)", GREEN = "#009e73", WIDE = 5.2;
  const large = { style: "font-size:16px" }; // so that a phone can show it
  let { i, j, base } = config;

  /* A dial for each pair, and the score at each distance. */
  const speed = (h) => bases[base] ** (-2 * h / q.length);
  const turn = (v, t) => v.map((x, f) => {
    const a = t * speed(f >> 1), other = v[f ^ 1];
    return f % 2 ? other * Math.sin(a) + x * Math.cos(a) : x * Math.cos(a) - other * Math.sin(a);
  });
  const turnKey = (b) => turn(k, b + ahead);
  const score = (a, b) => dot(turn(q, a), turnKey(b));
  const dials = svg("svg", { viewBox: "0 0 440 116", role: "img", style: "max-width:30rem" });
  const hands = [...Array(q.length / 2).keys()].map((h) => {
    const at = { transform: `translate(${55 + 110 * h} 46)` };
    const make = (color, width) => svg("line", { style: `stroke:${color}`, "stroke-width": width });
    const query = make(BLUE, 5), key = make(LAMP, 2.5), name = svg("text", { ...large, y: 64, "text-anchor": "middle" });
    const between = svg("path", { style: `fill:${GREEN}`, opacity: 0.35 });
    dials.append(svg("g", at, svg("circle", { r: 44, fill: "none", stroke: "currentColor", opacity: 0.4 }),
      between, query, key, name));
    return { query, key, name, between };
  });
  /* Where the tip of a hand of this radius is: upright at (1, 0), and turning clockwise. */
  const tip = (v, h, radius) => [radius * v[2 * h + 1], -radius * v[2 * h]];
  const plot = svg("svg", { viewBox: "0 0 440 150", role: "img", style: "max-width:30rem" },
    svg("path", { d: "M12 72H428M220 24V122", stroke: "currentColor", opacity: 0.3 }),
    svg("text", { ...large, x: 220, y: 16, "text-anchor": "middle" }, "score"),
    svg("text", { ...large, x: 4, y: 145 }, `i − j: −${longest}`),
    svg("text", { ...large, x: 220, y: 145, "text-anchor": "middle" }, "0"),
    svg("text", { ...large, x: 436, y: 145, "text-anchor": "end" }, `${longest}`));
  const curve = svg("polyline", { fill: "none", "stroke-width": 2, style: `stroke:${BLUE}` });
  const mark = svg("circle", { r: 6, style: `fill:${BLUE}` });
  plot.append(curve, mark);
  const height = (d) => 72 - 92 / q.length * score(d, 0);
  const distances = [...Array(8 * longest + 1).keys()].map((n) => n / 4 - longest);

  const showPositions = () => {
    const [a, b] = [turn(q, i), turnKey(j)];
    hands.forEach(({ query, key, name, between }, h) => {
      const [[x, y], [u, w], start, end] = [tip(a, h, 41), tip(b, h, 41), tip(b, h, 27), tip(a, h, 27)];
      set(query, { x2: x, y2: y });
      set(key, { x2: u, y2: w });
      set(between, { d: `M0 0L${start}A27 27 0 0 ${+(u * y > w * x)} ${end}Z` });
      name.textContent = `${+speed(h).toPrecision(2)} rad`;
    });
    set(curve, { points: distances.map((d) => `${220 + WIDE * d},${height(d).toFixed(1)}`).join(" ") });
    set(mark, { cx: 220 + WIDE * (i - j), cy: height(i - j) });
    const told = `${first} at ${i}, ${second} at ${j}, i − j = ${number(i - j, 0)}: score ${number(score(i, j))}.`;
    set(dials, { "aria-label": `Dials of the pairs: a blue hand for ${first}, an orange one for ${second}, and between them a green angle` });
    set(plot, { "aria-label": `Score by distance. ${told}` });
    return told;
  };
  const said = status();
  const move = (change) => (value) => { change(value); said.textContent = showPositions(); };
  const at = { min: 0, max: longest };
  const slides = [
    slider(`${first} at i`, { ...at, value: i }, move((v) => { i = v; })),
    slider(`${second} at j`, { ...at, value: j }, move((v) => { j = v; })),
  ];
  const choice = slider("base", { min: 0, max: bases.length - 1, value: base,
    format: (v) => bases[v].toLocaleString("en") }, move((v) => { base = v; }));
  if (bases.length > 1) slides.push(choice);
  const together = move(() => {
    const by = Math.max(i, j) + 10 > longest ? -Math.min(i, j) : 10;
    i += by; j += by;
    slides[0].set(i); slides[1].set(j);
  });
  stage.append(dials, plot,
    html("div", { class: "row" }, ...slides.map((s) => s.element), button("Move both", together)), said);
  said.textContent = showPositions();
});
