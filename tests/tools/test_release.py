"""`make release`: a tag whose notebooks install the tag; behind it everything names main again."""

import subprocess

import pytest

from tests.repo_copy import copy_project
from tools import release


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """A git repository with the files that a release changes."""
    copy_project(tmp_path, without=("lectures", "solutions", "exercises", "helpers", "grading"))
    git = ["git", "-c", "user.name=test", "-c", "user.email=test@example.org"]
    for command in (["init", "--quiet"], ["add", "--all"], ["commit", "--quiet", "-m", "one"]):
        subprocess.run([*git, *command], cwd=tmp_path, check=True)
    for name in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{name}_NAME", "test")
        monkeypatch.setenv(f"GIT_{name}_EMAIL", "test@example.org")
    monkeypatch.setattr(release, "ROOT", tmp_path)
    return tmp_path


def test_a_release_is_two_commits_and_a_tag(repository, capsys):
    assert release.main(["7.8.9"]) == 0, capsys.readouterr().out
    tagged = release.git("show", "v7.8.9:pyproject.toml")
    assert 'version = "7.8.9"' in tagged and 'ref = "v7.8.9"' in tagged
    assert "version: 7.8.9" in release.git("show", "v7.8.9:CITATION.cff")
    assert "## Unreleased\n\n## 7.8.9 (" in release.git("show", "v7.8.9:CHANGELOG.md")
    now = (repository / "pyproject.toml").read_text(encoding="utf-8")
    assert 'version = "7.8.9"' in now and 'ref = "main"' in now
    assert release.git("status", "--porcelain") == ""
    assert "git push origin main v7.8.9" in capsys.readouterr().out


def test_what_stands_against_a_release_is_said(repository, capsys):
    for arguments in ([], ["next"], ["v1.0.0"]):
        assert release.main(arguments) == 1
        assert "three numbers" in capsys.readouterr().out
    (repository / "README.md").write_text("changed", encoding="utf-8")
    assert "Commit first" in release.complaint("7.8.9")
    release.git("commit", "--all", "--message", "two")
    release.git("tag", "v7.8.9")
    assert "already" in release.complaint("7.8.9")
    (repository / "CHANGELOG.md").write_text("# Changes\n\n## Unreleased\n", encoding="utf-8")
    release.git("commit", "--all", "--message", "three")
    assert "says nothing" in release.complaint("7.9.0")
