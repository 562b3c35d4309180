/* Lecture 1: read on word by word; how much of the subject is left in a state, how much gradient
   comes back, and attention's one arc.
   config: {words: [...], subject: its position, w: first recurrent factor, bias: first forget bias} */
lamplight.explorable("fading_state", (stage, config) => {
  const { html, svg, set, number, slider, choose, button, status } = lamplight;
  const { words, subject } = config, last = words.length - 1, WIDE = 32, HIGH = 100, TOP = 56;
  let kind = "RNN", at, w = config.w, bias = config.bias;
  const sigmoid = (b) => 1 / (1 + Math.exp(-b));
  const factor = () => (kind === "RNN" ? w : sigmoid(bias));
  const left = (n) => factor() ** n;
  const said = status();
  const picture = svg("svg", {
    viewBox: `0 0 ${WIDE * words.length + 8} ${TOP + HIGH + 78}`, role: "img",
    "aria-label": "How much of the subject is left at each word", style: "width:100%;max-width:30rem",
  });
  const ground = TOP + HIGH;
  const mid = (i) => 4 + WIDE * (i + 0.5);
  picture.append(svg("path", { d: `M4 ${ground}H${WIDE * words.length + 4}`, stroke: "currentColor" }));
  const marks = words.map((word, i) => {
    const bar = svg("rect", { x: mid(i) - 10, width: 20, style: "fill:#0072b2" });
    const over = svg("text", { x: mid(i), y: TOP - 6, "text-anchor": "middle" }, "↑");
    const name = svg("text", {
      x: mid(i) + 4, y: ground + 14, "text-anchor": "end",
      transform: `rotate(-50 ${mid(i) + 4} ${ground + 14})`,
    }, word);
    const group = svg("g", {}, bar, over, name);
    picture.append(group);
    return { group, bar, over, name };
  });
  const arc = svg("path", { fill: "none", "stroke-width": 3, style: "stroke:var(--lamp)" });
  const note = svg("text", { y: 14, "text-anchor": "middle" }, "attention: one step");
  picture.append(arc, note);

  const step = slider("Words read", { min: subject + 1, max: last + 1, value: subject + 1 }, (v) => go(v - 1));
  const ws = slider("Recurrent factor w", { min: 0.5, max: 1.3, step: 0.05, value: w, format: (v) => number(+v) },
    (v) => { w = v; draw(); });
  const bs = slider("Forget bias b", { min: -1, max: 6, step: 0.5, value: bias,
    format: (v) => `${number(+v, 1)}, gate ${number(sigmoid(+v), 3)}` }, (v) => { bias = v; draw(); });
  const nets = choose("Network", ["RNN", "LSTM"], kind, (k) => { kind = k; draw(); });
  const next = button("Read the next word", () => go(at < last ? at + 1 : subject));
  stage.append(html("div", { class: "row" }, nets.element, next), step.element, ws.element, bs.element,
    picture, said);

  const go = (to) => { at = to; step.set(at + 1); draw(); };
  const text = (v) => (v && v < 0.001 ? v.toExponential(0).replace("-", "−") : number(v, 3));
  const draw = () => {
    ws.element.hidden = kind !== "RNN";
    bs.element.hidden = kind !== "LSTM";
    for (const s of [ws, bs]) s.element.style.display = s.element.hidden ? "none" : "";
    marks.forEach(({ group, bar, over, name }, i) => {
      const read = i >= subject && i <= at, share = read ? left(i - subject) : 0;
      const tall = Math.min(1, share) * HIGH;
      set(bar, { y: ground - tall, height: tall });
      set(over, { opacity: share > 1.0001 ? 1 : 0 });
      set(name, { "font-weight": i === at || i === subject ? 700 : 400 });
      set(group, { opacity: i <= at ? 1 : 0.55 });
    });
    const n = at - subject, a = mid(at), s = mid(subject);
    set(arc, { d: n ? `M${a} ${TOP - 14}C${a - 8} 12 ${s + 8} 12 ${s} ${TOP - 14}` : "" });
    set(note, { x: (a + s) / 2, opacity: n > 3 ? 1 : 0 });
    const f = factor(), over50 = left(50);
    const fate = Math.abs(f - 1) < 1e-9 ? "keeps its size" : f > 1 ? "explodes" : over50 < 0.01 ? "vanishes" : "shrinks";
    said.textContent = `${n} steps after “${words[subject]}”, ${text(left(n))} of it is left in the state. `
      + `Over 50 steps the gradient is multiplied by ${text(over50)}: it ${fate}.${n ? " Attention: one step." : ""}`;
    next.textContent = at < last ? "Read the next word" : "Start again";
  };
  go(subject);
});
