/* Lecture 2: drag a word's vector, choose the query; scores, weights and context vector follow.
   config: {words: [[word, x, y], …], query: position of the query that is chosen first,
   axes: names of the two numbers, verdict: what the query says above and below zero} */
lamplight.explorable("move_a_word", (stage, config) => {
  const { html, svg, set, softmax, dot, number, button, status, bar, draggable } = lamplight;
  const SIZE = 46, REACH = 3; /* pixels for 1, and how far a vector may reach */
  const UNDECIDED = 0.1; /* an average nearer to 0 than this gives no verdict */
  let words, query;
  const short = (v) => String(v).replace("-", "−");
  const clip = (v) => Math.max(-REACH, Math.min(REACH, Math.round(v * 4) / 4));
  const place = (i, x, y) => { words[i] = [words[i][0], clip(x), clip(y)]; draw(); };
  const reset = () => { words = config.words.map((w) => [...w]); query = config.query; };
  reset();

  const end = REACH * SIZE + 14;
  const plane = svg("svg", {
    viewBox: `${-end} ${-end} ${2 * end} ${2 * end}`, role: "group", class: "grow",
    "aria-label": "The vectors of the words", style: "max-width:22rem;user-select:none",
  }, svg("path", { d: `M${-end} 0H${end}M0 ${-end}V${end}`, stroke: "currentColor", opacity: 0.3 }));
  (config.axes ?? []).forEach((name, k) => plane.append(svg("text", {
    x: k ? 6 : end, y: k ? 12 - end : 16, "text-anchor": k ? "start" : "end", opacity: 0.75,
  }, k ? `${name} ↑` : `${name} →`)));
  const context = svg("line", { "stroke-width": 7, opacity: 0.55, style: "stroke:var(--lamp)" });
  plane.append(context);
  const marks = words.map(([word], i) => {
    const line = svg("line", { stroke: "currentColor", "stroke-width": 2 });
    const dotMark = svg("circle", { r: 9, fill: "currentColor" });
    const name = svg("text", {}, word);
    const group = svg("g", {}, line, dotMark, name);
    draggable(group, word, {
      move: (dx, dy) => place(i, words[i][1] + dx / 4, words[i][2] + dy / 4),
      drag: (p) => place(i, p.x / SIZE, -p.y / SIZE),
      enter: () => { query = i; draw(); },
    });
    plane.append(group);
    return { group, line, dotMark, name };
  });
  const cells = words.map(([word], i) => {
    const pick = html("input", { type: "radio", name: "query", onchange: () => { query = i; draw(); } });
    const row = html("tr", {}, html("th", { scope: "row" }, html("label", {}, pick, " ", word)),
      html("td", { style: "white-space:nowrap;min-width:7em" }), html("td"), html("td"));
    return { row, pick };
  });
  const table = html("table", { class: "grow" },
    html("thead", {}, html("tr", {}, ...["who asks", "vector", "score", "weight"].map((name) =>
      html("th", { scope: "col" }, name)))),
    html("tbody", {}, ...cells.map((c) => c.row)));
  const said = status();
  stage.append(html("div", { class: "row" }, plane, table), said,
    button("Start again", () => { reset(); draw(); }));

  const draw = () => {
    const vectors = words.map(([, x, y]) => [x, y]);
    const scores = vectors.map((v) => dot(vectors[query], v)), weights = softmax(scores);
    const [cx, cy] = [0, 1].map((k) => dot(weights, vectors.map((v) => v[k])));
    words.forEach(([, x, y], i) => {
      const { group, line, dotMark, name } = marks[i];
      set(line, { x2: x * SIZE, y2: -y * SIZE });
      set(dotMark, { cx: x * SIZE, cy: -y * SIZE, "fill-opacity": 0.2 + 0.8 * weights[i],
        stroke: "currentColor" });
      const twins = vectors.slice(0, i).filter((v) => v[0] === x && v[1] === y).length;
      set(name, { x: x * SIZE + (x < 0 ? -13 : 13), y: -y * SIZE - 10 - 15 * twins,
        "text-anchor": x < 0 ? "end" : "start" });
      set(group, { "aria-valuemin": -REACH, "aria-valuemax": REACH, "aria-valuenow": x,
        "aria-valuetext": `(${number(x)}, ${number(y)}), weight ${number(weights[i], 3)}` });
      cells[i].row.className = i === query ? "on" : "";
      cells[i].pick.checked = i === query;
      const [, vector, score, weight] = cells[i].row.cells;
      vector.textContent = `(${short(x)}, ${short(y)})`;
      score.textContent = number(scores[i]);
      weight.replaceChildren(bar(weights[i]), number(weights[i], 3));
    });
    set(context, { x2: cx * SIZE, y2: -cy * SIZE });
    const asked = words[query][0], [plural, singular] = config.verdict ?? [];
    const most = Math.max(...weights), top = weights.flatMap((w, i) => w > most - 1e-9 ? words[i][0] : []);
    const says = Math.abs(cx) < UNDECIDED ? [": too close to 0 to decide."]
      : [": it says ", html("em", {}, cx > 0 ? plural : singular), "."];
    said.replaceChildren(`“${asked}” looks most at ${top.join(" and ")} and receives `
      + `(${number(cx)}, ${number(cy)})`, ...(plural && query === config.query ? says : ["."]));
  };
  draw();
});
