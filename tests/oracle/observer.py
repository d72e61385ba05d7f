"""Executes a script or a module with the probes defined, and writes down what they see; a process of its own.

It uses nothing of the project: its arguments are those of ``python``, its settings are environment variables, which it
removes. Each new observation is one line of JSON. A program that does not end is stopped by the processor time that it
has used.
"""

from __future__ import annotations

import builtins
import enum
import json
import os
import random
import runpy
import signal
import sys
import types

ROOT = os.path.realpath(os.environ.pop("OBSERVER_ROOT"))
OUTPUT = os.open(os.environ.pop("OBSERVER_OUTPUT"), os.O_WRONLY | os.O_APPEND)
SEED = int(os.environ.pop("OBSERVER_SEED"))
MODULES = os.environ.pop("OBSERVER_MODULES", "")
SECONDS = float(os.environ.pop("OBSERVER_SECONDS"))
STARTUP = frozenset((*sys.builtin_module_names, *"abc codecs encodings genericpath io os posixpath site stat".split()))
observed: set[str] = set()


def plain(value: object) -> object:
    """A value as JSON: tuples are lists, sets are sorted, keys are strings; other objects are named by their class."""
    if isinstance(value, enum.Enum) and not isinstance(value, int):
        return {"$object": type(value).__name__}
    if value is None or isinstance(value, (bool, str)):
        return value if value is None or isinstance(value, bool) else str(value)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value) if value - value == 0 else {"$float": str(value)}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, (set, frozenset)):
        return sorted((plain(item) for item in value), key=repr)
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    return {"$object": type(value).__name__}


def observe(frame: types.FrameType, kind: str, **content: object) -> None:
    """Write down an observation, unless it was made before."""
    path = os.path.relpath(os.path.realpath(frame.f_code.co_filename), ROOT)
    line = json.dumps({"path": path, "line": frame.f_lineno, "kind": kind, **content}, sort_keys=True)
    if line not in observed:
        observed.add(line)
        os.write(OUTPUT, line.encode() + b"\n")


def reveal_value(value: object) -> object:
    """The probe of a value; gives it back."""
    observe(sys._getframe(1), "value", value=plain(value))
    return value


def reveal_runs() -> None:
    """The probe of a place that may be reached."""
    observe(sys._getframe(1), "runs")


def define_builtins() -> None:
    """Define the probes, and what ``site`` would define."""
    from _sitebuiltins import Quitter

    for name in ("exit", "quit"):
        setattr(builtins, name, Quitter(name, "Ctrl-D"))
    for probe in (reveal_value, reveal_runs):
        setattr(builtins, probe.__name__, probe)


def execute(words: list[str]) -> None:
    """Execute what the words after ``python`` name."""
    while words[0] in ("-u", "-B", "-O"):
        words = words[1:]
    is_module = words[0] == "-m"
    sys.argv = words[1:] if is_module else words
    sys.path[0] = os.getcwd() if is_module else os.path.dirname(os.path.abspath(words[0]))
    for name in os.listdir(sys.path[0]):  # modules of the project must not be hidden by what this module has imported
        if name.partition(".")[0] not in STARTUP:
            sys.modules.pop(name.partition(".")[0], None)
    if MODULES:
        sys.path.append(MODULES)
    if is_module:
        runpy.run_module(words[1], run_name="__main__", alter_sys=True)
        return
    main = types.ModuleType("__main__")
    main.__dict__.update(__file__=os.path.abspath(words[0]), __builtins__=builtins)
    sys.modules["__main__"] = main
    with open(words[0], encoding="utf-8") as file:
        code = compile(file.read(), os.path.abspath(words[0]), "exec")
    exec(code, main.__dict__)


if __name__ == "__main__":
    signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)  # its signal ends the process
    define_builtins()
    random.seed(SEED)
    execute(sys.argv[1:])
