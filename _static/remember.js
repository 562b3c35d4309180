/* What the reader did, kept on the reader's own machine: which quiz questions were answered and
   which lectures are finished. Nothing is sent anywhere; one click forgets it all. */

(() => {
  const KEY = "lamplight";
  const read = () => {
    try {
      return { answers: {}, finished: [], last: "", ...JSON.parse(localStorage.getItem(KEY)) };
    } catch {
      return { answers: {}, finished: [], last: "" }; // storage is off, or holds something else
    }
  };
  const write = (state) => {
    try {
      localStorage.setItem(KEY, JSON.stringify(state));
    } catch {} // storage is off: the page works without a memory
  };

  const lecture = (address) => address.match(/lectures\/([^/]+)\.html/)?.[1] ?? "";
  const here = lecture(location.pathname);
  const links = () =>
    [...document.querySelectorAll(".bd-sidebar-primary a, .lecture-cards h3 a")].filter((link) =>
      lecture(link.href));

  const element = (tag, text, properties = {}) =>
    Object.assign(document.createElement(tag), { textContent: text, ...properties });

  const markSidebar = () => {
    const { finished, answers } = read();
    for (const card of document.querySelectorAll(".lecture-cards li")) {
      const name = lecture(card.querySelector("a").href);
      const count = Object.values(answers[name] ?? {}).filter((a) => a.length).length;
      const done = finished.includes(name);
      card.querySelector(".progress")?.remove();
      card.classList.toggle("done", done);
      if (done || count)
        card.querySelector(".facts").append(element("span", done ? "✓ finished" : `${count} answered`,
          { className: "progress" }));
    }
    for (const link of links().filter((link) => !link.closest(".lecture-cards"))) {
      link.querySelector(".finished")?.remove();
      if (finished.includes(lecture(link.href)))
        link.append(element("span", " ✓ finished", { className: "finished" }));
    }
  };

  const finish = (yes) => {
    const state = read();
    state.finished = state.finished.filter((name) => name !== here);
    if (yes) state.finished.push(here);
    write(state);
    const box = document.querySelector("#finished");
    if (box) box.checked = yes;
    markSidebar();
  };

  const onLecture = () => {
    const state = read();
    const reads = () => {
      if (scrollY < innerHeight) return; // a look at the first screen is no beginning
      removeEventListener("scroll", reads);
      write({ ...read(), last: here });
    };
    addEventListener("scroll", reads, { passive: true });
    const questions = [...document.querySelectorAll(".quiz:not(.predict) fieldset")];
    const chosen = (question) =>
      [...question.querySelectorAll("input:checked")].map((input) => input.id);
    for (const question of questions) {
      const name = question.querySelector("input").name;
      for (const id of state.answers[here]?.[name] ?? []) {
        const input = document.getElementById(id);
        if (input && question.contains(input)) input.checked = true;
      }
      question.addEventListener("change", () => {
        const now = read();
        now.answers[here] = { ...now.answers[here], [name]: chosen(question) };
        now.last = here;
        write(now);
        if (questions.every((other) => chosen(other).length)) finish(true);
      });
    }
    const article = document.querySelector("article.bd-article");
    const line = element("p", "", { className: "finish" });
    const label = element("label", " I have finished this lecture");
    const box = element("input", "", { type: "checkbox", id: "finished" });
    box.checked = state.finished.includes(here);
    box.addEventListener("change", () => finish(box.checked));
    label.prepend(box);
    line.append(label);
    article?.append(line);
  };

  /* The button that starts goes on where the reader left off; what was done stands below it. */
  const onFirstPage = () => {
    const { answers, finished, last } = read(), button = document.querySelector("a.start");
    if (!button || (!last && !finished.length)) return;
    const all = links(), first = { href: button.href, textContent: button.textContent };
    const open = all.filter((link) => !finished.includes(lecture(link.href)));
    const next = open.find((link) => lecture(link.href) === last) ?? open[0];
    const box = element("div", "", { className: "go-on", role: "region", ariaLabel: "Your progress" });
    const line = element("p", next ? "" : "You have finished every lecture. ");
    if (next) {
      Object.assign(button, { href: next.href, textContent: `Go on with ${next.textContent.trim()}` });
      const count = Object.values(answers[lecture(next.href)] ?? {}).filter((a) => a.length).length;
      if (count) line.append(`You have answered ${count} of its questions. `);
    }
    line.append(`Finished: ${all.length - open.length} of ${all.length}. `);
    const forget = element("button", "Forget this", { type: "button" });
    forget.addEventListener("click", () => {
      localStorage.removeItem(KEY);
      Object.assign(button, first);
      box.replaceChildren(element("p", "Forgotten.", { role: "status" }));
      markSidebar();
    });
    line.append(forget);
    box.append(line, element("p", "Kept in this browser only.", { className: "small" }));
    button.closest("p").after(box);
  };

  const start = () => {
    markSidebar();
    if (here) onLecture();
    else if (/(^|\/)(index\.html)?$/.test(location.pathname)) onFirstPage();
  };
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();
