/* Lecture 9: a translation, token by token, by greedy decoding or beams.
   config: {end: id, examples: [{name, source: [word, …], right: [id, …], longest, words: {id:
   [Kannada, Latin, gloss]}, tree: {next: [[id, probability, tree], …]}}, …]} */
lamplight.explorable("translate", (stage, { end, examples }) => {
  const { html, svg, set, slider, button, choose, status } = lamplight;
  let one = examples[0], beams = 1, power = 0, step = Infinity, shown = 0, tried = new Map();

  /* Each row holds the four likeliest candidates of a step; the first ones are kept. As in
     `helpers.generation.beam_search`, one that ends takes its place out of the beam. */
  const search = (n) => {
    const rows = [], ended = [];
    let open = [{ ids: [], total: 0, tree: one.tree, x: 1.5 }];
    while (open.length) {
      const pool = open.flatMap((from) => from.tree.next.map(([id, p, tree]) => ({
        from, id, tree, ids: [...from.ids, id], total: from.total + Math.log(p),
      }))).sort((a, b) => b.total - a.total);
      const kept = pool.slice(0, n - ended.length);
      const row = pool.slice(0, 4);
      row.forEach((each, i) => { each.kept = i < kept.length; });
      [...row].sort((a, b) => a.from.x - b.from.x || b.total - a.total).forEach((each, i) => { each.x = i; });
      const over = (each) => each.id === end || each.ids.length === one.longest;
      ended.push(...kept.filter(over));
      open = kept.filter((each) => !over(each));
      rows.push({ row, best: open[0] });
    }
    return { rows, ended };
  };
  const word = (id, field = 1) => one.words[id][field];
  const text = (ids, field, gap = " ") => ids.filter((id) => id !== end).map((id) => word(id, field)).join(gap);
  const gloss = (ids) => text(ids, 2, " · ");
  /* A meaning in two lines, so that neighbours in the tree have room: "horse" and "(object)". */
  const named = (id) => (word(id, 2) || word(id)).split(/ (?=\()/);
  const without = (ids, others) => {
    const rest = [...others, end];
    return ids.filter((id) => !rest.includes(id) || !rest.splice(rest.indexOf(id), 1));
  };
  const verdict = (ids) => {
    const faults = [["missing", without(one.right, ids)], ["extra", without(ids, one.right)]]
      .filter(([, some]) => some.length).map(([kind, some]) => `${kind}: ${gloss(some)}`);
    return text(ids) === text(one.right) ? "right" : `wrong, ${faults.join(", ") || "in another order"}`;
  };
  const share = (total) => `${+Math.exp(total).toPrecision(2)}`;
  const score = (each) => each.total / each.ids.length ** power;

  const tree = svg("svg", { role: "img", "text-anchor": "middle" }), said = status(), past = html("table");
  const drawTree = (rows) => {
    const at = (each, depth) => [52 + 100 * each.x, 66 * depth + 16];
    tree.replaceChildren(svg("text", { x: 202, y: 18 }, "⟨start⟩"));
    set(tree, { viewBox: `0 0 406 ${66 * rows.length + 52}`, style: "max-width:24rem" });
    rows.forEach(({ row }, i) => row.forEach((each) => {
      const [x, y] = at(each, i + 1), [a, b] = at(each.from, i);
      const color = each.id === end ? "#009e73" : "var(--lamp)";
      tree.append(svg("g", { opacity: each.kept ? 1 : 0.6 },
        svg("path", { d: `M${a} ${b + (i ? 33 : 8)}L${x} ${y - 19}`, stroke: "currentColor", opacity: each.kept ? 1 : 0.3 }),
        each.kept && svg("rect", { x: x - 47, y: y - 19, width: 94, height: 52, rx: 5,
          style: `fill:#e0902022;stroke:${color};stroke-width:2` }),
        ...named(each.id).map((line, n) => svg("text", { x, y: y - 4 + 15 * n }, line)),
        svg("text", { x, y: y + 27, "font-weight": each.kept && 700 }, share(each.total))));
    }));
  };
  const draw = () => {
    const { rows, ended } = search(beams), greedy = search(1).ended[0];
    shown = Math.min(step, rows.length);
    source.textContent = one.source.join(" ");
    const name = (beams === 1 ? "greedy" : `${beams} beams`) + (beams > 1 && power ? `, α = ${power}` : "");
    const done = shown === rows.length;
    const best = done ? [...ended, greedy].reduce((a, b) => (score(b) > score(a) ? b : a))
      : shown ? rows[shown - 1].best : { ids: [] };
    if (done) {
      step = Infinity;
      best.said = `: ${share(best.total)}, ${verdict(best.ids)}`;
      best.rank = beams + (beams > 1 ? power / 10 : 0);
      tried.set(name, best);
    }
    said.textContent = `${name}, ` + (!shown ? "press “Next token”."
      : `${done ? "" : `step ${shown}: `}“${gloss(best.ids)}” (${text(best.ids)})${best.said || `: ${share(best.total)}`}.`);
    penalty.input.disabled = beams === 1;
    hint.hidden = beams > 1;
    past.replaceChildren(...[["reference", { ids: one.right }], ...[...tried].slice(-4).sort((a, b) => a[1].rank - b[1].rank)].map(([name, { ids, said = "" }]) =>
      html("tr", {}, html("th", { scope: "row" }, name), html("td", { style: "white-space:normal" },
        gloss(ids), said, html("br"), html("small", {}, text(ids))))));
    drawTree(rows.slice(0, shown));
    set(tree, { "aria-label": `Tree of candidates. ${said.textContent}` });
  };
  const source = html("b");
  const go = (to) => () => { step = to(); draw(); };
  const penalty = slider("length penalty α", { min: 0, max: 2, step: 0.5, value: 0 },
    (v) => { power = v; draw(); });
  const width = slider("beams", { min: 1, max: 4, value: 1, format: (v) => (v === 1 ? "1 (greedy)" : v) },
    (v) => { beams = v; draw(); });
  /* So that each value stays beside its slider. */
  for (const { element, input } of [width, penalty]) {
    element.style.cssText += "flex-wrap:nowrap;white-space:nowrap";
    input.style.cssText = "flex-basis:5rem;min-width:0";
  }
  const hint = html("small", {}, "The length penalty needs two beams or more: one beam leaves it nothing to choose.");
  stage.append(
    choose("Translator", examples.map((e) => e.name), one.name, (name) => {
      one = examples.find((e) => e.name === name);
      step = Infinity;
      tried = new Map();
      draw();
    }).element,
    html("div", { class: "row" },
      html("div", { class: "grow", style: "flex:2 1 14rem" },
        width.element, penalty.element, hint,
        html("div", { class: "row" }, button("Start again", go(() => 0)), button("Next token", go(() => shown + 1)),
          button("To the end", go(() => Infinity))),
        said, html("p", {}, "Source: ", source)),
      html("div", { class: "grow", style: "flex:3 1 20rem" }, tree)),
    past);
  draw();
});
