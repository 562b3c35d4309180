/* Lecture 13: all heads of SmolLM2, coloured by a score; the chosen one's map on a sentence.
   Layers run to the right, or down where the page is narrow.
   config: {tokens, maps: [layer][head] a sign of 64 for each weight of the lower triangle,
            signs, scores: [{name, about, most, values: [layer][head]}, …], start: [layer, head]} */
lamplight.explorable("heads_of_a_real_model", (stage, config) => {
  const { svg, set, choose, status, number } = lamplight;
  const { tokens, maps, scores, signs } = config;
  const layers = maps.length, heads = maps[0].length, T = tokens.length;
  const tall = matchMedia("(max-width: 600px)").matches, [W, H] = tall ? [26, 15] : [20, 16];
  const at = (i, h) => tall ? { x: h * W, y: i * H } : { x: i * W, y: h * H };
  const [wide, high] = tall ? [heads * W, layers * H] : [layers * W, heads * H];
  let [layer, head] = config.start, score = scores[0];

  const cells = [];
  const cell = (x, y, w, h, more) => svg("rect", { x, y, width: w, height: h, ...more });
  const text = (x, y, anchor, words) => svg("text", { x, y, "text-anchor": anchor,
    fill: "currentColor", style: "font-size:14px" }, String(words));
  const ring = cell(0, 0, W, H, { fill: "none", stroke: "currentColor", "stroke-width": 2.5 });
  const grid = svg("svg", {
    viewBox: `-58 -8 ${wide + 66} ${high + 46}`, class: "grow", tabindex: 0,
    role: "application", "aria-label": "Heads by layer: arrow keys move from head to head",
    style: `display:block;width:100%;max-width:${tall ? 19 : 44}rem`,
    onkeydown: (event) => {
      const step = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
      if (!step[event.key]) return;
      event.preventDefault();
      const [i, h] = tall ? [...step[event.key]].reverse() : step[event.key];
      pick((layer + i + layers) % layers, (head + h + heads) % heads);
    },
  });
  for (let i = 0; i < layers; i++) {
    cells.push([]);
    for (let h = 0; h < heads; h++) {
      const { x, y } = at(i, h), own = cell(x + 1, y + 1, W - 2, H - 2,
        { onclick: () => pick(i, h), style: "cursor:pointer;stroke:#8886;stroke-width:.5" });
      cells[i].push(own);
      grid.append(own);
    }
    if (i % 5 === 0) {
      grid.append(tall ? text(-6, i * H + 13, "end", `${i ? "" : "layer "}${i}`)
        : text(i * W + W / 2, high + 18, "middle", i));
    }
  }
  for (const h of [0, heads - 1]) {
    grid.append(tall ? text(h * W + W / 2, high + 18, "middle", h)
      : text(-6, h * H + 13, "end", `head ${h}`));
  }
  grid.append(text(wide / 2, high + 33, "middle", tall ? "head" : "layer"), ring);

  const S = 21, left = 62;
  const map = svg("svg", { viewBox: `0 -6 ${left + T * S + 8} ${T * S + 70}`, role: "img",
    class: "grow", style: "max-width:18rem" });
  const boxes = [];
  tokens.forEach((token, q) => {
    map.append(text(left - 5, q * S + 15, "end", token.trim()));
    for (let k = 0; k <= q; k++) {
      const box = cell(left + k * S, q * S, S - 1, S - 1, { style: "stroke:#8886;stroke-width:.5" });
      boxes.push(box);
      map.append(box);
    }
    const x = left + q * S + S / 2 + 5, y = T * S + 6;
    map.append(svg("text", { x, y, transform: `rotate(-60 ${x} ${y})`, "text-anchor": "end",
      fill: "currentColor", style: "font-size:14px" }, token.trim()));
  });

  const said = status();
  const buttons = choose("Colour the heads by", scores.map((s) => s.name), score.name, (name) => {
    score = scores.find((s) => s.name === name);
    const flat = score.values.flat(), best = flat.indexOf(Math.max(...flat.map(Math.abs)));
    const found = best < 0 ? flat.indexOf(Math.min(...flat)) : best;
    pick(Math.floor(found / heads), found % heads);
  });
  for (const b of buttons.element.children) b.style.width = "auto"; /* the theme has rows, too */
  stage.append(buttons.element, grid, said, map);

  const paint = (box, value) => set(box, {
    fill: value < 0 ? "#0072b2" : "#d55e00", "fill-opacity": Math.min(1, Math.abs(value)) });
  const pick = (i, h) => { layer = i; head = h; draw(); };
  const draw = () => {
    cells.forEach((row, i) => row.forEach((c, h) => paint(c, score.values[i][h] / score.most)));
    set(ring, at(layer, head));
    const weights = [...maps[layer][head]].map((s) => signs.indexOf(s) / (signs.length - 1));
    boxes.forEach((box, n) => paint(box, weights[n]));
    const last = weights.slice(-T), top = last.indexOf(Math.max(...last));
    const tail = `from “${tokens[T - 1].trim()}” it attends most to “${tokens[top].trim()}”`
      + ` (weight ${number(last[top])})`;
    said.textContent = `L${layer}H${head}: ${score.about} `
      + `${number(score.values[layer][head])}; ${tail}.`;
    set(map, { "aria-label": `Attention map of L${layer}H${head}: ${tail}` });
  };
  draw();
});
