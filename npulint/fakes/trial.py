"""Runs a program for a few steps on the fake NPU, in a process, a folder and limits of its own."""

from __future__ import annotations

import os
import re
import shutil
import signal

import msgspec

from npulint.core.errors import NpulintError
from npulint.core.texts import say
from npulint.facts.graph import Graph, NodeFrame
from npulint.fakes import ranks
from npulint.fakes.launch import environment
from npulint.fakes.merging import merged
from npulint.fakes.orders import DEVICES, ORDER, RELEASE, Ended, Order
from npulint.fakes.scratch import Scratch
from npulint.fakes.supervision.supervised import Supervised, supervised
from npulint.live.course import Course

# A stand-in for the home folder: programs read what is in the real one, and their caches may write.

_CACHES = (".cache", ".config")
"""Folders in whose folders programs keep what they may write again."""
_DEPTH = 5  # levels of folders below these that are folders of the stand-in; deeper ones are links
_SMALL = 64 << 10  # bytes of a file that is copied, such as one for locking; larger ones are linked
_MOST = 10_000  # entries


def stand_in(home: str, target: str) -> None:
    """Make `target` a stand-in for `home`: links, but for the folders of caches, which can be written."""
    count = [0]
    for name in _CACHES:
        os.makedirs(os.path.join(target, name))
        _open(os.path.join(home, name), os.path.join(target, name), _DEPTH, count)
    for entry in _entries(home):
        if entry.name not in _CACHES:
            _link(entry.path, os.path.join(target, entry.name))


def _open(source: str, target: str, depth: int, count: list[int]) -> None:
    """Make a folder with folders of its own down to a depth, small files as copies and the rest as links."""
    for entry in _entries(source):
        place = os.path.join(target, entry.name)
        count[0] += 1
        try:
            if count[0] > _MOST or entry.is_symlink():
                _link(entry.path, place)
            elif entry.is_dir():
                if depth:
                    os.makedirs(place)
                    _open(entry.path, place, depth - 1, count)
                else:
                    _link(entry.path, place)
            elif entry.is_file():
                if entry.stat().st_size <= _SMALL:
                    shutil.copy2(entry.path, place)
                else:
                    _link(entry.path, place)
        except OSError:
            continue  # what cannot be read the program cannot read either


def _link(path: str, place: str) -> None:
    os.symlink(os.path.realpath(path), place)


def _entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as listed:
            return sorted(listed, key=lambda entry: entry.name)
    except OSError:
        return []


GUARDS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "on_path", "trial")
GRACE = 20  # seconds beyond the limit until a process that does not end is killed
_VARIABLES = {
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "WANDB_MODE": "disabled",
    "TORCHDYNAMO_DISABLE": "1",
    "TORCH_COMPILE_DISABLE": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
    "MPLBACKEND": "agg",
}
_JOB = frozenset(ranks.variables(1, 0, 0))
"""What a launcher sets for the processes of a job."""
_UNSET = re.compile(rf"KeyError: '(?:{'|'.join(_JOB)})'|environment variable (?:{'|'.join(_JOB)}) expected")


class Trial(msgspec.Struct, frozen=True):
    """A trial: `order` as the user gave it, the interpreter, the working folder, and the release of PyTorch whose
    kernels the NPU has (empty: that of the interpreter). `devices` is the number of NPUs."""

    order: Order
    python: str
    folder: str
    release: str = ""
    lang: str = "en"
    devices: int = 1


class Outcome(msgspec.Struct, frozen=True):
    """What a trial showed: the recorded graph and how the program ended, with paths of the user's files. `ranks` are
    the graphs of the ranks where they differ; `course` is that of the last step."""

    graph: Graph
    ended: Ended
    ranks: tuple[tuple[tuple[int, ...], Graph], ...] = ()
    course: Course = Course()


def run_trial(trial: Trial) -> Outcome:
    """Run the program of a trial; its output goes to standard error. A program that stops because no launcher started
    it runs again as one of one process. Raises `NpulintError` if it cannot be started or leaves no recording, and
    `KeyboardInterrupt` after ending it."""
    outcome = _run(trial, trial.order.ranks > 1)
    return _run(trial, True) if trial.order.ranks == 1 and _needs_launcher(outcome.ended) else outcome


