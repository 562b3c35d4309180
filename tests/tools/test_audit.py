"""`make audit` serves pages compressed, holds scores to their goals, and says what is missing."""

import functools
import gzip
import sys
import threading
import urllib.request
from http.server import ThreadingHTTPServer

import pytest

from tools import audit


def report(performance, accessibility=1.0, blocked=0):
    """A report as Lighthouse writes it, with one finding."""
    scores = dict.fromkeys(audit.CATEGORIES, 1.0)
    scores |= {"performance": performance, "accessibility": accessibility}
    audits = {
        "first-contentful-paint": {"score": 0.5, "title": "First paint", "displayValue": "1.0 s"},
        "total-blocking-time": {"score": 1.0, "title": "Blocked", "numericValue": blocked},
        "silent": {"score": None, "title": "Not asked"},
    }
    refs = [{"id": "first-contentful-paint", "weight": 10}, {"id": "silent", "weight": 1}]
    return {
        "audits": audits,
        "categories": {n: {"score": s, "auditRefs": refs} for n, s in scores.items()},
    }


PAGES = ("index.html", "exercises/01_a.html", "exercises/04_masks.html")
PAGES += ("lectures/00_a.html", "lectures/04_masks.html")


@pytest.fixture
def asked(monkeypatch, tmp_path):
    """Pages that were measured; each gets the report that is put into `found`."""
    found, pages = {}, []
    for page in PAGES:
        (tmp_path / page).parent.mkdir(exist_ok=True)
        (tmp_path / page).write_text("built", encoding="utf-8")

    def measure(address, chromium):
        pages.append(address.split("/", 3)[3])
        return found["report"]

    monkeypatch.setattr(audit, "HTML", tmp_path)
    monkeypatch.setattr(audit.shutil, "which", lambda name: f"/bin/{name}")
    monkeypatch.setattr(audit, "audit", measure)
    return found, pages


@pytest.mark.parametrize(
    ("page", "performance", "code"),
    [
        ("index.html", 0.95, 0),
        ("index.html", 0.94, 1),
        ("lectures/04_masks.html", 0.95, 0),
        ("lectures/04_masks.html", 0.94, 1),
    ],
)
def test_a_missed_goal_is_named(asked, monkeypatch, capsys, page, performance, code):
    found, pages = asked
    found["report"] = report(performance)
    monkeypatch.setattr(sys, "argv", ["audit.py", page])
    assert audit.main() == code and pages == [page]
    out = capsys.readouterr().out
    assert ("First paint 1.0 s" in out) == bool(code) == ("All goals are met." not in out)


def test_the_other_categories_want_all(asked, monkeypatch):
    asked[0]["report"] = report(1.0, accessibility=0.99)
    monkeypatch.setattr(sys, "argv", ["audit.py", "index.html"])
    assert audit.main() == 1


@pytest.mark.parametrize(("blocked", "code"), [(299.4, 0), (299.6, 1)])
def test_a_page_answers_soon(asked, monkeypatch, capsys, blocked, code):
    asked[0]["report"] = report(1.0, blocked=blocked)
    monkeypatch.setattr(sys, "argv", ["audit.py", "index.html"])
    assert audit.main() == code
    assert ("blocked for 300 ms" in capsys.readouterr().out) == bool(code)


@pytest.mark.parametrize(("count", "code"), [(6000, 0), (6001, 1)])
def test_elements_are_counted(asked, monkeypatch, capsys, count, code):
    asked[0]["report"] = report(1.0)
    (audit.HTML / "index.html").write_text("<p>a" + "<br/>" * (count - 1), encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["audit.py", "index.html"])
    assert audit.main() == code
    assert str(count) in capsys.readouterr().out


def test_every_page_is_measured_unless_asked(asked, monkeypatch, capsys):
    found, pages = asked
    found["report"] = report(1.0)
    (audit.HTML / "404.html").write_text("lost", encoding="utf-8")
    (audit.HTML / "_static").mkdir()
    (audit.HTML / "_static" / "part.html").write_text("part", encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["audit.py"])
    assert audit.main() == 0 and pages[0] == "index.html" and sorted(pages) == sorted(PAGES)
    pages.clear()
    (audit.HTML / "lectures/04_masks.html").write_text("longest", encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["audit.py", "quick"])
    assert audit.main() == 0
    assert pages == ["index.html", "exercises/01_a.html", "lectures/04_masks.html"]
    monkeypatch.setattr(sys, "argv", ["audit.py", "lectures/05_lost.html"])
    assert audit.main() == 1 and "lectures/05_lost.html" in capsys.readouterr().out


@pytest.mark.parametrize("lacking", ["node", "npm", "chrom"])
def test_what_is_missing_is_named(monkeypatch, capsys, lacking):
    monkeypatch.setattr(
        audit.shutil, "which", lambda name: None if lacking in name else f"/bin/{name}"
    )
    assert audit.main() == 1
    assert f"Missing: {lacking}" in capsys.readouterr().out


def test_pages_are_served_compressed(tmp_path):
    (tmp_path / "page.html").write_text("word " * 1000)
    serve = functools.partial(audit.Compressed, directory=str(tmp_path))
    server = ThreadingHTTPServer(("127.0.0.1", 0), serve)
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    address = f"http://127.0.0.1:{server.server_port}/page.html"
    with urllib.request.urlopen(address) as answer:
        body = answer.read()
    server.shutdown()
    assert answer.headers["Content-Encoding"] == "gzip" and len(body) < 200
    assert gzip.decompress(body).decode() == "word " * 1000
