/* Lecture 3: query, key and value of real words in one head of a language model.
   config: {sentences: [{words: the last one asks, the second is the subject, twin: the subject in the
            other number, scores: [query of word][keys][word], leads: [query of word][keys][values]}]};
   keys and values: the subject's own, exchanged with the last word's, or the twin's */
lamplight.explorable("word_roles", (stage, config) => {
  const { html, softmax, number, choose, button, bar, status } = lamplight;
  const { sentences } = config, said = status(), inside = html("div");
  const cells = (n, ...first) => html("tr", {}, ...first, ...Array.from({ length: n }, () => html("td")));

  const show = ({ words, twin, scores, leads }) => {
    const last = words.length - 1, [subject, noun] = [words[1], words[last]];
    const owners = ["its own", `exchanged with ${noun}`, `that of ${twin}`];
    let query = last, keys = 0, values = 0;
    const rows = words.map((word) => cells(4, html("th", { scope: "row" }, word)));
    const verbs = ["lie", "lies"].map((verb) => cells(1, html("th", { scope: "row" }, verb)));
    const roles = [
      [`Key of ${subject}`, owners, owners[0], (i) => { keys = i; }],
      [`Value of ${subject}`, owners, owners[0], (i) => { values = i; }],
      [`${noun} asks with the query of`, words, noun, (i) => { query = i; }],
    ].map(([label, options, start, put]) => {
      const made = choose(label, options, start, (picked) => { put(options.indexOf(picked)); draw(); });
      return { label, options, put, ...made };
    });
    const owner = (choice, i) => (!choice || (i !== 1 && (choice === 2 || i !== last)) ? words[i]
      : i === last ? subject : choice === 1 ? noun : twin);

    const draw = () => {
      const all = scores[query][keys], weights = softmax(all), lead = leads[query][keys][values];
      rows.forEach((row, i) => {
        const [, key, value, score, weight] = row.cells;
        [[key, keys], [value, values]].forEach(([cell, choice]) => {
          const whose = owner(choice, i);
          cell.replaceChildren(whose === words[i] ? whose : html("strong", {}, whose));
        });
        score.textContent = number(all[i], 1);
        weight.replaceChildren(bar(weights[i], 40), number(weights[i]));
      });
      const shares = softmax([lead, 0]), ratio = Math.exp(Math.abs(lead));
      verbs.forEach((row, i) => row.cells[1].replaceChildren(bar(shares[i], 70), number(shares[i])));
      const best = weights.indexOf(Math.max(...weights)), [more, less] = lead > 0 ? ["lie", "lies"] : ["lies", "lie"];
      said.textContent = `Most weight, ${number(weights[best])}, goes to ${words[best]}. `
        + `${more} is ${number(ratio, 1)} times as likely as ${less}.`;
    };
    inside.replaceChildren(
      html("p", { style: "margin:.5rem 0 .1rem" }, `Exchanged: ${subject} and ${noun} swap their keys or values. `
        + `That of ${twin} comes from the same sentence with ${twin} as its subject.`),
      ...roles.flatMap(({ label, element }) => [html("p", { style: "margin:.5rem 0 .1rem" }, label), element]),
      html("div", { class: "row", style: "margin:.8rem 0;column-gap:2.5rem" }, html("div", { class: "grow" }, html("table", {}, html("thead", {}, html("tr", {},
        ...["word", "key", "value", "score", "weight"].map((h) => html("th", { scope: "col" }, h)))),
        html("tbody", {}, ...rows))),
      html("div", { class: "grow" }, html("table", {}, html("thead", {}, html("tr", {}, ...["verb", "share of the two"].map(
        (h) => html("th", { scope: "col" }, h)))), html("tbody", {}, ...verbs)))),
      button("Everything as it was", () => {
        roles.forEach((role, i) => { role.pick(role.options[i < 2 ? 0 : last], true); role.put(i < 2 ? 0 : last); });
        draw();
      }));
    draw();
  };
  const names = sentences.map(({ words }) => `${words.join(" ")} …`);
  stage.append(choose("Sentence", names, names[0], (name) => show(sentences[names.indexOf(name)])).element, inside, said);
  show(sentences[0]);
});
