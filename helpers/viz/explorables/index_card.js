/* Lecture 1: rooms and the colours of their lamps, kept on two cards of one fixed size and in a book.
   The adding card sums the outer products of key and colour; the least-squares card is the matrix
   with the smallest squared error on all facts. The book keeps every pair and attends.
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
  /* The matrix (width × C) that maps each key to its colour with the least squared error, from the
     normal equations; the small ridge picks the shortest of many. */
  const leastSquares = (rows) => {
    const width = rows[0].length, A = rows[0].map((_, j) => [
      ...rows[0].map((_, k) => rows.reduce((sum, row) => sum + row[j] * row[k], j === k ? 1e-9 : 0)),
      ...colours.map((_, c) => rows.reduce((sum, row, i) => sum + row[j] * (values[i] === c), 0)),
    ]);
    for (let j = 0; j < width; j++) {
      let pivot = j;
      for (let i = j + 1; i < width; i++) if (Math.abs(A[i][j]) > Math.abs(A[pivot][j])) pivot = i;
      [A[j], A[pivot]] = [A[pivot], A[j]];
      for (let i = 0; i < width; i++) {
        const share = i === j ? 0 : A[i][j] / A[j][j];
        if (share) for (let k = j; k < width + C; k++) A[i][k] -= share * A[j][k];
      }
    }
    return A.map((row, j) => row.slice(width).map((v) => v / row[j]));
  };
  const card = bars("the adding card"), fitted = bars("the least-squares card"), book = bars("the book");
  const read = slider("Facts read", { min: 1, max: keys.length, value: facts }, (n) => {
    facts = n;
    asked = Math.min(asked, n - 1);
    draw();
  });
  const wide = choose("Numbers on each card", sizes.map((n) => `${n * C}`), `${sizes[size] * C}`,
    (n) => { size = sizes.indexOf(n / C); draw(); });
  const rooms = keys.map((_, i) => button("", () => { asked = i; draw(); }));
  stage.append(read.element, html("div", { class: "row" }, html("span", {}, "Numbers on each card:"), wide.element),
    html("div", { class: "row", role: "group", "aria-label": "Ask for a room", style: "gap:.3rem;margin:.5rem 0" }, ...rooms),
    html("div", { class: "row" }, ...[card, fitted, book].map(({ picture }) => html("div", { class: "grow", style: "flex-basis:11rem" }, picture))), said);

  const draw = () => {
    const onCard = vectors(sizes[size]), inBook = vectors(config.book);
    const sum = (shares) => colours.map((_, c) => dot(shares, onCard.map((_, i) => +(values[i] === c))));
    const matrix = leastSquares(onCard);
    const answers = onCard.map((query, room) => ({
      card: sum(onCard.map((key) => dot(query, key))),
      fitted: colours.map((_, c) => dot(query, matrix.map((row) => row[c]))),
      book: sum(softmax(inBook.map((key) => sharpness * dot(inBook[room], key)))),
    }));
    const right = (which) => answers.filter((a, i) => best(a[which]) === values[i]).length;
    rooms.forEach((room, i) => {
      room.hidden = i >= facts;
      set(room, { "aria-pressed": String(i === asked) });
      if (i < facts) room.textContent = `${i + 1} ${colours[values[i]]} ${best(answers[i].card) === values[i] ? "✓" : "✗"}`;
    });
    card.draw(answers[asked].card);
    fitted.draw(answers[asked].fitted);
    book.draw(answers[asked].book);
    const some = (n) => (n === facts ? `all ${facts}` : `${n} of ${facts}`);
    const says = (which) => colours[best(answers[asked][which])];
    said.textContent = `Room ${asked + 1}: the adding card says ${says("card")}, the least-squares card ${says("fitted")}, `
      + `the book ${says("book")}. Rooms right: the adding card (${sizes[size] * C} numbers) ${some(right("card"))}, `
      + `the least-squares card (${sizes[size] * C}) ${some(right("fitted"))}, the book (${facts * (config.book + C)}) ${some(right("book"))}.`;
  };
  draw();
});
