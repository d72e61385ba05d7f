"""Runs programs with the fakes, each in a process of its own that has a framework already:
``python forked_programs.py torch < programs.json``. A program is ``{"folder": path, "script": name}``; the answer to
each is the end of its traceback, empty where it ran. It may also have `on`, names that must be on the NPU at the end,
and `given`, a script that defines what the program leaves out. For Python 3.7, which TensorFlow 1.15 needs."""

import atexit
import builtins
import importlib
import json
import os
import runpy
import signal
import sys
import traceback
import warnings

_RECORD = "NPULINT_FAKE_RECORD"
_SECONDS = 120  # a program that takes longer is ended


def _left_on_host(names, namespace):
    """The names whose tensors, or parameters of a module, are not on the NPU."""

    def types(value):
        tensors = value.parameters() if hasattr(value, "parameters") else [value]
        return {one.device.type for one in tensors}

    return [name for name in names if types(namespace[name]) != {"npu"}]


def _give(path):
    """Names that examples leave out, defined by a script, for all modules of a program."""
    for name, value in (runpy.run_path(path) if path else {}).items():
        if not name.startswith("_") and not hasattr(builtins, name):
            setattr(builtins, name, value)


def _run(program):
    """Run a program, write what it raised to a file, and end this process."""
    os.chdir(program["folder"])
    os.environ[_RECORD] = os.path.join(program["folder"], "record.jsonl")
    sys.path.insert(0, program["folder"])
    sys.path.insert(0, os.path.dirname(os.path.abspath(program["script"])))
    sys.argv[:] = [program["script"]]
    raised = ""
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(0)
    signal.alarm(_SECONDS)
    with open("output.txt", "w") as out:
        os.dup2(out.fileno(), 1)
        os.dup2(out.fileno(), 2)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        try:
            _give(program.get("given", ""))
            namespace = runpy.run_path(program["script"], run_name="__main__")
            left = _left_on_host(program.get("on", []), namespace)
            raised = "not on the NPU: {}".format(", ".join(left)) if left else ""
        except SystemExit as end:
            raised = f"exit {end.code}" if end.code else ""
        except BaseException as error:
            first = (str(error).splitlines() or [""])[0]
            raised = f"{traceback.format_exc()[-2000:]}\n{type(error).__name__}: {first}"
        with open("raised.txt", "w") as file:
            file.write(raised)
        atexit._run_exitfuncs()
        sys.stdout.flush()
    os._exit(0)


def main():
    warnings.simplefilter("ignore")
    importlib.import_module(sys.argv[1])
    if sys.argv[1] == "torch":
        importlib.import_module("torch._dynamo")  # every optimizer imports it, which takes as long as torch itself
    answers = []
    for program in json.load(sys.stdin):
        child = os.fork()
        if not child:
            _run(program)
        _, status = os.waitpid(child, 0)
        path = os.path.join(program["folder"], "raised.txt")
        if status or not os.path.exists(path):
            answers.append(f"ended with status {status}")
        else:
            with open(path) as file:
                answers.append(file.read())
    json.dump(answers, sys.stdout)


if __name__ == "__main__":
    main()
