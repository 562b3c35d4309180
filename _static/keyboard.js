/* The Tab key stops where there is something to do: not at buttons that copy (code can be selected),
   and at code, a formula, a table or an output only where it is too wide and scrolls. What is folded is
   measured when it is opened: to measure it before, browsers would have to lay it out. */

(() => {
  const set = () => {
    for (const button of document.querySelectorAll(".copybtn"))
      Object.assign(button, { tabIndex: -1, ariaLabel: "Copy the code" });
    const scrolls = "pre, div.math, div.cell_output .text_html, .pst-scrollable-table-container";
    const boxes = [...document.querySelectorAll(scrolls)]
      .filter((box) => !box.closest("details:not([open])"));
    const wide = boxes.map((box) => box.scrollWidth > box.clientWidth); // all before the first change
    boxes.forEach((box, n) => {
      if (wide[n]) box.tabIndex = 0;
      else if (box.hasAttribute("tabindex")) box.removeAttribute("tabindex");
    });
  };
  document.addEventListener("laid-out", () => {
    document.fonts.ready.then(set);
    addEventListener("resize", () => setTimeout(set, 400)); // by then the sidebar has slid
    document.addEventListener("toggle", set, true); // of a fold
  });
})();
