/* Lecture 12: a trained two-layer copier, run on what one types.
   config: {text, arrays: {name: [step, signed bytes in base64]}}, d_model 32, two heads a layer */
lamplight.explorable("induction_heads", (stage, { text, arrays }) => {
  const { html, svg, set, softmax, dot, number, slider, choose, bar, status } = lamplight;
  const D = 32, d = 16, MOST = 24, S = 15;
  const A = {};
  for (const [name, [step, bytes]] of Object.entries(arrays))
    A[name] = [...atob(bytes)].map((c) => ((c.charCodeAt(0) << 24) >> 24) * step);

  const linear = (name, xs) => {
    const W = A[`${name}.weight`], b = A[`${name}.bias`], n = xs[0].length;
    return xs.map((x) => b.map((v, o) => v + dot(x, W.slice(o * n, o * n + n))));
  };
  const norm = (name, xs) => xs.map((x) => {
    const mean = x.reduce((a, b) => a + b) / D, c = x.map((v) => v - mean), size = Math.sqrt(dot(c, c) / D + 1e-5);
    return c.map((v, i) => v / size * A[`${name}.weight`][i] + A[`${name}.bias`][i]);
  });
  const add = (xs, ys) => xs.map((x, t) => x.map((v, i) => v + ys[t][i]));
  const turned = (xs) => xs.map((x, t) => x.map((v, i) => {
    const a = t * 10000 ** (-(i - i % 2) / d), other = x[i ^ 1];
    return v * Math.cos(a) + (i % 2 ? other : -other) * Math.sin(a);
  }));
  const run = (ids) => {
    let xs = ids.map((id) => A["embedding.weight"].slice(id * D, id * D + D));
    const maps = [];
    for (const l of [0, 1]) {
      const block = `stack.blocks.${l}`, inside = norm(`${block}.norm_attention`, xs);
      const [q, k, v] = ["query", "key", "value"].map((n) => linear(`${block}.attention.W_${n}`, inside));
      const found = xs.map(() => []);
      for (const h of [0, d]) {
        const cut = (ys) => ys.map((y) => y.slice(h, h + d)), K = turned(cut(k)), V = cut(v);
        const w = turned(cut(q)).map((row, t) => softmax(K.slice(0, t + 1).map((key) => dot(row, key) / 4)));
        w.forEach((row, t) => V[0].forEach((_, i) => found[t].push(dot(row, V.map((y) => y[i])))));
        maps.push(w);
      }
      xs = add(xs, linear(`${block}.attention.W_out`, found));
      const hidden = linear(`${block}.feed_forward.up_proj`, norm(`${block}.norm_feed_forward`, xs));
      xs = add(xs, linear(`${block}.feed_forward.down_proj`, hidden.map((x) => x.map((u) => Math.max(0, u)))));
    }
    return { maps, says: linear("lm_head", norm("stack.norm", xs)).map(softmax) };
  };

  const heads = ["L0H0", "L0H1", "L1H0", "L1H1"];
  let head = 2, typed = text, at = text.length - 1;
  const said = status(), lights = html("tbody");
  const map = svg("svg", { role: "img", class: "grow", style: "max-width:24rem" });
  const input = html("input", { type: "text", maxlength: MOST, value: text, autocomplete: "off", spellcheck: "false",
    style: "width:100%;max-width:18rem;background:none;border:1px solid #8888;border-radius:.3rem;padding:.2rem .5rem",
    oninput: () => {
      typed = input.value.toLowerCase().replace(/[^a-z]/g, "").slice(0, MOST) || "a";
      at = typed.length - 1;
      from.input.max = at; from.set(at);
      draw();
    } });
  const from = slider("Attend from symbol", { min: 0, max: at, value: at, format: (v) => `${+v + 1}` }, (v) => { at = v; draw(); });
  const pick = choose("Head", heads, heads[head], (name) => { head = heads.indexOf(name); draw(); });
  stage.append(html("label", { style: "display:block;margin-bottom:.6rem" }, html("span", {}, "Text of letters "), input), pick.element, from.element, said,
    html("div", { class: "row" }, html("table", {}, html("thead", {}, html("tr", {},
      ...["head", "symbol before", "after the last same"].map((n) => html("th", { scope: "col", style: "white-space:normal" }, n)))), lights), map));

  const draw = () => {
    const letters = [...typed], T = letters.length, { maps, says } = run(letters.map((c) => c.charCodeAt(0) - 97));
    const last = letters.map((c, t) => letters.lastIndexOf(c, t - 1)).map((p, t) => (t ? p : -1));
    const asked = letters.map((_, t) => t).filter((t) => last[t] >= 0);
    const mean = (of) => (asked.length ? asked.reduce((sum, t) => sum + of(t), 0) / asked.length : 0);
    lights.replaceChildren(...maps.map((w, n) => html("tr", { class: n === head && "on" }, html("th", { scope: "row" }, heads[n]),
      ...[mean((t) => w[t][t - 1]), mean((t) => w[t][last[t] + 1])].map((v) => html("td", {}, bar(v, 50), number(v))))));
    const w = maps[head], row = w[at], top = row.indexOf(Math.max(...row)), p = Math.max(...says[at]);
    const sign = (x, y, c, more) => svg("text", { x, y, "text-anchor": "middle", ...more }, c);
    map.replaceChildren(
      ...w.flatMap((r, q) => r.map((v, k) => svg("rect", { x: S + k * S, y: S + q * S, width: S - 1, height: S - 1,
        fill: "#d55e00", "fill-opacity": v.toFixed(2), stroke: "currentColor", "stroke-opacity": 0.15 }))),
      svg("rect", { x: S, y: S + at * S - 1, width: (at + 1) * S, height: S, fill: "none", stroke: "currentColor", "stroke-width": 1.5 }),
      ...letters.flatMap((c, t) => [sign(7, S + t * S + 11, c), sign(S + t * S + 7, 11, c)]));
    set(map, { viewBox: `0 0 ${(T + 1) * S} ${(T + 1) * S + 2}`, "aria-label": `Attention map of ${heads[head]}` });
    const why = at && top === at - 1 ? ", the symbol before" : top && letters[top - 1] === letters[at] ? `, the symbol after ${top === last[at] + 1 ? "the last" : "an earlier"} ${letters[at]}` : "";
    const next = String.fromCharCode(97 + says[at].indexOf(p));
    said.textContent = `From symbol ${at + 1}, ${letters[at]}, ${heads[head]} attends most to symbol ${top + 1}, `
      + `${letters[top]}${why} (weight ${number(row[top])}). The model predicts ${/[a-z]/.test(next) ? next : "none of a to z"} (probability ${number(p)}).`
      + (last[at] < 0 ? ` No earlier ${letters[at]}: in training every text repeats, so the copier was never asked this question, and its guess follows no rule that we know.` : "");
  };
  draw();
});
