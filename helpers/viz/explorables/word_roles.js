/* Lecture 3: query, key and value of real words in one head of a language model. Arcs are as thick as
   the weights; below each word is whose key and value it has.
   config: {sentences: [{words: the last one asks, the second is the subject, twin: the subject in the
            other number, scores: [query of word][keys][word], leads: [query of word][keys][values]}]};
   keys and values: the subject's own, exchanged with the last word's, or the twin's */
lamplight.explorable("word_roles", (stage, config) => {
  const { html, svg, set, softmax, number, choose, button, bar, status } = lamplight;
  const { sentences } = config, said = status(), inside = html("div");
  const LEFT = 78, STEP = 62, LINE = 112, ROWS = { key: 143, value: 171, score: 197, weight: 219 };
  const still = matchMedia("(prefers-reduced-motion)");
  const spaced = "margin:.5rem 0 .1rem", SIZE = "font-size:15px";

  const show = ({ words, twin, scores, leads }) => {
    const last = words.length - 1, [subject, noun] = [words[1], words[last]];
    const owners = ["its own", `exchanged with ${noun}`, `that of ${twin}`];
    let query = last, keys = 0, values = 0;
    const x = (i) => LEFT + i * STEP, end = x(last);
    const text = (i, y, name, said = "") => svg("text", { x: x(i), y, "text-anchor": "middle", class: name, style: SIZE }, said);
    const columns = words.map((word, i) => {
      const high = 18 + 17 * (last - i);
      const d = i === last ? `M${end - 9} 94C${end - 22} 66 ${end + 22} 66 ${end + 9} 94` : `M${end} 94C${end - 6} ${94 - high} ${x(i) + 6} ${94 - high} ${x(i)} 94`;
      const arc = svg("path", { d, fill: "none", style: `stroke:var(--lamp);${still.matches ? "" : "transition:stroke-width .5s"}`, opacity: 0.7 });
      const pills = ["key", "value"].map((name) => svg("rect", { x: x(i) - 29, y: ROWS[name] - 17, width: 58, height: 24, rx: 6, stroke: "#8888" }));
      const [key, value, score, weight] = Object.entries(ROWS).map(([name, y]) => text(i, y, name));
      return { arc, pills, key, value, score, weight, word: text(i, LINE, "word", word) };
    });
    const picture = svg("svg", { viewBox: "0 18 358 206", role: "img", style: "max-width:29rem;margin:.4rem 0" },
      ...columns.map(({ arc }) => arc), ...Object.entries(ROWS).map(([name, y]) => svg("text", { x: 0, y, opacity: 0.75, style: SIZE }, name)),
      ...columns.flatMap(({ word, pills, key, value, score, weight }) => [...pills, word, key, value, score, weight]));
    const verbs = ["lie", "lies"].map((verb) => html("tr", {}, html("th", { scope: "row" }, html("em", {}, verb)), html("td")));
    const em = (word) => html("em", {}, word);
    const roles = [
      [["Key of ", em(subject)], owners, owners[0], (i) => { keys = i; }],
      [["Value of ", em(subject)], owners, owners[0], (i) => { values = i; }],
      [[em(noun), " asks with the query of"], words, noun, (i) => { query = i; }],
    ].map(([parts, options, start, put]) => {
      const label = html("p", { style: spaced }, ...parts);
      const made = choose(label.textContent, options, start, (picked) => { put(options.indexOf(picked)); draw(); });
      return { label, options, put, ...made };
    });
    const owner = (choice, i) => (!choice || (i !== 1 && (choice === 2 || i !== last)) ? words[i]
      : i === last ? subject : choice === 1 ? noun : twin);

    const draw = () => {
      const all = scores[query][keys], weights = softmax(all), lead = leads[query][keys][values];
      columns.forEach((column, i) => {
        [["key", keys], ["value", values]].forEach(([name, choice], k) => {
          const whose = owner(choice, i), own = whose === words[i];
          column[name].textContent = whose;
          set(column[name], { "font-weight": own ? 400 : 700 });
          set(column.pills[k], { style: `fill:${own ? "none" : "#e0902033"}` });
        });
        column.score.textContent = number(all[i], 1);
        column.weight.textContent = number(weights[i]);
        column.arc.style.strokeWidth = 1 + 19 * weights[i];
      });
      set(picture, { "aria-label": `Weights of ${noun}: ${words.map((word, i) => `${word} ${number(weights[i])}`).join(", ")}` });
      const shares = softmax([lead, 0]), ratio = Math.exp(Math.abs(lead));
      verbs.forEach((row, i) => row.cells[1].replaceChildren(bar(shares[i], 140), number(shares[i])));
      const best = weights.indexOf(Math.max(...weights)), [more, less] = lead > 0 ? ["lie", "lies"] : ["lies", "lie"];
      said.replaceChildren(`Most weight, ${number(weights[best])}, goes to `, em(words[best]), ". ", em(more),
        ` is ${number(ratio, 1)} times as likely as `, em(less), ".");
    };
    inside.replaceChildren(picture,
      html("table", {}, html("thead", {}, html("tr", {}, html("th", { scope: "col" }, "next word"), html("th", { scope: "col" }, "share of the two"))),
        html("tbody", {}, ...verbs)), said,
      ...roles.flatMap(({ label, element }) => [label, element]),
      html("p", { style: spaced }, em(twin), " has replaced ", em(subject), " in a copy of the sentence; its key and value come from there."),
      button("Everything as it was", () => {
        roles.forEach((role, i) => { role.pick(role.options[i < 2 ? 0 : last], true); role.put(i < 2 ? 0 : last); });
        draw();
      }));
    draw();
  };
  const names = sentences.map(({ words }) => `${words.join(" ")} …`);
  stage.append(choose("Sentence", names, names[0], (name) => show(sentences[names.indexOf(name)])).element, inside);
  show(sentences[0]);
});
