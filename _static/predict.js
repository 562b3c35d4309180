/* Predictions: a guess opens the result, is kept, and stands beside it. The button opens
   all results of this page at once, now and at the next visit; other pages keep theirs folded. */

(() => {
  const KEY = "lamplight-guesses";
  const read = () => {
    try {
      return JSON.parse(localStorage.getItem(KEY)) ?? {};
    } catch {
      return {}; // storage is off, or holds something else
    }
  };
  const element = (tag, text, properties = {}) =>
    Object.assign(document.createElement(tag), { textContent: text, ...properties });
  const page = location.pathname.match(/[^/]+\/[^/]+$/)?.[0] ?? "";
  const ALL = `lamplight-results/${page}`;

  const openAll = (folds) => {
    let all = null;
    try {
      all = localStorage.getItem(ALL);
    } catch {} // storage is off
    const button = element("button", "", { type: "button", className: "all-results" });
    const set = (open) => {
      for (const fold of folds) fold.open = open;
      button.textContent = open ? "Fold the results of predictions" : "Show the results of all predictions";
    };
    button.addEventListener("click", () => {
      const open = !folds.every((fold) => fold.open);
      set(open);
      try {
        localStorage.setItem(ALL, open ? "shown" : "");
      } catch {}
    });
    set(all === "shown");
    const badges = document.querySelector("article p:has(> a > img[src*=colab])");
    if (badges) badges.append(button);
    else {
      const paragraph = element("p", "");
      paragraph.append(button);
      folds[0].closest("section").querySelector("p").after(paragraph);
    }
  };

  const start = () => {
    const folds = [...document.querySelectorAll(".prediction details.result")];
    if (folds.length > 1) openAll(folds);
    for (const box of document.querySelectorAll(".prediction")) {
      const fold = box.querySelector("details.result"), key = `${page}#${box.id}`;
      const yours = element("p", "", { className: "your-guess", hidden: true });
      fold.querySelector("summary").after(yours);
      const show = (guess) => {
        yours.hidden = !guess;
        yours.replaceChildren("Your guess: ", element("b", guess));
      };
      const keep = (guess, open = true) => {
        show(guess);
        if (open) fold.open = true;
        try {
          localStorage.setItem(KEY, JSON.stringify({ ...read(), [key]: guess }));
        } catch {} // storage is off: the guess is kept until the page is left
      };
      const asked = box.querySelector(".quiz.predict");
      if (asked) {
        const typed = () => asked.querySelector(".guess input")?.value.trim();
        asked.addEventListener("submit", () => typed() && keep(typed()));
        asked.addEventListener("change", ({ target }) => {
          /* On a slide it is the vote of a class, whose reasons come before the result. */
          if (target.type === "radio") keep(target.labels[0].textContent, !box.closest(".present"));
          if (target.type === "checkbox")
            show([...asked.querySelectorAll(":checked")].map((i) => i.labels[0].textContent).join("; "));
        });
      } else {
        const form = element("form", "", { className: "free-guess" });
        form.dataset.lmSuppressShortcuts = "true";
        const field = element("input", "", { id: `${box.id}-guess`, autocomplete: "off" });
        form.append(element("label", "My guess:", { htmlFor: field.id }), field, element("button", "Compare"));
        form.addEventListener("submit", (event) => {
          event.preventDefault();
          if (field.value.trim()) keep(field.value.trim());
        });
        fold.before(form);
      }
      show(read()[key] ?? "");
    }
  };
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();
