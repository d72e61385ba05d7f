"""Who answers for the probes of a program: the engine, and stubs by which the judge is tested."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple
from unittest import mock

from npulint.model.execution import reveal
from npulint.model.execution.engine import Engine
from npulint.model.execution.machine import Exhausted
from npulint.model.execution.sources import Sources
from tests.oracle.execution import words_of
from tests.oracle.judging import Respondent
from tests.oracle.notation import Program
from tests.oracle.truth import Truth

DEPTH = 6000  # of calls within calls, so that the depth of the test itself decides nothing


class Analysis(NamedTuple):
    """The answers of the engine, and which limits of work ended an analysis before it was complete."""

    answers: list[dict[str, Any]]
    limits: list[str]


def analysed(program: Program) -> Analysis:
    """What the engine says of a program."""
    limits: list[str] = []

    class Watched(Engine):
        """The engine, with a note of what ends it."""

        def start(
            self,
            script: str,
            words: Sequence[str | None] | None,
            module_name: str = "",
            named: str | None = "",
            search: Sequence[str] = (),
        ) -> None:
            """Execute a start."""
            try:
                super().start(script, words, module_name, named, search)
            except (Exhausted, RecursionError) as error:
                limits.append(type(error).__name__)
                raise

    with _depth(DEPTH), mock.patch.object(reveal, "Engine", Watched):
        return Analysis(reveal.revealed(Sources(program.files), starts_of(program)), limits)


def starts_of(program: Program) -> list[reveal.Start]:
    """The start of a program; if none is named, each script without arguments, and each line of its launchers."""
    if program.start is not None:
        return [_start(program, program.start)]
    starts = [reveal.Start(path) for path in sorted(program.files) if path.endswith(".py")]
    for path, text in sorted(program.files.items()):
        if path.endswith(".sh"):
            starts += [_start(program, line) for line in text.splitlines() if "python" in line]
    return starts


def _start(program: Program, command: str) -> reveal.Start:
    words, given = words_of(command)
    while words[0] in ("-u", "-B", "-O"):
        words = words[1:]
    module = ""
    if words[0] == "-m":
        module, path = words[1], words[1].replace(".", "/")
        words = [f"{path}.py" if f"{path}.py" in program.files else f"{path}/__main__.py", *words[2:]]
    arguments = [None if "$" in word else word for word in words[1:]]
    return reveal.Start(words[0], tuple(arguments), tuple(given), module)


@contextmanager
def _depth(limit: int) -> Iterator[None]:
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, limit))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


# -- stubs


def silent(program: Program) -> list[dict[str, Any]]:
    """Is certain of nothing."""
    answers: list[dict[str, Any]] = []
    for path, line, kind in program.places:
        content = {"answer": "maybe"} if kind == "runs" else {"certain": False, "values": []}
        answers.append({"path": path, "line": line, "kind": kind, **content})
    return answers


def truthful(truth: Truth) -> Respondent:
    """Answers what was seen."""

    def answers(program: Program) -> list[dict[str, Any]]:
        made = silent(program)
        for answer, seen in zip(made, truth.seen, strict=True):
            if seen.place.kind == "runs":
                answer["answer"] = truth.runs(seen).replace("some", "maybe")
            else:
                answer.update(certain=bool(seen.values), values=list(seen.values))
        return made

    return answers


def lying(truth: Truth) -> Respondent:
    """Is certain of something else each time: of the opposite, or of a value that differs as little as possible."""

    def answers(program: Program) -> list[dict[str, Any]]:
        made = truthful(truth)(program)
        for answer in made:
            if answer["kind"] == "runs":
                answer["answer"] = {"yes": "no", "no": "yes", "maybe": "yes"}[answer["answer"]]
            elif answer["values"]:
                answer["values"] = [*answer["values"][:-1], _slightly_other(answer["values"][-1])]
        return made

    return answers


def _slightly_other(value: Any) -> Any:
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, int):
        return float(value)
    if isinstance(value, float):
        return value * (1 + 2**-52) or 5e-324
    if isinstance(value, str):
        return f"{value} "
    if isinstance(value, list):
        return [*value[:-1], _slightly_other(value[-1])] if value else [None]
    if isinstance(value, dict):
        return {**value, "?": None}
    return False


__all__ = ["Analysis", "analysed", "lying", "silent", "starts_of", "truthful"]
