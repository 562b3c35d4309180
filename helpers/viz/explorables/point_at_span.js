/* Lecture 10: click where the answer starts and ends; drag the threshold for "no answer". What the
   reader makes of the question appears after that.
   config: {examples: [{question, context, span, start, end}], margins: in tenths, right, answerable:
   a digit each} */
lamplight.explorable("point_at_span", (stage, { examples, margins, right, answerable }) => {
  const { html, svg, set, softmax, number, slider, choose, button, status } = lamplight;
  let one, words, first, last, open, threshold = 0;
  const texts = examples.map((e) => e.question);
  const bare = (text) => text.split(/[\s.]+/).filter((w) => w && !/^(a|an|the)$/.test(w));
  const text = (a, b) => (a ? words.slice(a, b + 1).join(" ") : "");
  const sum = (a, b) => one.start[a] + one.end[b];
  const f1 = (ours, wanted) => {
    if (!ours.length || !wanted.length) return +(ours.length === wanted.length);
    const left = [...wanted];
    const shared = ours.filter((w) => left.includes(w) && left.splice(left.indexOf(w), 1)).length;
    return (2 * shared) / (ours.length + wanted.length);
  };
  const best = () => {
    let found = [1, 1];
    for (let a = 1; a < words.length; a += 1)
      for (let b = a; b < words.length; b += 1) if (sum(a, b) > sum(...found)) found = [a, b];
    return found;
  };

  const passage = html("div", { role: "group", "aria-label": "Passage", style: "line-height:1.1;margin:.7rem 0" });
  const name = choose("Question", texts, texts[0], (t) => use(examples[texts.indexOf(t)]));
  const use = (example) => {
    one = example; words = one.context.split(" "); first = last = null; open = false;
    const shares = [one.start, one.end].map(softmax);
    passage.replaceChildren(...words.map((word, i) => html("button", {
      type: "button", tabindex: i ? -1 : 0,
      style: "border-color:transparent;padding:.15rem .25rem;text-align:left;vertical-align:top",
      onclick: () => {
        if (first === null || last !== null) { first = i; last = i ? null : 0; }
        else if (i >= first) last = i;
        draw(i && i < first);
      },
      onkeydown: (e) => {
        const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[e.key];
        if (!step) return;
        e.preventDefault();
        const next = passage.children[(i + step + words.length) % words.length];
        for (const b of passage.children) b.tabIndex = b === next ? 0 : -1;
        next.focus();
      },
    }, word, ...shares.map((share, row) => html("i", { style: "height:.22em;margin-top:1px;"
      + `width:${2.4 * share[i]}em;background:${row ? "#0072b2" : "var(--lamp)"}` })))));
    draw();
  };

  /* Margins of the questions: those with an answer upwards, those without downwards. */
  const W = 340, LOW = -24, HIGH = 20, BLUE = "#0072b2", ORANGE = "#e09020";
  const at = (m) => ((m - LOW) / (HIGH - LOW)) * W;
  const line = svg("line", { y1: 0, y2: 96, stroke: "currentColor", "stroke-width": 2 });
  const picture = svg("svg", { viewBox: `0 -18 ${W} 134`, style: `width:${W}px`, role: "img",
    "aria-label": "Margins: with an answer upwards, without downwards; line: threshold." });
  for (let bin = LOW; bin < HIGH; bin += 2) for (const has of [1, 0]) {
    const n = margins.filter((m, i) => +answerable[i] === has
      && 2 * Math.floor(Math.max(LOW, Math.min(HIGH - 1, m / 10)) / 2) === bin).length;
    const height = Math.min(46, (460 * n) / margins.length);
    picture.append(svg("rect", { x: at(bin), width: at(LOW + 2) - 1, height, y: has ? 48 - height : 48,
      fill: has ? BLUE : ORANGE }));
  }
  picture.append(line, svg("text", { y: -5 }, "blue: has an answer"),
    svg("text", { x: W, y: 112, "text-anchor": "end" }, "orange: has none"));
  const limit = slider("threshold", { min: LOW, max: HIGH, step: 0.5, value: 0, format: (v) => number(v, 1) },
    (v) => { threshold = v; draw(); });
  const scores = html("p", { style: "margin:.3rem 0" }), said = status();
  stage.append(name.element, passage, html("div", {}, ...[["var(--lamp)", " start "], [BLUE, " end"]].flatMap(
    ([background, what]) => [html("i", { class: "bar", style: `width:1em;background:${background}` }), what])), button("Show the reader’s span", () => { [first, last] = best(); draw(); }),
    html("div", { style: "margin:.8rem 0" }, picture), limit.element, scores, said);

  const exact = (has) => {
    const hits = margins.map((m, i) => [+answerable[i], +(m / 10 > threshold ? answerable[i] === "0" : right[i] === "1")])
      .filter(([h]) => has === undefined || h === has);
    return number(hits.reduce((n, [, hit]) => n + hit, 0) / hits.length);
  };
  const draw = (illegal) => {
    [...passage.children].forEach((word, i) => {
      const chosen = first !== null && i >= first && i <= (last ?? first);
      const grey = first !== null && last === null && i < first;
      set(word, { "aria-pressed": String(chosen), "aria-disabled": String(grey) });
      word.style.opacity = grey ? 0.45 : 1;
      word.style.borderColor = chosen ? "var(--lamp)" : "transparent";
    });
    open ||= last !== null;
    for (const bar of passage.querySelectorAll("i")) bar.style.display = open ? "block" : "none";
    const [a, b] = best(), none = sum(0, 0), margin = none - sum(a, b);
    const says = margin > threshold ? "says “no answer”" : `answers “${text(a, b)}”`;
    const wanted = bare(text(...one.span));
    set(line, { x1: at(threshold), x2: at(threshold) });
    scores.textContent = `Exact match on ${margins.length} questions: ${exact()} `
      + `(with an answer ${exact(1)}, without ${exact(0)}).`;
    const reader = !open ? "" : ` The reader’s best span scores ${number(sum(a, b), 1)}, “no answer” ${number(none, 1)}: `
      + `margin ${number(margin, 1)}, so it ${says}.`;
    if (illegal) said.textContent = "Illegal: it ends before it starts.";
    else if (first === null) said.textContent = `Click the first word of the answer.${reader}`;
    else if (last === null) said.textContent = `Starts at “${words[first]}”; now its last word.`;
    else {
      const ours = bare(text(first, last));
      said.textContent = `${first ? `“${text(first, last)}”` : "“No answer”"} scores ${number(one.start[first], 1)} + `
        + `${number(one.end[last], 1)} = ${number(sum(first, last), 1)}; exact match `
        + `${+(ours.join(" ") === wanted.join(" "))}, F1 ${number(f1(ours, wanted))}.${reader}`;
    }
  };
  use(examples[0]);
});
