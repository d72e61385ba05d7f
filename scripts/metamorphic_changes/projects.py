"""The projects whose answers are compared: those of the repository, and folders."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

from npulint.judge.catalogue.check import two_sided
from npulint.judge.catalogue.load import load_catalogue
from scripts.metamorphic_changes.source import Files
from tests.seed_rows.table import table

ROOT = Path(__file__).resolve().parent.parent.parent
GOLDEN = 60
"""Projects that are not of the table of pitfalls: whole programs, filled up with the longest examples of checks."""
_FOLDERS = ("tests/mutations/programs", "tests/port_styles/projects", "examples", "examples/configured")
_LARGEST = 4 << 20  # bytes of a file that is copied
_SKIPPED = frozenset(("__pycache__", ".git", ".venv", "node_modules"))


class Project(NamedTuple):
    """A project: its name, its files, and the target environment."""

    name: str
    files: Files
    target: Mapping[str, str] = MappingProxyType({})


def rows() -> Iterator[Project]:
    """The programs of the table of pitfalls of field reports, in bad and in correct form."""
    for name, case in table().items():
        for form in ("bad", "good"):
            files = case.rendered("as_it_is", bad=form == "bad")
            yield Project(f"{name} ({form})", {path: text.encode() for path, text in files.items()}, case.target)


def golden() -> Iterator[Project]:
    """The programs, sample projects and projects to be ported of the repository, and the longest correct examples of
    checks, of each check one."""
    folders = [path for name in _FOLDERS for path in sorted((ROOT / name).iterdir()) if path.is_dir()]
    projects = [
        folder_project(path, path.relative_to(ROOT).as_posix()) for path in folders if path.name != "configured"
    ]
    projects = [project for project in projects if any(path.endswith(".py") for path in project.files)]
    yield from projects
    yield from _longest_examples(GOLDEN - len(projects))


def _longest_examples(count: int) -> list[Project]:
    examples: list[tuple[int, Project]] = []
    for check in sorted(load_catalogue((), whole=True).checks, key=lambda check: check.name):
        sizes = [
            (sum(text.count("\n") for path, text in example.files.items() if path.endswith(".py")), number)
            for number, example in enumerate(check.examples)
            if not example.bad and not two_sided(example.files)
        ]
        if sizes:
            size, number = max(sizes)
            example = check.examples[number]
            files = {path: text.encode() for path, text in example.files.items()}
            examples.append((size, Project(f"example of {check.name}", files, example.target)))
    longest = sorted(examples, key=lambda pair: (-pair[0], pair[1].name))[:count]
    return [project for _, project in longest]


def folder_project(folder: Path, name: str = "") -> Project:
    """The project in a folder, without very large files and links."""
    files = {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
        and not path.is_symlink()
        and path.stat().st_size <= _LARGEST
        and not _SKIPPED & set(path.relative_to(folder).parts)
    }
    return Project(name or folder.as_posix(), files)
