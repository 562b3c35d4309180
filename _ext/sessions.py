"""Plans for a session of 90 minutes, minute by minute, and speaker's notes made from them.

    ```{session} 4
    0–7 Opening; explorable paint_a_mask
    What you do and what the class does. → What you do on the next slide.
    > What you will hear, and what to answer.

    7–24 The causal mask; vote "How many of the twelve outputs"
    Draw a grid.

    cut: What to leave out when time runs short.
    ```

makes a table. After the minutes stand the places, between semicolons: a heading of the lecture,
`Opening` for what stands above its first heading, `explorable NAME`, `vote "WORDS"` with words of a
prediction, `task NAME` of its sheet, or a link to another page. A place that does not exist stops
the build. An arrow turns the slide, so that the notes of each slide are its own; a plan without
arrows is divided among the slides. `_static/sessions.js` holds the plans, and `notes.js`, which
shows them in the window that `present.js` opens.
"""

import json
import re
from dataclasses import dataclass
from pathlib import Path

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util import logging
from teaching import IN_TOC, FromNotebooks, markdown, table, tasks_of

logger = logging.getLogger(__name__)

HERE = Path(__file__).parent
MINUTES = 90
OPENING = "Opening"
MARK = re.compile(r"<!-- \w+ -->")  # after the number of a task: see grading/generate.py
STEP = re.compile(r"(\d+)–(\d+) (.+)")
EXPLORABLE = re.compile(r'\bexplorable\(\s*"(\w+)"')
DEEPER = "\n## Deeper\n"  # what follows is not on slides
HEADING = re.compile(r"^#{2,3} (.+)$", re.MULTILINE)
PLACE = re.compile(r'(?:(explorable|task) (\w+)|(vote) "(.+)"|(\[.+\]\(.+\)))')


@dataclass(frozen=True)
class Place:
    """Something that a step shows: its kind and its name."""

    kind: str
    name: str


@dataclass(frozen=True)
class Step:
    """One row of a plan; minutes are counted from the session's beginning."""

    start: int
    end: int
    places: tuple[Place, ...]
    text: str
    heard: str


@dataclass(frozen=True)
class Plan:
    """A session: its steps, and what to leave out when time runs short."""

    steps: tuple[Step, ...]
    cut: str


@dataclass(frozen=True)
class Known:
    """What the notebook of a lecture and its sheet hold, for a plan to name."""

    page: str
    sheet: str
    headings: tuple[str, ...]
    text: str
    explorables: tuple[str, ...]
    tasks: dict[str, tuple[int, str, int]]


def plan_of(lines: list[str]) -> Plan:
    """Read a plan.

    Raises:
        ValueError: if a part does not begin with its minutes, or there is no part `cut:`.
    """
    steps, cut = [], ""
    for part in re.split(r"\n\s*\n", MARK.sub("", "\n".join(lines)).strip()):
        if part.startswith("cut: "):
            cut = " ".join(part.removeprefix("cut: ").split())
            continue
        head, _, rest = part.partition("\n")
        if not (match := STEP.fullmatch(head.strip())):
            raise ValueError(
                f"session: got {head!r}; needed minutes and places, as in `0–7 Opening`"
            )
        text, _, heard = rest.partition("\n> ")
        places = tuple(map(place_of, match[3].split("; ")))
        words = [" ".join(some.replace("\n> ", " ").split()) for some in (text, heard)]
        steps.append(Step(int(match[1]), int(match[2]), places, *words))
    if not cut:
        raise ValueError("session: needed a last part `cut: …`")
    return Plan(tuple(steps), cut)


def place_of(text: str) -> Place:
    """One place."""
    match = PLACE.fullmatch(text)
    if not match:
        return Place("heading", text)
    kind = match[1] or match[3] or "link"
    return Place(kind, match[2] or match[4] or match[5])


def known(root: Path, number: int) -> Known:
    """What a lecture holds.

    Raises:
        ValueError: if there is no such lecture.
    """
    toc = (root / "_toc.yml").read_text(encoding="utf-8")
    pages = {int(digits): page for page, digits in IN_TOC.findall(toc)}
    if number not in pages:
        raise ValueError(f"session: got lecture {number}; needed one of {sorted(pages)}")
    page = pages[number]
    cells = json.loads((root / f"{page}.ipynb").read_text(encoding="utf-8"))["cells"]
    text = "\n\n".join("".join(cell["source"]) for cell in cells)
    sheet = page.replace("lectures/", "exercises/", 1)
    notebook = root / f"{sheet}.ipynb"
    tasks = tasks_of(markdown(notebook)) if notebook.exists() else []
    return Known(
        page=page,
        sheet=sheet,
        headings=tuple(HEADING.findall(markdown(root / f"{page}.ipynb").partition(DEEPER)[0])),
        text=" ".join(text.split()),
        explorables=tuple(EXPLORABLE.findall(text)),
        tasks={task.name: (task.number, task.title, task.minutes) for task in tasks},
    )


