"""npulint in a folder whose files must not be run: ``hostile_folder.py METHOD WORDS…`` runs commands, separated by `+`,
in the working folder. The host has chosen how its own processes start (METHOD)."""

from __future__ import annotations

import importlib
import multiprocessing
import sys
from collections.abc import Sequence
from contextlib import suppress


def run(words: Sequence[str]) -> None:
    """Run a command of npulint, an interface of Python or a linter that has npulint as its plugin."""
    name, *rest = words
    if name == "multiprocessing":  # what must not happen
        process = multiprocessing.Process(target=print)
        with suppress(OSError):
            process.start()
            process.join()
    elif name == "many":
        from npulint.api import check_many

        assert [one.error for one in check_many(["a", "b"], isolated=True, cache=False)] == ["", ""]
    elif name == "large":
        from npulint.commands.check import workers

        workers._PARALLEL_FROM = 1
        run(["check", "--no-cache", "--exit-zero", *rest])
        workers._PARALLEL_FROM = 2000
    elif name == "flake8":
        importlib.import_module("flake8.main.cli").main(["--jobs=1", "--select=NPU", "--exit-zero", *rest])
    elif name == "pylint":
        from pylint.lint import Run

        chosen = ("--disable=all", "--enable=npu-cuda-not-migrated")
        Run(["-j1", "--load-plugins=npulint.pylint_plugin", *chosen, "--exit-zero", *rest], exit=False)
    else:
        from npulint.__main__ import main

        sys.argv = ["npulint", *words]
        code = main()
        assert code in (0, 1), (words, code)
    print("done", *words, flush=True)


def commands(words: Sequence[str]) -> list[list[str]]:
    """The commands between the separators."""
    found: list[list[str]] = [[]]
    for word in words:
        if word == "+":
            found.append([])
        else:
            found[-1].append(word)
    return found


if __name__ == "__main__":
    multiprocessing.set_start_method(sys.argv[1])
    for one in commands(sys.argv[2:]):
        run(one)
