/* Lecture 4: paint a mask; weights, row sums and the future-token test follow.
   config: {words, x: a vector of two features each, W_query, W_key, W_value: 2 × 2} */
lamplight.explorable("paint_a_mask", (stage, config) => {
  const { html, set, softmax, dot, number, choose, status } = lamplight;
  const { words, x } = config, T = words.length, all = [...Array(T).keys()];
  const presets = {
    none: () => true,
    causal: (i, j) => j <= i,
    "off by one": (i, j) => j <= i + 1,
    inverted: (i, j) => j > i,
    "padding right": (i, j) => j < 3,
    "causal, padding left": (i, j) => j <= i && j > 1,
  };
  const ways = ["scores to −∞", "scores to −1e9", "scores to 0", "weights to 0 after softmax"];
  let mask, way = ways[0], paint = null, tested = false; // it opens without a verdict, for whoever has yet to predict one

  const project = (v, W) => W[0].map((_, c) => v[0] * W[0][c] + v[1] * W[1][c]);
  const attend = (vectors) => {
    const keys = vectors.map((v) => project(v, config.W_key));
    const values = vectors.map((v) => project(v, config.W_value));
    const weights = vectors.map((v, i) => {
      const query = project(v, config.W_query);
      const scores = keys.map((k) => dot(query, k) / Math.SQRT2);
      if (way === ways[3]) return softmax(scores).map((w, j) => (mask[i][j] ? w : 0));
      const low = way === ways[0] ? -Infinity : way === ways[1] ? -1e9 : 0;
      const kept = scores.map((s, j) => (mask[i][j] ? s : low));
      return way === ways[0] && !mask[i].includes(true) ? kept.map(() => NaN) : softmax(kept);
    });
    return { weights, outputs: weights.map((w) => [0, 1].map((c) => dot(w, values.map((v) => v[c])))) };
  };

  const table = html("table", { style: "touch-action:none;user-select:none" });
  table.append(html("thead", {}, html("tr", {}, ...["query", ...words, "sum"].map((w) =>
    html("th", { scope: "col", style: "padding:0 2px 4px 0;font-size:.8rem" }, w)))));
  const body = html("tbody");
  const cells = all.map((i) => all.map((j) => {
    const cell = html("button", {
      type: "button", tabindex: i || j ? -1 : 0,
      onpointerdown: (e) => { e.target.releasePointerCapture(e.pointerId); paint = !mask[i][j]; dab(i, j); },
      onpointerover: () => { if (paint !== null) dab(i, j); },
      onclick: (e) => { if (!e.detail) { mask[i][j] = !mask[i][j]; painted(); } },
      onkeydown: (e) => {
        const step = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowUp: [-1, 0], ArrowDown: [1, 0] }[e.key];
        if (!step) return;
        e.preventDefault();
        const next = cells[(i + step[0] + T) % T][(j + step[1] + T) % T];
        cells.flat().forEach((c) => { c.tabIndex = c === next ? 0 : -1; });
        next.focus();
      },
    });
    return cell;
  }));
  const sums = all.map(() => html("td", { style: "padding:0 0 0 4px" }));
  all.forEach((i) => body.append(html("tr", {}, html("th", { scope: "row", style: "padding-right:4px" }, words[i]),
    ...cells[i].map((c) => html("td", { style: "padding:1px" }, c)), sums[i])));
  table.append(body);
  window.addEventListener("pointerup", () => { paint = null; });
  const dab = (i, j) => { mask[i][j] = paint; painted(); };
  const painted = () => { preset.pick("", true); draw(); };

  const preset = choose("Preset", Object.keys(presets), "none", (name) => { use(name); draw(true); });
  const use = (name) => { mask = all.map((i) => all.map((j) => presets[name](i, j))); };
  const where = choose("Where the mask is applied", ways, way, (w) => { way = w; draw(true); });
  const said = status();
  stage.append(preset.element, html("p", { style: "margin:.6rem 0 .2rem" }, "Hidden cells:"),
    where.element, html("div", { style: "margin-top:.8rem" }, table), said);

  const draw = (flash) => {
    const { weights, outputs } = attend(x), leaks = [];
    /* The future-token test: replace one token, and see which earlier outputs move. */
    if (tested) all.forEach((j) => {
      const now = attend(x.map((v, t) => (t === j ? [v[0] + 0.9, v[1] - 0.7] : v))).outputs;
      all.slice(0, j).forEach((i) => {
        if (outputs[i].some((o, c) => Math.abs(o - now[i][c]) > 1e-9)) leaks.push([i, j]);
      });
    });
    all.forEach((i) => {
      const sum = weights[i].reduce((a, b) => a + b, 0);
      sums[i].textContent = number(sum);
      all.forEach((j) => {
        const w = weights[i][j], leak = leaks.some(([a, b]) => a === i && b === j), cell = cells[i][j];
        cell.textContent = number(w);
        set(cell, {
          "aria-pressed": String(mask[i][j]),
          "aria-label": `${words[i]} to ${words[j]}: ${mask[i][j] ? "visible" : "hidden"}, weight ${number(w)}`
            + (leak ? ", leaks" : ""),
          style: "width:min(2.9rem,10.2vw);padding:.35rem 0;font-size:.85rem;"
            + `background:${mask[i][j] ? `rgba(224,144,32,${0.12 + 0.6 * (w || 0)})`
              : "repeating-linear-gradient(45deg,#8883 0 3px,#0000 3px 8px)"};`
            + (leak ? "outline:3px solid #d55e00;outline-offset:-3px" : ""),
        });
        if (leak && flash && !matchMedia("(prefers-reduced-motion: reduce)").matches)
          cell.animate([{ opacity: 1 }, { opacity: 0.15 }, { opacity: 1 }], { duration: 450, iterations: 2 });
      });
    });
    const empty = all.filter((i) => !mask[i].includes(true)).map((i) => `“${words[i]}”`);
    const n = new Set(leaks.map(([i]) => i)).size;
    said.textContent = (!tested ? "No cell is hidden yet. Hide one, or choose a preset: then each token is changed in turn."
      : leaks.length
      ? `Leak: ${n} of ${T} outputs move${n === 1 ? "s" : ""} when a later token changes.`
      : "No leak: no output moves when a later token changes.")
      + (empty.length ? ` ${empty.join(" and ")} may attend to nothing, and the weights are `
        + `${["NaN", "uniform", "uniform", "zeros"][ways.indexOf(way)]}.` : "");
  };
  use("none");
  draw();
  tested = true;
});
