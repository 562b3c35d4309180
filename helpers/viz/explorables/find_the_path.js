/* Lecture 12: patch one vector of the residual stream, and see whether the verb turns.
   config: {layers: names, verbs: [below 0, above 0], runs: {name: {words, from: the subject of the
            other run, own, other: logit differences of both runs, grid: [layer][word], note: what to notice}}} */
lamplight.explorable("find_the_path", (stage, { runs, layers, verbs }) => {
  const { html, svg, set, number, choose, button, status } = lamplight;
  const names = Object.keys(runs);
  let run = runs[names[0]], at = null, seen = new Set();

  const body = html("tbody"), cells = [];
  const table = html("table", { style: "margin-top:.6rem" }, html("thead", {}, html("tr", {},
    ...["patched at", ...layers].map((name) => html("th", { scope: "col", style: "font-size:.85rem;white-space:normal" }, name)))), body);
  const build = () => {
    body.replaceChildren();
    cells.length = 0;
    run.words.forEach((word, w) => {
      cells.push(layers.map((layer, i) => html("button", {
        type: "button", tabindex: w || i ? -1 : 0,
        style: "min-width:4.2rem;padding:.1rem .3rem;font-variant-numeric:tabular-nums",
        onclick: () => patch(i, w),
        onkeydown: (event) => {
          const step = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[event.key];
          if (!step) return;
          event.preventDefault();
          const T = run.words.length, L = layers.length;
          const next = cells[(w + step[0] + T) % T][(i + step[1] + L) % L];
          cells.flat().forEach((cell) => { cell.tabIndex = cell === next ? 0 : -1; });
          next.focus();
        },
      })));
      body.append(html("tr", {}, html("th", { scope: "row" }, word),
        ...cells[w].map((cell) => html("td", { style: "padding:2px" }, cell))));
    });
  };

  const W = 320, both = names.flatMap((n) => [runs[n].own, runs[n].other]);
  const low = Math.min(...both) - 1, high = Math.max(...both) + 1;
  const xOf = (v) => 10 + ((W - 20) * (v - low)) / (high - low);
  const ink = (text, x, y) => svg("text", { x, y, "text-anchor": "middle" }, text);
  const mark = svg("circle", { r: 7, cy: 26, style: "fill:var(--lamp)" }), ends = svg("g");
  const meter = svg("svg", { viewBox: `0 0 ${W} 64`, "aria-hidden": "true", style: "max-width:24rem;margin-top:.6rem" },
    svg("path", { d: `M10 26H${W - 10}M${xOf(0)} 16V36`, stroke: "currentColor", opacity: 0.5 }),
    ends, mark, ink(`← ${verbs[0]}`, xOf(0) - 34, 12), ink(`${verbs[1]} →`, xOf(0) + 32, 12));

  const said = status();
  const which = choose("Which run is copied into which", names, names[0], (name) => {
    run = runs[name]; at = null; seen = new Set(); build(); draw();
  });
  const all = button("Show all", () => {
    run.words.forEach((_, w) => layers.forEach((_, i) => seen.add(`${i},${w}`)));
    draw();
  });
  stage.append(which.element, html("div", { class: "row", style: "flex-direction:row-reverse" },
    html("div", { class: "grow" }, meter, said, all), table));

  const verb = (value) => verbs[+(value > 0)];
  const patch = (i, w) => { at = [i, w]; seen.add(`${i},${w}`); draw(); };
  const draw = () => {
    const value = at ? run.grid[at[0]][at[1]] : run.own;
    set(mark, { cx: xOf(value) });
    const near = Math.abs(xOf(run.own) - xOf(run.other)) < 60;  // then one label serves both
    ends.replaceChildren(...[[run.own, near ? "both runs" : "this run"], [run.other, near ? "" : "other run"]].flatMap(([v, name], n) => [
      svg("path", { d: `M${xOf(v)} 20V32`, stroke: "currentColor", "stroke-width": 2 }), ink(name, Math.min(W - 30, Math.max(34, xOf(v))), n ? 62 : 48)]));
    cells.forEach((row, w) => row.forEach((cell, i) => {
      const known = seen.has(`${i},${w}`), v = run.grid[i][w];
      const far = Math.min(1, Math.abs(v - run.own) / 11);
      cell.textContent = known ? number(v, 1) : "?";
      cell.style.background = known ? `rgba(224,144,32,${(0.75 * far).toFixed(2)})` : "";
      set(cell, { "aria-pressed": !!at && at[0] === i && at[1] === w,
        "aria-label": `${run.words[w]}, ${layers[i]}: ${known ? number(v, 1) : "not yet tried"}` });
    }));
    if (!at) {
      said.textContent = `This run says ${verb(run.own)}: the logit difference is ${number(run.own)}. `
        + `In the other run, with “${run.from}”, it is ${number(run.other)}. ${run.note ?? ""}${seen.size ? "" : " Choose a cell."}`;
      return;
    }
    const turned = verb(value) !== verb(run.own), still = Math.abs(value - run.own) < 0.1;
    const whole = run.other - run.own, share = Math.abs(whole) > 1 ? ` (moved ${number((value - run.own) / whole)})` : "";
    said.textContent = `Patched at “${run.words[at[1]]}” ${layers[at[0]]}: the logit difference is ${number(value)}${share}, `
      + `so the model ${turned ? "now says" : "still says"} ${verb(value)}${still ? "; nothing has moved" : ""}.`;
  };
  build();
  draw();
});
