/* Lecture 0: drag the query or a word; angle, dot product and softmax weight follow.
   config: {words: [[word, x, y], …], the query first, temperature} */
lamplight.explorable("dot_products", (stage, config) => {
  const { html, svg, set, softmax, dot, number, slider, button, status, bar, draggable } = lamplight;
  const SIZE = 46, REACH = 3; /* pixels for 1, and how far a vector may reach */
  let words, temperature, chosen;
  const reset = () => {
    words = config.words.map((w) => [...w]);
    temperature = config.temperature;
    chosen = 1;
  };
  reset();
  const clip = (v) => Math.max(-REACH, Math.min(REACH, Math.round(v * 4) / 4));
  const place = (i, x, y) => {
    words[i] = [words[i][0], clip(x), clip(y)];
    chosen = i || chosen;
    draw();
  };
  const short = (v) => String(v).replace("-", "−");

  const end = REACH * SIZE + 14;
  const plane = svg("svg", {
    viewBox: `${-end} ${-end} ${2 * end} ${2 * end}`, role: "group", class: "grow",
    "aria-label": "The query and the words as arrows", style: "max-width:22rem",
  }, svg("path", { d: `M${-end} 0H${end}M0 ${-end}V${end}`, stroke: "currentColor", opacity: 0.3 }));
  const shadow = svg("line", { "stroke-width": 8, opacity: 0.5, style: "stroke:var(--lamp)" });
  const drop = svg("line", { stroke: "currentColor", "stroke-dasharray": "4 4", opacity: 0.7 });
  plane.append(shadow, drop);
  const marks = words.map(([word], i) => {
    const ink = i ? "fill:currentColor;stroke:currentColor" : "fill:var(--lamp);stroke:var(--lamp)";
    const line = svg("line", { "stroke-width": i ? 2 : 4 });
    const head = svg("path", { d: "M0 0L-14 6V-6Z" });
    const name = svg("text", { style: "stroke:none;fill:currentColor" }, word);
    const reach = svg("circle", { r: 16, style: "fill:transparent;stroke:none" });
    const group = svg("g", { style: ink }, line, head, reach, name);
    plane.append(draggable(group, word, {
      move: (dx, dy) => place(i, words[i][1] + dx / 4, words[i][2] + dy / 4),
      drag: (p) => place(i, p.x / SIZE, -p.y / SIZE),
      enter: () => { chosen = i || chosen; draw(); },
    }));
    return { group, line, head, reach, name };
  });

  const rows = words.slice(1).map(([word], k) => {
    const pick = html("input", { type: "radio", name: "word", onchange: () => { chosen = k + 1; draw(); } });
    const row = html("tr", {}, html("th", { scope: "row" }, html("label", {}, pick, " ", word)),
      html("td"), html("td"), html("td"));
    return { row, pick };
  });
  const heat = slider("temperature", {
    min: 0.25, max: 5, step: 0.25, value: temperature, format: (v) => number(v),
  }, (v) => { temperature = v; draw(); });
  const said = status();
  stage.append(html("div", { class: "row" }, plane, html("div", { class: "grow", style: "min-width:min-content" },
    html("table", {}, html("thead", {}, html("tr", {}, ...["word", "angle", "dot product", "weight"].map(
      (name) => html("th", { scope: "col", style: "white-space:normal" }, name)))),
    html("tbody", {}, ...rows.map((r) => r.row))), heat.element,
    button("Start again", () => { reset(); heat.set(temperature); draw(); }))), said);

  const draw = () => {
    const [query, ...keys] = words.map(([, x, y]) => [x, y]);
    const scores = keys.map((key) => dot(query, key));
    const weights = softmax(scores.map((s) => s / temperature));
    const angles = keys.map((key, k) => {
      const lengths = Math.hypot(...query) * Math.hypot(...key);
      if (!lengths) return "–";
      return `${number(Math.acos(Math.max(-1, Math.min(1, scores[k] / lengths))) * 180 / Math.PI, 0)}°`;
    });
    words.forEach(([, x, y], i) => {
      const { group, line, head, reach, name } = marks[i], cx = x * SIZE, cy = -y * SIZE;
      set(line, { x2: cx, y2: cy });
      set(reach, { cx, cy });
      set(head, { transform: `translate(${cx} ${cy}) rotate(${Math.atan2(cy, cx) * 180 / Math.PI})` });
      set(name, { x: cx + (x < 0 ? -9 : 9), y: cy + (y < 0 ? 18 : -9), "text-anchor": x < 0 ? "end" : "start" });
      set(group, { "aria-valuemin": -REACH, "aria-valuemax": REACH, "aria-valuenow": x,
        "aria-valuetext": `(${number(x)}, ${number(y)})${i ? `, dot product ${number(scores[i - 1])}` : ""}` });
    });
    rows.forEach(({ row, pick }, k) => {
      row.className = k + 1 === chosen ? "on" : "";
      pick.checked = k + 1 === chosen;
      row.cells[1].textContent = angles[k];
      row.cells[2].textContent = number(scores[k]);
      row.cells[3].replaceChildren(bar(weights[k], 50), number(weights[k], 3));
    });
    const [word, x, y] = words[chosen], [a, b] = query, square = dot(query, query);
    const along = square ? scores[chosen - 1] / square : 0;
    const foot = [along * a * SIZE, -along * b * SIZE];
    set(shadow, { x2: foot[0], y2: foot[1] });
    set(drop, { x1: x * SIZE, y1: -y * SIZE, x2: foot[0], y2: foot[1] });
    const sign = (v) => (v < 0 ? `(${short(v)})` : short(v));
    said.textContent = `${short(a)} × ${sign(x)} + ${sign(b)} × ${sign(y)} = ${number(scores[chosen - 1])}: `
      + `at temperature ${number(temperature)}, “${word}” gets weight ${number(weights[chosen - 1], 3)}.`;
  };
  draw();
});
