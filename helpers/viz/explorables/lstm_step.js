/* Lecture 1: an LSTM cell of one number reads three nouns, stage by stage. The drawing that stands in
   the notebook is given its numbers here.
   config: {nouns: [[singular, plural], …], plural: [positions], stage: 0, 1 or 2 at first,
   W, b: one number for each of i, f, g, o} */
lamplight.explorable("lstm_step", (stage, config, figure) => {
  const { html, number, button, choose, tick, status } = lamplight;
  const { nouns, W, b } = config;
  const STAGES = { "1. Forget": "forget", "2. Write": "write", "3. Show": "show" }, names = Object.keys(STAGES);
  const plural = new Set(config.plural), order = nouns.map((_, i) => `word ${i + 1}`);
  const picture = figure.querySelector(".still svg"), values = [...picture.querySelectorAll(".value")];
  const sigmoid = (z) => 1 / (1 + Math.exp(-z)), said = status();
  let at = 1, name = names[config.stage];
  const word = (i) => nouns[i][+plural.has(i)];
  const run = (last) => {
    let step, c = 0;
    for (let t = 0; t <= last; t++) {
      const [i, f, g, o] = W.map((w, k) => (k === 2 ? Math.tanh : sigmoid)(w * plural.has(t) + b[k]));
      step = { old: c, i, f, g, o, kept: f * c, added: i * g };
      c = step.c = step.kept + step.added;
      step.tanh = Math.tanh(c);
      step.h = o * step.tanh;
    }
    return step;
  };
  const words = choose("Word read", order, order[at], (chosen) => { at = order.indexOf(chosen); draw(); });
  const stages = choose("Stage", names, name, (chosen) => { name = chosen; draw(); });
  const next = button("Next", () => {
    const to = (names.indexOf(name) + 1) % names.length;
    if (!to) words.pick(order[at = (at + 1) % order.length], true);
    stages.pick(names[to]);
  });
  const ticks = nouns.map(([, many], i) => tick(many, plural.has(i), (on) => {
    on ? plural.add(i) : plural.delete(i);
    draw();
  }).element);
  stage.append(html("div", { class: "row" }, words.element),
    html("div", { class: "row", role: "group", "aria-label": "Plural nouns", style: "align-items:center;column-gap:.8rem" }, html("span", {}, "Plural:"), ...ticks),
    html("div", { class: "row" }, stages.element, next),
    html("div", { class: "drawing" }, picture), said);

  const draw = () => {
    const s = run(at), n = (value) => number(value);
    [...words.element.children].forEach((child, i) => { child.textContent = word(i); });
    [s.old, s.f, s.kept, s.i, s.g, s.added, s.c, s.tanh, s.o, s.h].forEach((value, k) => {
      values[k + 1].textContent = n(value);
    });
    values[0].textContent = word(at);
    for (const part of picture.querySelectorAll("[data-part]"))
      part.classList.toggle("lit", part.dataset.part === STAGES[name]);
    said.textContent = `“${word(at)}”: ` + {
      forget: `the forget gate is ${n(s.f)}, so ${n(s.f)} · ${n(s.old)} = ${n(s.kept)} of the old content stays.`,
      write: `the input gate is ${n(s.i)}, so ${n(s.i)} · ${n(s.g)} = ${n(s.added)} is added. The cell state is now ${n(s.c)}.`,
      show: `${n(s.o)} · tanh(${n(s.c)}) = ${n(s.h)} is the hidden state. It says ${s.c > 0 ? "plural" : "singular"}.`,
    }[STAGES[name]];
  };
  draw();
});
