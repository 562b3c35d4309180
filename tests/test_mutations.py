"""Mutation tests: deliberate faults, each of which must make the check that is meant for it fail.

A check that cannot fail proves nothing. Each fault is made in a copy, together with the check
that must notice it; the same check passes on the copy before.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_output

from tests.conftest import ROOT
from tests.notebooks import notebook_rules as rules
from tests.repo_copy import copy_project
from tools import execute

SMALL = ROOT / "lectures" / "00_before_you_start.ipynb"


# ------------------------------------------------------------------ faults in a notebook


def talking_cell(notebook):
    return next(c for c in rules.code_cells(notebook) if c.outputs and "text" in c.outputs[0])


def figure_output(notebook):
    for cell in rules.code_cells(notebook):
        for output in cell.outputs:
            if "<svg" in output.get("data", {}).get("text/html", ""):
                return output["data"]
    raise AssertionError("the notebook has no figure")


def cell_not_run(notebook):
    talking_cell(notebook).execution_count = None


def outputs_cleared(notebook):
    talking_cell(notebook).outputs = []


def warning_in_output(notebook):
    text = "UserWarning: softmax overflowed"
    talking_cell(notebook).outputs.append(new_output("stream", name="stderr", text=text))


def path_in_output(notebook):
    talking_cell(notebook).outputs[0].text += "saved to /home/someone/model.pt\n"


def error_in_output(notebook):
    error = new_output("error", ename="ValueError", evalue="q: got shape (3,)")
    talking_cell(notebook).outputs.append(error)


def alt_text_missing(notebook):
    data = figure_output(notebook)
    data["text/html"] = data["text/html"].replace("aria-label=", "data-was=", 1)


def bare_picture(notebook):
    data = figure_output(notebook)
    data["image/png"] = "iVBORw0KGgo="


def script_of_another_server(notebook):
    figure_output(notebook)["text/html"] += '<script src="https://example.org/x.js"></script>'


def cells_ignored(notebook):
    for cell in rules.code_cells(notebook):
        cell.metadata["tags"] = ["nbval-ignore-output"]


def first_cell_installs_torch(notebook):
    first = rules.code_cells(notebook)[0]
    first.source = first.source.replace("--no-deps", "--upgrade torch")


def cell_of_fifty_lines(notebook):
    talking_cell(notebook).source = "\n".join(f"x{i} = {i}" for i in range(50))


def prediction_given_away(notebook):
    execute.predicted(notebook)[0][0].metadata["tags"] = []


def output_folded_for_nothing(notebook):
    rules.code_cells(notebook)[0].metadata["tags"] = ["hide-output"]


def prediction_of_nothing(notebook):
    for cell in execute.predicted(notebook)[0]:
        cell.outputs = []


def number_of_no_output(notebook):
    text = next(c for c in notebook.cells if c.cell_type == "markdown" and "## " in c.source)
    text.source += "\n\nThe model is right in 0.8731 of the cases."


def measured_figure_emptied(notebook):
    """Axes and ticks stay, what was measured goes."""
    for cell in rules.code_cells(notebook):
        for output in cell.outputs:
            page = output.get("data", {}).get("text/html", "")
            if "data-measured" in page:
                output["data"]["text/html"] = re.sub(r"#[0-9a-f]{6}", "currentColor", page)
                return
    raise AssertionError("the notebook has no measured figure")


def three_minutes_to_run(notebook):
    notebook.metadata["lamplight"]["seconds"] = 180


def line_of_75_characters(notebook):
    talking_cell(notebook).source += "\nx = " + "1" * 71


NOTEBOOK_FAULTS = [
    (cell_not_run, rules.not_run),
    (outputs_cleared, rules.without_output),
    (warning_in_output, rules.bad_outputs),
    (path_in_output, rules.bad_outputs),
    (error_in_output, rules.bad_outputs),
    (script_of_another_server, rules.bad_outputs),
    (alt_text_missing, rules.figures_without_words),
    (bare_picture, rules.figures_without_words),
    (cells_ignored, rules.too_much_ignored),
    (first_cell_installs_torch, rules.bad_form),
    (prediction_given_away, rules.predictions_given_away),
    (output_folded_for_nothing, rules.predictions_given_away),
    (prediction_of_nothing, rules.predictions_given_away),
    (cell_of_fifty_lines, rules.cell_too_long),
    (three_minutes_to_run, rules.runs_too_long),
    (line_of_75_characters, rules.lines_too_wide),
    (number_of_no_output, rules.numbers_not_shown),
    (measured_figure_emptied, rules.measured_figures_empty),
]


@pytest.mark.parametrize(("plant", "rule"), NOTEBOOK_FAULTS, ids=lambda f: f.__name__)
def test_a_notebook_rule_notices(plant, rule):
    notebook = nbformat.read(SMALL, as_version=4)
    execute.fold_predictions(notebook)
    before = set(rule(notebook))
    plant(notebook)
    assert set(rule(notebook)) > before


def test_an_id_that_two_cells_share_is_noticed():
    stored = json.loads(SMALL.read_text(encoding="utf-8"))
    stored["cells"][4]["id"] = stored["cells"][3]["id"]
    assert len(rules.ids_shared(stored)) == 1


# ------------------------------------------------------------------ faults that nbval must see


def output_changed(notebook):
    cell = talking_cell(notebook)
    cell.outputs[0].text = cell.outputs[0].text.replace("1", "2", 1) + "?"


def figure_changed(notebook):
    data = figure_output(notebook)
    data["text/html"] = data["text/html"].replace("path d=", "path e=", 1)


def measured_figure_changed(notebook):
    """No fault: what was trained or timed differs between machines."""
    for cell in rules.code_cells(notebook):
        for output in cell.outputs:
            text = output.get("data", {}).get("text/html", "")
            if "data-measured" in text:
                output["data"]["text/html"] = text.replace("path d=", "path e=")
                return
    raise AssertionError("the notebook has no measured figure")


def code_changed(notebook):
    talking_cell(notebook).source += "\nprint('one more line')"


# ------------------------------------------------------------------ faults in the code


CODE_FAULTS = {
    "a mask inverted": (
        "helpers/attention.py",
        "scores.masked_fill(sees_something & ~mask, -torch.inf)",
        "scores.masked_fill(sees_something & mask, -torch.inf)",
        "tests/helpers/test_attention.py::test_masked_softmax_is_torchs",
    ),
    "√d_k dropped": (
        "helpers/attention.py",
        "scale = 1.0 / math.sqrt(q.shape[-1])",
        "scale = 1.0",
        "tests/helpers/test_attention.py::test_attention_is_torchs",
    ),
    "dropout in evaluation": (
        "helpers/attention.py",
        "dropout_p = self.dropout if self.training else 0.0",
        "dropout_p = self.dropout",
        "tests/helpers/test_attention.py::test_dropout_is_for_training_only",
    ),
    "the causal mask off by one": (
        "helpers/masks.py",
        "tril(diagonal=T_k - T_q)",
        "tril(diagonal=T_k - T_q + 1)",
        "tests/helpers/test_masks.py::test_causal_mask_is_torchs",
    ),
    "the mask of a cache dropped": (
        "helpers/attention.py",
        "if not causal or T_q == 1:",
        "if not causal or T_q < T_k:",
        "tests/helpers/test_attention.py::test_causal_with_a_cache",
    ),
    "top-p one too few": (
        "helpers/generation.py",
        "likelier = falling.cumsum(dim=-1) - falling",
        "likelier = falling.cumsum(dim=-1)",
        "tests/helpers/test_generation.py::test_top_p_by_hand",
    ),
    "the mask of cross-attention ignored": (
        "helpers/blocks.py",
        "self.cross_attention(y, memory, None, memory_mask,",
        "self.cross_attention(y, memory, None, None,",
        "tests/helpers/test_blocks_models.py::test_decoder_block_does_not_see_masked_memory",
    ),
    "the address in a badge": (
        "lectures/00_before_you_start.ipynb",
        "colab.research.google.com/github/",
        "colab.research.google.com/github/somebody-else/",
        "tests/notebooks/test_notebooks.py::test_address_and_version_stand_once",
    ),
    "a band of one deviation in place of worst to best": (
        "helpers/viz/plotting.py",
        "ax.fill_between(x, y.min(axis=0), y.max(axis=0)",
        "ax.fill_between(x, y.mean(axis=0) - y.std(axis=0), y.mean(axis=0) + y.std(axis=0)",
        "tests/helpers/viz/test_plotting_quiz.py::test_series_band_reaches_from_worst_to_best",
    ),
    "a task whose cases ignore the seed": (
        "grading/tasks/lecture_04/convert_mask.py",
        "rng = np.random.default_rng(seed)",
        "rng = np.random.default_rng(0)",
        "tests/grading/test_task_rules.py::test_cases_follow_the_seed[convert_mask]",
    ),
    "a ban dropped": (
        "grading/tasks/lecture_06/alibi_bias.py",
        'forbidden=("helpers.positions.ALiBiPositions",),',
        "",
        "tests/grading/test_task_rules.py::test_what_the_statement_forbids_is_forbidden[alibi_bias]",
    ),
    "a ban narrower than its statement": (
        "grading/tasks/lecture_04/causal_lower_right.py",
        'forbidden=functions_of("helpers.masks"),',
        'forbidden=("helpers.masks.causal_mask",),',
        "tests/grading/test_task_rules.py::test_what_the_statement_forbids_is_forbidden[causal_lower_right]",
    ),
    "a reason turned round": (
        "grading/tasks/lecture_01/claims_recurrence.py",
        '"a": correct(',
        '"a": incorrect(',
        "tests/grading/test_workload.py::test_sheet_states_core_hours_and_extra_tasks"
        "[01_limits_of_recurrence]",
    ),
    "points without the ordinary cases": (
        "grading/feedback/partial_credit.py",
        "if not whole.get(ORDINARY):",
        "if not any(whole.values()):",
        "tests/grading/test_partial_credit.py::test_code_counts_by_kind",
    ),
    "torch that comes late and unseen": (
        "classroom/sandbox/worker.py",
        "sys.meta_path.insert(0, WithoutTorch)",
        "sys.meta_path[:0] = []",
        "tests/classroom/test_torch_import.py::test_grades_do_not_depend_on_torch_at_start"
        "[within an answer]",
    ),
    "a false torch unseen": (
        "classroom/sandbox/worker.py",
        'not job["torch"] and "torch" in modules',
        'not job["torch"] and "torch" in ()',
        "tests/classroom/test_torch_import.py::test_grades_do_not_depend_on_torch_at_start"
        "[a false torch]",
    ),
    "a forked worker that keeps the server's files": (
        "classroom/sandbox/fork_server.py",
        "os.closerange(CHANNEL + 1, 1 << 20)",
        "pass",
        "tests/classroom/test_forks.py::test_forked_worker_has_the_walls_of_a_new_one",
    ),
    "a forked worker on the server's network": (
        "classroom/sandbox/fork_server.py",
        " | 0x40000000",
        "",
        "tests/classroom/test_forks.py::test_forked_worker_has_the_walls_of_a_new_one",
    ),
    "a forked worker that runs the teacher's own Python": (
        "classroom/sandbox/forks.py",
        "[loader(), *command",
        "[*command",
        "tests/classroom/test_forks.py::test_forked_worker_runs_no_file_of_the_teacher",
    ),
    "a worker that counts what holds its sandbox": (
        "classroom/sandbox/worker.py",
        '{"1", str(getpid())}',
        "{str(getpid())}",
        "tests/classroom/test_forks.py::test_worker_does_not_count_what_holds_the_sandbox",
    ),
    "arrays that wait for torch": (
        "helpers/numpy_attention.py",
        "import numpy as np\n",
        "import numpy as np\nimport torch\n",
        "tests/classroom/test_torch_import.py::test_list_of_modules_without_torch_is_complete",
    ),
    "a line of ours told as the student's": (
        "grading/runner/error_location.py",
        ' and name == "__main__":',
        ":",
        "tests/grading/test_error_location.py",
    ),
    "a line told that nobody is meant to compare": (
        "grading/feedback/baseline.py",
        "(outcome.status, outcome.error, outcome.form)",
        "(outcome.status, outcome.error, outcome.form, outcome.line)",
        "tests/grading/test_error_location.py",
    ),
    "hooks that stay after an error": (
        "grading/runner/training_trace.py",
        "stack.callback(register(hook).remove)",
        "register(hook)",
        "tests/grading/test_training_trace.py::test_hooks_are_gone_after_any_error",
    ),
    "a fact in place of a known mistake that fits better": (
        "grading/feedback/training_facts.py",
        "if training in theirs or",
        "if False or",
        "tests/grading/test_training_trace.py::test_known_mistake_of_the_same_training_is_named",
    ),
    "points that hang on a sentence": (
        "grading/feedback/judge.py",
        "finding is None or isinstance(finding, Mutated)",
        'finding is None or messages.finding(task, finding).startswith("The result is right")',
        "tests/grading/test_messages.py",
    ),
    "a change in place that hides a mistake": (
        "grading/feedback/judge.py",
        "replace(outcome, mutated=(), mutation=None)",
        "replace(outcome)",
        "tests/grading/test_diagnosis.py::test_mistake_is_named_beside_a_change_in_place",
    ),
    "a search for the cause of an empty function": (
        "grading/feedback/judge.py",
        "and not all(map(_is_none, outcomes))",
        "",
        "tests/grading/test_diagnosis.py::test_no_cause_is_sought_where_all_is_none",
    ),
    "guessing that pays": (
        "grading/feedback/partial_credit.py",
        "SLIP = Fraction(1, 2)",
        "SLIP = Fraction(1, 4)",
        "tests/grading/test_partial_credit.py::test_guessing_letters_does_not_pay",
    ),
    "points for code as it was given": (
        "grading/feedback/judge.py",
        'if task.kind == "find the bug":',
        'if task.kind == "find":',
        "tests/grading/test_partial_credit.py::test_find_the_bug_counts_only_repaired_cases",
    ),
    "a core of six hours": (
        "grading/workload.py",
        "CORE = 240",
        "CORE = 360",
        "tests/grading/test_workload.py::test_core_takes_at_most_four_hours",
    ),
    "the version of the citation": (
        "CITATION.cff",
        "version: 0.1.0",
        "version: 0.1.1",
        "tests/site/test_documents.py::test_the_citation_has_the_version",
    ),
    "a limit of the sandbox in prose": (
        "pages/grading_reference.md",
        "60 s per cell",
        "90 s per cell",
        "tests/site/test_documents.py::test_limits_of_the_sandbox",
    ),
    "a line that ruff would format": (
        "helpers/validation.py",
        "raise ValueError(",
        "raise  ValueError(",
        "tests/test_style.py::test_formatted",
    ),
}


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    return copy_project(tmp_path_factory.mktemp("copy"))


def pytest_in(folder, *arguments):
    """The exit code of pytest on a copy: 0 if all passed, 1 if a test failed, 2 if a file did."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider"]
    environment = os.environ | {"PYTHONPATH": str(folder)}
    environment.pop("PYTEST_XDIST_WORKER", None)
    result = subprocess.run(
        [*command, *arguments], cwd=folder, env=environment, capture_output=True
    )
    assert result.returncode in (0, 1, 2), result.stdout.decode() + result.stderr.decode()
    return result.returncode


