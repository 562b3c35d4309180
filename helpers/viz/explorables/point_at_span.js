/* Lecture 10: click where the answer starts and ends. What the reader makes of the question appears
   after that.
   config: {longest: most tokens of a span, examples: [{about, question, context, answers, start,
   end}]}. Tokens with `##` follow without a space. No answer: [""]. */
lamplight.explorable("point_at_span", (stage, { examples, longest }) => {
  const { html, set, softmax, number, choose, button, status } = lamplight;
  let one, words, first, last, open;
  const BLUE = "#0072b2";
  const bare = (text) => text.toLowerCase().replace(/[!-\/:-@[-`{-~]/g, "").split(/\s+/)
    .filter((w) => w && !/^(a|an|the)$/.test(w));
  const text = (a, b) => words.slice(a, b + 1).join(" ").replaceAll(" ##", "").replace(/^##/, "");
  const sum = (a, b) => one.start[a] + one.end[b];
  const f1 = (ours, wanted) => {
    if (!ours.length || !wanted.length) return +(ours.length === wanted.length);
    const left = [...wanted];
    const shared = ours.filter((w) => left.includes(w) && left.splice(left.indexOf(w), 1)).length;
    return (2 * shared) / (ours.length + wanted.length);
  };
  const marks = (said) => {
    const ours = bare(said), wanted = one.answers.map(bare);
    return `exact match ${+wanted.some((w) => w.join(" ") === ours.join(" "))}, `
      + `F1 ${number(Math.max(...wanted.map((w) => f1(ours, w))))}`;
  };
  const best = () => {
    let found = [0, 0];
    for (let a = 0; a < words.length; a += 1)
      for (let b = a; b < Math.min(words.length, a + longest); b += 1) if (sum(a, b) > sum(...found)) found = [a, b];
    return found;
  };

  const passage = html("div", { role: "group", "aria-label": "Passage", style: "line-height:1.1;margin:.7rem 0" });
  const questions = html("div", { style: "margin-top:.5rem" }), said = status();
  const change = (about) => {
    const some = examples.filter((e) => e.about === about), texts = some.map((e) => e.question);
    questions.replaceChildren(choose("Question", texts, texts[0], (t) => use(some[texts.indexOf(t)])).element);
    use(some[0]);
  };
  const abouts = [...new Set(examples.map((e) => e.about))];
  const use = (example) => {
    one = example; words = one.context.split(" "); first = last = null; open = false;
    const shares = [one.start, one.end].map(softmax);
    passage.replaceChildren(...words.map((word, i) => html("button", {
      type: "button", tabindex: i ? -1 : 0,
      style: "border-color:transparent;text-align:left;vertical-align:top;padding:.15rem .25rem"
        + (word.startsWith("##") ? ";padding-left:0;margin-left:-.3rem" : ""),
      onclick: () => {
        if (first === null || last !== null) { first = i; last = null; }
        else if (i >= first) last = i;
        draw(i < first);
      },
      onkeydown: (e) => {
        const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[e.key];
        if (!step) return;
        e.preventDefault();
        const next = passage.children[(i + step + words.length) % words.length];
        for (const b of passage.children) b.tabIndex = b === next ? 0 : -1;
        next.focus();
      },
    }, word.replace(/^##/, ""), ...shares.map((share, row) => html("i", { style: "height:.22em;margin-top:1px;"
      + `width:${2.4 * share[i]}em;background:${row ? BLUE : "var(--lamp)"}` })))));
    draw();
  };
  stage.append(choose("Passage about", abouts, abouts[0], change).element, questions, passage,
    html("div", {}, ...[["var(--lamp)", " start "], [BLUE, " end"]].flatMap(
      ([background, what]) => [html("i", { class: "bar", style: `width:1em;background:${background}` }), what])),
    html("div", { class: "row" }, button("There is no answer", () => { first = last = -1; draw(); }),
      button("Show the reader’s span", () => { [first, last] = best(); draw(); })), said);

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
    const [a, b] = best();
    const people = one.answers.join("") ? `People answered ${one.answers.map((t) => `“${t}”`).join(" or ")}.`
      : "This passage has no answer.";
    const reader = !open ? "" : first === a && last === b ? ` This is the reader’s best span. ${people}`
      : ` The reader’s best span, “${text(a, b)}”, scores ${number(sum(a, b), 1)}: ${marks(text(a, b))}. ${people}`;
    if (illegal) said.textContent = "Illegal: it ends before it starts.";
    else if (first === null) said.textContent = "Click the first word of the answer.";
    else if (last === null) said.textContent = `Starts at “${text(first, first)}”; now its last word.`;
    else if (first < 0) said.textContent = `“No answer”: ${marks("")}.${reader}`;
    else said.textContent = `“${text(first, last)}” scores ${number(one.start[first], 1)} + `
      + `${number(one.end[last], 1)} = ${number(sum(first, last), 1)}; ${marks(text(first, last))}.${reader}`;
  };
  change(abouts[0]);
});
