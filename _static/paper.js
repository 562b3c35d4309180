/* On paper everything is unfolded and dark on white; afterwards the page is as it was. */

(() => {
  let folded = [];
  let theme = "";
  addEventListener("beforeprint", () => {
    folded = [...document.querySelectorAll("article details:not([open])")];
    theme = document.documentElement.dataset.theme;
    for (const part of folded) part.open = true;
    document.documentElement.dataset.theme = "light";
  });
  addEventListener("afterprint", () => {
    for (const part of folded) part.open = false;
    document.documentElement.dataset.theme = theme;
  });
})();
