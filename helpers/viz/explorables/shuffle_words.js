/* Lecture 6: shuffle the words; attention without weights, over vectors with or without a position.
   config: {words: [[word, x, y], …] (three)} */
lamplight.explorable("shuffle_words", (stage, { words }) => {
  const { html, softmax, dot, number, button, status } = lamplight;
  const orders = [[0, 1, 2], [2, 1, 0], [1, 2, 0], [0, 2, 1], [2, 0, 1], [1, 0, 2]];
  let order = 0;

  const attend = (vectors) => vectors.map((query) => {
    const weights = softmax(vectors.map((v) => dot(query, v)));
    return [0, 1].map((f) => dot(weights, vectors.map((v) => v[f])));
  });
  const outputs = (n) => {
    const bare = orders[n].map((w) => words[w].slice(1));
    const placed = bare.map(([x, y], t) => [x + Math.sin(t), y + Math.cos(t)]);
    const found = [attend(bare), attend(placed)], byWord = [];
    orders[n].forEach((w, t) => { byWord[w] = found.map((f) => f[t]); });
    return byWord;
  };
  const first = outputs(0);
  const body = html("tbody");
  const table = html("table", { class: "grow" }, html("thead", {}, html("tr", {},
    ...["word", "no positions", "with positions"].map((n) =>
      html("th", { scope: "col" }, n)))), body);
  const write = (v) => `(${number(v[0])}, ${number(v[1])})`;
  const showWords = () => {
    const now = outputs(order);
    body.replaceChildren(...orders[order].map((w) => html("tr", {},
      html("th", { scope: "row" }, words[w][0]), ...now[w].map((v) => html("td", {}, write(v))))));
    const changed = [0, 1].map((c) => now.filter((v, w) => write(v[c]) !== write(first[w][c])).length);
    return `“${orders[order].map((w) => words[w][0]).join(" ")}”: without positions ${changed[0]} of 3 `
      + `outputs changed, with positions ${changed[1]} of 3.`;
  };
  const said = status();
  stage.append(html("div", { class: "row" }, table, html("div", {}, button("Shuffle the words", () => {
    order = (order + 1) % orders.length;
    said.textContent = showWords();
  }))), said);
  showWords();
});
