/* Lecture 12: ablate any set of heads, and see what becomes of the verbs.
   config: {heads: names, layers: [how many of them], n: sentences, ways: {name: [[logit difference,
   right verbs], …]}}; the n-th entry of a way is the set of heads whose bits are set in n. */
lamplight.explorable("ablate_heads", (stage, { heads, layers, n, ways }) => {
  const { html, svg, set, number, choose, button, status } = lamplight;
  const names = Object.keys(ways);
  let way = names[0], off = 0;

  const W = 320, all = names.flatMap((name) => ways[name].map(([difference]) => difference));
  const low = Math.min(-1, ...all), high = Math.max(...all) + 0.5;
  const xOf = (v) => 10 + ((W - 20) * (v - low)) / (high - low);
  const ink = (text, x, y, anchor) => svg("text", { x, y, "text-anchor": anchor }, text);
  const lamp = "fill:var(--lamp)", grey = "fill:none;stroke:#888";
  const mark = svg("circle", { r: 7, cy: 30, style: lamp }), share = svg("rect", { x: 10, y: 78, height: 14, style: lamp });
  const meter = svg("svg", { viewBox: `0 0 ${W} 96`, "aria-hidden": "true", style: "max-width:24rem;margin-top:.6rem" },
    svg("path", { d: `M10 30H${W - 10}M${xOf(0)} 20V40`, stroke: "currentColor", opacity: 0.5 }),
    ink("logit difference", 10, 12), ink("0", xOf(0), 54, "middle"), mark,
    svg("rect", { x: 10, y: 78, width: W - 20, height: 14, style: grey }), share, ink("right verbs", 10, 72));

  const said = status();
  const switches = heads.map((name, i) => button(name, () => { off ^= 1 << i; draw(); }));
  let first = 0;
  const rows = layers.map((count, layer) => {
    const row = switches.slice(first, first + count);
    first += count;
    return html("div", { class: "row", role: "group", "aria-label": `Ablate heads of layer ${layer}`,
      style: "align-items:center;gap:.4rem;margin:.4rem 0" }, html("span", {}, `layer ${layer}`), ...row);
  });
  stage.append(
    html("div", { class: "row", style: "align-items:center" }, html("span", {}, "Replace by"),
      choose("Replace by", names, way, (name) => { way = name; draw(); }).element),
    ...rows, said, meter, button("All heads back", () => { off = 0; draw(); }));

  const draw = () => {
    const [difference, right] = ways[way][off], gone = heads.filter((_, i) => off & (1 << i));
    switches.forEach((each, i) => set(each, { "aria-pressed": String(!!(off & (1 << i))),
      style: `padding:.2rem .45rem;text-decoration:${off & (1 << i) ? "line-through" : "none"}` }));
    set(mark, { cx: xOf(difference) });
    set(share, { width: (W - 20) * right });
    const wrong = Math.round(n * (1 - right));
    said.textContent = `${gone.length ? `Without ${gone.join(", ")}` : "With all heads"}: ${
      wrong ? `${wrong} of ${n} verbs ${wrong === 1 ? "is" : "are"} wrong` : "every verb is right"}; mean logit difference ${number(difference)}.`;
  };
  draw();
});