def _needs_launcher(ended: Ended) -> bool:
    """Whether a program stopped at a variable that a launcher sets. Without need they are not set: many programs take
    their presence for a job of several processes."""
    return ended.how == "error" and bool(_UNSET.search(ended.text))


def _run(trial: Trial, launched: bool) -> Outcome:
    with supervised(trial.lang) as processes:
        base = processes.folder
        scratch = Scratch.around(os.path.realpath(trial.folder), os.path.join(base, "work"))
        scratch.fill(trial.lang)
        record = os.path.join(base, "record")
        for folder in (record, os.path.join(base, "tmp")):
            os.makedirs(folder)
        stand_in(os.path.expanduser("~"), os.path.join(base, "home"))
        with open(os.path.join(record, ORDER), "wb") as file:
            file.write(msgspec.json.encode(moved_order(trial.order, scratch)))
        code = _code(trial, processes, scratch.copy, record, launched)
        return _outcome(record, scratch, code, trial)


def moved_order(order: Order, scratch: Scratch) -> Order:
    """The order with the script in the copy."""
    if order.module:
        return order
    program = os.path.abspath(os.path.join(scratch.original, order.program))
    moved = scratch.there(os.path.realpath(program))
    return msgspec.structs.replace(order, program=os.path.relpath(moved, scratch.copy))


def _code(trial: Trial, processes: Supervised, work: str, record: str, launched: bool) -> int:
    """Run the ranks until they end; returns the exit code of the first one that fails."""
    port = ranks.free_port()
    programs = []
    for rank in range(trial.order.ranks):
        command = [trial.python, "-m", "npulint.fakes.torch.trial", record, f"rank-{rank}"]
        own = ranks.variables(trial.order.ranks, rank, port) if launched else {}
        programs.append(processes.start(command, work, {**_variables(trial, processes.folder), **own}))
    ranks.wait(programs, record, trial.order.seconds + GRACE * (trial.order.ranks == 1))
    codes = [program.poll() for program in programs]
    processes.end()
    return next((code for code in codes if code), 0) if None not in codes else -signal.SIGKILL


def _variables(trial: Trial, base: str) -> dict[str, str]:
    variables = {**environment("torch"), **_VARIABLES, DEVICES: str(max(trial.devices, trial.order.ranks))}
    variables["PYTHONPATH"] = os.pathsep.join((GUARDS, variables["PYTHONPATH"]))
    temporary = os.path.join(base, "tmp")
    variables |= {"TMPDIR": temporary, "TORCHINDUCTOR_CACHE_DIR": temporary, "HOME": os.path.join(base, "home")}
    return {**variables, RELEASE: trial.release} if trial.release else variables


def _outcome(record: str, scratch: Scratch, code: int, trial: Trial) -> Outcome:
    parts = [part for part in ranks.parts(record) if os.path.isfile(part.recording)]
    if not parts:
        reason = "try.killed" if code < 0 else "try.not-started"
        raise NpulintError(say(trial.lang, reason, code=code if code >= 0 else signal.Signals(-code).name))
    together = merged(ranks.parts(record))
    ended = together.ended
    lines = {scratch.back(path): numbers for path, numbers in ended.lines.items()}
    ended = msgspec.structs.replace(ended, lines=lines, place=scratch.back(ended.place))
    each = tuple((numbers, _back(graph, scratch)) for numbers, graph in together.differing)
    return Outcome(_back(together.graph, scratch), ended, each, together.course)


def _back(graph: Graph, scratch: Scratch) -> Graph:
    """The graph with the paths of the user's files."""
    body = graph.bodies[0]
    nodes = [
        msgspec.structs.replace(
            node, frames=tuple(NodeFrame(scratch.back(frame.path), frame.line, frame.function) for frame in node.frames)
        )
        for node in body.nodes
    ]
    return msgspec.structs.replace(graph, bodies=[msgspec.structs.replace(body, nodes=nodes)])
