"""``python -m npulint_trial FOLDER``: the folder has the order as JSON, and takes what was seen."""

import importlib
import json
import os
import runpy
import sys
import traceback

from npulint_trial.frames import FAKES
from npulint_trial.program import Program


def main(folder):
    """Run the program that the order in `folder` names; ends the process."""
    with open(os.path.join(folder, "order.json"), encoding="utf-8") as file:
        order = json.load(file)
    if order["memory"]:
        import resource

        resource.setrlimit(resource.RLIMIT_DATA, (order["memory"], order["memory"]))
    program = Program(folder, order)
    _prepare(program)
    program.start(order["seconds"])
    try:
        _started(order)
    except SystemExit as error:
        program.finish("end" if error.code in (None, 0) else "exit")
    except KeyboardInterrupt:
        os._exit(130)
    except BaseException as error:
        traceback.print_exception(type(error), error, error.__traceback__)
        program.finish("error", error)
    program.finish("end")


def _prepare(program):
    """Load TensorFlow and the fakes for it, and watch what runs."""
    try:
        import tensorflow
    except ImportError:
        traceback.print_exc()
        program.finish("missing")
    program.version = str(tensorflow.__version__)
    older = program.version.startswith("1.")
    names = ["tensorflow1"] if older else ["tensorflow2", "tensorflow1"]  # the second one uses the first
    paths = [os.path.join(FAKES, name) for name in names]
    sys.path[1:1] = paths
    os.environ["PYTHONPATH"] = os.pathsep.join((*paths, os.environ.get("PYTHONPATH", "")))
    importlib.import_module("npulint_trial.server").prepare(tensorflow, older)
    importlib.import_module("npulint_trial.saving").redirect(tensorflow)
    importlib.import_module("npulint_trial.sessions").Sessions(program)
    importlib.import_module("npulint_trial.functions").Functions(program)
    importlib.import_module("npulint_trial.digests").report()


def _started(order):
    """Run the program as Python runs it."""
    sys.argv = [order["program"], *order["arguments"]]
    if order["module"]:
        sys.path.insert(0, os.getcwd())
        runpy.run_module(order["program"], run_name="__main__", alter_sys=True)
    else:
        path = os.path.abspath(order["program"])
        sys.path.insert(0, os.path.dirname(path))
        runpy.run_path(path, run_name="__main__")


if __name__ == "__main__":
    main(sys.argv[1])
