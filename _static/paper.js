/* On paper everything but hints is unfolded, and dark on white; afterwards the page is as it was. */

(() => {
  const isHint = (part) => /^Hint \d+$/.test(part.querySelector("summary")?.textContent.trim());
  let folded = [];
  let theme = "";
  addEventListener("beforeprint", () => {
    folded = [...document.querySelectorAll("article details:not([open])")].filter((part) => !isHint(part));
    theme = document.documentElement.dataset.theme;
    for (const part of folded) part.open = true;
    document.documentElement.dataset.theme = "light";
  });
  addEventListener("afterprint", () => {
    for (const part of folded) part.open = false;
    document.documentElement.dataset.theme = theme;
  });
})();
