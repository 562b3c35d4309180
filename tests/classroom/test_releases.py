"""What is handed out or uploaded: the site without model answers, and Gradescope's zip."""

import zipfile

import nbformat
import pytest

from grading.task import all_tasks
from tools import autograder, student_site

pytestmark = pytest.mark.grader


def test_student_site_has_no_model_answers(tmp_path):
    student_site.copy(tmp_path)
    assert not (tmp_path / "solutions").exists() and not (tmp_path / "grading").exists()
    assert (tmp_path / "benchmarks").is_dir() and not [*(tmp_path / "benchmarks").glob("*.py")]
    toc = (tmp_path / "_toc.yml").read_text(encoding="utf-8")
    assert "solutions/" not in toc and "Answers to" not in toc
    for sheet in (tmp_path / "exercises").glob("*.ipynb"):
        cells = nbformat.read(sheet, as_version=4).cells
        [code] = [cell.source for cell in cells if "keep_back" in cell.source]
        assert "\nkeep_back()\n" in code
        assert "open the hints one after the other.\n" in "".join(cell.source for cell in cells)
        assert not any("where to find the model answer" in cell.source for cell in cells)
    assert "exercises/02" in toc and "file: pages/glossary" in toc
    pages = "".join(
        page.read_text(encoding="utf-8")
        for page in [*tmp_path.glob("pages/*.md"), tmp_path / "index.md"]
    )
    grading = ("grading", "grading_situations", "grading_reference")
    for page in (*grading, "teaching", "sessions", "examination"):
        assert page not in toc and not (tmp_path / "pages" / f"{page}.md").exists()
        assert f"{page}.md" not in pages
    assert "A good answer" not in pages
    readme = (tmp_path / "README.md").read_text(encoding="utf-8")
    assert "`exercises/`" in readme and "_build/html/index.html" in readme
    assert not any(word in readme for word in ("make grade", "odel answer", "nstructors"))
    index = (tmp_path / "index.md").read_text(encoding="utf-8")
    assert "\n**Teach**\n\nCode: MIT licence" in index
    assert "teaching plans" not in index and "for an\n  examination" not in index


def test_a_folder_that_holds_something_is_not_cleared(tmp_path, monkeypatch):
    kept = tmp_path / "page.html"
    kept.write_text("mine")
    with pytest.raises(ValueError, match="is not empty; a new or an empty folder is needed"):
        student_site.chosen([str(tmp_path)])
    with pytest.raises(ValueError, match=r"page\.html is not empty"):
        student_site.chosen([str(kept)])
    assert kept.read_text() == "mine"
    monkeypatch.setattr(student_site, "DEFAULT", tmp_path)
    assert student_site.chosen([str(tmp_path / "new")]) == tmp_path / "new"
    assert student_site.chosen([]) == tmp_path and not kept.exists()


def test_gradescope_zip_has_grader_and_policy(tmp_path):
    (tmp_path / "class.toml").write_text("packages = []\n")
    autograder.make(tmp_path / "a.zip", 2, 7, tmp_path / "class.toml")
    with zipfile.ZipFile(tmp_path / "a.zip") as archive:
        names = archive.namelist()
        settings = archive.read("gradescope/settings.sh").decode()
        scripts = [archive.getinfo(name) for name in ("setup.sh", "run_autograder")]
    assert settings == "LECTURE=2\nSEED=7\n"
    assert {"gradescope/class.toml", "grading/task.py", "helpers/attention.py"} <= {*names}
    assert all(script.external_attr >> 16 & 0o111 for script in scripts)
    assert not any("__pycache__" in name for name in names)
    with pytest.raises(ValueError, match="no sheet 99"):
        autograder.make(tmp_path / "b.zip", 99, 7)


def test_the_command_says_what_to_type_into_gradescope(tmp_path, monkeypatch, capsys):
    (tmp_path / "class.toml").write_text("[sheets.2]\nbonus = ['query_context']\n")
    words = ["2", "--policy", str(tmp_path / "class.toml"), "--out", str(tmp_path / "a.zip")]
    monkeypatch.setattr("sys.argv", ["autograder.py", *words, "--seed", "7"])
    autograder.main()
    said, tasks = capsys.readouterr().out, all_tasks().values()
    points = sum(t.points for t in tasks if t.lecture == 2 and t.name != "query_context")
    assert f"SEED=7. Autograder points: {points}\n" in said and (tmp_path / "a.zip").exists()
    [written] = [t for t in tasks if t.lecture == 2 and t.kind == "written"]
    about = f"{written.points} of them are of the written task `{written.name}`, which has 0 points"
    assert about in said and "Not used in Gradescope" not in said
    (tmp_path / "class.toml").write_text(
        "[late]\ntimes = 'files'\ndays = 3\npercent_per_day = 10\n"
        f"[sheets.2]\ndue = 2026-11-02\nexcluded = ['{written.name}']\n"
    )
    autograder.main()
    said = capsys.readouterr().out
    head = "Not used in Gradescope, which has deadlines of its own: "
    assert f"{head}due, times, days, percent_per_day.\n" in said and "written task" not in said
    (tmp_path / "class.toml").write_text("[sheets.2]\nbonus = ['query_contex']\n")
    (tmp_path / "a.zip").unlink()
    with pytest.raises(SystemExit, match=r"No zip was made.*query_context"):
        autograder.main()
    assert not (tmp_path / "a.zip").exists()
