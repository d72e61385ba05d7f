"""Whoever asks, and however, is told the same: the command line, several processes, the cache, standard input, an
editor."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from npulint.discover.kinds import kinds_of
from npulint.hosts.server.configuration import ClientSettings
from npulint.hosts.server.documents import unsaved
from npulint.hosts.server.engine import Engine
from npulint.judge.catalogue.load import load_catalogue
from npulint.judge.findings import Finding
from tests.daily import parameters
from tests.project_support import ROOT, Answer, Project

pytestmark = pytest.mark.slow

EVERY = 83  # of the examples of the built-in checks
_CASES = os.environ.get("NPULINT_CASES", "")  # a folder with further projects
_WHOLE = "modelzoo_level.txt"  # marks a folder as one project
_EDITED = (".py", ".sh", "requirements.txt", "Dockerfile")
Place = tuple[str, int, int, int, int, str, str, str]


def _folder(path: Path) -> dict[str, bytes]:
    files = (one for one in sorted(path.rglob("*")) if one.is_file() and "__pycache__" not in one.parts)
    return {one.relative_to(path).as_posix(): one.read_bytes() for one in files}


@cache
def projects() -> dict[str, dict[str, bytes]]:
    """Small projects by name: those of the repository, examples of checks, and what the environment names."""
    found = {path.name: _folder(path) for path in sorted((ROOT / "examples").iterdir()) if path.is_dir()}
    checks = sorted(load_catalogue((), whole=True).checks, key=lambda check: check.name)
    examples = [(check.name, number, one) for check in checks for number, one in enumerate(check.examples)]
    for name, number, one in examples[::EVERY]:
        found[f"{name}-{number}"] = {path: text.encode() for path, text in one.files.items()}
    if _CASES:
        found.update((f"case-{path.name}", _folder(path)) for path in sorted(Path(_CASES).iterdir()) if path.is_dir())
    return found


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory, cache_folder: Path) -> Iterator[Project]:
    """A folder with all of them, each a project."""
    patch = pytest.MonkeyPatch()
    project = Project(tmp_path_factory.mktemp("shelf"))
    for name, files in projects().items():
        project.write({f"{name}/{_WHOLE}": b"", **{f"{name}/{path}": data for path, data in files.items()}})
    patch.chdir(project.folder)
    patch.setenv("NPULINT_CACHE_DIR", str(cache_folder))
    yield project
    patch.undo()


def told(answer: Answer) -> dict[str, Any]:
    """All that a JSON report says, without how long it took."""
    assert answer.err == ""
    document = json.loads(answer.out)
    document["summary"].pop("seconds", None)
    assert answer.code == int(any(one["severity"] == "error" for one in document["findings"]))
    return dict(document)


def places(findings: list[dict[str, Any]]) -> list[Place]:
    """What an editor shows of findings in a report."""
    return [
        (f["path"], f["line"], f["column"], f["end_line"], f["end_column"], f["name"], f["severity"], f["message"])
        for f in findings
    ]


def shown(finding: Finding) -> Place:
    """The same of a finding."""
    span = finding.span
    where = (os.path.relpath(finding.path), span.line, span.column, span.end_line, span.end_column)
    return (*where, finding.name, finding.severity, finding.message)


def at_lines(findings: list[dict[str, Any]]) -> set[tuple[str, int, str, str]]:
    """Path, line, check and severity of each place that findings in a report name."""
    return {
        (place["path"], place["line"], one["name"], one["severity"])
        for one in findings
        for place in (one, *one["related"])
    }


def lines_of(findings: list[Finding]) -> set[tuple[str, int, str, str]]:
    """The same of findings."""
    places = [(one, place.path, place.span) for one in findings for place in one.related]
    places += [(one, one.path, one.span) for one in findings]
    return {(os.path.relpath(path), span.line, one.name, one.severity) for one, path, span in places}


def assert_shown(findings: list[Finding], reported: list[dict[str, Any]]) -> None:
    """Editors show what a report says at each place: word for word, or, where the report names further places of the
    same advice, with a finding at each of them."""
    assert lines_of(findings) == at_lines(reported)
    related = {shown(one)[:-1]: (one.message, len(one.related)) for one in findings}
    assert len(related) == len(findings)
    for one, place in zip(reported, places(reported), strict=True):
        message, number = related.pop(place[:-1])
        assert message == one["message"] or number < len(one["related"]), place
    further = {(*line, one["name"]) for one in reported for line in ((r["path"], r["line"]) for r in one["related"])}
    assert {(place[0], place[1], place[5]) for place in related} <= further


def test_there_are_projects_with_findings_of_all_severities(shelf: Project) -> None:
    findings = shelf.check(".").findings
    assert len(projects()) >= 50
    assert len({one["path"].split("/")[0] for one in findings}) >= 30
    assert {one["severity"] for one in findings} == {"error", "warning", "note"}


def test_several_processes_say_what_one_says(shelf: Project) -> None:
    assert told(shelf.check(".", "--jobs=2")) == told(shelf.check(".", "--jobs=1"))


@pytest.mark.parametrize("name", parameters(projects(), str, per_group=20))
def test_what_is_remembered_is_told_again(shelf: Project, name: str) -> None:
    fresh = told(shelf.check(name))
    words = ("check", "--format=json", name)
    assert told(shelf.run(*words)) == fresh  # what it finds is written to the cache
    assert told(shelf.run(*words)) == fresh


@pytest.mark.parametrize("name", parameters(projects(), str, per_group=20))
def test_standard_input_is_told_what_the_file_is_told(shelf: Project, name: str) -> None:
    for path, data in projects()[name].items():
        if path.endswith(".pt2") or not kinds_of(os.path.basename(path)):  # no archives by standard input
            continue
        place = f"{name}/{path}"
        named = shelf.check(place)
        piped = shelf.run("check", "-", f"--stdin-filename={place}", "--format=json", "--no-cache", stdin=data)
        assert (piped.code, piped.findings) == (named.code, named.findings), place


@pytest.mark.parametrize("name", parameters(projects(), str, per_group=20))
def test_an_editor_is_shown_what_the_command_line_says(shelf: Project, name: str) -> None:
    """With the files on disk, and with all of them only typed over empty ones."""
    files = {path: data for path, data in projects()[name].items() if path.endswith(_EDITED)}
    if len(files) < len(projects()[name]):
        pytest.skip("editors show no graphs and no runs")
    reported = shelf.check(name).findings
    folder = shelf.folder / name
    paths = [str(folder / path) for path in files]

    def seen(engine: Engine) -> list[Finding]:
        answer = engine.check(paths)
        assert (answer.failures, answer.problems) == ([], [])
        return [one for path in sorted(answer.findings) for one in answer.findings[path]]

    engine = Engine({"LC_ALL": "C"})
    engine.configure([str(folder)], ClientSettings(), "en")
    assert_shown(seen(engine), reported)
    try:
        for path in files:
            (folder / path).write_bytes(b"")
        engine.touched(paths)
        for path, data in files.items():
            engine.change(str(folder / path), unsaved(str(folder / path), data.decode()))
        assert_shown(seen(engine), reported)
    finally:
        shelf.write({f"{name}/{path}": data for path, data in files.items()})
