/* What all explorables share. A script of one calls

     lamplight.explorable("name", (stage, config, figure) => { … });

   `stage` is an empty element above the caption, `config` what the notebook handed over. If the
   script throws, the table that stands there without JavaScript stays. */
window.lamplight ??= (() => {
  const NS = "http://www.w3.org/2000/svg";
  const fill = (element, attributes, children) => {
    for (const [name, value] of Object.entries(attributes))
      name.startsWith("on") ? element.addEventListener(name.slice(2), value)
        : value !== false && value != null && element.setAttribute(name, value === true ? "" : value);
    element.append(...children);
    return element;
  };
  /* html("p", {class: "x", onclick: f}, "text", child…) and the same for SVG. */
  const html = (tag, attributes = {}, ...children) =>
    fill(document.createElement(tag), attributes, children);
  const svg = (tag, attributes = {}, ...children) =>
    fill(document.createElementNS(NS, tag), attributes, children);
  const set = (element, attributes) => fill(element, attributes, []);

  const softmax = (scores) => {
    const top = Math.max(...scores), e = scores.map((s) => Math.exp(s - top));
    const total = e.reduce((a, b) => a + b, 0);
    return e.map((v) => (total ? v / total : 0));
  };
  const dot = (a, b) => a.reduce((sum, v, i) => sum + v * b[i], 0);
  /* A number as the page writes it: rounded, with a true minus sign. */
  const number = (value, digits = 2) => {
    const text = value.toFixed(digits);
    return (+text === 0 ? text.replace("-", "") : text).replace("-", "−");
  };
  /* The same draws for the same seed, from 0 to 1; `normal` makes them Gaussian. */
  const random = (seed) => () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
  const normal = (next) => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());

  /* A labelled range input; `format` makes the text beside it. Returns it with `value`. */
  const slider = (label, { min, max, step = 1, value, format = String }, change) => {
    const shown = html("output", { "aria-live": "off" }, format(value));
    const input = html("input", {
      type: "range", min, max, step, "aria-valuetext": format(value),
      oninput: () => { show(); change(+input.value); },
    });
    const show = () => {
      shown.textContent = format(+input.value);
      input.setAttribute("aria-valuetext", format(+input.value));
    };
    input.value = value;
    const element = html("label", { class: "slide" }, html("span", {}, label), input, shown);
    return { element, input, set: (v) => { input.value = v; show(); } };
  };
  const tick = (label, checked, change) => {
    const input = html("input", { type: "checkbox", onchange: () => change(input.checked) });
    input.checked = checked;
    return { element: html("label", { class: "tick" }, input, label), input };
  };
  const button = (label, press) => html("button", { type: "button", onclick: press }, label);
  /* Buttons of which one is pressed: choose("Preset", ["none", "causal"], "none", change). */
  const choose = (name, options, start, change) => {
    const buttons = options.map((option) => button(option, () => pick(option)));
    const pick = (option, silent) => {
      buttons.forEach((b, i) => b.setAttribute("aria-pressed", options[i] === option));
      if (!silent) change(option);
    };
    pick(start, true);
    const element = html("div", { role: "group", "aria-label": name, class: "row" }, ...buttons);
    return { element, pick };
  };
  const status = () => html("p", { role: "status" });
  const bar = (share, width = 60) =>
    html("i", { class: "bar", style: `width:${Math.max(0, share) * width}px` });

  /* Makes an SVG group a mark that can be dragged and moved by arrow keys in x, y or both.
     `move(dx, dy)` is called with steps of keys, `drag(point)` with a point of the drawing. */
  const draggable = (group, label, { move, drag, enter }) => {
    const frame = () => group.ownerSVGElement;
    set(group, {
      role: "slider", tabindex: 0, "aria-label": label,
      onkeydown: (event) => {
        const step = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
        if (step[event.key]) { event.preventDefault(); move(...step[event.key]); }
        else if (event.key === "Enter" && enter) enter();
      },
      onpointerdown: (event) => {
        group.setPointerCapture(event.pointerId);
        group.focus();
        group.onpointermove = (e) => drag(
          new DOMPoint(e.clientX, e.clientY).matrixTransform(frame().getScreenCTM().inverse()));
      },
      onpointerup: () => { group.onpointermove = null; },
      onpointercancel: () => { group.onpointermove = null; },
    });
    return group;
  };

  const explorable = (name, start) => {
    for (const figure of document.querySelectorAll(`figure[data-explorable="${name}"]:not(.live)`)) {
      const stage = html("form", {
        class: "stage", "data-lm-suppress-shortcuts": "true", onsubmit: (e) => e.preventDefault(),
      });
      figure.querySelector(".still").after(stage);
      try {
        start(stage, JSON.parse(figure.dataset.config), figure);
        figure.classList.add("live");
      } catch (error) {
        stage.remove();
        console.error(error);
      }
    }
  };
  return { html, svg, set, softmax, dot, number, random, normal, slider, tick, button, choose, status,
    bar, draggable, explorable };
})();
