"""Executes a program under CPython in each of its ways, each time in a process and a folder of its own."""

from __future__ import annotations

import json
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.oracle.notation import DEFAULT_START, Execution, Program
from tests.oracle.truth import STOPPED, Seen, Truth

OBSERVER = Path(__file__).parent / "observer.py"
PROCESSOR_SECONDS = 20.0
ENDLESS_SECONDS = 0.3  # an endless program says nothing new after its first milliseconds
LIMIT = 600.0  # a program that waits for something that never comes

EXTRA_MODULE = "VERSION = '9.9'\n\n\ndef available():\n    return True\n"


def executed(program: Program) -> Truth:
    """What the probes of a program see."""
    seen = {place: Seen(place) for place in program.places}
    truth = Truth([], list(seen.values()))
    for execution in program.executions:
        with tempfile.TemporaryDirectory(prefix="oracle-") as folder:
            status, observations, error = _Process(program, execution, Path(folder)).run()
        truth.statuses.append(status)
        truth.errors.append(error)
        for each in seen.values():
            each.reached.append(False)
        for made in observations:
            each = seen[made["path"], made["line"], made["kind"]]  # type: ignore[index]
            each.reached[-1] = True
            if made["kind"] == "value":
                each.add(made["value"])
    return truth


def write_files(program: Program, folder: Path) -> None:
    """Write the files of a program."""
    for path, text in program.files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")


class _Process:
    """The process of one execution."""

    def __init__(self, program: Program, execution: Execution, folder: Path) -> None:
        self.program, self.execution = program, execution
        self.project, self.output, self.modules = folder / "project", folder / "observed", folder / "modules"
        self.programs = folder / "bin"
        for made in (self.project, self.modules, self.programs):
            made.mkdir()
        self.output.touch()
        self.python = [sys.executable, "-S", "-B", str(OBSERVER)]

    def run(self) -> tuple[int, list[dict[str, object]], str]:
        """Its exit status, what was observed, and the end of what it wrote to standard error."""
        write_files(self.program, self.project)
        for name in self.execution.modules:
            (self.modules / f"{name}.py").write_text(EXTRA_MODULE)
        words, given = self._command()
        environment = {**self._settings(), **given, **dict(self.execution.environment)}
        done = subprocess.run(
            words,
            cwd=self.project,
            env=environment,
            input=self.execution.text,
            capture_output=True,
            text=True,
            timeout=LIMIT,
        )
        lines = self.output.read_text(encoding="utf-8").splitlines()
        status = STOPPED if done.returncode == -signal.SIGVTALRM else done.returncode
        return status, [json.loads(line) for line in lines], done.stderr[-400:]

    def _settings(self) -> dict[str, str]:
        settings = {
            "PATH": f"{self.programs}:/usr/bin:/bin",
            "HOME": str(self.modules),
            "LANG": "C.UTF-8",
            "PYTHONHASHSEED": str(self.execution.seed),
            "OBSERVER_ROOT": str(self.project),
            "OBSERVER_OUTPUT": str(self.output),
            "OBSERVER_SEED": str(self.execution.seed),
            "OBSERVER_SECONDS": str(ENDLESS_SECONDS if self.program.endless else PROCESSOR_SECONDS),
        }
        return {**settings, "OBSERVER_MODULES": str(self.modules)} if self.execution.modules else settings

    def _command(self) -> tuple[list[str], dict[str, str]]:
        """The words to execute, and the environment variables that the start sets."""
        if self.execution.launcher:
            command = " ".join(shlex.quote(word) for word in self.python)
            for name in ("python", "python3"):
                (self.programs / name).write_text(f'#!/bin/sh\nexec {command} "$@"\n')
                (self.programs / name).chmod(0o755)
            shell = shutil.which("bash") or "sh"
            return [shell, self.execution.launcher, *self.execution.arguments], {}
        words, given = words_of(self.program.start or DEFAULT_START)
        if self.execution.script:
            words = [self.execution.script]
        return [*self.python, *words], dict(given)


def words_of(start: str) -> tuple[list[str], list[tuple[str, str]]]:
    """The words after ``python`` of a start, and the environment variables that it sets."""
    words, given = shlex.split(start, comments=True), []
    while "=" in words[0]:
        name, _, value = words.pop(0).partition("=")
        given.append((name, value))
    if words.pop(0) not in ("python", "python3"):
        raise ValueError(start)
    return words, given
