"""A small class that tests of the class grader share."""

import pytest

from tests.classroom.fake_class import LATER, RIGHT, put, sheet


@pytest.fixture
def small(tmp_path):
    """Three students with a text to be read, and the folder of results."""
    folder = tmp_path / "in"
    for name in ("ada", "bob", "cem"):
        answers = RIGHT | {"essay": f"essay = 'By {name}.'"}
        put(folder / name / "02_sheet.ipynb", sheet(answers), LATER)
    (tmp_path / "class.csv").write_text(
        "id,name,email\nada,Ada,a@x\nbob,Bob,b@x\ncem,Cem,c@x\ndan,Dan,d@x\n", encoding="utf-8"
    )
    return folder, tmp_path / "out"
