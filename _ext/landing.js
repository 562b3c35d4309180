(() => {
  const box = document.querySelector(".landing"), line = box.querySelector(".sentence");
  const verdict = box.querySelector(".verdict"), asked = box.querySelector(".asked");
  const buttons = [...box.querySelectorAll(".gap button")];
  const nouns = [...line.querySelectorAll(".attractor, .subject")];
  const NS = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(NS, "svg");
  svg.setAttribute("aria-hidden", "true");
  line.append(svg);
  let chosen = null;

  /* The arc from the gap back to the subject, and faint ones to the nouns that stand nearer. To a word
     on a line above, the line leads straight up between the words. */
  const middle = (element, base) => {
    const r = element.getClientRects()[0];
    return [r.left + r.width / 2 - base.left, r.top - base.top, r.bottom - base.top];
  };
  const draw = () => {
    if (!chosen) return;
    const base = line.getBoundingClientRect(), [x, y] = middle(chosen, base);
    svg.replaceChildren(...nouns.map((word) => {
      const [a, b, below] = middle(word, base), path = document.createElementNS(NS, "path");
      const above = y - below > 0, half = (y + below) / 2;
      const up = Math.min(y, b) - Math.min(70, 18 + Math.abs(x - a) / 9);
      path.setAttribute("d", above ? `M${x} ${y - 3}C${x} ${half} ${a} ${half} ${a} ${below + 1}`
        : `M${x} ${y - 3}C${x} ${up} ${a} ${up} ${a} ${b + 1}`);
      path.setAttribute("class", word.className + (above ? " above" : ""));
      path.setAttribute("pathLength", 1);
      return path;
    }));
  };

  const ask = () => {
    const open = () => { asked.classList.add("open-model"); window.lamplightModel.open(asked); };
    if (window.lamplightModel) return open();
    asked.textContent = "Asking a trained model …";
    const script = document.createElement("script");
    document.head.append(Object.assign(script, { src: asked.dataset.source, onload: open,
      onerror: () => { asked.textContent = "The model could not be loaded."; } }));
  };

  for (const button of buttons) {
    button.disabled = false;
    button.onclick = () => {
      chosen = button;
      for (const other of buttons) other.setAttribute("aria-pressed", other === button);
      const right = button === buttons[0];
      line.classList.add("answered");
      const said = document.createElement("p");
      said.append(Object.assign(document.createElement("b"), { textContent: right ? "Right. " : "Look back. " }),
        "The thick line leads from the verb to its subject: letters, nine words back. ",
        right ? "The thin lines lead to drawer and lamp, which are nearer." : "So it is the letters that lie there. The thin lines lead to drawer and lamp, which are nearer.");
      verdict.replaceChildren(said);
      draw();
      if (asked.querySelector(".waiting")) ask();
    };
  }
  addEventListener("resize", draw);
})();
