/* Lecture 1: a passage as an LSTM reads it. Its characters are coloured by one cell of the cell state,
   and below are all cells after one of the characters.
   config: {lines, states: for each cell a string with a digit of base 36 for each character, 17 being
   0 and 34 the cell's largest size in `most`, next: the likeliest next characters after each
   character and their probabilities, cells: {name: cell} of the buttons, cell, at: character} */
lamplight.explorable("read_state", (stage, config) => {
  const { html, svg, set, number, slider, choose, status } = lamplight;
  const { states, most, next, cells } = config, n = states.length, text = config.lines.join("\n");
  const WIDE = 8, HIGH = 21, TALL = 26, INK = ["#0072b2", "#d55e00"];
  let { cell, at } = config;
  const level = (c, t) => (parseInt(states[c][t], 36) - 17) / 17;
  const lines = config.lines.map((line, i, all) => (i < all.length - 1 ? `${line}↵` : line));
  const places = lines.flatMap((line, y) => [...line].map((_, x) => [x * WIDE, y * HIGH]));
  const SPAN = Math.max(...lines.map((line) => line.length)) * WIDE + 4;
  const visible = (character) => ({ "\n": "↵", " ": "␣" })[character] ?? character;
  const said = status();

  const colours = svg("g"), frame = svg("rect", { width: WIDE, height: HIGH, fill: "none", stroke: "currentColor", "stroke-width": 1.5 });
  const passage = svg("svg", { viewBox: `-2 -2 ${SPAN} ${lines.length * HIGH + 4}`, role: "img", style: "cursor:pointer;width:100%;max-width:34rem" },
    colours, ...lines.map((line, y) => svg("text", {
      y: y * HIGH + 15, "xml:space": "preserve", textLength: line.length * WIDE, style: "font-family:monospace;font-size:13px;white-space:pre",
    }, line)), frame);
  const step = (SPAN - 4) / n, bars = INK.map((ink) => svg("path", { fill: ink }));
  const chosen = svg("path", { stroke: "currentColor", "stroke-width": 1.5, fill: "none" });
  const memory = svg("svg", { viewBox: `-2 -14 ${SPAN} ${2 * TALL + 14}`, role: "img", style: "cursor:pointer;width:100%;max-width:34rem;margin:.5rem 0" },
    svg("text", { y: -3, style: "font-size:11px" }, `all ${n} cells`), svg("path", { d: `M0 ${TALL}H${SPAN - 4}`, stroke: "currentColor", opacity: 0.4 }), ...bars, chosen);
  const point = (picture, event) => new DOMPoint(event.clientX, event.clientY).matrixTransform(picture.getScreenCTM().inverse());
  passage.onclick = (event) => {
    const { x, y } = point(passage, event);
    const hit = places.findIndex(([left, top]) => x >= left && x < left + WIDE && y >= top && y < top + HIGH);
    if (hit >= 0) read.set(at = hit), draw();
  };
  memory.onclick = (event) => select(Math.min(n - 1, Math.max(0, Math.floor(point(memory, event).x / step))));

  const named = (c) => Object.keys(cells).find((name) => cells[name] === c) ?? "";
  const select = (c) => { cell = c; any.set(c); buttons.pick(named(c), true); draw(); };
  const buttons = choose("Cell", Object.keys(cells), named(cell), (name) => select(cells[name]));
  const any = slider("Any cell", { min: 0, max: n - 1, value: cell }, select);
  const read = slider("Read up to", { min: 0, max: text.length - 1, value: at }, (t) => { at = t; draw(); });
  stage.append(buttons.element, any.element, passage, read.element, memory, said);

  const box = (x, y, width, height) => `M${x} ${y}h${width}v${height}h${-width}z`;
  const draw = () => {
    const byLevel = {};
    places.forEach(([x, y], t) => { (byLevel[states[cell][t]] ??= []).push(box(x, y, WIDE, HIGH)); });
    colours.replaceChildren(...Object.entries(byLevel).map(([digit, boxes]) => {
      const v = (parseInt(digit, 36) - 17) / 17;
      return svg("path", { d: boxes.join(""), fill: INK[+(v > 0)], "fill-opacity": (0.7 * Math.abs(v)).toFixed(2) });
    }));
    set(frame, { x: places[at][0], y: places[at][1] });
    bars.forEach((bar, positive) => set(bar, {
      d: states.map((_, c) => [level(c, at) * TALL, c]).filter(([tall]) => tall > 0 === !!positive)
        .map(([tall, c]) => box(c * step, TALL, step * 0.8, -tall)).join(""),
    }));
    set(chosen, { d: box(cell * step - 0.6, 1, step * 0.8 + 1.2, 2 * TALL - 2) });
    const value = number(level(cell, at) * most[cell], 1), last = text.slice(Math.max(0, at - 11), at + 1);
    set(passage, { "aria-label": `A passage, coloured by cell ${cell}` });
    set(memory, { "aria-label": `All ${n} cells after “${visible(text[at])}”` });
    said.textContent = `After “${[...last].map((c) => (c === "\n" ? "↵" : c)).join("")}”, cell ${cell} is about ${value}. Next, the network expects `
      + `${next[at].map(([character, p]) => `${visible(character)} (${number(p)})`).join(", ")}.`;
  };
  draw();
});
