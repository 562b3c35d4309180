/* The Tab key stops where there is something to do: not at buttons that copy (code can be selected),
   and at code, a formula or an output only where it is too wide and scrolls. The theme measures code
   as soon as the page is there, which may be before its font is. */

(() => {
  const set = () => {
    for (const button of document.querySelectorAll(".copybtn")) button.tabIndex = -1;
    const boxes = [...document.querySelectorAll("pre, div.math, div.cell_output .text_html")];
    const wide = boxes.map((box) => box.scrollWidth > box.clientWidth); // all before the first change
    boxes.forEach((box, n) => {
      if (wide[n]) box.tabIndex = 0;
      else if (box.hasAttribute("tabindex")) box.removeAttribute("tabindex");
    });
  };
  addEventListener("load", () => {
    document.fonts.ready.then(set);
    addEventListener("resize", () => setTimeout(set, 400)); // by then the sidebar has slid
    document.addEventListener("toggle", set, true); // of a fold
  });
})();
