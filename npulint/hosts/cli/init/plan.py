"""Decides which files ``npulint init`` writes and which exist already."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence

import msgspec

from npulint.commands.settings.config import CONFIG_NAME, has_section
from npulint.core.links import leads_out
from npulint.core.texts import say
from npulint.discover.files import discover
from npulint.discover.projects import group
from npulint.facts.model import Fact, FileFacts
from npulint.hosts.cli.commands import PARTS
from npulint.hosts.cli.init import origin
from npulint.hosts.integrations import template
from npulint.judge.settings import DOCS_URL
from npulint.model.programs.torch_release import torch_release
from npulint.read.files import load, read
from npulint.read.requirement import release
from npulint.report.terminal import escape_control_chars

# The configuration file for a new project, with comments and the versions that the project pins.

_TENSORFLOW = ("tensorflow", "tensorflow-gpu", "tensorflow-cpu")
_TORCH = ("torch-npu", "torch")
_NOT_DEPENDENCIES = ("mixlist", "cuda", "shell")


class Pinned(msgspec.Struct, frozen=True):
    """The target versions that a folder pins, each with its place (``file:line``), empty when not pinned, and the
    number of `projects` below."""

    tensorflow: tuple[str, str] = ("", "")
    torch: tuple[str, str] = ("", "")
    projects: int = 1


def look(folder: str) -> Pinned:
    """The versions that a folder pins; for several projects only their number."""
    projects = group(discover([folder]).files)
    if len(projects) > 1:
        return Pinned(projects=len(projects))
    sources = [file for files in projects.values() for file in files if file.kind not in _NOT_DEPENDENCIES]
    files = [read(load(source)) for source in sources]
    pins = [fact for file in files for fact in file.facts if fact.kind == "dependency"]
    return Pinned(_tensorflow(pins, folder), _torch(files, pins, folder))


def _tensorflow(pins: list[Fact], folder: str) -> tuple[str, str]:
    """The TensorFlow release that all pins agree on and its place; empty when no adapter supports it."""
    by_release: dict[tuple[int, int], Fact] = {}
    for fact in pins:
        number = release(str(fact.get("version") or "")) if fact.name in _TENSORFLOW else None
        if number is not None and (number == (1, 15) or number[0] == 2):
            by_release.setdefault(number, fact)
    if len(by_release) != 1:
        return "", ""
    (fact,) = by_release.values()
    return str(fact.get("version")).lstrip("=v"), _place(fact, folder)


def _torch(files: list[FileFacts], pins: list[Fact], folder: str) -> tuple[str, str]:
    version = torch_release(files)
    fact = next((f for name in _TORCH for f in pins if f.name == name and version in str(f.get("version") or "")), None)
    return (version, _place(fact, folder)) if version and fact is not None else ("", "")


def _place(fact: Fact, folder: str) -> str:
    return f"{os.path.relpath(fact.path, folder).replace(os.sep, '/')}:{fact.span.line}"


def configuration(seen: Pinned, lang: str) -> str:
    """The text of npulint.toml in ``en`` or ``zh``; suggested settings are comments."""
    lines = [
        *_comment(say(lang, "init.config.head")),
        *_comment(say(lang, "init.config.more", url=DOCS_URL)),
        "",
        *_comment(say(lang, "init.config.fail-on")),
        'fail-on = "error"',
        "",
        *_comment(say(lang, "init.config.ignore")),
        '# ignore = ["unfused-optimizer-under-apex-amp"]',
        "",
        *_comment(say(lang, "init.config.exclude")),
        '# extend-exclude = ["third_party/"]',
        "",
        *_comment(say(lang, "init.config.target")),
        "[target]",
        *_version("tensorflow", seen.tensorflow, "1.15", lang),
        *_version("torch", seen.torch, "2.7", lang),
        '# cann = "8.0"',
        '# soc = "910B"',
    ]
    return "\n".join(lines) + "\n"


def _comment(text: str) -> list[str]:
    return [f"# {line}" for line in text.split("\n")]


def _version(key: str, pin: tuple[str, str], example: str, lang: str) -> list[str]:
    version, place = pin
    if not version:
        return [f'# {key} = "{example}"']
    return [f'{key} = "{version}"  # {say(lang, "init.config.pinned", place=escape_control_chars(place))}']


__all__ = ["INSTALLING", "PARTS", "PlannedFile", "plan"]

_FILES = {
    "pre-commit": (".pre-commit-config.yaml", "pre-commit-config.yaml"),
    "github": (".github/workflows/npulint.yml", "github-workflow.yml"),
    "gitlab": (".gitlab-ci.yml", "gitlab-ci.yml"),
    "vscode": (".vscode/tasks.json", "vscode-tasks.json"),
    "skill": (".agents/skills/npulint/SKILL.md", "skill/SKILL.md"),
}
_SIGNS = {
    "pre-commit": (".pre-commit-config.yaml",),
    "github": (".github",),
    "gitlab": (".gitlab-ci.yml", ".gitlab"),
    "vscode": (".vscode",),
    "skill": (".agents",),
}
INSTALLING = ("pre-commit", "github", "gitlab")
"""The parts whose files install npulint."""

_LIMIT = 1_000_000  # bytes of a file that are searched


class PlannedFile(msgspec.Struct, frozen=True):
    """One file: its `path` below the folder, its `text`, and the `snippet` to add to an existing file. `why` it is not
    written: ``exists``, ``exists.add`` (add the snippet), ``exists.has`` (it mentions npulint), ``exists.section``
    (pyproject.toml configures npulint) or ``several`` (`count` projects lie below)."""

    part: str
    path: str
    text: str
    snippet: str = ""
    why: str = ""
    count: int = 0

    def kept(self, why: str) -> PlannedFile:
        """A copy that is not to be written, with the reason."""
        return msgspec.structs.replace(self, why=why, snippet=self.snippet if why == "exists.add" else "")


def plan(folder: str, requested: Sequence[str], lang: str) -> list[PlannedFile]:
    """The pieces for a folder in the order of `PARTS`: the `requested` ones, else the configuration and those that the
    files of the folder suggest."""
    parts = requested or ["config", *(part for part, signs in _SIGNS.items() if _any(folder, signs))]
    pieces = []
    for part in (part for part in PARTS if part in parts):
        if part == "config":
            pieces.append(_config(folder, look(folder), bool(requested), lang))
        else:
            path, name = _FILES[part]
            text = origin.pinned(template(name), origin.requirement())
            pieces.append(_settled(folder, PlannedFile(part, path, text, _snippet(part, text))))
    return pieces


def _any(folder: str, names: Sequence[str]) -> bool:
    return any(os.path.lexists(os.path.join(folder, name)) for name in names)


def _config(folder: str, seen: Pinned, requested: bool, lang: str) -> PlannedFile:
    piece = PlannedFile("config", CONFIG_NAME, configuration(seen, lang))
    if os.path.lexists(os.path.join(folder, CONFIG_NAME)):
        return piece.kept("exists")
    if has_section(os.path.join(folder, "pyproject.toml")):
        return msgspec.structs.replace(piece, path="pyproject.toml").kept("exists.section")
    if seen.projects > 1 and not requested:
        return msgspec.structs.replace(piece, count=seen.projects).kept("several")
    return piece


def _settled(folder: str, piece: PlannedFile) -> PlannedFile:
    """The piece, marked as not to be written if its file exists."""
    place = os.path.join(folder, *piece.path.split("/"))
    if not os.path.lexists(place):
        return piece
    if not leads_out(place, folder) and "npulint" in _beginning(place):
        return piece.kept("exists.has")
    return piece.kept("exists.add" if piece.snippet else "exists")


def _beginning(place: str) -> str:
    from npulint.discover.safe_open import read_head

    return read_head(place, _LIMIT).decode("utf-8", "replace")


def _snippet(part: str, text: str) -> str:
    """The part of the template to add to an existing file."""
    if part == "pre-commit":
        return text[text.index("repos:\n") + len("repos:\n") :]
    if part == "gitlab":
        return text[text.index("npulint:\n") :]
    if part == "vscode":
        task = json.loads(text)["tasks"][0]
        return json.dumps(task, indent=2, ensure_ascii=False)
    return ""
