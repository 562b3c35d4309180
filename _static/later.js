/* What is further down is laid out piece by piece when a page is opened, each piece in a moment of its
   own, so that the page answers meanwhile. A page that is opened at a place of its own, or again, is
   laid out at once, or that place would move: `_ext/light.py` marks the pieces, and the other pages. */

(() => {
  const ENOUGH = 200; // elements at a time
  const done = () => {
    document.documentElement.removeAttribute("data-later");
    document.dispatchEvent(new Event("laid-out"));
  };
  addEventListener("load", () => {
    if (!("later" in document.documentElement.dataset)) return done();
    const waiting = [...document.getElementsByClassName("later")];
    const next = () => {
      if (!waiting.length) return done();
      for (let count = 0; count < ENOUGH && waiting.length;) {
        const piece = waiting.shift();
        piece.classList.add("laid");
        count += piece.querySelectorAll("*").length - piece.querySelectorAll(":scope .later *, details *").length;
      }
      requestAnimationFrame(() => setTimeout(next));
    };
    setTimeout(next);
  });
})();