def faults(plan: Plan, lecture: Known) -> list[str]:
    """What is wrong with a plan: minutes that do not add up, places that do not exist."""
    found, at = [], 0
    for step in plan.steps:
        if step.start != at or step.end <= at:
            found.append(f"{step.start}–{step.end} does not follow minute {at}")
        at = step.end
        minutes = 0
        for place in step.places:
            there = {
                "heading": place.name in (OPENING, *lecture.headings),
                "explorable": place.name in lecture.explorables,
                "vote": place.name in lecture.text,
                "task": place.name in lecture.tasks,
                "link": True,  # the build follows it
            }
            if not there[place.kind]:
                found.append(f"{lecture.page} has no {place.kind} {place.name!r}")
            elif place.kind == "task":
                minutes += lecture.tasks[place.name][2]
        if minutes > step.end - step.start:
            found.append(f"{step.start}–{step.end}: its tasks take {minutes} minutes")
    if at != MINUTES:
        found.append(f"ends at minute {at}, not {MINUTES}")
    return found


# ------------------------------------------------------------------ shown


def anchor(heading: str) -> str:
    """What MyST makes of a heading in an address."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def shown(place: Place, lecture: Known) -> str:
    """A place as Markdown."""
    if place.kind == "heading" and place.name == OPENING:
        return f"**[Opening](/{lecture.page}.ipynb)**"
    if place.kind == "heading":
        return f"**[{place.name}](/{lecture.page}.ipynb#{anchor(place.name)})**"
    if place.kind == "task":
        number, title, _ = lecture.tasks[place.name]
        return f"[Task {number}, {title}](/{lecture.sheet}.ipynb#{anchor(f'{number}. {title}')})"
    if place.kind == "vote":
        return f"vote *{plain(place.name)}{'' if place.name.endswith('?') else ' …'}*"
    return "the explorable" if place.kind == "explorable" else place.name


def as_table(plan: Plan, lecture: Known) -> str:
    """A plan as Markdown."""
    rows = []
    for step in plan.steps:
        where = " · ".join(shown(place, lecture) for place in step.places)
        stop = "" if plain(where).endswith(("?", "…", "!")) else "."
        rows.append([f"{step.start}–{step.end}", f"{where}{stop} {step.text}", step.heard])
    cells = [[str(cell).replace("|", r"\|") for cell in row] for row in rows]
    text = table(["minutes", "what happens", "what you will hear"], cells)
    return f"{text}\n\n**When time runs short.** {plan.cut}"


def plain(text: str) -> str:
    """A text without marks of Markdown."""
    return re.sub(r"[*`$]", "", re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", text))


def spoken(text: str) -> str:
    """The same, with words that are only mentioned between quotes."""
    return plain(re.sub(r"\*([^*]+)\*", r"“\1”", text))


def notes(plan: Plan, lecture: Known) -> dict[str, object]:
    """What the window of notes shows; headings, votes and explorables find the step of a slide."""

    def names(step: Step, kind: str) -> list[str]:
        return [plain(place.name) for place in step.places if place.kind == kind]

    steps = [
        {
            "minutes": [step.start, step.end],
            "headings": names(step, "heading"),
            "votes": names(step, "vote"),
            "explorables": names(step, "explorable"),
            "tasks": [
                f"Task {n}, {t}" for n, t, _ in (lecture.tasks[x] for x in names(step, "task"))
            ],
            "text": spoken(step.text),
            "heard": spoken(step.heard),
        }
        for step in plan.steps
    ]
    return {"steps": steps, "cut": spoken(plan.cut)}


class Session(FromNotebooks):
    """`{session} NUMBER`, as shown above."""

    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        """The table; its notes are kept."""
        plan, lecture = plan_of(list(self.content)), known(self.root, int(self.arguments[0]))
        if wrong := faults(plan, lecture):
            logger.warning("session: %s", "; ".join(wrong), location=self.get_location())
            return []
        kept(self.env)[lecture.page] = notes(plan, lecture)
        return self.shown(as_table(plan, lecture))


# ------------------------------------------------------------------ Sphinx


def kept(env: BuildEnvironment) -> dict[str, dict]:
    """The notes for each lecture, by its page."""
    if not hasattr(env, "session_notes"):
        env.session_notes = {}
    return env.session_notes


def write(app: Sphinx, error: Exception | None) -> None:
    """Put the notes beside the pages. On the site for students there are no plans."""
    if error or app.builder.name != "html":
        return
    data = json.dumps(kept(app.env), ensure_ascii=False, separators=(",", ":"))
    script = (HERE / "notes.js").read_text(encoding="utf-8")
    path = Path(app.outdir) / "_static" / "sessions.js"
    path.write_text(f"window.lamplightSessions={data};\n{script}", encoding="utf-8")


def setup(app: Sphinx) -> dict[str, object]:
    """Called by Sphinx."""
    app.add_directive("session", Session)
    app.connect("build-finished", write)
    return {"version": "1", "parallel_read_safe": False, "parallel_write_safe": True}
