/* The Tab key stops where there is something to do: not at buttons that copy (code can be selected),
   and at a formula only where it is too wide and scrolls. */

(() => {
  const set = () => {
    for (const button of document.querySelectorAll(".copybtn")) button.tabIndex = -1;
    for (const formula of document.querySelectorAll("div.math"))
      formula.toggleAttribute("tabindex", formula.scrollWidth > formula.clientWidth);
    for (const formula of document.querySelectorAll("div.math[tabindex]")) formula.tabIndex = 0;
  };
  addEventListener("load", () => {
    set();
    addEventListener("resize", set);
  });
})();
