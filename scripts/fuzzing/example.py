"""One generated project with the command to run in it, and what can be wrong with the answer."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

ROOT = Path(__file__).parent.parent.parent
OUT = "@OUT"
"""Stands for a folder outside of the project, in the arguments of a command."""

Files = Mapping[str, bytes]


class Example(msgspec.Struct, frozen=True):
    """A project (content by path) and the arguments of ``npulint``. With `messages`, each one message of an editor as
    sent, the language server is asked instead; `stdin` is standard input."""

    files: dict[str, bytes]
    words: tuple[str, ...] = ("check", "--no-cache", "--format=json")
    stdin: bytes = b""
    messages: tuple[bytes, ...] = ()


class Failure(msgspec.Struct, frozen=True):
    """What is wrong: the `sort` (traceback, hang, memory, died, written, changed, format, control, exit, unanswered),
    the `place` that tells two failures of a sort apart, and all there is to know as `detail`."""

    sort: str
    place: str
    detail: str

    def __str__(self) -> str:
        return f"{self.sort}: {self.place}"


_FRAME = re.compile(r'File "[^"]*?/((?:npulint|scripts|tests)/[^"]+)", line (\d+), in (\S+)')
_ERROR = re.compile(r"[\w.]+(?:Error|Exception|Warning)\b")


def traced(text: str) -> Failure:
    """The failure that a traceback in `text` tells of: its place is the innermost function of npulint and the error."""
    frames = _FRAME.findall(text)
    error = next((line for line in reversed(text.split("\n")) if _ERROR.match(line)), "")
    place = "{}:{} {}".format(*frames[-1]) if frames else "?"
    return Failure("traceback", f"{place} {error.partition(':')[0]}", text)


@functools.cache
def seeds() -> tuple[Files, ...]:
    """Ordinary projects: the examples of the built-in checks and those of the repository."""
    from npulint.judge.catalogue.load import load_catalogue

    catalogue = load_catalogue((), whole=True)
    listed = [one for some in (catalogue.checks, catalogue.items, catalogue.pretuning) for one in some]
    texts = [example.files for one in sorted(listed, key=lambda one: one.name) for example in one.examples]
    written = [{name: text.encode() for name, text in files.items()} for files in texts if files]
    return (*written, *_folders())


def _folders() -> Iterator[Files]:
    for parent in (ROOT / "examples", ROOT / "tests" / "mutations" / "programs"):
        for folder in sorted(path for path in parent.iterdir() if path.is_dir()):
            paths = [path for path in sorted(folder.rglob("*")) if path.is_file() and "__pycache__" not in path.parts]
            yield {path.relative_to(folder).as_posix(): path.read_bytes() for path in paths}


@functools.cache
def seeds_with(*endings: str) -> tuple[tuple[Files, str], ...]:
    """(project, path) of every file in `seeds` whose path ends in one of these ways."""
    return tuple((files, name) for files in seeds() for name in files if name.endswith(endings))
