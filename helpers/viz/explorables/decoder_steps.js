/* Lecture 9: a decoder writes one token after the other, in four steps each: its state asks, it
   attends to the source, the context is the weighted average, the output is a distribution.
   config: {unit: "word" or "letter", examples: [{name, source: [word, …], steps: [{look: [weight,
   …], next: [[probability, Latin, gloss, Kannada], …]}, …]}, …]}; `look` is the attention to the
   source, `next` has the likeliest tokens. Of letters, gloss and Kannada are the name so far. `open`
   is the step on which the picture opens, if not the second; *Play* then begins with the first. */
lamplight.explorable("decoder_steps", (stage, { unit, open, examples }) => {
  const { html, svg, set, number, button, choose, status, bar } = lamplight;
  const HUES = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#888888"];
  const HIGH = unit === "word" ? 46 : 34, LEFT = 78, BAR = 152, WIDE = 72, TEXT = 236;
  const PHASES = ["1. ask", "2. attend", "3. context", "4. output"], color = (k) => HUES[k % HUES.length];
  let { source, steps } = examples[0];
  let done = open ?? 2, timer = 0;  // steps so far, of all tokens: the chart opens on attention weights
  const last = () => 4 * steps.length, rows = () => Math.max(source.length, steps.length);
  const mid = (i, n) => 44 + HIGH * (i + (rows() - n) / 2) + 12;
  const from = (k) => mid(k, source.length), to = (t) => mid(t, steps.length);
  const written = (t) => steps[t].next[0];
  const mix = (look) => look.map((w, k) => [w, source[k]]).filter(([w]) => w >= 0.05)
    .sort((a, b) => b[0] - a[0]).map(([w, word]) => `${number(w)} · ${word}`).join(" + ");

  const chart = svg("svg", { role: "img", style: "max-width:28rem" });
  const said = status(), list = html("table");
  const drawToken = (t, phase) => {
    const newest = t === Math.floor((done - 1) / 4), y = to(t), { look, next } = steps[t];
    const parts = [svg("text", { x: BAR - 16, y: y + 5, "text-anchor": "middle", "font-weight": 700 }, "?")];
    source.forEach((_, k) => {
      if (newest) parts.push(svg("path", {
        d: `M${LEFT} ${from(k)}L${BAR - 24} ${y}`,
        style: phase > 1 ? `stroke:${color(k)};stroke-width:${9 * look[k]}` : "stroke:#888;stroke-dasharray:3 4",
      }));
    });
    if (phase > 2) {
      let x = BAR;
      look.forEach((w, k) => {
        parts.push(svg("rect", { x, y: y - 8, width: WIDE * w, height: 16, style: `fill:${color(k)}` }));
        x += WIDE * w;
      });
    }
    parts.push(svg("rect", { x: BAR, y: y - 8, width: WIDE, height: 16, style: "fill:none;stroke:#888" }));
    if (phase > 3) {
      const [, latin, gloss, kannada] = next[0];
      parts.push(
        svg("text", { x: TEXT, y: y - 2 }, svg("tspan", { "font-weight": 700 }, latin), " ", svg("tspan", { lang: "kn" }, kannada)),
        svg("text", { x: TEXT, y: y + 15 }, gloss));
    }
    return parts;
  };
  const tell = (t, phase) => {
    const { look, next: [[p, latin, gloss]] } = steps[t], words = unit === "word";
    const before = words ? steps.slice(0, t).map((_, i) => written(i)[1]).join(" ") : t && written(t - 1)[2];
    const output = latin === "−a" ? "the sign that removes the a" : `“${latin}”`;
    const meaning = words && gloss ? `, ${gloss},` : "";
    const after = t + 1 === steps.length ? ` The ${words ? "translation" : "name"} is finished.`
      : words ? "" : ` Written so far: “${gloss}”.`;
    return [
      `The decoder has written ${before ? `“${before}”` : "nothing yet"}. Its state asks: which source ${unit}s do I need now?`,
      `It attends to the source: ${mix(look)}.`,
      `The context is the weighted average of the encoder's outputs: ${mix(look)}.`,
      `Output: ${output}${meaning} with probability ${number(p)}.${after}`,
    ][phase - 1];
  };
  const draw = () => {
    const t = Math.floor((done - 1) / 4), phase = done - 4 * t;
    set(chart, { viewBox: `0 0 400 ${50 + HIGH * rows()}` });
    chart.replaceChildren(
      ...[[2, "source"], [BAR, "context"], [TEXT, "output"]].map(([x, text]) => svg("text", { x, y: 14, opacity: 0.8 }, text)),
      ...source.flatMap((word, k) => [
        svg("rect", { x: 2, y: from(k) - 14, width: LEFT - 2, height: 28, rx: 5, style: `fill:none;stroke:${color(k)};stroke-width:2.5` }),
        svg("text", { x: LEFT / 2 + 1, y: from(k) + 5, "text-anchor": "middle" }, word)]),
      ...steps.slice(0, t + 1).flatMap((_, i) => drawToken(i, i < t ? 4 : phase)));
    phases.forEach((each, i) => each.setAttribute("aria-pressed", i + 1 === phase));
    said.textContent = `${unit === "word" ? "Token" : "Letter"} ${t + 1}, ${PHASES[phase - 1].slice(3)}. ${tell(t, phase)}`;
    list.replaceChildren(...(phase < 4 ? [] : steps[t].next.map(([p, latin, gloss]) => html("tr", {},
      html("th", { scope: "row" }, latin), html("td", {}, gloss), html("td", {}, bar(p, 30), number(p))))));
    set(chart, { "aria-label": `Source ${source.join(" ")}. Written so far: ${
      steps.slice(0, t + (phase === 4)).map((_, i) => `${written(i)[1]} from ${mix(steps[i].look)}`).join("; ") || "nothing"}.` });
    back.disabled = done === 1;
    step.disabled = token.disabled = done === last();
    play.textContent = timer ? "Pause" : "Play";
  };
  const pause = () => { clearInterval(timer); timer = 0; };
  const go = (to) => () => { pause(); done = Math.max(1, Math.min(last(), to())); draw(); };
  const play = button("Play", () => {
    if (timer) { pause(); draw(); return; }
    if (done === last() || done === open) done = 0;
    const tick = () => { if (++done === last()) pause(); draw(); };
    timer = setInterval(tick, 1500);
    tick();
  });
  const back = button("Start again", go(() => 1)), step = button("Next step", go(() => done + 1));
  const token = button(unit === "word" ? "Next token" : "Next letter", go(() => done - done % 4 + 4));
  const phases = PHASES.map((name, i) => button(name, go(() => done - (done - 1) % 4 + i)));
  const names = choose("Name", examples.map((each) => each.name), examples[0].name, (name) => {
    pause();
    ({ source, steps } = examples.find((each) => each.name === name));
    done = 2;
    draw();
  });
  set(names.element, { style: "gap:.5rem;margin-bottom:.6rem" });
  if (examples.length > 1) stage.append(names.element);
  stage.append(html("div", { class: "row", style: "gap:.5rem" }, play, step, token, back),
    html("div", { role: "group", "aria-label": "Step", class: "row", style: "margin:.6rem 0" }, ...phases), said,
    html("div", { class: "row" }, html("div", { class: "grow" }, chart), html("div", { style: "flex:0 0 16rem;font-size:.75em" }, list)));
  draw();
});