HARMLESS = (None, measured_figure_changed)


@pytest.mark.parametrize("plant", [*HARMLESS, output_changed, figure_changed, code_changed])
@pytest.mark.full
def test_nbval_notices(plant, copy):
    notebook = nbformat.read(SMALL, as_version=4)
    if plant:
        plant(notebook)
    nbformat.write(notebook, copy / "lectures" / "spoiled.ipynb")
    assert (pytest_in(copy, "lectures/spoiled.ipynb") == 0) == (plant in HARMLESS)
    (copy / "lectures" / "spoiled.ipynb").unlink()


@pytest.mark.full
def test_the_copy_is_sound(copy):
    """Without this, a copy that fails for another reason would count as a fault noticed."""
    assert pytest_in(copy, *sorted({check for *_, check in CODE_FAULTS.values()})) == 0


@pytest.mark.parametrize("fault", CODE_FAULTS)
@pytest.mark.full
def test_the_tests_notice(fault, copy):
    name, right, wrong, check = CODE_FAULTS[fault]
    path = copy / name
    sound = path.read_text(encoding="utf-8")
    assert right in sound, f"{name} no longer holds {right!r}: plant the fault anew"
    try:
        path.write_text(sound.replace(right, wrong), encoding="utf-8")
        assert pytest_in(copy, check) in (1, 2)
    finally:
        path.write_text(sound, encoding="utf-8")


