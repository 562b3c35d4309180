/* Lecture 7: the vector of one character on its way through the blocks of a GPT, and what the output
   layer would predict from it after each part.
   config: {text, at: the character chosen first, parts: [name, …], most: [part][character] the largest
   size in the vector, vectors: [part][character] a digit of base 36 for each number, 17 being 0 and
   34 that size, next: [part][character] the likeliest characters and their probabilities} */
lamplight.explorable("residual_stream", (stage, { text, at, parts, most, vectors, next }) => {
  const { html, svg, set, number, slider, status } = lamplight;
  const INK = ["#0072b2", "#d55e00"], TALL = 15, n = vectors[0][0].length;
  const visible = (character) => ({ "\n": "↵", " ": "␣" })[character] ?? character;
  const read = html("b"), rest = html("span", { style: "opacity:.55" }), said = status();
  const rows = parts.map((name) => {
    const bars = INK.map((ink) => svg("path", { fill: ink }));
    const picture = svg("svg", { viewBox: `0 0 ${n} ${2 * TALL}`, style: `width:clamp(70px,22vw,180px);height:${2 * TALL}px`, preserveAspectRatio: "none", role: "img", "aria-label": `The ${n} numbers after: ${name}` },
      svg("path", { d: `M0 ${TALL}H${n}`, stroke: "currentColor", opacity: 0.3 }), ...bars);
    const chips = html("td", { style: "white-space:normal" });
    return { bars, chips, element: html("tr", {}, html("th", { scope: "row", style: "white-space:normal" }, name), html("td", {}, picture), chips) };
  });
  const draw = () => {
    read.textContent = text.slice(0, at + 1);
    rest.textContent = text.slice(at + 1);
    const top = Math.max(...most.map((sizes) => sizes[at]));
    rows.forEach(({ bars, chips }, part) => {
      const tall = [...vectors[part][at]].map((digit) => ((parseInt(digit, 36) - 17) / 17) * (most[part][at] / top) * TALL);
      bars.forEach((bar, positive) => set(bar, {
        d: tall.map((v, x) => (v && v > 0 === !!positive ? `M${x} ${TALL}h.8v${number(-v).replace("−", "-")}h-.8z` : "")).join(""),
      }));
      chips.replaceChildren(...next[part][at].flatMap(([character, p]) => [html("span", {
        style: `background:rgba(224,144,32,${0.6 * p});border-radius:.2rem;display:inline-block;margin-right:.3rem;padding:0 .3rem`,
      }, html("code", { style: "background:none;border:0;color:inherit" }, visible(character)), ` ${number(p)}`), " "]));
    });
    const likeliest = (part) => `“${visible(next[part][at][0][0])}”`, last = parts.length - 1;
    said.textContent = `After “${text.slice(Math.max(0, at - 11), at + 1)}”, the ${parts[0]} alone expects ${likeliest(0)}, the whole stack ${likeliest(last)}.`;
  };
  stage.append(
    slider("Read up to", { min: 0, max: text.length - 1, value: at, format: (t) => `“${visible(text[t])}”` }, (t) => { at = t; draw(); }).element,
    html("p", { style: "font-family:monospace;margin:.4rem 0;white-space:pre-wrap" }, read, rest), said,
    html("table", {}, html("thead", {}, html("tr", {}, ...["after", `its ${n} numbers`, "next character, probability"].map(
      (head) => html("th", { scope: "col", style: "white-space:normal" }, head)))), html("tbody", {}, ...rows.map(({ element }) => element))));
  draw();
});
