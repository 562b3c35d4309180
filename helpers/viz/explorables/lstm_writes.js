/* Lecture 1: an LSTM writes, one character after the other. Stored texts are shown until the reader
   asks for new ones; then the script at `source`, a part of the site, brings the weights.
   config: {source, characters, begin, temperature, stages: [[steps of training, text], …] or absent,
   ablate: [[name, null or [cell, value], stored text], …] or absent, n: characters to write}; in
   the stored texts ↵ is a line break */
lamplight.explorable("lstm_writes", (stage, config) => {
  const { html, softmax, number, slider, button, choose, status, random } = lamplight;
  const { source, characters, n, stages, ablate } = config;
  let temperature = config.temperature, ablated = null, seed = 0, next, text, state, timer, from;
  const page = html("pre", { style: "background:none;border:0;box-shadow:none;color:inherit;font-size:.92rem;line-height:1.5;margin:.6rem 0;min-height:9lh;overflow-wrap:anywhere;padding:0;white-space:pre-wrap" });
  const chances = html("p", { style: "font-family:monospace;min-height:1.6em;margin:0" });
  const said = status();
  const visible = (c) => ({ "\n": "↵", " ": "␣" })[c] ?? c;
  const show = (written) => { page.textContent = written.replaceAll("\n", ablate ? "↵\n" : "\n"); };
  const stored = (written) => show(written.replaceAll("↵", "\n"));

  const read = (c) => { state = lamplightLSTM.step(state, 1 + characters.indexOf(c), ablated); text += c; };
  const start = () => {
    steps?.pick(names.at(-1), true);
    const begin = box ? box.value : config.begin;
    text = "", state = lamplightLSTM.start(), next = random(seed += 1);
    for (const c of begin.endsWith(":") ? `${begin}\n` : begin || "\n") if (characters.includes(c)) read(c);
    from = text.length;
  };
  /* The shares of all characters, without the pad token. */
  const shares = () => {
    const logits = lamplightLSTM.logits(state.h).slice(1), top = Math.max(...logits);
    return temperature ? softmax(logits.map((l) => l / temperature)) : logits.map((l) => +(l === top));
  };
  const write = () => {
    const p = shares();
    let left = next(), k = 0;
    while (k < p.length - 1 && (left -= p[k]) >= 0) k += 1;
    read(characters[k]);
    return [p, k];
  };
  const foreseen = () => {
    const best = shares().map((p, k) => [p, k]).sort((a, b) => b[0] - a[0]).slice(0, 4);
    return `Next: ${best.map(([p, k]) => `${visible(characters[k])} ${number(p)}`).join(" · ")}`;
  };
  const lines = () => {
    const all = text.slice(from).split("\n").slice(0, -1);
    const long = all.filter((l) => l && !l.endsWith(":")).map((l) => l.length).sort((a, b) => a - b);
    const middle = long.length >> 1;
    return [long.length, long.length % 2 ? long[middle] : (long[middle - 1] + long[middle]) / 2];
  };
  const finish = () => {
    clearInterval(timer), timer = null, go.textContent = "Write";
    show(text);
    if (ablate) {
      const [count, median] = lines();
      said.textContent = `${n} characters: ${count || "no"} whole line${count === 1 ? "" : "s"} of verse`
        + (count ? `, median ${median} characters.` : ".");
    } else chances.textContent = foreseen(), said.textContent = `${text.length - from} characters, sampled at temperature ${number(temperature, 1)}.`;
  };
  const run = () => {
    if (timer) return finish();
    start(), go.textContent = "Stop", said.textContent = "";
    const some = () => {
      for (let k = 0; k < (ablate ? 6 : 1) && text.length - from < n; k += 1) write();
      show(text);
      if (!ablate) chances.textContent = foreseen();
      if (text.length - from >= n) finish();
    };
    if (!matchMedia("(prefers-reduced-motion: reduce)").matches) return void (timer = setInterval(some, 30));
    while (text.length - from < n) write();
    finish();
  };
  const one = () => {
    if (timer) finish();
    if (!state || text !== page.textContent) start();
    const [p, k] = write();
    show(text), chances.textContent = foreseen();
    said.textContent = `Sampled: ${visible(characters[k])}, which had probability ${number(p[k])}.`;
  };
  const load = (then) => () => {
    if (window.lamplightLSTM) return then();
    said.textContent = "Loading the weights …";
    document.head.append(Object.assign(document.createElement("script"), { src: source, onload: then,
      onerror: () => { said.textContent = "The weights are only on the course's site. Here, the function write under Deeper does the same."; } }));
  };
  const go = button("Write", load(run));

  const box = ablate ? null : html("input", { type: "text", maxlength: 60, size: 12, value: config.begin });
  const names = stages?.map(([count]) => `${count} steps`);
  let steps = null;
  const old = (name) => {
    clearInterval(timer), timer = state = null, go.textContent = "Write", chances.textContent = "";
    stored(stages[names.indexOf(name)][1]), said.textContent = `Written after ${name} of training.`;
  };
  if (ablate) {
    const pick = (name) => { ablated = ablate.find(([other]) => other === name)[1]; if (timer) finish(); load(run)(); };
    stage.append(choose("Ablated", ablate.map(([name]) => name), ablate[0][0], pick).element, page, go, said);
    stored(ablate[0][2]);
  } else {
    steps = choose("Training", names, names.at(-1), old);
    stage.append(steps.element, page, chances,
      html("label", { class: "slide" }, html("span", {}, "Begin with"), box),
      slider("Temperature", { min: 0, max: 1.5, step: 0.1, value: temperature, format: (v) => number(v, 1) }, (v) => { temperature = v; }).element,
      html("div", { class: "row" }, go, button("Next character", load(one))), said);
    old(names.at(-1));
  }
});
