"""Runs a TensorFlow program for a few steps, in a process, a folder and limits of its own."""

from __future__ import annotations

import json
import os
import signal
from typing import Any

import msgspec

import npulint.data
from npulint.core.errors import NpulintError
from npulint.core.texts import say
from npulint.data.releases import standing
from npulint.facts.graph import Graph
from npulint.fakes.launch import RECORD, read_record
from npulint.fakes.orders import Order
from npulint.fakes.scratch import Scratch
from npulint.fakes.supervision.supervised import Supervised, supervised
from npulint.fakes.tensorflow.records import Report, read_graphs, read_report
from npulint.fakes.trial import GUARDS, moved_order

# What the declared release of TF Adapter does not have, for the fakes.

_ABSENT = ("later", "gone")
_FOLDER = os.path.dirname(os.path.abspath(npulint.data.__file__))


def absent_from(adapter: str, cann: str) -> dict[str, Any] | None:
    """The names and options that the declared release does not have; None if no release is declared."""
    if not adapter and not cann:
        return None

    def lacks(since: str, until: str) -> bool:
        state = standing(since, until, adapter, cann)
        return state in _ABSENT or (state == "unknown" and bool(until))

    symbols = {
        module: [name for name, (_, since, until) in names.items() if lacks(since, until)]
        for module, names in _table("npu_symbols.json").items()
    }
    options: dict[str, list[str]] = {}
    for option in _table("adapter_options.json"):
        for mechanism, use in option["uses"].items():
            if lacks(use.get("since", ""), use.get("until", "")):
                options.setdefault(mechanism, []).append(use["name"])
    return {"symbols": {module: names for module, names in symbols.items() if names}, "options": options}


def _table(name: str) -> Any:
    with open(os.path.join(_FOLDER, name), "rb") as file:
        return msgspec.json.decode(file.read())


_ON_PATH = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "on_path")
_VARIABLES = {
    "CUDA_VISIBLE_DEVICES": "",
    "JOB_ID": "10001",
    "RANK_ID": "0",
    "RANK_SIZE": "1",
    "ASCEND_DEVICE_ID": "0",
    "PYTHONDONTWRITEBYTECODE": "1",
    "MPLBACKEND": "agg",
    "TF_CPP_MIN_LOG_LEVEL": "2",
    "WANDB_MODE": "disabled",
}
_OPTIONS = "options.jsonl"
_GRACE = 90  # seconds beyond the limit to write large graphs, until the process is killed


class TensorFlowTrial(msgspec.Struct, frozen=True):
    """A trial: `order` as the user gave it, the interpreter with TensorFlow, and the working folder. `adapter` and
    `cann` are the declared releases, whose names and options the fakes have (empty: the newest)."""

    order: Order
    python: str
    folder: str
    adapter: str = ""
    cann: str = ""
    lang: str = "en"


class TensorFlowOutcome(msgspec.Struct, frozen=True):
    """What a trial showed: the report, the graphs that ran, by name, and what the program configured."""

    report: Report
    graphs: dict[str, Graph]
    configured: dict[str, object]


def run_tensorflow(trial: TensorFlowTrial) -> TensorFlowOutcome:
    """Run the program of a trial; its output goes to standard error. Raises `NpulintError` if it cannot be started or
    leaves no recording, and `KeyboardInterrupt` after ending it."""
    with supervised(trial.lang) as processes:
        base = processes.folder
        scratch = Scratch(os.path.realpath(trial.folder), os.path.join(base, "work"))
        scratch.fill(trial.lang)
        record = os.path.join(base, "record")
        for folder in (record, os.path.join(base, "tmp")):
            os.makedirs(folder)
        with open(os.path.join(record, "order.json"), "w", encoding="utf-8") as file:
            json.dump(msgspec.to_builtins(moved_order(trial.order, scratch)), file)
        code = _code(trial, processes, scratch.copy, record)
        return _outcome(record, scratch, code, trial)


def _code(trial: TensorFlowTrial, processes: Supervised, work: str, record: str) -> int:
    """Run the process until it ends; returns its exit code."""
    command = [trial.python, "-m", "npulint_trial", record]
    program = processes.start(command, work, _variables(trial, processes.folder, record))
    code = program.wait(trial.order.seconds + _GRACE)
    processes.end()
    return -signal.SIGKILL if code is None else code


def _variables(trial: TensorFlowTrial, base: str, record: str) -> dict[str, str]:
    variables = {**os.environ, **_VARIABLES}
    paths = [GUARDS, *(os.path.join(_ON_PATH, name) for name in ("tensorflow_trial", "shared"))]
    paths += [variables["PYTHONPATH"]] if variables.get("PYTHONPATH") else []
    return {
        **variables,
        "PYTHONPATH": os.pathsep.join(paths),
        **dict.fromkeys(("TMPDIR", "MPLCONFIGDIR", "XDG_CACHE_HOME"), os.path.join(base, "tmp")),
        "KERAS_HOME": _keras_home(base),
        "NPULINT_FAKE_LOOP": str(trial.order.steps),
        "NPULINT_FAKE_ABSENT": _absent(trial, record),
        RECORD: os.path.join(record, _OPTIONS),
    }


def _keras_home(base: str) -> str:
    """A folder for the data sets and models of Keras, with links to those that the user has."""
    own = os.environ.get("KERAS_HOME") or os.path.join(os.path.expanduser("~"), ".keras")
    home = os.path.join(base, "keras")
    for part in ("datasets", "models"):
        os.makedirs(os.path.join(home, part))
        if os.path.isdir(os.path.join(own, part)):
            for name in os.listdir(os.path.join(own, part)):
                os.symlink(os.path.join(own, part, name), os.path.join(home, part, name))
    if os.path.isfile(os.path.join(own, "keras.json")):
        os.symlink(os.path.join(own, "keras.json"), os.path.join(home, "keras.json"))
    return home


def _absent(trial: TensorFlowTrial, record: str) -> str:
    """The file that says what the declared release does not have; empty if none is declared."""
    absent = absent_from(trial.adapter, trial.cann)
    if absent is None:
        return ""
    path = os.path.join(record, "absent.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(absent, file)
    return path


def _outcome(record: str, scratch: Scratch, code: int, trial: TensorFlowTrial) -> TensorFlowOutcome:
    if not os.path.isfile(os.path.join(record, "ended.json")):
        reason = "try.killed" if code < 0 else "try.tf.not-started"
        raise NpulintError(say(trial.lang, reason, code=code if code >= 0 else signal.Signals(-code).name))
    report = read_report(record, scratch)
    if report.how == "missing":
        raise NpulintError(say(trial.lang, "try.tf.missing", python=trial.python))
    configured = read_record(os.path.join(record, _OPTIONS))
    return TensorFlowOutcome(report, read_graphs(record, report, scratch), configured[0] if configured else {})
