"""The configuration file for a new project, with comments and the versions that the project pins."""

from __future__ import annotations

import os

import msgspec

from npulint.core.texts import say
from npulint.discover.files import discover
from npulint.discover.projects import group
from npulint.facts.model import Fact, FileFacts
from npulint.judge.settings import DOCS_URL
from npulint.model.programs.torch_release import torch_release
from npulint.read.files import load, read
from npulint.read.requirement import release
from npulint.report.terminal import escape_control_chars

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
    found: dict[tuple[int, int], Fact] = {}
    for fact in pins:
        number = release(str(fact.get("version") or "")) if fact.name in _TENSORFLOW else None
        if number is not None and (number == (1, 15) or number[0] == 2):
            found.setdefault(number, fact)
    if len(found) != 1:
        return "", ""
    (fact,) = found.values()
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
