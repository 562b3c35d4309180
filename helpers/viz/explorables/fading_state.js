/* Lecture 1: one number is all that is kept of a sentence. Every noun adds its own number to it, and
   every word multiplies it by w; a gate may let only the first noun in.
   config: {words: [...], nouns: {position: [singular, plural]}, plural: [positions], w: first factor} */
lamplight.explorable("fading_state", (stage, config) => {
  const { html, svg, set, number, slider, tick, choose, status } = lamplight;
  const { words, nouns } = config, at = Object.keys(nouns).map(Number), last = words.length - 1;
  const WIDE = 32, HIGH = 66, TOP = 22, LEFT = 34, middle = TOP + HIGH;
  const GATES = ["every noun enters", "only the first noun enters"];
  const plural = new Set(config.plural);
  let w = config.w, gate = GATES[0];
  const word = (i) => (nouns[i] ? nouns[i][+plural.has(i)] : words[i]);
  const enters = (i) => (!nouns[i] || (gate !== GATES[0] && i !== at[0]) ? 0 : plural.has(i) ? 1 : -1);
  const said = status();
  const picture = svg("svg", {
    viewBox: `0 0 ${LEFT + WIDE * words.length + 4} ${middle + HIGH + 84}`, role: "img",
    "aria-label": "The state after each word, above zero for plural and below for singular",
    style: "width:100%;max-width:32rem",
  });
  const mid = (i) => LEFT + WIDE * (i + 0.5);
  const end = LEFT + WIDE * words.length;
  picture.append(
    svg("path", { d: `M${LEFT} ${middle}H${end}`, stroke: "currentColor" }),
    svg("text", { x: LEFT, y: 12 }, "state: above 0, plural (lie)"),
    svg("text", { x: LEFT, y: middle + HIGH + 16 }, "below 0, singular (lies)"),
  );
  const ticks = [1, 0, -1].map((sign) => {
    const text = svg("text", { x: LEFT - 4, y: middle - sign * HIGH + 5, "text-anchor": "end" });
    picture.append(text);
    return { sign, text };
  });
  const marks = words.map((_, i) => {
    const bar = svg("rect", { x: mid(i) - 10, width: 20, style: `fill:${i === last ? "#d55e00" : "#0072b2"}` });
    const y = middle + HIGH + 30;
    const name = svg("text", {
      x: mid(i) + 4, y, "text-anchor": "end", transform: `rotate(-50 ${mid(i) + 4} ${y})`,
      "font-weight": nouns[i] || i === last ? 700 : 400,
    });
    picture.append(bar, name);
    return { bar, name };
  });
  const ws = slider("Factor w", { min: 0.5, max: 1.3, step: 0.05, value: w, format: (v) => number(+v) },
    (v) => { w = v; draw(); });
  const gates = choose("Gate", GATES, gate, (g) => { gate = g; draw(); });
  const ticked = at.map((i) => tick(nouns[i][1], plural.has(i), (on) => {
    on ? plural.add(i) : plural.delete(i);
    draw();
  }).element);
  stage.append(gates.element, ws.element,
    html("div", { class: "row", role: "group", "aria-label": "Plural nouns", style: "align-items:center;column-gap:.8rem" }, html("span", {}, "Plural:"), ...ticked),
    picture, said);

  const draw = () => {
    let state = 0;
    const states = words.map((_, i) => (state = w * state + enters(i)));
    const most = Math.max(1, ...states.map(Math.abs));
    for (const { sign, text } of ticks) text.textContent = number(sign * most, sign ? 1 : 0);
    marks.forEach(({ bar, name }, i) => {
      const tall = (Math.abs(states[i]) / most) * HIGH;
      set(bar, { y: states[i] > 0 ? middle - tall : middle, height: tall });
      name.textContent = word(i);
    });
    const parts = at.filter(enters).map((i) => `“${word(i)}” adds ${number(enters(i) * w ** (last - i))}`);
    const verb = state > 0 ? "lie" : "lies", right = plural.has(at[0]) === state > 0;
    said.textContent = `At the gap, ${parts.join(", ")}. The state is ${number(state, Math.abs(state) < 0.005 ? 3 : 2)}, so the verb is `
      + `“${verb}”: ${right ? "right" : "wrong"}.`;
  };
  draw();
});
