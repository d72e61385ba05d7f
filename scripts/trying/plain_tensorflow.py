"""Runs a program of TensorFlow 1 on the CPU, for a number of training steps: ``python plain_tensorflow.py STEPS
script.py args`` (or ``-m module args``). After each step it prints the digest of the variables, as ``npulint try``
does."""

from __future__ import annotations

import importlib
import os
import runpy
import sys


def main(steps: int, program: str, arguments: list[str]) -> None:
    """Run the program; ends the process after the last step."""
    digests = importlib.import_module("npulint_trial.digests")  # of the fakes on the module path

    def ended(made: int) -> None:
        if made >= steps:
            sys.stdout.flush()
            os._exit(0)

    digests.report(ended)
    if program == "-m":
        sys.argv = arguments
        sys.path[0] = os.getcwd()
        runpy.run_module(arguments[0], run_name="__main__", alter_sys=True)
        return
    sys.argv = [program, *arguments]
    sys.path[0] = os.path.dirname(os.path.abspath(program))
    runpy.run_path(program, run_name="__main__")


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], sys.argv[3:])
