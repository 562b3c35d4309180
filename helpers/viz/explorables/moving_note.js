/* Lecture 2: the vectors of one word in many sentences, carried through the blocks of a real model.
   config: {word, senses: names, sentences: [sense][n], start: [sense, n] of the chosen sentence, and in hundredths
            paths: [sense][n] x, y at the embedding and after each block; centers: [sense] x, y likewise}.
   The first sentence of each sense has a button; a list and a click on a mark choose among all. */
lamplight.explorable("moving_note", (stage, config) => {
  const { html, svg, set, slider, tick, button, choose, status } = lamplight;
  const { word, senses, sentences } = config, PACE = 280; /* milliseconds for a block */
  const INKS = ["#2f86c9", "var(--lamp)", "#1f9a6e"], NAMED = [[0, -91, "middle"], [-92, 88, "start"], [92, 50, "end"]];
  const SHAPES = ["M-3.4 0a3.4 3.4 0 1 0 6.8 0a3.4 3.4 0 1 0-6.8 0", "M0-4.2L4 3H-4Z", "M-3-3H3V3H-3Z"];
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  const last = config.centers[0].length / 2 - 1, marks = [];
  let at = 0, attends = true, chosen, began = null;

  /* Between two blocks, a mark is on the line from one to the other; y points up. */
  const place = (path, t = at) => {
    const i = Math.min(Math.floor(t), last - 1);
    return [0, 1].map((k) => attends * (k ? -1 : 1)
      * (path[2 * i + k] + (t - i) * (path[2 * i + 2 + k] - path[2 * i + k])) / 100);
  };
  const nearest = (path, t = at) => {
    const [x, y] = place(path, t), far = config.centers.map((c) => place(c, t)).map(([a, b]) => Math.hypot(x - a, y - b));
    return far.indexOf(Math.min(...far));
  };
  const rights = (t, s) => marks.filter(({ path, sense }) => nearest(path, t) === sense && (s ?? sense) === sense).length;
  const trail = svg("path", { fill: "none", stroke: "currentColor", opacity: 0.7 });
  const ring = svg("circle", { r: 6.5, fill: "none", stroke: "currentColor", "stroke-width": 1.6 });
  const crosses = config.centers.map((_, s) => svg("path", { d: "M-4-4L4 4M-4 4L4-4", style: `stroke:${INKS[s]}`, "stroke-width": 1.6 }));
  const dots = svg("g", { opacity: 0.8 });
  const select = html("select", { style: "max-width:100%", onchange: () => follow(marks[select.selectedIndex]) },
    ...senses.map((name, s) => html("optgroup", { label: name }, ...sentences[s].map((text, n) => {
      const mark = { sense: s, text, path: config.paths[s][n], dot: svg("path", { d: SHAPES[s], style: `fill:${INKS[s]}` }) };
      marks.push(mark);
      dots.append(mark.dot);
      return html("option", {}, text);
    }))));
  const plane = svg("svg", { viewBox: "-96 -104 192 198", role: "img", "aria-label": `The vectors of ${word}, seen on a plane`,
    style: "border:1px solid #8888;cursor:pointer;flex:2 1 16rem;min-width:0;max-width:22rem;touch-action:auto",
    onclick: ({ clientX, clientY }) => {
      const { x, y } = new DOMPoint(clientX, clientY).matrixTransform(plane.getScreenCTM().inverse());
      const far = marks.map(({ path }) => Math.hypot(x - place(path)[0], y - place(path)[1]));
      follow(marks[far.indexOf(Math.min(...far))]);
    } }, trail, dots, ...crosses, ring,
  ...NAMED.map(([x, y, anchor], s) =>
    svg("text", { x, y, "text-anchor": anchor, style: "font-size:8px" }, svg("tspan", { style: `fill:${INKS[s]}` }, `${"●▲■"[s]} `), senses[s])));
  const shown = senses.map((_, s) => `${"●▲■"[s]} ${sentences[s][0]}`);
  const three = choose("Sentence", shown, shown[0], (name) => follow(marks[shown.indexOf(name) * sentences[0].length]));
  set(three.element, { style: "font-size:1.1rem;gap:.5rem" });
  const count = html("strong", { style: "display:block;font-size:1.7rem;line-height:1.3" });
  const said = status();
  const block = slider("after block", { min: 0, max: last, value: 0 }, (v) => { stop(); at = v; draw(); });
  const play = button("Play", () => began === null ? run() : stop());

  const stop = () => {
    began = null;
    play.textContent = "Play";
    at = Math.round(at);
    said.setAttribute("aria-live", "polite");
    draw();
  };
  const run = () => {
    if (at >= last) at = 0;
    began = performance.now() - at * PACE;
    play.textContent = "Pause";
    said.setAttribute("aria-live", "off");
    requestAnimationFrame(frame);
  };
  const frame = (now) => {
    if (began === null) return;
    const passed = Math.max(0, (now - began) / PACE);
    at = Math.min(last, still.matches ? Math.floor(passed) : passed);
    if (at >= last) return stop();
    draw();
    requestAnimationFrame(frame);
  };
  const follow = (mark) => {
    chosen = mark;
    select.selectedIndex = marks.indexOf(mark);
    three.pick(`${"●▲■"[mark.sense]} ${mark.text}`, true);
    draw();
  };
  const draw = () => {
    const now = Math.floor(at);
    for (const { dot, path } of marks) set(dot, { transform: `translate(${place(path)})` });
    crosses.forEach((cross, s) => set(cross, { transform: `translate(${place(config.centers[s])})` }));
    set(ring, { transform: `translate(${place(chosen.path)})` });
    set(trail, { d: `M${[...Array(now + 1).keys(), at].map((t) => place(chosen.path, t)).join("L")}` });
    if (at % 1) at - block.input.value >= 1 && block.set(now);
    else block.set(at);
    count.textContent = `${rights(now)} of ${marks.length}`;
    said.textContent = !attends ? `Without attention all ${marks.length} stay equal.`
      : at < 1 ? `At the start all ${marks.length} are equal: one row of the embedding table.`
        : `After block ${now}, ${rights(now)} of ${marks.length} are nearest to the cross of their own sense: ${
        senses.map((name, s) => `${name} ${rights(now, s)}`).join(", ")}. The chosen one is nearest to ${senses[nearest(chosen.path)]}.`;
  };
  stage.append(html("div", { class: "row", style: "align-items:center" }, play, block.element,
    tick("attention", true, (v) => { attends = v; draw(); }).element),
  html("div", { class: "row", style: "margin:9px 0" }, plane, html("div", { class: "grow" },
    three.element, html("label", { style: "display:block;margin:.6rem 0" }, "or another sentence: ", select),
    html("p", { "aria-hidden": "true", style: "margin:1rem 0 0" }, count,
      `nearest to the cross of their own sense; by guessing: ${marks.length / senses.length}`))), said);
  follow(marks[config.start[0] * sentences[0].length + config.start[1]]);
});
