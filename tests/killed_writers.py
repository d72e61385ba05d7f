"""Kills the writers of npulint: ``python -m tests.killed_writers FOLDER KILLS [WRITER…]`` works in an empty folder and
prints a `Tally` of each writer as JSON. A process of its own, because the tests have threads.

After each kill, every file must have its old or its new content. Then the command is run to its end: the files must be
those of a run that nobody killed, no other may be there, and the report must be true.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import importlib
import io
import json
import os
import random
import shutil
import signal
import sqlite3
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import msgspec

from npulint.core import budget
from npulint.core.atomic_files import is_temporary
from npulint.core.cache import FORMAT, open_cache
from npulint.core.texts import count
from npulint.hosts.cli import main as cli
from npulint.judge.catalogue import load
from npulint.judge.catalogue.sources import builtin_directory
from tests.killed_runs import Command, Ended
from tests.port_samples import DDP, PLAIN
from tests.survey_support import TRAIN

Files = dict[str, bytes]
_OUTSIDE = 4  # every so many kills comes from outside, at a random moment


class Tally(msgspec.Struct):
    """What came of the runs of a writer that were killed: how many left temporary files, journals of SQLite, or a file
    with several names that was half-written, and what was lost, wrong, or left behind after the next run."""

    writer: str
    kills: int = 0
    temporary: int = 0
    journals: int = 0
    torn: int = 0
    faults: list[str] = []


class Writer:
    """A command that writes, the files that it starts with, and what must be true after a kill."""

    name: str
    words: tuple[str, ...]
    writes_in = ""
    starts: Sequence[Files]
    journal = ""  # a file that exists only while something is written
    linked = ""  # a file with another name outside of the folder: it is written where it is

    def __init__(self, folder: Path) -> None:
        self.folder = folder / self.name / "project"
        self.folder.mkdir(parents=True)
        self.command = Command(self.words, self.folder, self.writes_in, self.prepare)

    def prepare(self) -> None:
        """Called in the process of each run."""

    def reset(self, start: Files) -> None:
        """Write the files of a start, and nothing else."""
        shutil.rmtree(self.folder)
        for name, data in start.items():
            path = self.folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        if self.linked:
            other = self.folder.parent / "other-name"
            other.unlink(missing_ok=True)
            os.link(self.folder / self.linked, other)

    def files(self) -> Files:
        """All files that are there."""
        paths = sorted(path for path in self.folder.rglob("*") if path.is_file())
        return {str(path.relative_to(self.folder)): path.read_bytes() for path in paths}

    def report(self, ended: Ended) -> Any:
        """What a run says of the files as they are after it."""
        raise NotImplementedError

    def lost(self, start: Files) -> Iterator[str]:
        """What a kill has lost besides files."""
        yield from ()

    def left_wrong(self, start: Files) -> Iterator[str]:
        """What is wrong after the run after a kill, besides files."""
        yield from ()

    def untrue(self, ended: Ended, before: Files, after: Files) -> Iterator[str]:
        """What the run after a kill says wrongly of what it did: the files were those of `before`."""
        yield from ()


def _port_sources() -> Files:
    """Programs whose ports do not depend on what else is ported."""
    main = "".join(line for line in DDP["main.py"].splitlines(True) if "is_cuda" not in line and "max_mem" not in line)
    return {name: text.encode() for name, text in {**PLAIN, "sub/main.py": main}.items()}


class Fix(Writer):
    name = "fix"
    words = ("check", "--fix", "--unsafe-fixes", "--format=json", "--no-cache", "--jobs=1")
    writes_in = "npulint.fix.write:write_all"
    linked = "net.py"
    starts: Sequence[Files] = (_port_sources(),)

    def report(self, ended: Ended) -> Any:
        return ended.code, json.loads(ended.out)["findings"]

    def untrue(self, ended: Ended, before: Files, after: Files) -> Iterator[str]:
        document = json.loads(ended.out)
        written = {name for name in after if before.get(name) != after[name]}
        named = {fixed["path"] for fixed in document["fixed"]}
        if document["refused"]:
            yield "refused something"
        if named - {"run.sh", "run_npu.sh"} != written - {"run_npu.sh"}:
            yield f"wrote {written} and named {named}"


class Port(Writer):
    name = "port"
    words = ("port", ".", "--write", "--format=json", "--no-cache", "--jobs=1", "--lang=en")
    writes_in = Fix.writes_in
    linked = Fix.linked
    starts = Fix.starts

    def report(self, ended: Ended) -> Any:
        document = json.loads(ended.out)
        return ended.code, document["left"], [(one["entry"], one["status"]) for one in document["programs"]]

    def untrue(self, ended: Ended, before: Files, after: Files) -> Iterator[str]:
        number = sum(before.get(name) != after[name] for name in after)
        said = count("en", "port.written", 1, files=count("en", "port.files", number))
        if (said in ended.err) != bool(number):
            yield f"wrote {number} files and said {ended.err!r}"


class Survey(Writer):
    """A new survey, and one after changes. The processes that check projects are this one here: where they are killed
    is where this one is."""

    name = "survey"
    words = ("survey", "fleet", "--out=out", "--jobs=1", "--no-cache")
    fleet: ClassVar[Files] = {f"fleet/p{size}/train.py": TRAIN.format(size=size).encode() for size in (1, 2)}
    starts: Sequence[Files] = (fleet,)

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.reset({**self.fleet, "fleet/p2/train.py": b"import torch\ntorch.ones(3).cuda()\n"})
        self.command.run()
        self.starts = (self.fleet, {**self.files(), **self.fleet})

    def prepare(self) -> None:
        check, execution = (importlib.import_module(f"npulint.survey.{name}") for name in ("check", "execution"))
        children = SimpleNamespace(
            ask=lambda request, limits: check.answer(request), kill=lambda: None, close=lambda: None
        )
        execution.CHILDREN = children  # type: ignore[attr-defined]
        check.time = SimpleNamespace(perf_counter=lambda: 0.0)  # type: ignore[attr-defined]

    def report(self, ended: Ended) -> Any:
        return ended.code, ended.out


class Caching(Writer):
    """The cache of facts and results and that of the compiled catalogue, both new or with content."""

    name = "cache"
    words = ("check", "--format=json", "--jobs=1")
    sources: ClassVar[Files] = {f"module{n}.py": b"import torch\n\nx = torch.ones(%d).cuda()\n" % n for n in range(41)}
    values = len(sources) + 1  # facts of each file, since they are more than a few, and the result
    starts: Sequence[Files] = (sources,)
    database = f"cache/cache-{FORMAT}.sqlite"
    journal = f"{database}-journal"
    stored: ClassVar[dict[bytes, bytes]] = {bytes([number]) * 20: bytes([number]) * 3000 for number in range(40)}

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        (self.folder / "cache").mkdir(mode=0o700)
        open_cache(True, str(self.folder / "cache")).put_many(self.stored)
        name = os.path.basename(load.cache_path([builtin_directory()]) or "")
        old = {self.database: (self.folder / self.database).read_bytes(), f"cache/{name}": b"old"}
        self.starts = (self.sources, {**self.sources, **old})

    def prepare(self) -> None:
        os.environ["NPULINT_CACHE_DIR"] = str(self.folder / "cache")

    def files(self) -> Files:
        """All but the database, whose bytes depend on its history."""
        return {name: data for name, data in super().files().items() if name != self.database}

    def report(self, ended: Ended) -> Any:
        return ended.code, json.loads(ended.out)["findings"]

    def lost(self, start: Files) -> Iterator[str]:
        """Values that were stored before are; the database is looked at in another folder."""
        if not start.keys() - self.sources.keys():
            return
        copies = self.folder.parent / "copies"
        shutil.rmtree(copies, ignore_errors=True)
        shutil.copytree(self.folder / "cache", copies)
        if open_cache(True, str(copies)).get_many(list(self.stored)) != self.stored:
            yield "values of the cache are lost"

    def left_wrong(self, start: Files) -> Iterator[str]:
        with contextlib.closing(sqlite3.connect(self.folder / self.database)) as connection:
            if connection.execute("PRAGMA integrity_check").fetchall() != [("ok",)]:
                yield "the database is damaged"
            (number,) = connection.execute("SELECT count(*) FROM entry").fetchone()
        if number != self.values + len(self.stored) * (self.database in start):
            yield f"the cache has {number} values"


WRITERS: dict[str, type[Writer]] = {kind.name: kind for kind in (Fix, Port, Survey, Caching)}


def killed(writer: Writer, kills: int) -> Tally:
    """Kill the writer at moments spread over all steps of its runs, and every fourth time from outside."""
    tally = Tally(writer.name)
    chance = random.Random(kills)
    runs = [_undisturbed(writer, start) for start in writer.starts]
    for number in range(kills):
        run = runs[(number + number // _OUTSIDE) % len(runs)]
        writer.reset(run.start)
        if number % _OUTSIDE == _OUTSIDE - 1:
            ended = writer.command.run(seconds=chance.uniform(0, run.ended.seconds))
        else:
            ended = writer.command.run(steps=run.ended.steps * (2 * number + 1) // (2 * kills))
        tally.kills += ended.code == -signal.SIGKILL
        files = writer.files()
        tally.temporary += any(map(_is_temporary, files))
        tally.journals += bool(files.get(writer.journal))
        tally.torn += run.is_torn(files.get(writer.linked), writer.linked)
        tally.faults += [f"kill {number}: {fault}" for fault in _faults(writer, run)]
    return tally


class _Run(msgspec.Struct, frozen=True):
    """A run that nobody kills: the files before and after it."""

    start: Files
    final: Files
    ended: Ended

    def is_torn(self, data: bytes | None, name: str) -> bool:
        """Whether the content of a file is neither the old nor the new one."""
        return data not in (self.start.get(name), self.final.get(name))


def _undisturbed(writer: Writer, start: Files) -> _Run:
    writer.reset(start)
    ended = writer.command.run()
    if ended.code < 0 or ended.code > 1:
        raise RuntimeError(ended.err)
    return _Run(start, writer.files(), ended)


def _faults(writer: Writer, run: _Run) -> Iterator[str]:
    """What is wrong after a kill, and after the command was run again."""
    files = writer.files()
    names = {name for name in {*files, *run.start, *run.final} if run.is_torn(files.get(name), name)}
    torn = writer.linked in names
    for name in names - {writer.linked, writer.journal}:
        if not _is_temporary(name):
            yield f"{name} has neither its old content nor its new one"
    yield from writer.lost(run.start)
    again = writer.command.run()
    if torn:
        copies = [name for name, data in writer.files().items() if _is_copy(name) and data == run.start[writer.linked]]
        if len(copies) != 1 or "may be incomplete" not in again.err or copies[0] not in again.err:
            yield f"{writer.linked} is incomplete: {copies}, {again.err!r}"
        else:
            (writer.folder / copies[0]).replace(writer.folder / writer.linked)
            files, again = writer.files(), writer.command.run()
    if again.code not in (0, 1):
        yield f"the next run ends with {again.code}: {again.err!r}"
        return
    after = writer.files()
    yield from (
        f"{name} is not as after a run" for name in {*after, *run.final} if after.get(name) != run.final.get(name)
    )
    if writer.report(again) != writer.report(run.ended):
        yield "the next run reports something else"
    yield from writer.untrue(again, files, after)
    yield from writer.left_wrong(run.start)


def _is_temporary(name: str) -> bool:
    return is_temporary(os.path.basename(name))


def _is_copy(name: str) -> bool:
    return _is_temporary(name) and name.endswith("-old")


def _warm_up(writer: Writer) -> None:
    """Have a run in this process, so that forks have what it imports and compiles; waits until its threads end."""
    writer.reset(writer.starts[0])
    before, environ = os.getcwd(), dict(os.environ)
    os.chdir(writer.folder)
    writer.prepare()
    with contextlib.redirect_stdout(io.TextIOWrapper(io.BytesIO(), encoding="utf-8")):
        cli.main(list(writer.words))
    os.chdir(before)
    os.environ.clear()
    os.environ.update(environ)
    for thread in threading.enumerate():
        if thread is not threading.main_thread():
            thread.join()
    gc.collect()
    gc.freeze()


def main(words: list[str]) -> None:
    """Kill writers and print what came of it."""
    folder, kills, names = Path(words[0]), int(words[1]), words[2:] or list(WRITERS)
    os.umask(0o022)
    catalogue = load.load_catalogue()
    load._collect = lambda files: catalogue
    budget._IDLE = 0
    load.decode = functools.lru_cache(maxsize=4)(load.decode)
    tallies = []
    for name in names:
        writer = WRITERS[name](folder)
        _warm_up(writer)
        tallies.append(killed(writer, kills))
    sys.stdout.buffer.write(msgspec.json.encode(tallies))


if __name__ == "__main__":
    main(sys.argv[1:])
