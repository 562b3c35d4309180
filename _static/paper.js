/* On paper everything but hints is unfolded, and dark on white; afterwards the page is as it was.
   Answers of an examination are left out, unless they are open: all of them at an address with "?answers". */

(() => {
  const isHint = (part) => /^Hint \d+$/.test(part.querySelector("summary")?.textContent.trim());
  const staysFolded = (part) => isHint(part) || part.matches(".answer");
  if (location.search === "?answers") for (const part of document.querySelectorAll("details.answer")) part.open = true;
  let folded = [];
  let theme = "";
  addEventListener("beforeprint", () => {
    folded = [...document.querySelectorAll("article details:not([open])")].filter((part) => !staysFolded(part));
    theme = document.documentElement.dataset.theme;
    for (const part of folded) part.open = true;
    document.documentElement.dataset.theme = "light";
  });
  addEventListener("afterprint", () => {
    for (const part of folded) part.open = false;
    document.documentElement.dataset.theme = theme;
  });
})();
