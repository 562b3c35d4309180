/* Lectures 7 and 8: temperature, top-k and top-p on one distribution, and a hundred samples from it.
   config: {after: {text: {words: [word, …], logits: [logit, …]}, …}, unit: "word" or another, only:
   whether only the temperature can be set}. The largest logit comes first, and all texts have the
   same number of words; with one text there is nothing to choose. */
lamplight.explorable("sampling", (stage, { after, unit = "word", only = false }) => {
  const { html, softmax, number, slider, button, choose, status, random } = lamplight;
  const texts = Object.keys(after);
  let { words, logits } = after[texts[0]];
  const n = words.length;
  const state = { temperature: 1, k: n, p: 1 };
  let counts = null, seed = 0;
  const probabilities = () => {
    const full = state.temperature ? softmax(logits.map((l) => l / state.temperature))
      : logits.map((_, i) => +(i === 0));
    let before = 0;
    const kept = full.map((share, i) => {
      const keep = i < state.k && (before < state.p || state.p === 1);
      before += share;
      return keep ? share : 0;
    });
    const total = kept.reduce((a, b) => a + b, 0);
    return kept.map((share) => share / total);
  };
  // As wide as the number beside it allows, on a phone too.
  const bar = (share) => html("i", { class: "bar", style: `width:calc(${share} * (100% - 3.2rem))` });
  const change = (name) => (value) => { state[name] = value; counts = null; draw(); };
  const sample = () => {
    const shares = probabilities(), next = random(seed += 1);
    counts = words.map(() => 0);
    for (let i = 0; i < 100; i += 1) {
      let left = next(), w = 0;
      while (w < n - 1 && (left -= shares[w]) >= 0) w += 1;
      counts[w] += 1;
    }
    draw();
  };
  const sliders = [
    slider("temperature", { min: 0, max: 3, step: 0.1, value: 1, format: (v) => number(v, 1) }, change("temperature")),
    slider("top-k", { min: 1, max: n, value: n, format: (v) => (v === n ? "all" : String(v)) }, change("k")),
    slider("top-p", { min: 0.05, max: 1, step: 0.05, value: 1, format: (v) => number(v) }, change("p")),
  ];
  const rows = words.map(() => html("tr", {}, html("th", { scope: "row" }), html("td"), html("td")));
  const said = status();
  const read = (text) => { ({ words, logits } = after[text]); counts = null; draw(); };
  if (texts.length > 1) stage.append(choose("Text", texts, texts[0], read).element);
  stage.append(
    ...sliders.slice(0, only ? 1 : 3).map((s) => s.element),
    html("table", { style: "max-width:24rem;width:100%" }, html("thead", {}, html("tr", {},
      ...[`next ${unit}`, "probability", "samples"].map((name, i) =>
        html("th", { scope: "col", style: i === 1 ? "width:100%" : "" }, name)))), html("tbody", {}, ...rows)),
    html("div", { class: "row" }, button("Sample 100", sample), button("Start again", () => {
      Object.assign(state, { temperature: 1, k: n, p: 1 });
      [1, n, 1].forEach((value, i) => sliders[i].set(value));
      counts = null; draw();
    })), said);
  const draw = () => {
    const shares = probabilities();
    rows.forEach((row, i) => {
      row.cells[0].textContent = words[i];
      row.cells[1].replaceChildren(bar(shares[i]), number(shares[i], 3));
      row.cells[2].textContent = counts ? counts[i] : "–";
    });
    const left = shares.filter((share) => share > 0).length;
    const nats = shares.reduce((sum, q) => sum - (q > 0 ? q * Math.log(q) : 0), 0);
    said.textContent = left === 1 ? `Only “${words[0]}” is left: this is greedy decoding.`
      : only ? `The likeliest ${unit}, “${words[0]}”, has probability ${number(shares[0])}.`
      : `${left} of ${n} ${unit}s are possible; the entropy is ${number(nats)} nats, the perplexity ${number(Math.exp(nats))}.`;
  };
  draw();
});
