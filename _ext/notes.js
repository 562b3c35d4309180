/* Speaker's notes: what `present.js` shows in a second window. The part of the session's plan for the
   slide on the projector, with the sentences of other slides that share it in grey; what the page says
   there and the slide does not; the next slide, and a clock that counts from when the window was opened. It
   joins the slides again after their page was loaded anew, and the clock goes on. */

window.lamplightNotes = (view, { slides, at, show, fit }) => {
  const { document: page } = view;
  const name = location.pathname.match(/lectures\/[^/]+(?=\.html)/)?.[0];
  const plan = window.lamplightSessions[name] ?? { steps: [], cut: "" };
  const make = (tag, properties = {}, ...children) => {
    const element = Object.assign(page.createElement(tag), properties);
    element.append(...children);
    return element;
  };
  const flat = (text) => text.replace(/\s+/g, " ");

  /* The steps of a slide: those that ask its question, else those of its section; and those that play
     with its explorable. Of steps that ask something elsewhere in the section only the next one, or
     the last, belongs to it. */
  const texts = slides.map((slide) => flat(slide.textContent));
  const asks = ({ votes }, number) => votes.some((vote) => texts[number].includes(vote));
  const stepsOf = (slide) => {
    const number = slides.indexOf(slide);
    const asked = plan.steps.filter((step) => asks(step, number));
    if (asked.length) return asked;
    const here = plan.steps.filter(({ headings }) => headings.includes(slide.dataset.section));
    const elsewhere = here.filter((step) => slides.some((_, n) => asks(step, n)));
    const next = elsewhere.find((step) => slides.some((_, n) => n > number && asks(step, n))) ?? elsewhere.at(-1);
    const played = slide.querySelector("[data-explorable]")?.dataset.explorable;
    return plan.steps.filter((step) => step.explorables.includes(played)
      || (here.includes(step) && (step === next || !elsewhere.includes(step))));
  };
  /* What the page says and this slide leaves out. */
  const aloud = (slide) => [...slide.querySelectorAll(".slide-body > *")].flatMap((block) => block.aloud ?? []).map((said) => {
    const copy = page.importNode(said, true);
    for (const link of copy.querySelectorAll("a")) link.replaceWith(...link.childNodes);
    return copy;
  });
  /* The right options of a slide's questions, or the number that was asked for, with the reasons. */
  const answers = (slide) => [...slide.querySelectorAll(".quiz fieldset")].flatMap((question) => {
    const right = [...question.querySelectorAll(".option:has(.why.right)")], number = question.querySelector(".because");
    const said = right.map((option) => [`${option.querySelector("label").textContent.trim()}: `, option.querySelector(".why").textContent]);
    if (number && !right.length) said.push(["", number.textContent]);
    return said.map(([option, why]) => make("p", { className: "answer" }, make("strong", { textContent: option }), why.replace("Right. ", "")));
  });
  /* A section that the plan leaves out belongs to what came before it. */
  let last = plan.steps.slice(0, 1);
  const shown = slides.map((slide) => {
    const found = stepsOf(slide);
    return (last = found.length ? found : last);
  });
  /* The sentences of a step, each with the number of its slide: an arrow in the plan turns to the next slide.
     Without arrows they are in the order of the slides, from the first of them on, so that they are as similar to their slides as can be. As in a search, a word
     counts for more the fewer slides it is on, and a long slide is not similar to everything. */
  const words = (text) => new Set(text.toLowerCase().match(/\p{L}{3,}|\d+/gu));
  const vocabulary = slides.map((slide) => words([slide.textContent, slide.querySelector(".prediction") ? "vote" : "",
    slide.querySelector("[data-explorable]") ? "explorable" : "", ...aloud(slide).map((said) => said.textContent)].join(" ")));
  const rarity = (word) => Math.log((slides.length + 1) / (vocabulary.filter((known) => known.has(word)).length + 1)) ** 2;
  const lengths = vocabulary.map((known) => Math.sqrt([...known].reduce((sum, word) => sum + rarity(word), 0)));
  const sentences = (step) => {
    const on = [...slides.keys()].filter((n) => shown[n].includes(step));
    const parts = step.text.split(/\s*→\s*/);
    if (parts.length > 1) return parts.map((part, n) => [part, on[n]]).filter(([part]) => part);
    const better = (best, way) => (way.score > best.score ? way : best);
    let ways = null;
    for (const text of step.text.split(/(?<=[.?!][”)]?)\s+(?=[\p{Lu}“(\d])/u)) {
      const said = [...words(text)].map((word) => [word, rarity(word)]);
      ways = on.map((n, place) => {
        const before = ways?.slice(0, place + 1).reduce(better) ?? { score: place && -Infinity, way: [] };
        const score = said.reduce((sum, [word, rare]) => sum + (vocabulary[n].has(word) ? rare : 0), 0) / lengths[n];
        return { score: before.score + score, way: [...before.way, [text, n]] };
      });
    }
    return ways.reduce(better).way;
  };
  const plans = new Map(plan.steps.map((step) => [step, shown.some((steps) => steps.includes(step)) ? sentences(step) : []]));

  page.title = `Notes: ${document.title}`;
  page.documentElement.lang = "en";
  page.documentElement.dataset.theme = document.documentElement.dataset.theme;
  page.head.replaceChildren(
    make("link", { rel: "stylesheet", href: document.querySelector('link[href$="course.css"]').href }),
    make("style", { textContent: `
      body { display: grid; font: 1.2rem/1.45 system-ui, sans-serif; gap: 0 1.5rem;
        grid-template-columns: minmax(0, 1fr) 462px; grid-template-rows: auto 1fr auto; margin: 1rem 1.5rem; }
      header, footer { grid-column: 1 / -1; }
      @media (max-width: 52rem) { body { grid-template-columns: minmax(0, 1fr); } aside { grid-row: 2; } }
      header, footer { align-items: center; display: flex; flex-wrap: wrap; font-size: 1rem; gap: 0.8rem; }
      header output { font-size: 1.6rem; font-variant-numeric: tabular-nums; }
      button { background: none; border: 1px solid; border-radius: 0.3rem; color: inherit; font: inherit; padding: 0.2rem 0.6rem; }
      h1 { font-size: 1.3rem; margin: 1rem 0 0.3rem; }
      h2 { border-top: 1px solid #8886; font-size: 1.1rem; margin: 1.2rem 0 0.3rem; padding-top: 0.8rem; }
      h2 ~ p { font-size: 1.05rem; margin: 0.4rem 0; }
      .other { color: var(--pst-color-text-muted); }
      .heard { border-left: 3px solid var(--lamplight); padding-left: 0.8rem; }
      .next { height: 259px; overflow: hidden; position: relative; width: 460px; border: 1px solid; }
      .next .present { position: static; }
      .next :is(.why, input) { display: none; }
      .next .present .slide.bd-content { display: block; left: 0; position: absolute; top: 0; transform: scale(0.36); transform-origin: 0 0; }
    ` }));
  const clock = make("output"), minute = make("output"), count = make("span"), now = make("main");
  const following = make("div", { className: "next", inert: true, ariaHidden: "true" });
  const button = (textContent, onclick) => make("button", { type: "button", textContent, onclick });
  const tick = () => {
    clock.textContent = new Date().toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
    minute.textContent = `minute ${Math.floor((Date.now() - view.lamplightBegan) / 60000)}`;
  };
  page.body.replaceChildren(
    make("header", {}, clock, minute, button("Restart the clock", () => { view.lamplightBegan = Date.now(); tick(); }), count,
      button("← Previous", () => show(at() - 1)), button("Next →", () => show(at() + 1))),
    now, make("aside", {}, make("h1", { textContent: "Next slide" }), following),
    make("footer", {}, make("p", { textContent: plan.cut && `When time runs short: ${plan.cut}` })));
  /* A text, since functions end with the page that they come from. */
  if (!view.lamplightBegan) view.setInterval("try { opener.lamplightJoin?.(window); } catch {}", 500);
  view.lamplightBegan ??= Date.now();
  tick();
  view.clearInterval(view.lamplightTicks);
  view.lamplightTicks = view.setInterval(tick, 1000);

  const update = (open = true) => {
    if (!open) return void (count.textContent = "The slides are closed; the clock goes on.");
    count.textContent = `slide ${at() + 1} of ${slides.length}`;
    const steps = shown[at()];
    now.replaceChildren(...steps.flatMap(({ minutes, headings, votes, tasks, heard }, number) => [
      make("h1", { textContent: `${minutes.join("–")} · ${[...headings, ...votes.map((vote) => `vote “${vote}”`), ...tasks].join(" · ") || "Open the model"}` }),
      make("p", {}, ...plans.get(steps[number]).map(([text, n]) => make("span", { className: n === at() ? "own" : "other" }, `${text} `))),
      make("p", { className: "heard", textContent: heard }),
    ]));
    const said = aloud(slides[at()]);
    const right = answers(slides[at()]);
    if (right.length) now.append(make("h2", { textContent: "Answers" }), ...right);
    if (said.length) now.append(make("h2", { textContent: "This slide, in the words of the page" }), ...said);
    if (!steps.length) now.append(make("p", { textContent: "This site holds no plan for the session." }));
    const next = slides[at() + 1];
    following.replaceChildren();
    following.parentElement.hidden = !next;
    if (!next) return;
    next.classList.add("on");
    fit(next);
    next.classList.remove("on");
    following.append(make("div", { className: "present" }, page.importNode(next, true)));
  };
  update();
  return update;
};
