/* Lecture 7: switch the parts of a block on and off, and see what an untrained stack does to its
   tokens on the way up and to the gradient on the way down.
   config: {stacks: {"norm|residual|feed-forward": [cosines, gradients]}}, one number for each depth */
lamplight.explorable("stack_depth", (stage, { stacks }) => {
  const { html, svg, set, number, slider, tick, choose, button, status } = lamplight;
  const state = { norm: "pre-norm", residual: true, feed: true, depth: 12, kept: "" };
  const W = 270, H = 160, LEFT = 44, BELOW = 38, TOP = 22;
  const last = Object.values(stacks)[0][0].length - 1;
  const xOf = (d) => LEFT + ((W - LEFT - 8) * d) / last;
  const logs = Object.values(stacks).flatMap(([, g]) => g.map((v) => Math.log10(v)));
  const scales = [[0, 1, (v) => v], [Math.floor(Math.min(...logs)), Math.ceil(Math.max(...logs)), Math.log10]];
  const panel = (title, way, [low, high, of], labels) => {
    const yOf = (v) => TOP + (H - TOP - BELOW) * (1 - (of(v) - low) / (high - low));
    const ink = (t, x, y, more = {}) => svg("text", { x, y, ...more }, t);
    const line = svg("path", { fill: "none", "stroke-width": 2.5, style: "stroke:var(--lamp)" });
    const kept = svg("path", { fill: "none", stroke: "currentColor", "stroke-width": 1.5, "stroke-dasharray": "5 4" });
    const mark = svg("circle", { r: 5, style: "fill:var(--lamp)" });
    const ticks = labels.map((v) => ink(of === Math.log10 ? `10${raised(Math.log10(v))}` : number(v, 1),
      LEFT - 6, yOf(v) + 4, { "text-anchor": "end" }));
    const frame = svg("path", { fill: "none", stroke: "currentColor", opacity: 0.4,
      d: `M${LEFT} ${TOP}V${H - BELOW}H${W - 8}` });
    const element = svg("svg", { viewBox: `0 0 ${W} ${H}`, class: "grow", "aria-hidden": "true",
      style: "max-width:21rem" }, frame, ...ticks, kept, line, mark, ink(title, LEFT, 14),
      ink(way, (LEFT + W) / 2, H - 2, { "text-anchor": "middle" }),
      ...[0, 4, 8, 12].map((d) => ink(d, xOf(d), H - 20, { "text-anchor": "middle" })));
    const curve = (values) => values.map((v, d) => `${d ? "L" : "M"}${xOf(d)} ${yOf(v)}`).join("");
    return { element, draw: (values, before) => {
      set(line, { d: curve(values) });
      set(kept, { d: before ? curve(before) : "" });
      set(mark, { cx: xOf(state.depth), cy: yOf(values[state.depth]) });
    } };
  };
  const raised = (n) => [...String(Math.round(n))].map((c) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[c] ?? "⁻").join("");
  const power = (v) => v >= 0.01 && v < 1000 ? number(v, v < 1 ? 2 : 0)
    : `${(v / 10 ** Math.floor(Math.log10(v))).toFixed(0)}·10${raised(Math.floor(Math.log10(v)))}`;
  const [low, high] = scales[1];
  const similar = panel("cosine similarity", "block, read forward →", scales[0], [0, 0.5, 1]);
  const gradient = panel("gradient of x", "← block, read backward", scales[1], [10 ** high, 10 ** Math.round((low + high) / 2), 10 ** low]);
  const said = status(), note = html("p", {});
  const key = () => `${state.norm}|${state.residual}|${state.feed}`;
  const named = () => state.norm + (state.residual ? ", residual" : "") + (state.feed ? ", feed-forward" : "");
  const keep = button("Keep this curve", () => {
    state.kept = state.kept ? "" : key();
    note.textContent = state.kept ? `Dashed: ${named()}.` : "";
    keep.textContent = state.kept ? "Remove the dashed curve" : "Keep this curve";
    draw();
  });
  const norm = choose("Layer norm", ["pre-norm", "post-norm", "no norm"], state.norm,
    (v) => { state.norm = v; draw(); });
  const at = slider("after block", { min: 0, max: last, value: last }, (v) => { state.depth = v; draw(); });
  stage.append(
    html("div", { class: "row" }, norm.element,
      tick("residual connections", true, (v) => { state.residual = v; draw(); }).element,
      tick("feed-forward networks", true, (v) => { state.feed = v; draw(); }).element, keep),
    html("div", { class: "row" }, similar.element, gradient.element), note, at.element, said);
  const draw = () => {
    const [cosines, gradients] = stacks[key()], before = stacks[state.kept] ?? [];
    similar.draw(cosines, before[0]); gradient.draw(gradients, before[1]);
    const alike = cosines[state.depth], first = gradients[0];
    const tokens = alike > 0.95 ? "the tokens have collapsed" : alike > 0.7 ? "the tokens are similar" : "the tokens stay apart";
    const back = first < 1e-5 ? "vanishes" : first > 10 ? "explodes" : "arrives";
    said.textContent = `After block ${state.depth} the mean cosine similarity is ${number(alike)}: ${tokens}. `
      + `The gradient of x at the embedding is ${power(first)}: it ${back}.`;
  };
  draw();
});
