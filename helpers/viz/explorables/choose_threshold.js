/* Lecture 10: drag the threshold above which the reader says "no answer".
   config: {margins: in tenths, right, answerable: a digit each, examples: [{question, wanted, best,
   margin}]}; wanted: the answer, "" for none; best: the text of the reader's best span. */
lamplight.explorable("choose_threshold", (stage, { margins, right, answerable, examples }) => {
  const { html, svg, set, number, slider, status } = lamplight;
  const W = 340, LOW = -24, HIGH = 20, said = status();
  const at = (m) => ((m - LOW) / (HIGH - LOW)) * W;
  const line = svg("line", { y1: 0, y2: 96, stroke: "currentColor", "stroke-width": 2 });
  const picture = svg("svg", { viewBox: `0 -18 ${W} 134`, style: `width:${W}px`, role: "img",
    "aria-label": "Margins: with an answer upwards, without downwards; line: threshold." });
  for (let bin = LOW; bin < HIGH; bin += 2) for (const has of [1, 0]) {
    const n = margins.filter((m, i) => +answerable[i] === has
      && 2 * Math.floor(Math.max(LOW, Math.min(HIGH - 1, m / 10)) / 2) === bin).length;
    const height = Math.min(46, (460 * n) / margins.length);
    picture.append(svg("rect", { x: at(bin), width: at(LOW + 2) - 1, height, y: has ? 48 - height : 48,
      fill: has ? "#0072b2" : "#e09020" }));
  }
  picture.append(line, svg("text", { y: -5 }, "blue: has an answer"),
    svg("text", { x: W, y: -5, "text-anchor": "end" }, "orange: has none"));
  for (const m of [-20, -10, 0, 10]) picture.append(svg("text", { x: at(m), y: 112, "text-anchor": "middle" }, number(m, 0)));
  picture.append(svg("text", { x: W, y: 112, "text-anchor": "end" }, "margin"));
  const cell = (text, tag = "td") => html(tag, { style: "white-space:normal", ...(tag === "th" && { scope: "row" }) }, text);
  const cells = examples.map(() => cell(""));
  const head = ["question, margin", "answer", "reader says"].map(
    (name) => html("th", { scope: "col", style: "white-space:normal" }, name));
  const table = html("table", { style: "font-size:.9em;margin-top:.8rem" }, html("thead", {}, html("tr", {}, ...head)),
    html("tbody", {}, ...examples.map((e, i) => html("tr", {}, cell(`${e.question} ${number(e.margin, 1)}`, "th"),
      cell(e.wanted || "none"), cells[i]))));
  const draw = (threshold) => {
    const exact = (has) => {
      const hits = margins.map((m, i) => [+answerable[i], +(m / 10 > threshold ? answerable[i] === "0" : right[i] === "1")])
        .filter(([h]) => has === undefined || h === has);
      return number(hits.reduce((n, [, hit]) => n + hit, 0) / hits.length);
    };
    set(line, { x1: at(threshold), x2: at(threshold) });
    said.textContent = `Exact match on ${margins.length} questions: ${exact()} `
      + `(with an answer ${exact(1)}, without ${exact(0)}).`;
    examples.forEach((e, i) => {
      const says = e.margin > threshold ? "" : e.best;
      cells[i].textContent = `${says || "none"} ${says === e.wanted ? "✓" : "✗"}`;
    });
  };
  const limit = slider("threshold", { min: LOW, max: HIGH, step: 0.5, value: 0, format: (v) => number(v, 1) }, draw);
  stage.append(picture, limit.element, said, table);
  draw(0);
});
