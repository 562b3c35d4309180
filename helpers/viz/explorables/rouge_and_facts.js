/* Lecture 11: tick sentences or edit the summary; ROUGE and the facts follow as one types.
   config: {sentences: [sentence, …], reference: text, facts: {sort: right word, …},
   words: [every word that can be a fact], tries: {name: summary, …}} */
lamplight.explorable("rouge_and_facts", (stage, { sentences, reference, facts, words, tries }) => {
  const { html, number, tick, button, status, bar } = lamplight;
  const right = Object.values(facts), known = new Set(words);
  const text = sentences.join(" ");
  /* As the library rouge-score cuts a text: letters and digits, lower case. */
  const cut = (s) => s.toLowerCase().split(/[^a-z0-9]+/).filter(Boolean);
  const f1 = (shared, a, b) => (shared ? (2 * shared) / (a + b) : 0);
  const grams = (list, n) => list.slice(0, Math.max(0, list.length - n + 1)).map((_, i) => list.slice(i, i + n).join(" "));
  const rouge = (list, n) => {
    const a = grams(list, n), b = grams(cut(reference), n), left = [...b];
    let shared = 0;
    for (const gram of a) {
      const at = left.indexOf(gram);
      if (at >= 0) { left.splice(at, 1); shared += 1; }
    }
    return f1(shared, a.length, b.length);
  };
  const rougeL = (a) => {
    const b = cut(reference);
    let row = Array(b.length + 1).fill(0);
    for (const word of a) {
      const next = [0];
      b.forEach((other, j) => next.push(word === other ? row[j] + 1 : Math.max(row[j + 1], next[j])));
      row = next;
    }
    return f1(row[b.length], a.length, b.length);
  };

  const area = html("textarea", { rows: 3, spellcheck: "false", "aria-label": "Your summary", oninput: () => draw(),
    style: "background:none;border:1px solid #8888;border-radius:.3rem;color:inherit;font:inherit;padding:.3rem .5rem;width:100%" });
  const ticks = sentences.map((sentence) => tick(sentence, false, () => {
    area.value = sentences.filter((_, i) => ticks[i].input.checked).join(" ");
    draw();
  }));
  const put = (summary) => { ticks.forEach((t) => { t.input.checked = false; }); area.value = summary; draw(); };
  const scores = ["ROUGE-1", "ROUGE-2", "ROUGE-L"].map((name) =>
    html("tr", {}, html("th", { scope: "row" }, name), html("td")));
  const sorts = ["kept", "lost", "strayed", "invented"].map((name) =>
    html("tr", {}, html("th", { scope: "row" }, name), html("td"), html("td", { style: "white-space:normal" })));
  const table = (caption, rows) => html("table", { class: "grow", "aria-label": caption }, html("tbody", {}, ...rows));
  const said = status(), record = html("p", { style: "margin:.2rem 0 0" });
  let top = 0;
  const box = (label, ...children) => html("fieldset", { style: "border:0;margin:0;padding:0" },
    html("legend", { style: "float:none;font-size:1rem;margin:0;padding:0" }, label), ...children);
  const column = html("div", { style: "display:flex;flex-direction:column" }, ...ticks.map((t) => t.element));
  stage.append(
    box("The text. Tick sentences, and they become the summary:", column),
    html("div", { class: "row", style: "margin:.6rem 0" }, ...Object.entries(tries).map(([name, summary]) =>
      button(name, () => put(summary)))),
    area, html("p", { style: "margin:.2rem 0 0" }, "Reference: ", html("em", {}, reference)),
    html("div", { class: "row", style: "margin-top:.6rem" }, table("Scores", scores), table("Facts of the news", sorts)),
    said, record);

  const draw = () => {
    const list = cut(area.value), there = new Set(cut(text));
    const values = [rouge(list, 1), rouge(list, 2), rougeL(list)];
    const told = [...new Set(list)].filter((word) => known.has(word));
    const found = [
      right.filter((w) => told.includes(w)), right.filter((w) => !told.includes(w)),
      told.filter((w) => there.has(w) && !right.includes(w)), told.filter((w) => !there.has(w)),
    ];
    values.forEach((v, i) => scores[i].cells[1].replaceChildren(bar(v, 100), number(v)));
    found.forEach((list, i) => {
      sorts[i].cells[1].textContent = list.length;
      sorts[i].cells[2].textContent = list.join(", ");
    });
    const [kept, , strayed, invented] = found.map((list) => list.length), other = strayed + invented;
    if (other && values[0] > top) top = values[0];
    said.textContent = `ROUGE-1 is ${number(values[0])}; ${kept} of ${right.length} facts are kept, `
      + (other ? `and ${other} ${other > 1 ? "do" : "does"} not belong to the news.` : "and no other fact is there.");
    record.textContent = top ? `Highest ROUGE-1 so far with a fact that is not the news: ${number(top)}.` : "";
  };
  put(Object.values(tries)[0] ?? "");
});
