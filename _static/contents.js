/* The mark in the list of contents: the last heading above the upper third of the window. */

(() => {
  const start = () => {
    const links = [...document.querySelectorAll(".bd-sidebar-secondary a.nav-link[href^='#']")];
    const places = links.map((link) => document.getElementById(decodeURIComponent(link.hash.slice(1))));
    if (!links.length) return;
    let waits = false;
    const mark = () => {
      waits = false;
      const below = places.findIndex((place) => place?.getBoundingClientRect().top >= innerHeight / 3);
      const here = below < 0 ? links.length - 1 : below - 1;
      links.forEach((link, n) => {
        link.classList.toggle("active", n === here);
        if (n === here) link.setAttribute("aria-current", "location");
        else link.removeAttribute("aria-current");
      });
    };
    addEventListener("scroll", () => { if (!waits) { waits = true; requestAnimationFrame(mark); } }, { passive: true });
    mark();
  };
  document.addEventListener("laid-out", start);
})();
