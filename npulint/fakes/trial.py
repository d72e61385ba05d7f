"""Runs a program for a few steps on the fake NPU, in a process, a folder and limits of its own."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

import msgspec

from npulint.errors import NpulintError
from npulint.facts.graph import Graph, NodeFrame
from npulint.fakes.home import stand_in
from npulint.fakes.launch import environment
from npulint.fakes.orders import ENDED, ORDER, RECORDING, RELEASE, Ended, Order
from npulint.fakes.scratch import Scratch
from npulint.read.graph.torch.recorded import read_recorded
from npulint.texts import say

_GUARDS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "on_path", "trial")
_GRACE = 20  # seconds beyond the limit until a process that does not end is killed
_VARIABLES = {
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "WANDB_MODE": "disabled",
    "TORCHDYNAMO_DISABLE": "1",
    "TORCH_COMPILE_DISABLE": "1",
    "PYTHONDONTWRITEBYTECODE": "1",
    "MPLBACKEND": "agg",
}
_JOB = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29531", "WORLD_SIZE": "1", "RANK": "0", "LOCAL_RANK": "0"}
"""What a launcher sets for the only process of a job."""
_UNSET = re.compile(rf"KeyError: '(?:{'|'.join(_JOB)})'|environment variable (?:{'|'.join(_JOB)}) expected")


class Trial(msgspec.Struct, frozen=True):
    """A trial: `order` as the user gave it, the interpreter, the working folder, and the release of PyTorch whose
    kernels the NPU has (empty: that of the interpreter)."""

    order: Order
    python: str
    folder: str
    release: str = ""
    lang: str = "en"


class Outcome(msgspec.Struct, frozen=True):
    """What a trial showed: the recorded graph and how the program ended, with paths of the user's files."""

    graph: Graph
    ended: Ended


def run_trial(trial: Trial) -> Outcome:
    """Run the program of a trial; its output goes to standard error. A program that stops because no launcher started
    it runs again as one of one process. Raises `NpulintError` if it cannot be started or leaves no recording, and
    `KeyboardInterrupt` after ending it."""
    outcome = _run(trial, {})
    return _run(trial, _JOB) if _needs_launcher(outcome.ended) else outcome


def _needs_launcher(ended: Ended) -> bool:
    """Whether a program stopped at a variable that a launcher sets. Without need they are not set: many programs take
    their presence for a job of several processes."""
    return ended.how == "error" and bool(_UNSET.search(ended.text))


def _run(trial: Trial, job: dict[str, str]) -> Outcome:
    base = os.path.realpath(tempfile.mkdtemp(prefix="npulint-try-"))
    try:
        scratch = Scratch.around(os.path.realpath(trial.folder), os.path.join(base, "work"))
        scratch.fill(trial.lang)
        record = os.path.join(base, "record")
        for folder in (record, os.path.join(base, "tmp")):
            os.makedirs(folder)
        stand_in(os.path.expanduser("~"), os.path.join(base, "home"))
        with open(os.path.join(record, ORDER), "wb") as file:
            file.write(msgspec.json.encode(_moved(trial.order, scratch)))
        code = _process(trial, base, scratch.copy, record, job)
        return _outcome(record, scratch, code, trial)
    finally:
        shutil.rmtree(base, ignore_errors=True)


def _moved(order: Order, scratch: Scratch) -> Order:
    """The order with the script in the copy."""
    if order.module:
        return order
    program = os.path.abspath(os.path.join(scratch.original, order.program))
    moved = scratch.there(os.path.realpath(program))
    return msgspec.structs.replace(order, program=os.path.relpath(moved, scratch.copy))


def _process(trial: Trial, base: str, work: str, record: str, job: dict[str, str]) -> int:
    """Run the process until it ends; returns its exit code."""
    command = [trial.python, "-m", "npulint.fakes.torch.trial", record]
    with _limited(command, work, {**job, **_variables(trial, base)}) as process:
        try:
            return process.wait(trial.order.seconds + _GRACE)
        except subprocess.TimeoutExpired:
            return -signal.SIGKILL


@contextmanager
def _limited(command: list[str], folder: str, variables: dict[str, str]) -> Iterator[subprocess.Popen[bytes]]:
    """A process in a session of its own, which is ended with all that it started."""
    try:
        process = subprocess.Popen(
            command, cwd=folder, env=variables, stdin=subprocess.DEVNULL, stdout=2, start_new_session=True
        )
    except OSError as error:
        raise NpulintError(f"{command[0]}: {error.strerror}") from error
    try:
        yield process
    finally:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            process.kill()
        process.wait()
        _end_all(variables["NPULINT_TRIAL_FOLDER"])


def _end_all(base: str) -> None:
    """End what a program started in sessions of their own: all processes of this trial, where the system lists them."""
    mark = f"NPULINT_TRIAL_FOLDER={base}".encode()
    for number in filter(str.isdigit, os.listdir("/proc") if os.path.isdir("/proc") else ()):
        try:
            with open(f"/proc/{number}/environ", "rb") as file:
                ours = mark in file.read().split(b"\0")
            if ours:
                os.kill(int(number), signal.SIGKILL)
        except OSError:
            continue  # it has ended, or belongs to someone else


def _variables(trial: Trial, base: str) -> dict[str, str]:
    found = {**environment("torch"), **_VARIABLES}
    found["PYTHONPATH"] = os.pathsep.join((_GUARDS, found["PYTHONPATH"]))
    temporary = os.path.join(base, "tmp")
    found |= {"NPULINT_TRIAL_FOLDER": base, "TMPDIR": temporary, "TORCHINDUCTOR_CACHE_DIR": temporary}
    found |= {"HOME": os.path.join(base, "home")}
    return {**found, RELEASE: trial.release} if trial.release else found


def _outcome(record: str, scratch: Scratch, code: int, trial: Trial) -> Outcome:
    paths = [os.path.join(record, name) for name in (RECORDING, ENDED)]
    if not all(map(os.path.isfile, paths)):
        reason = "try.killed" if code < 0 else "try.not-started"
        raise NpulintError(say(trial.lang, reason, code=code if code >= 0 else signal.Signals(-code).name))
    with open(paths[1], "rb") as file:
        ended = msgspec.json.decode(file.read(), type=Ended)
    lines = {scratch.back(path): numbers for path, numbers in ended.lines.items()}
    ended = msgspec.structs.replace(ended, lines=lines, place=scratch.back(ended.place))
    return Outcome(_back(read_recorded(paths[0]), scratch), ended)


def _back(graph: Graph, scratch: Scratch) -> Graph:
    """The graph with the paths of the user's files."""
    body = graph.bodies[0]
    nodes = [
        msgspec.structs.replace(
            node, frames=tuple(NodeFrame(scratch.back(one.path), one.line, one.function) for one in node.frames)
        )
        for node in body.nodes
    ]
    return msgspec.structs.replace(graph, bodies=[msgspec.structs.replace(body, nodes=nodes)])
