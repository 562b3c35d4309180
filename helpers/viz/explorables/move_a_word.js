/* Lecture 2: a word moves in its sentence. Choose a sentence (again, to start again), drag words, choose who asks: scores,
   weights and context vector follow, and a dot glides from the word that asks to its context vector.
   config: {axes: three names, sentences: [[[word, a, b, c, …], …], …], query: the word that asks,
   W_query, W_key: a row of three for each entry, or absent. With them a second row of buttons compares
   one vector, its first `shared` entries, or all, with the query and the key that these matrices make of it}. The plane shows a, b, c. */
lamplight.explorable("move_a_word", (stage, config) => {
  const { html, svg, set, softmax, dot, number, choose, status, bar, draggable } = lamplight;
  const UNIT = 42, REACH = 4, END = 168; /* pixels, entries, pixels */
  const SPOKES = [[0, -1], [-0.866, 0.5], [0.866, 0.5]], ENTRIES = [0, 1, 2];
  const WAYS = ["one vector", "a query and a key"], still = matchMedia("(prefers-reduced-motion)");
  const { axes, sentences, W_query, W_key, shared } = config;
  const names = sentences.map((words) => words.map(([word]) => word).join(" "));
  let at, way = WAYS[0], words, query, parts, from, to, began;
  const senses = (word) => word.slice(1, 4);
  const times = ([, ...v], W) => (way === WAYS[0] ? v.slice(0, shared) : ENTRIES.map((c) => dot(v, W.map((row) => row[c]))));
  const point = (v) => [0, 1].map((k) => UNIT * dot(v, SPOKES.map((spoke) => spoke[k])));
  const told = (v, digits) => `[${v.map((x) => number(x, digits ?? (x % 1 ? 2 : 0))).join(", ")}]`;
  /* Every place of the plane is one vector whose smallest entry is that of the word at first. */
  const place = (i, v) => {
    const low = Math.min(...senses(sentences[at][i])), least = Math.min(...v);
    words[i].splice(1, 3, ...v.map((x) => low + Math.min(REACH, Math.round(2 * (x - least)) / 2)));
    draw();
  };
  const ask = (i) => { query = i; draw(); };

  const beams = svg("g", { fill: "none", style: "stroke:var(--lamp)", opacity: 0.6 }), dots = svg("g");
  const trail = svg("line", { stroke: "currentColor", "stroke-dasharray": "3 4" });
  const moved = svg("circle", { r: 8, style: "fill:var(--lamp)" });
  /* In the corner, because beside the dot it would lie on the trail or on a beam. */
  const legend = svg("text", { x: -158, y: -177, style: "fill:var(--lamp)" }, "● context vector");
  const plane = svg("svg", {
    viewBox: "-158 -194 316 322", role: "group",
    "aria-label": "Words on a plane", style: "flex:2 1 15rem;min-width:0;max-width:25rem;user-select:none",
  }, ...SPOKES.flatMap(([x, y], k) => [
    svg("path", { d: `M0 0L${x * END} ${y * END}`, stroke: "#8888" }),
    svg("text", { x: x * END, y: y * END + (k ? 40 : -9), "text-anchor": ["middle", "start", "end"][k] }, axes[k]),
  ]), legend, beams, trail, dots, moved);
  const body = html("tbody"), said = status();
  const table = html("table", { class: "grow" }, html("thead", {}, html("tr", {},
    ...["query", "", "score", "weight"].map((name) => html("th", { scope: "col" }, name)))), body);
  const open = (name) => {
    at = names.indexOf(name);
    words = sentences[at].map((word) => [...word]);
    parts = words.map(([word, ...v], i) => {
      const pick = html("input", { type: "radio", name: "query", onchange: () => ask(i) });
      const row = html("tr", {}, html("th", { scope: "row" }, html("label", {}, pick, " ", word)),
        html("td", { style: "min-width:7em" }), html("td"), html("td"));
      const mark = svg("circle", { r: 7, stroke: "currentColor" }), label = svg("text", {}, word);
      const group = (v[0] || v[1] || v[2]) && draggable(svg("g", {}, mark, label), word, {
        move: (dx, dy) => place(i, senses(words[i]).map((x, k) => x + [dy, dx < 0, dx > 0][k] / 2)),
        drag: ({ x, y }) => place(i, SPOKES.map((spoke) => dot(spoke, [x, y]) / UNIT / 1.5)),
        enter: () => ask(i),
      });
      return { pick, row, mark, label, group };
    });
    body.replaceChildren(...parts.map(({ row }) => row));
    dots.replaceChildren(...parts.flatMap(({ group }) => group || []));
    ask(words.findIndex(([word]) => word === config.query));
  };

  const glide = (now) => {
    const left = still.matches ? 0 : Math.max(0, 1 - (now - began) / 600) ** 3;
    const [x, y] = moved.at = to.map((x, k) => x + (from[k] - x) * left);
    set(trail, { x2: x, y2: y });
    set(moved, { cx: x, cy: y });
    if (left) requestAnimationFrame(glide);
  };
  const draw = () => {
    const vectors = words.map(senses), asks = vectors[query], [x0, y0] = point(asks);
    const sought = times(words[query], W_query), keys = words.map((word) => times(word, W_key)), scores = keys.map((key) => dot(sought, key));
    const weights = softmax(scores), context = ENTRIES.map((k) => dot(weights, vectors.map((v) => v[k])));
    table.rows[0].cells[1].textContent = way.split(" ").pop();
    beams.replaceChildren();
    parts.forEach(({ pick, row, mark, label, group }, i) => {
      const [x, y] = point(vectors[i]), bend = (y < y0 ? i < query : x > x0) ? 0.22 : -0.22, thick = { "stroke-width": 14 * weights[i] };
      /* Beams keep clear of the labels. */
      if (i === query) beams.append(svg("circle", { cx: x, cy: y, r: 10 + 7 * weights[i], ...thick }));
      else if (group) beams.append(svg("path", {
        d: `M${x0} ${y0}Q${(x0 + x) / 2 + bend * (y - y0)} ${(y0 + y) / 2 - bend * (x - x0)} ${x} ${y}`, ...thick }));
      set(mark, { cx: x, cy: y, fill: "currentColor", "fill-opacity": +(i !== query) });
      /* To the right of a mark of the upper half, and below one of the lower half. */
      set(label, y > 9 ? { x, y: y + 22, "text-anchor": "middle" } : { x: x + 16, y: y + (i === query ? -12 : 5), "text-anchor": "start" });
      if (group) set(group, { "aria-valuenow": vectors[i][0],
        "aria-valuetext": `${told(vectors[i])}, weight ${number(weights[i])}` });
      row.className = i === query ? "on" : "";
      pick.checked = i === query;
      row.cells[1].textContent = told(keys[i]);
      row.cells[2].textContent = number(scores[i]);
      row.cells[3].replaceChildren(bar(weights[i]), number(weights[i], 3));
    });
    const most = Math.max(...context);
    set(trail, { x1: x0, y1: y0 });
    [from, to, began] = [moved.at ?? [x0, y0], point(context), performance.now()];
    glide(began);
    said.textContent = `“${words[query][0]}” asks with ${told(sought)}, gives itself ${number(weights[query])} and collects `
      + told(context, 2) + (most > Math.min(...context) + 0.05 ? `, toward ${axes.filter((_, k) => context[k] > most - 1e-9).join(" and ")}.` : ".");
  };
  stage.append(html("div", { class: "row" }, choose("Sentence", names, names[0], open).element,
    W_query ? choose("Vectors", WAYS, way, (name) => { way = name; draw(); }).element : ""),
    html("div", { class: "row", style: "margin-top:.6rem" }, plane, table), said);
  open(names[0]);
});
