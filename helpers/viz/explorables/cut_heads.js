/* Lecture 5: step through view and transpose; numbers move from one axis to the next.
   config: {T: number of tokens, d_model: features of each, heads: to choose from} */
lamplight.explorable("cut_heads", (stage, config) => {
  const { html, svg, set, choose, status } = lamplight;
  const { T, d_model } = config, W = 38, H = 28, SIDE = 92;
  const INK = ["#e09020", "#0072b2", "#009e73", "#cc79a7"];
  const cuts = ["view, then transpose", "view alone"];
  const steps = ["projected", "after view", "per head"];
  let n = 2, cut = cuts[0], step = steps[0];

  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const view = svg("svg", { role: "img", style: "max-width:26rem;overflow:hidden" });
  const tiles = [...Array(T * d_model).keys()].map((k) => {
    const token = Math.floor(k / d_model), name = `${token || ""}${k % d_model}`;
    const frame = svg("rect", { width: W - 4, height: H - 4, rx: 4, "fill-opacity": 0.3,
      style: `fill:${INK[token % 4]}` });
    const tile = svg("g", {}, frame,
      svg("text", { x: W / 2 - 2, y: H / 2 + 3, "text-anchor": "middle" }, name));
    tile.style.transition = still ? "none" : "transform .7s";
    return { tile, frame, token, name };
  });
  const labels = svg("g");
  view.append(labels, ...tiles.map((t) => t.tile));
  const listed = html("pre", { style: "background:none;border:0;padding:0;margin:.4rem 0 0;white-space:pre-wrap" });
  const said = status();

  const draw = () => {
    const wrong = cut === cuts[1], d_k = d_model / n, whole = Number.isInteger(d_k);
    const stacked = whole && (step === steps[2] || (wrong && step !== steps[0]));
    const split = whole && step === steps[1] && !wrong;
    const rows = stacked ? n * T : T, height = rows * H + (stacked ? (n - 1) * 14 : 0) + 4;
    set(view, { viewBox: `0 0 ${SIDE + d_model * W + 14 * (n - 1) + 4} ${height}` });
    labels.replaceChildren();
    const label = (y, text) => labels.append(svg("text", { x: 0, y: y + H / 2 + 5 }, text));
    const heads = [...Array(whole ? n : 0)].map(() => [...Array(T)].map(() => []));
    let misplaced = 0;
    tiles.forEach(({ tile, frame, token, name }, k) => {
      const f = k % d_model;
      let x = f * W + (split ? 14 * Math.floor(f / d_k) : 0), y = token * H, row = token;
      if (stacked) {
        /* Where the number k is in the shape (n_heads, T, d_k). */
        const [h, r, c] = wrong
          ? [Math.floor(k / (T * d_k)), Math.floor(k / d_k) % T, k % d_k]
          : [Math.floor(f / d_k), token, f % d_k];
        [x, y, row] = [c * W, (h * T + r) * H + 14 * h, r];
        heads[h][r][c] = name;
      }
      misplaced += row !== token;
      tile.style.transform = `translate(${SIDE + x}px,${y + 2}px)`;
      set(frame, { stroke: row === token ? "none" : "#d55e00", "stroke-width": 3 });
    });
    for (let r = 0; r < rows; r++) {
      const h = Math.floor(r / T);
      label(r * H + (stacked ? 14 * h : 0), stacked ? `h${h}, token ${r % T}` : `token ${r}`);
    }
    listed.textContent = stacked
      ? heads.map((rowsOf, h) => `head ${h}: ${rowsOf.map((r) => `[${r.join(" ")}]`).join(" ")}`).join("\n") : "";
    const shape = stacked ? `(n_heads, T, d_k) = (${n}, ${T}, ${d_k})`
      : split ? `(T, n_heads, d_k) = (${T}, ${n}, ${d_k})` : `(T, d_model) = (${T}, ${d_model})`;
    set(view, { "aria-label": `${T * d_model} numbers in the shape ${shape}` });
    said.textContent = !whole
      ? `${d_model} features cannot be cut into ${n} equal heads: view raises an error.`
      : !stacked ? `Shape ${shape}.`
      : misplaced ? `Shape ${shape}, as wanted, but ${misplaced} of ${T * d_model} numbers are in a row of another token.`
      : `Shape ${shape}: each head has ${d_k === 1 ? "one feature" : `${d_k} features`} of every token.`;
  };
  const pick = (name, options, start, change) =>
    choose(name, options, start, (value) => { change(value); draw(); }).element;
  const line = (name, element) => html("div", { class: "row", style: "margin-bottom:.4rem" },
    html("span", {}, name), element);
  stage.append(
    line("Step:", pick("Step", steps, step, (v) => { step = v; })),
    line("Cut by:", pick("Cut by", cuts, cut, (v) => { cut = v; })),
    line("Heads:", pick("Heads", config.heads.map(String), "2", (v) => { n = +v; })),
    view, listed, said);
  draw();
});
