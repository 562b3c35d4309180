"""An interactive viewer of attention weights, by layer, head, query and key.

One figure has three views of the same weights: lines from queries to keys, a heat map that is a
table, and a line of text. Script and style are part of the figure, which needs no server and uses
the colours of the page. Without JavaScript it shows the table of the first head.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from helpers.validation import require
from helpers.viz.markup import figcaption
from helpers.viz.plotting import COLORS

if TYPE_CHECKING:
    from jaxtyping import Float
    from torch import Tensor

MOST_WEIGHTS = 250_000
"""More make a page of megabytes, in which each choice of a word takes seconds."""

RIGHT_TO_LEFT = {"R", "AL", "AN", "RLE", "RLO", "RLI", "LRE", "LRO", "LRI", "FSI", "PDF", "PDI"}
"""Classes of characters that change the order of those around them (Unicode, annex 9)."""

_STYLE = """<style>
figure:has(>.attention){margin:.5rem 0 1rem}
.attention{--cell:clamp(18px,4.6vw,20px);--grey:rgba(128,128,128,.5);--pale:rgba(128,128,128,.2);
font-size:.8125rem;line-height:1.4}
.attention *{box-sizing:border-box}
.attention:not(.live) :is(.choice,.links,.numbers){display:none!important}
.attention .title{font-size:.9375rem;font-weight:600;margin:0 0 .5rem}
.attention label{cursor:pointer;display:inline-block;font-weight:400;margin:0;position:relative}
.attention [type=radio]{cursor:pointer;height:100%;inset:0;margin:0;opacity:0;position:absolute;
width:100%}
.attention [type=radio]+span{border:1px solid var(--grey);border-radius:1rem;display:block;
min-width:26px;padding:.2rem .6rem;text-align:center;
white-space:nowrap}
.attention :is(.on,:hover,:checked)+span{background:var(--pale)}
.attention :checked+span{border-color:currentColor!important;box-shadow:0 0 0 1px currentColor}
.attention :focus-visible+span{outline:3px solid #0072b2;outline-offset:2px}
.attention i{border-radius:50%;display:inline-block;height:.65em;margin-right:.45em;width:.65em}
.attention .choice{align-items:center;display:flex;flex-wrap:wrap;gap:.35rem;margin-bottom:.45rem}
.attention .choice>span{min-width:2.8rem}
.attention .views{align-items:flex-start;display:flex;flex-wrap:wrap;gap:1rem;margin-top:1rem}
.attention .views>:not([role=status]){max-width:min(100%,34rem)}
.attention .links{display:grid;flex:1 1 19rem;grid-template-columns:auto minmax(3rem,1fr) auto}
.attention .queries label{align-items:center;display:flex;height:26px;justify-content:flex-end}
.attention .queries span{border-color:transparent!important;padding:.1rem .4rem;text-align:right}
.attention .links svg{background:none;display:block;margin-top:26px;width:100%}
.attention .links path{fill:none;vector-effect:non-scaling-stroke}
.attention .keys{align-content:start;align-items:center;column-gap:.5rem;display:grid;
grid-auto-rows:26px;grid-template-columns:auto auto;padding:26px 0 0 .5rem;white-space:nowrap}
.attention .keys div{font-size:.75rem;font-variant-numeric:tabular-nums;min-width:62px}
.attention .keys b{display:inline-block;height:.65em}
.attention .heat{max-width:100%;overflow-x:auto;padding:3px}
.attention table{border:0;border-collapse:separate;border-spacing:1px;color:inherit;display:table;
font-size:inherit;margin:0;table-layout:auto;width:auto}
.attention caption{caption-side:top;color:inherit;padding:0 0 .4rem;text-align:left}
.attention table :is(thead,tbody,tr,th){background:none!important;border:0;color:inherit}
.attention table :is(th,td){border:0;font-weight:400;padding:0}
.attention thead td{font-size:.6875rem;padding:0 .4rem .3rem 0;text-align:right;
vertical-align:bottom}
.attention tbody th{height:var(--cell);padding-right:.4rem;text-align:right;white-space:nowrap}
.attention thead th{padding-bottom:.3rem;vertical-align:bottom}
.attention thead span{display:inline-block;line-height:1;transform:rotate(180deg);
white-space:nowrap;writing-mode:vertical-rl}
.attention tbody td{box-shadow:inset 0 0 0 1px var(--pale);font-size:10px;
font-variant-numeric:tabular-nums;line-height:1;min-width:var(--cell);padding:0 2px;
text-align:center}
.attention.live:not(:has([name=numbers]:checked)) tbody td{font-size:0;padding:0}
.attention tr.on{outline:2px solid currentColor}
.attention tr.on th{font-weight:700}
.attention .numbers{align-items:center;display:flex;gap:.4rem;min-height:26px;width:max-content}
.attention [role=status]{flex:1 0 100%;font-variant-numeric:tabular-nums}
@media(pointer:coarse){.attention tbody th{height:26px}}
@media(max-width:700px){.attention .views>:nth-child(2){order:1}}
</style>"""

# Set in one line, so statements end in semicolons and there is no // comment. Only numbers and
# colours go through innerHTML; tokens and names go through textContent.
_SCRIPT = """
for (const root of document.querySelectorAll(".attention:not(.live)")) {
  root.classList.add("live");
  const all = (what) => [...root.querySelectorAll(what)], one = (what) => root.querySelector(what);
  const layers = JSON.parse(root.dataset.weights), names = JSON.parse(root.dataset.heads);
  const colors = root.dataset.colors.split(" "), status = one("[role=status]");
  const rows = all("tbody tr"), [everything, ...radios] = all("[name=query]");
  const queries = rows.map((row) => row.cells[0].textContent);
  const keys = all("thead span").map((key) => key.textContent);
  const digits = (v) => (v / 1000).toFixed(3);
  const chosen = (name) => {
    const input = one(`[name=${name}]:checked`);
    return input && input.value ? Number(input.value) : null;
  };
  let pointed = null;
  const draw = () => {
    const layer = chosen("layer") ?? 0, weights = layers[layer], head = chosen("head");
    const shown = head === null ? [...weights.keys()] : [head], n = shown.length;
    const query = pointed ?? chosen("query"), opaque = one("[name=numbers]").checked ? 128 : 255;

    let lines = "";
    for (const i of query === null ? queries.keys() : [query])
      shown.forEach((h, place) => weights[h][i].forEach((v, j) => {
        const y = (row) => 26 * row + 13 + 3 * (place - (n - 1) / 2);
        if (v >= 5) lines += `<path d="M0 ${y(i)}C50 ${y(i)} 50 ${y(j)} 100 ${y(j)}"
          stroke="${colors[h]}" stroke-width="${0.5 + v / 200}" opacity="${(v / 1000) ** 0.6}"/>`;
      }));
    one("svg").innerHTML = lines;
    all(".keys div").forEach((meter, j) => {
      meter.innerHTML = query === null ? "" : shown.map((h) => `<b style="background:${colors[h]};
        width:${weights[h][query][j] * (n > 1 ? 0.06 / n : 0.03)}px"></b>`).join("") +
        (n > 1 ? "" : " " + digits(weights[head ?? 0][query][j]));
    });

    one("caption").textContent = (layers.length > 1 ? `layer ${layer}, ` : "") +
      (n > 1 ? "all heads, in numbers their mean" : names[head ?? 0]);
    const shade = (h, v) => colors[h] +
      Math.round(opaque * (v / 1000) ** 0.7).toString(16).padStart(2, "0");
    rows.forEach((row, i) => {
      row.classList.toggle("on", i === query);
      radios[i].classList.toggle("on", i === query);
      keys.forEach((_, j) => {
        const cell = row.cells[j + 1], values = shown.map((h) => weights[h][i][j]);
        const mean = Math.round(values.reduce((sum, v) => sum + v) / n);
        cell.textContent = mean ? digits(mean).replace(/^0|[.]000$/, "") : "0";
        cell.style.background = `linear-gradient(90deg,${values.map((v, place) =>
          `${shade(shown[place], v)} ${100 * place / n}% ${100 * (place + 1) / n}%`)})`;
      });
    });

    const say = (h) => {
      const line = document.createElement("div");
      const sorted = [...weights[h][query].entries()].sort(([, a], [, b]) => b - a);
      const most = sorted.slice(0, 5).filter(([, v]) => v);
      const rest = sorted.slice(5).reduce((sum, [, v]) => sum + v, 0);
      if (n > 1) line.innerHTML = `<i style="background:${colors[h]}"></i>`;
      line.append((n > 1 ? names[h] + ", " : "") + queries[query] + " → " +
        (most.map(([j, v]) => `${keys[j]}: ${digits(v)}`).join(", ") || "nothing") +
        (rest ? `, the rest: ${digits(rest)}` : ""));
      return line;
    };
    status.style.minHeight = `${1.4 * n}em`;
    status.replaceChildren(...(query !== null ? shown.map(say) :
      ["Point at a word, tap it, or choose it with the arrow keys, to read its weights."]));
  };
  const choose = (radio) => { radio.checked = true; draw(); };
  const follow = (node, i) => [["pointerenter", i], ["pointerleave", null]].forEach(
    ([kind, where]) => node.addEventListener(kind, (event) => {
      if (event.pointerType === "mouse") { pointed = where; draw(); }
    }));
  radios.forEach((radio, i) => follow(radio, i));
  rows.forEach(follow);
  rows.forEach((row, i) => row.addEventListener("click", () => choose(radios[i])));
  root.addEventListener("change", () => { pointed = null; draw(); });
  root.addEventListener("keydown", (event) => event.key === "Escape" && choose(everything));
  root.addEventListener("submit", (event) => event.preventDefault());
  draw();
}
"""


def show_attention(
    weights: Float[Tensor, "..."] | Float[np.ndarray, "..."] | Sequence,
    queries: Sequence[str],
    keys: Sequence[str] | None = None,
    *,
    labels: Sequence[str] | None = None,
    title: str = "",
    selected: int | None = None,
    measured: bool = True,
    caption: str = "",
) -> None:
    """Display attention weights in a viewer for mouse, touch and keyboard.

    Args:
        weights: (T_q, T_k), (heads, T_q, T_k) or (layers, heads, T_q, T_k), or a list with
            one of the first two for each layer. Every row sums to 1, or is all zeros where
            everything is masked.
        queries: the T_q tokens that attend.
        keys: the T_k tokens that are attended to; the queries if not given.
        labels: a name for each head; "head 0", "head 1", … if not given.
        title: a sentence above the figure. Screen readers announce it, and after it the
            strongest link of each head.
        selected: position of the query that is selected at first; all queries if not given.
        measured: the weights were trained and may differ a little on another machine, so the
            re-execution of the notebook does not compare the figure.
        caption: the sentence below the figure. `code` and *emphasis* are set as such.

    Raises:
        ValueError: if a shape or a number of tokens does not fit, a token is not a string, or a
            row is neither a distribution nor zero.
    """
    from IPython.display import HTML, display

    options = {"labels": labels, "title": title, "selected": selected, "measured": measured}
    options["caption"] = caption
    display(HTML(to_html(weights, queries, keys, **options)))


def to_html(
    weights: Float[Tensor, "..."] | Float[np.ndarray, "..."] | Sequence,
    queries: Sequence[str],
    keys: Sequence[str] | None = None,
    *,
    labels: Sequence[str] | None = None,
    title: str = "",
    selected: int | None = None,
    measured: bool = True,
    caption: str = "",
) -> str:
    """The `<figure>` that `show_attention` displays, in one line without any id."""
    array = _layers(weights)
    n_layers, n_heads, n_queries, n_keys = array.shape
    most = f"at most {MOST_WEIGHTS:,}: choose some layers or heads, or a shorter text"
    require(array.size <= MOST_WEIGHTS, "weights", f"{array.size:,} numbers", most)
    rows = _tokens("queries", queries, n_queries)
    queries, keys = rows, _tokens("keys", queries if keys is None else keys, n_keys)
    if labels is None:
        labels = [f"head {h}" for h in range(n_heads)] if n_heads > 1 else ["weights"]
    labels = _tokens("labels", labels, n_heads)
    fits = selected is None or selected in range(n_queries)
    require(fits, "selected", selected, f"a position from 0 to {n_queries - 1}")

    thousandths = np.rint(array * 1000).astype(int)
    colors = [COLORS[h % len(COLORS)] for h in range(n_heads)]
    description = f"{title} {_describe(array, queries, keys, labels)}".strip()
    numbers = [str(layer) for layer in range(n_layers)]
    choices = {"layer": _radios("layer", numbers, 0)} if n_layers > 1 else {}
    choices |= {"head": _radios("head", labels, None, "all", colors)} if n_heads > 1 else {}
    controls = "".join(
        f'<div class="choice" role="radiogroup" aria-label="{name}">'
        f'<span aria-hidden="true">{name}</span>{radios}</div>'
        for name, radios in choices.items()
    )
    columns = "".join(f'<th scope="col"><span>{escape(key)}</span></th>' for key in keys)
    body = "".join(
        f'<tr><th scope="row">{escape(query)}</th>{"".join(map(_cell, row))}</tr>'
        for query, row in zip(queries, thousandths[0, 0], strict=True)
    )
    height = 26 * max(n_queries, n_keys)
    page = f"""{_STYLE}<div class="attention" role="group" aria-label="{escape(description)}"
 data-weights="{json.dumps(thousandths.tolist(), separators=(",", ":"))}"
 data-heads="{escape(json.dumps(labels))}" data-colors="{" ".join(colors)}">
{f'<p class="title">{escape(title)}</p>' if title else ""}
<form data-lm-suppress-shortcuts="true">{controls}<div class="views"><div class="links">
<div class="queries" role="radiogroup" aria-label="query">
{_radios("query", queries, selected, "all queries")}</div>
<svg viewBox="0 0 100 {height}" height="{height}" preserveAspectRatio="none" aria-hidden="true">
</svg><div class="keys" aria-hidden="true">
{"".join(f"<span>{escape(key)}</span><div></div>" for key in keys)}</div></div>
<div><div class="heat" role="group" aria-label="table of weights" tabindex="0">
<table><caption>{"layer 0, " * (n_layers > 1)}{escape(labels[0])}</caption>
<thead><tr><td>key →<br>query ↓</td>{columns}</tr></thead><tbody>{body}</tbody></table></div>
<label class="numbers"><input type="checkbox" name="numbers"> numbers</label></div>
<div role="status"></div></div></form></div><script>{_SCRIPT}</script>"""
    one_line = " ".join(line.strip() for line in page.splitlines())
    mark = " data-measured" if measured else ""
    # Lab would set as a formula what stands between two dollar signs.
    math = " tex2jax_ignore mathjax_ignore" * ("$" in "".join([*queries, *keys, title]))
    return f'<figure class="lamplight-figure{math}"{mark}>{one_line}{figcaption(caption)}</figure>'


def _layers(weights: object) -> Float[np.ndarray, "layers heads T_q T_k"]:
    """Any accepted form of weights as one checked array."""
    several = isinstance(weights, list | tuple) and all(hasattr(w, "shape") for w in weights)
    layers = [  # a tensor may have a gradient, half precision or another device
        np.asarray(w.detach().cpu().double() if hasattr(w, "detach") else w, dtype=float)
        for w in (weights if several else [weights])
    ]
    shapes = sorted({layer.shape for layer in layers})
    needed = "shape (T_q, T_k), (heads, T_q, T_k) or (layers, heads, T_q, T_k)"
    require(len(shapes) == 1, "weights", f"layers of shapes {shapes}", "one shape for all layers")
    array = np.stack(layers) if several or layers[0].ndim < 4 else layers[0]
    array = array[:, None] if array.ndim == 3 else array
    require(array.ndim == 4 and array.size > 0, "weights", f"shape {shapes[0]}", needed)
    require(bool((array >= 0).all()), "weights", "a negative number or NaN", "numbers from 0 to 1")
    sums = array.sum(axis=-1)
    wrong = sums[(np.abs(sums - 1) > 0.01) & (sums != 0)]
    found = f"a row that sums to {wrong[0]:.3f}" if wrong.size else ""
    require(not wrong.size, "weights", found, "rows that sum to 1 (or to 0 where all is masked)")
    return array


def _tokens(name: str, tokens: Sequence[str], n: int) -> list[str]:
    strings = not isinstance(tokens, str) and all(isinstance(token, str) for token in tokens)
    require(strings, name, repr(tokens), "a list of strings")
    require(len(tokens) == n, name, len(tokens), f"{n}, as `weights` has")
    return [_shown(token) for token in tokens]


def _shown(token: str) -> str:
    """A token as it is written among others: neither blank nor out of order.

    Without isolation, letters that run from right to left would reverse what surrounds them.
    """
    token = token.encode(errors="replace").decode()  # a page cannot hold half of a surrogate pair
    if all(unicodedata.category(sign)[0] in "ZC" for sign in token):
        return "␣"
    turns = any(unicodedata.bidirectional(sign) in RIGHT_TO_LEFT for sign in token)
    return f"\u2068{token}\u2069" if turns else token


def _describe(array: np.ndarray, queries: list[str], keys: list[str], labels: list[str]) -> str:
    """One sentence: the strongest link of each head of the first layer."""
    links = []
    for label, weights in zip(labels, array[0], strict=True):
        i, j = np.unravel_index(weights.argmax(), weights.shape)
        links.append(f"{label}: {queries[i]} → {keys[j]} {weights[i, j]:.3f}")
    where = " in layer 0" if len(array) > 1 else ""
    return f"Attention{where}, strongest links: {'; '.join(links)}."


def _radios(
    name: str,
    texts: Sequence[str],
    checked: int | None,
    everything: str = "",
    colors: Sequence[str] = (),
) -> str:
    """A radio button for each text, valued 0, 1, …, after one for everything, valued ""."""
    dots = [f'<i style="background:{color}"></i>' for color in colors] or [""] * len(texts)
    values = list(enumerate(dot + escape(text) for dot, text in zip(dots, texts, strict=True)))
    return "".join(
        f'<label><input type="radio" name="{name}" value="{"" if value is None else value}"'
        f"{' checked' if value == checked else ''}><span>{text}</span></label>"
        for value, text in ([(None, everything)] if everything else []) + values
    )


def _cell(v: int) -> str:
    """A cell of the table as it is without the script."""
    text = f"{v / 1000:.3f}".removeprefix("0").removesuffix(".000") or "0"
    return f'<td style="background:{COLORS[0]}{round(128 * (v / 1000) ** 0.7):02x}">{text}</td>'
