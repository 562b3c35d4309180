/* Finds sections. Every word of the question must occur; a word finds those that begin with its stem.
   Titles count more than text, lectures more than exercises, and answers come last. */

(() => {
  const MOST = 30, AROUND = 90;
  const { pages, synonyms, deeper } = window.lamplightIndex;
  const fold = (text) => text.toLowerCase().normalize("NFD").replace(/[\u0300-\u036f]/g, "");
  const stem = (word) => {
    const short = word.replace(/(?:ations?|ings?|ies|es|ed|s)$/, "");
    const least = /ings?$/.test(word) ? 5 : 4; // or "grading" would find gradients
    return short.length >= least ? short : word.length > 3 ? word.replace(/s$/, "") : word;
  };
  const quote = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  /* Words that begin so: "-" and "_" are parts of words, and "√" is one. */
  const finder = (word) => new RegExp(`(?<![\\p{L}\\p{N}])${quote(stem(word))}[\\p{L}\\p{N}]*`, "gu");
  const STOP = new Set("a an and are at by do does for how i in is it of on or that the this to what when which why with".split(" "));

  const words = (text) => {
    const all = fold(text).split(/[\s,;:?!"“”]+/).filter(Boolean);
    const some = all.filter((word) => !STOP.has(word));
    return some.length ? some : all;
  };

  const score = (entry, finders, phrase) => {
    let sum = 0;
    for (const find of finders) {
      const inTitle = (entry.foldedTitle.match(find) ?? []).length, inText = (entry.foldedText.match(find) ?? []).length;
      const inPage = entry.top ? 0 : (entry.foldedPage.match(find) ?? []).length;
      if (!inTitle && !inText && !inPage) return 0;
      sum += (inTitle ? (entry.top ? 14 : 12) : 0) + (inPage ? 2 : 0) + Math.min(6, inText);
    }
    if (entry.foldedTitle.includes(phrase)) sum += 10;
    else if (entry.foldedText.includes(phrase)) sum += 4;
    if (entry.stems === phrase.split(" ").map(stem).join(" ")) sum += 12;
    return sum * entry.weight;
  };

  const all = pages.flatMap(([page, pageTitle, kind, weight, found]) =>
    found.map(([id, title, text, deep]) => ({
      page, pageTitle, kind, id, title, text, top: !id, weight: weight * (deep ? deeper : 1),
      stems: fold(title).replace(/^\d+\. /, "").split(" ").map(stem).join(" "), foldedTitle: fold(title), foldedText: fold(text), foldedPage: fold(pageTitle),
    })));

  const search = (question) => {
    const asked = fold(question).trim();
    const better = Object.hasOwn(synonyms, asked) ? synonyms[asked] : "";
    const ranked = (text, factor) => {
      const finders = words(text).map(finder), phrase = words(text).join(" ");
      if (!finders.length) return [];
      return all.map((entry) => ({ entry, finders, points: factor * score(entry, finders, phrase) }))
        .filter(({ points }) => points > 0);
    };
    /* Word by word, what is called otherwise in the course. */
    const translated = words(question).map((word) => synonyms[word] ?? word).join(" ");
    const found = new Map();
    const texts = new Set([question, better, translated].filter(Boolean));
    for (const text of texts)
      for (const hit of ranked(text, text === question ? 1.2 : 1)) {
        const before = found.get(hit.entry);
        const finders = [...(before?.finders ?? []), ...hit.finders];
        found.set(hit.entry, { ...hit, finders, points: Math.max(before?.points ?? 0, hit.points) });
      }
    if (!found.size)
      for (const word of new Set(words(`${question} ${translated}`)))
        for (const hit of ranked(word, 1)) {
          const before = found.get(hit.entry);
          if (before) { before.points += hit.points; before.finders.push(...hit.finders); }
          else found.set(hit.entry, hit);
        }
    return [...found.values()].sort((a, b) => b.points - a.points || b.entry.weight - a.entry.weight);
  };

  /* The part of the text that holds most of the words that were found, marked. */
  const excerpt = ({ entry, finders }) => {
    const line = document.createElement("p"), { text } = entry;
    const places = finders.flatMap((find) => [...fold(text).matchAll(find)].map((m) => [m.index, m[0].length]))
      .sort(([a], [b]) => a - b);
    const within = ([from]) => new Set(places.map(([place]) => place).filter((place) => place >= from && place < from + 2 * AROUND)).size;
    const [first] = places.reduce((best, place) => (within(place) > within(best) ? place : best), places[0] ?? [0]);
    let from = Math.max(0, first - AROUND), to = Math.min(text.length, first + 2 * AROUND);
    if (from) from = text.indexOf(" ", from) + 1;
    if (to < text.length) to = text.lastIndexOf(" ", to);
    let at = from;
    line.append(from ? "… " : "");
    for (const [place, length] of places) {
      if (place < at || place + length > to) continue;
      const mark = document.createElement("mark");
      mark.textContent = text.slice(place, place + length);
      line.append(text.slice(at, place), mark);
      at = place + length;
    }
    line.append(text.slice(at, to), to < text.length ? " …" : "");
    return line;
  };

  const list = document.getElementById("search-results"), status = document.getElementById("search-status");
  const show = (question) => {
    if (!question.trim()) { list.replaceChildren(); status.textContent = ""; return; }
    const hits = search(question);
    status.textContent = hits.length === 0 ? "Nothing was found. Try another word, or look into the index."
      : hits.length === 1 ? "One section was found." : hits.length > MOST ? `The best ${MOST} of ${hits.length} sections.`
        : `${hits.length} sections were found.`;
    list.replaceChildren(...hits.slice(0, MOST).map((hit) => {
      const { page, pageTitle, kind, id, title, top } = hit.entry;
      const link = Object.assign(document.createElement("a"), { href: `${page}.html${id ? `#${id}` : ""}`, textContent: title });
      const where = Object.assign(document.createElement("span"), { className: "where" });
      where.textContent = [kind, top ? "" : pageTitle].filter(Boolean).join(" · ");
      const item = document.createElement("li");
      item.append(link, " ", where, excerpt(hit));
      return item;
    }));
  };

  const field = document.querySelector("#search-field");
  field.value = new URLSearchParams(location.search).get("q") ?? "";
  field.addEventListener("input", () => {
    show(field.value);
    const address = new URL(location);
    address.searchParams.set("q", field.value);
    try { history.replaceState(null, "", address); } catch {} // some browsers do not, for files
  });
  field.form.addEventListener("submit", (event) => { event.preventDefault(); show(field.value); });
  show(field.value);
  field.focus();
  window.lamplightSearch = search;
})();
