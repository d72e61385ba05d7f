"""Runs many variants of a small program in one other process, and returns what each of them prints.

Run as a script it is given, as JSON on standard input, the files of the program and the changed files of each variant;
it writes the outputs as JSON. The programs change nothing but their own modules, which are imported anew each time."""

from __future__ import annotations

import importlib
import io
import json
import os
import runpy
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

SECONDS = 300
Files = Mapping[str, bytes]


def outputs(folder: Path, files: Files, variants: Sequence[Files]) -> list[str]:
    """What a program prints, and then what it prints with the changed files of each variant; with the exception that
    ends it, if any. The empty folder is used for the files."""
    request = {"files": _texts(files), "variants": [{}, *map(_texts, variants)]}
    run = subprocess.run(
        [sys.executable, "-B", __file__],
        cwd=folder,
        input=json.dumps(request),
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=True,
    )
    results: list[str] = json.loads(run.stdout)
    return results


def _texts(files: Files) -> dict[str, str]:
    return {path: data.decode() for path, data in files.items()}


def _answers(request: dict[str, Any]) -> list[str]:
    files: dict[str, str] = request["files"]
    _write(files)
    results = []
    for changed in request["variants"]:
        _write(changed)
        results.append(_output())
        for path in changed.keys() - files.keys():
            os.unlink(path)
        _write({path: files[path] for path in changed.keys() & files.keys()})
    return results


def _write(files: Mapping[str, str]) -> None:
    for path, text in files.items():
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text(text, encoding="utf-8")


def _output() -> str:
    """The output of the program in the working folder, started with the words of its launcher."""
    here, before, modules = os.getcwd(), sys.stdout, set(sys.modules)
    words = ["main.py"]
    if os.path.exists("run.sh"):
        commands = [line for line in Path("run.sh").read_text().splitlines() if line.startswith("python ")]
        words = shlex.split(commands[0])[1:]
    importlib.invalidate_caches()
    sys.argv, sys.path[0], sys.stdout = words, here, io.StringIO()
    try:
        runpy.run_path(words[0], run_name="__main__")
    except BaseException as error:  # also SystemExit, which argparse raises
        print(f"{type(error).__name__}: {error}")
    finally:
        text, sys.stdout = sys.stdout.getvalue(), before
        for name in set(sys.modules) - modules:
            if str(getattr(sys.modules[name], "__file__", "")).startswith(here):
                del sys.modules[name]
    return text


if __name__ == "__main__":
    answers = _answers(json.load(sys.stdin))
    json.dump(answers, sys.stdout)
