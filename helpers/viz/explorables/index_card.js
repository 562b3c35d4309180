/* Lecture 1: rooms and the colours of their lamps, kept on a card of fixed size, which adds up the
   outer products of key and colour, and in a book, which keeps every pair and attends.
   config: {keys: a vector for each room, colours: [names], values: index of each room's colour,
   sizes: how many numbers of a key the card may use, size: index, book: how many the book uses,
   facts: number read, asked: room, sharpness: factor of the book's scores} */
lamplight.explorable("index_card", (stage, config) => {
  const { html, svg, set, softmax, dot, number, slider, choose, button, status } = lamplight;
  const { keys, colours, values, sizes, sharpness } = config, C = colours.length;
  const INK = ["#d55e00", "#0072b2", "#009e73", "#cc79a7"], HIGH = 44, STEP = 66, WIDE = 40;
  let { size, facts, asked } = config;
  const said = status();

  const vectors = (width) => keys.slice(0, facts).map((key) => {
    const part = key.slice(0, width), norm = Math.sqrt(dot(part, part));
    return part.map((v) => v / norm);
  });
  const best = (scores) => scores.indexOf(Math.max(...scores));
  const bars = (title) => {
    const label = svg("text", { x: 0, y: 13 }, title), made = colours.map((name, c) => {
      const x = c * STEP + 13;
      return {
        bar: svg("rect", { x, width: WIDE, style: `fill:${INK[c]}` }),
        value: svg("text", { x: x + WIDE / 2, "text-anchor": "middle" }),
        name: svg("text", { x: x + WIDE / 2, y: 168, "text-anchor": "middle" }, name),
      };
    });
    const picture = svg("svg", { viewBox: `0 0 ${C * STEP} 174`, role: "img", style: "max-width:20rem" }, label,
      svg("path", { d: `M0 90H${C * STEP}`, stroke: "currentColor", opacity: 0.5 }),
      ...made.flatMap(({ bar, value, name }) => [bar, value, name]));
    const draw = (scores) => {
      const top = Math.max(1, ...scores.map(Math.abs)), winner = best(scores);
      made.forEach(({ bar, value, name }, c) => {
        const tall = Math.abs(scores[c]) / top * HIGH, up = scores[c] >= 0;
        set(bar, { y: up ? 90 - tall : 90, height: tall });
        set(value, { y: up ? 85 - tall : 104 + tall });
        value.textContent = number(scores[c]);
        set(name, { "font-weight": c === winner ? 700 : 400 });
      });
      set(picture, { "aria-label": `${title}: ${colours.map((name, c) => `${name} ${number(scores[c])}`).join(", ")}` });
    };
    return { picture, draw };
  };
  const card = bars("the card reads out"), book = bars("the book reads out");
  const read = slider("Facts read", { min: 1, max: keys.length, value: facts }, (n) => {
    facts = n;
    asked = Math.min(asked, n - 1);
    draw();
  });
  const wide = choose("Numbers on the card", sizes.map((n) => `${n * C}`), `${sizes[size] * C}`,
    (n) => { size = sizes.indexOf(n / C); draw(); });
  const rooms = keys.map((_, i) => button("", () => { asked = i; draw(); }));
  stage.append(read.element, html("div", { class: "row" }, html("span", {}, "Numbers on the card:"), wide.element),
    html("div", { class: "row", role: "group", "aria-label": "Ask for a room", style: "gap:.3rem;margin:.5rem 0" }, ...rooms),
    html("div", { class: "row" }, html("div", { class: "grow" }, card.picture), html("div", { class: "grow" }, book.picture)), said);

  const draw = () => {
    const onCard = vectors(sizes[size]), inBook = vectors(config.book);
    const sum = (shares) => colours.map((_, c) => dot(shares, onCard.map((_, i) => +(values[i] === c))));
    const answers = onCard.map((query, room) => ({
      card: sum(onCard.map((key) => dot(query, key))),
      book: sum(softmax(inBook.map((key) => sharpness * dot(inBook[room], key)))),
    }));
    const right = (which) => answers.filter((a, i) => best(a[which]) === values[i]).length;
    rooms.forEach((room, i) => {
      room.hidden = i >= facts;
      set(room, { "aria-pressed": String(i === asked) });
      if (i < facts) room.textContent = `${i + 1} ${colours[values[i]]} ${best(answers[i].card) === values[i] ? "✓" : "✗"}`;
    });
    card.draw(answers[asked].card);
    book.draw(answers[asked].book);
    const some = (n) => (n === facts ? `all ${facts}` : `${n} of ${facts}`);
    said.textContent = `Room ${asked + 1}: the card says ${colours[best(answers[asked].card)]}, the book `
      + `${colours[best(answers[asked].book)]}. The card (${sizes[size] * C} numbers) has ${some(right("card"))} rooms right, `
      + `the book (${facts * (config.book + C)} numbers) ${some(right("book"))}.`;
  };
  draw();
});
