/* Lecture 9: a decoder writes one token after the other, in four steps each: its state asks, it
   attends to the source, the context is the weighted average, the output is a distribution.
   config: {unit: "word" or "letter", examples: [{name, source: [word, …], steps: [{look: [weight,
   …], next: [[probability, Latin, gloss, Kannada], …]}, …]}, …]}; `look` is the attention to the
   source, `next` has the likeliest tokens. Words are shown by their gloss, with the Kannada below.
   Of letters, gloss and Kannada are the name so far. `open` is the step on which the picture opens,
   if not one in the middle; *Play* then begins with the first. */
lamplight.explorable("decoder_steps", (stage, { unit, open, examples }) => {
  const { html, svg, set, number, button, choose, slider, status, bar } = lamplight;
  const MOVES = matchMedia("(prefers-reduced-motion)").matches ? "" : "transition:all .4s;";
  const HUES = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#888888"];
  const words = unit === "word", Unit = words ? "Token" : "Letter", HIGH = words ? 46 : 36;
  const LEFT = 104, BAR = 158, WIDE = 72, TEXT = 240;
  const color = (k) => HUES[k % HUES.length];
  let source, steps, done, opened, lines, boxes, weights, timer = 0;  // `done`: steps so far, of all tokens
  const last = () => 4 * steps.length, rows = () => Math.max(source.length, steps.length);
  const mid = (i, n) => 56 + HIGH * (i + (rows() - n) / 2);
  const from = (k) => mid(k, source.length), to = (t) => mid(t, steps.length);
  const text = (x, y, more, ...parts) => svg("text", { x, y, ...more }, ...parts);
  const meant = ([, latin, gloss]) => (words && gloss) || latin;
  const soFar = (n) => (words ? steps.slice(0, n).map(({ next }) => meant(next[0])).join(" · ")
    : n && steps[n - 1].next[0][2]) || "…";
  const mix = ({ look }) => look.map((w, k) => [w, source[k]]).filter(([w]) => w >= 0.05)
    .sort((a, b) => b[0] - a[0]).map(([w, word]) => `${number(w)} · ${word}`).join(" + ");

  const chart = svg("svg", { role: "img", style: "max-width:28rem" }), written = svg("g");
  const said = status(), list = html("table", { style: "font-size:.8em" }), grows = html("b");
  said.style.minHeight = "3.2em";  // so that the picture stays where it is
  /* The source and its lines stay, so that weights move from one token to the next. */
  const begin = (example, at) => {
    ({ source, steps } = example);
    opened = done = at ?? last() / 2 - (last() / 2) % 4 + 2;
    token.input.max = steps.length;
    lines = source.map(() => svg("path"));
    boxes = source.map((_, k) => svg("rect", { x: 2, y: from(k) - 15, width: LEFT - 2, height: 30, rx: 5 }));
    weights = source.map((_, k) => text(LEFT - 8, from(k) + 5, { "text-anchor": "end", "font-weight": 700 }));
    set(chart, { viewBox: `0 0 400 ${50 + HIGH * rows()}` });
    chart.replaceChildren(text(2, 14, {}, "source"), text(BAR, 14, {}, "context"),
      text(TEXT, 14, {}, words ? "output in English" : "output"), ...lines, ...boxes, ...weights,
      ...source.map((word, k) => text(10, from(k) + 5, {}, word)), written);
    draw();
  };
  const drawToken = ({ look, next: [best] }, t, phase) => {
    const y = to(t), [, latin, gloss, kannada] = best;
    const part = (x, w, style) => svg("rect", { x, y: y - 8, width: WIDE * w, height: 16, style });
    let x = BAR;
    return [text(BAR - 20, y + 5, {}, "?"), part(BAR, 1, "fill:none;stroke:#888"),
      ...(phase > 2 ? look : []).map((w, k) => part((x += WIDE * w) - WIDE * w, w, `fill:${color(k)}`)),
      ...(phase > 3 ? [text(TEXT, y - 2, { "font-weight": 700 }, meant(best)),
        text(TEXT, y + 14, { opacity: 0.8 }, gloss && (words ? latin : gloss), " ", svg("tspan", { lang: "kn" }, kannada))] : [])];
  };
  const tell = (t, phase) => {
    const now = steps[t], [best] = now.next, [p, latin, gloss] = best;
    return [
      `Which source ${unit}s does it need now? Guess.`,
      `It attends to ${mix(now)}.`,
      `It averages the ${unit}s' values by these weights.`,
      `${latin === "−a" ? "The sign that removes the a" : `“${meant(best)}”`}${words && gloss ? ` (${latin})` : ""}, probability ${number(p)}.`,
    ][phase - 1];
  };
  const draw = () => {
    const t = Math.floor((done - 1) / 4), phase = done - 4 * t, { look, next } = steps[t];
    look.forEach((weight, k) => {
      const w = phase > 1 ? weight : 0;
      set(lines[k], {
        d: `M${LEFT} ${from(k)}L${BAR - 26} ${to(t)}`,
        style: MOVES + (phase > 1 ? `stroke:${color(k)};stroke-width:${9 * w}` : "stroke:#888;stroke-dasharray:3 4"),
      });
      set(boxes[k], { style: `${MOVES}fill:${color(k)};fill-opacity:${0.45 * w};stroke:${color(k)};stroke-width:2` });
      weights[k].textContent = phase > 1 ? number(w) : "";
    });
    written.replaceChildren(...steps.slice(0, t + 1).flatMap((each, i) => drawToken(each, i, i < t ? 4 : phase)));
    said.textContent = `${Unit} ${t + 1}, ${["ask", "attend", "context", "output"][phase - 1]}. ${tell(t, phase)}`;
    grows.textContent = soFar(t + (phase > 3));
    list.replaceChildren(...(phase > 3 ? next : []).map((each) => html("tr", {}, html("th", { scope: "row" }, meant(each)),
      html("td", {}, bar(each[0], 30), number(each[0])))));
    set(chart, { "aria-label": `Source: ${source.join(" ")}. Written so far: ${grows.textContent}` });
    token.set(t + 1);
    back.disabled = done === 1;
    step.disabled = skip.disabled = done === last();
    play.textContent = timer ? "Pause" : "Play";
  };
  const pause = () => { clearInterval(timer); timer = 0; };
  const go = (to) => () => { pause(); done = Math.min(last(), to()); draw(); };
  const play = button("Play", () => {
    if (timer) return go(() => done)();
    if (done === last() || done === opened) done = 0;
    const tick = () => { if (++done === last()) pause(); draw(); };
    timer = setInterval(tick, 1500);
    tick();
  });
  const back = button("Back", go(() => done - 1)), step = button("Next step", go(() => done + 1));
  const skip = button(`Next ${Unit.toLowerCase()}`, go(() => done - done % 4 + 4));
  const token = slider(Unit, { min: 1, max: 1, value: 1 }, (t) => go(() => 4 * t)());
  const names = choose("Example", examples.map((each) => each.name), examples[0].name, (name) => {
    pause();
    begin(examples.find((each) => each.name === name));
  }), row = (...parts) => html("div", { class: "row" }, ...parts), tight = { style: "gap:.4rem;margin:.4rem 0;font-size:.88em" };
  stage.append(set(names.element, tight), set(row(play, back, step, skip), tight), token.element, html("p", {}, "Written so far: ", grows), said,
    row(html("div", { class: "grow" }, chart), list));
  begin(examples[0], open);
});
