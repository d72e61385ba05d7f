"""Judges one example in this process: the command line or the language server answers, and nothing else happens."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import tempfile
import traceback
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import msgspec

from npulint.core.texts import say
from npulint.hosts.cli.host import system
from npulint.hosts.cli.main import main
from scripts.fuzzing import watch
from scripts.fuzzing.conversation import converse
from scripts.fuzzing.example import OUT, Example, Failure, Files, traced

CODES = (0, 1, 2)
"""Exit codes that the documentation lists, without that of an interruption."""

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_CONTROL_IN_MARKUP = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")


def judge(example: Example, scratch: Path) -> Failure | None:
    """What is wrong with the answer to an example, if anything. `scratch` is a folder for nothing else."""
    project = fresh(scratch, example)
    watch.forget()
    try:
        found = converse(example, project) if example.messages else _command(example, scratch)
    finally:
        os.chdir(scratch)
    written = watch.violations()
    if written:
        return found or Failure("written", written[0].split("\n")[0], "\n".join(written))
    return found or _changed(example.files, project)


def fresh(scratch: Path, example: Example) -> Path:
    """Write the project of an example and make it the working directory; what was there before is gone."""
    project, temporary = scratch / "project", scratch / "tmp"
    for folder in (project, temporary, scratch / "out"):
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
    for name, data in example.files.items():
        path = project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    os.chdir(project)
    tempfile.tempdir = str(temporary)
    os.environ["NPULINT_CACHE_DIR"] = str(scratch / "cache")
    return project


def _command(example: Example, scratch: Path) -> Failure | None:
    out, err = io.BytesIO(), io.BytesIO()
    host = msgspec.structs.replace(
        system(),
        environ={"LC_ALL": "C"},
        stdin=io.TextIOWrapper(io.BytesIO(example.stdin), encoding="utf-8"),
        stdout=io.TextIOWrapper(out, encoding="utf-8", newline=""),
        stderr=io.TextIOWrapper(err, encoding="utf-8", newline=""),
    )
    words = [word.replace(OUT, str(scratch / "out")) for word in example.words]
    try:
        code = main(words, host)
    except BaseException:  # also what ends a process
        return traced(traceback.format_exc())
    host.stdout.flush()
    host.stderr.flush()
    printed, warned = out.getvalue().decode("utf-8", "replace"), err.getvalue().decode("utf-8", "replace")
    if any(say(lang, "internal") in warned for lang in ("en", "zh")):
        return traced(warned)
    if code not in CODES:
        return Failure("exit", str(code), warned)
    return _control("stderr", warned) or _formats(example, printed, scratch / "out" / "report")


def _formats(example: Example, printed: str, report: Path) -> Failure | None:
    """What is wrong with the reports in all formats that were asked for."""
    asked = [word.removeprefix("--format=") for word in example.words if word.startswith("--format=")]
    more = [word.split("=")[1] for word in example.words if word.startswith("--output=")]
    found = report_problem(asked[0], printed) if asked and printed and example.words[0] != "facts" else None
    if found is None and more and report.exists():
        found = report_problem(more[0], report.read_text("utf-8", "strict"))
    return found


def report_problem(form: str, text: str) -> Failure | None:
    """What is wrong with a report of a format, if anything."""
    if form in ("text", "concise", "github", "agent"):
        return _control(form, text)
    if form in ("html", "markdown"):
        return _control(form, text, _CONTROL_IN_MARKUP)
    parse: Callable[[str], object] = ElementTree.fromstring if form in ("junit", "checkstyle") else json.loads
    try:
        for part in text.rstrip("\n").split("\n") if form == "jsonl" else [text]:
            parse(part)
    except (ValueError, ElementTree.ParseError) as error:
        return Failure("format", f"{form} {type(error).__name__}", f"{error}\n{text[:5000]}")
    return None


def _control(form: str, text: str, pattern: re.Pattern[str] = _CONTROL) -> Failure | None:
    found = pattern.search(text)
    if found is None:
        return None
    around = text[max(0, found.start() - 200) : found.end() + 200]
    return Failure("control", f"{form} {found.group()!r}", around)


def _changed(files: Files, project: Path) -> Failure | None:
    there = {path.relative_to(project).as_posix(): path for path in project.rglob("*") if path.is_file()}
    names = {os.path.normpath(name) for name in files}
    wrong = sorted(names ^ there.keys()) or [
        name for name, data in files.items() if there[os.path.normpath(name)].read_bytes() != data
    ]
    return Failure("changed", wrong[0], "\n".join(wrong)) if wrong else None