# ------------------------------------------------------------------ faults that the build notices

PAGE = "# A page\n\nTurn to [the start](#start).\n\n(start)=\n## Start\n\n{{term}}`softmax`\n\n{}\n"
PAGE_FAULTS = {
    "none": "Vectors in {cite:t}`vaswani2017`.",
    "a broken cross-reference": "See {ref}`nowhere`.",
    "a citation without a source": "As shown in {cite:t}`nobody1900`.",
    "a term that is not in the glossary": "The {term}`flux capacitor`.",
    "an unknown directive": "```{quizz}\n```",
}


@pytest.mark.parametrize("fault", PAGE_FAULTS)
@pytest.mark.full
def test_the_build_notices(fault, tmp_path):
    shutil.copy(ROOT / "_config.yml", tmp_path)
    for name in ("_ext", "_static", "_templates"):
        shutil.copytree(ROOT / name, tmp_path / name)
    names = ("glossary.md", "bibliography.md", "references.bib")
    (tmp_path / "pages").mkdir()
    for name in names:
        text = (ROOT / "pages" / name).read_text(encoding="utf-8")
        text = re.sub(r"\[([^]]+)\]\(\.\./lectures/[^)]+\)", r"\1", text)  # they are not here
        (tmp_path / "pages" / name).write_text(text, encoding="utf-8")
    toc = "format: jb-book\nroot: page\nchapters:\n"
    toc += "  - file: pages/glossary\n  - file: pages/bibliography\n"
    (tmp_path / "_toc.yml").write_text(toc)
    (tmp_path / "page.md").write_text(PAGE.format(PAGE_FAULTS[fault]))
    book = [Path(sys.executable).with_name("jupyter-book"), "build", "-W", "-n", "--keep-going"]
    result = subprocess.run([*book, tmp_path], capture_output=True, text=True)
    assert (result.returncode == 0) == (fault == "none"), result.stdout + result.stderr
