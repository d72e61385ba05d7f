"""Makes programs by a grammar: those are taken that are neither short nor long, and that end as they should."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import NamedTuple, Protocol

from tests.oracle.execution import executed
from tests.oracle.notation import Execution, Program
from tests.oracle.truth import Truth

ATTEMPTS = 80
STATEMENTS = range(40, 201)
PROBES = range(10, 31)
EXITS = (0, 3)  # how a generated program may end; 3 is used by the grammars, anything else is a fault of theirs

EXECUTIONS = (
    Execution(seed=1),
    Execution((("FAST", "1"), ("RANK", "1"), ("TAG", "ab")), seed=2),
    Execution((("DEBUG", "1"), ("RANK", "3")), seed=3),
    Execution((("FAST", "0"), ("DEBUG", "1"), ("TAG", "adam"), ("RANK", "2")), seed=4),
)


class Written(NamedTuple):
    """A program as a grammar writes it: its files, its start, and what its launchers are given in each execution."""

    files: dict[str, str]
    start: str | None
    launchers: tuple[tuple[str, tuple[str, ...]], ...] = ()


class Writer(Protocol):
    """Writes one program."""

    def written(self) -> Written:
        """The program."""


class Made(NamedTuple):
    """A program that was executed, and by which attempt it was written."""

    program: Program
    truth: Truth
    attempt: int


class Grammar:
    """A grammar by its name; `writer` makes a writer for a seed."""

    def __init__(self, name: str, writer: Callable[[int], Writer]) -> None:
        self.name = name
        self.writer = writer

    def attempt(self, seed: int, number: int) -> Program | None:
        """What an attempt writes; None if it is too short or too long."""
        written = self.writer(seed * 1000 + number).written()
        executions: tuple[Execution, ...] = EXECUTIONS
        if written.launchers:
            launched = [
                Execution(each.environment, launcher=path, arguments=arguments, seed=each.seed)
                for each, (path, arguments) in zip(EXECUTIONS[1:], written.launchers, strict=True)
            ]
            executions = (EXECUTIONS[0], *launched)
        program = Program(self.name, str(seed), written.files, written.start, executions)
        statements = sum(
            isinstance(node, ast.stmt)
            for path, text in written.files.items()
            if path.endswith(".py")
            for node in ast.walk(ast.parse(text))
        )
        return program if statements in STATEMENTS and len(program.places) in PROBES else None

    def program(self, seed: int) -> Made:
        """The program of a seed."""
        for number in range(ATTEMPTS):
            program = self.attempt(seed, number)
            if program is None:
                continue
            truth = executed(program)
            if truth.statuses[0] == 0 and set(truth.statuses) <= set(EXITS):
                return Made(program, truth, number)
        raise RuntimeError(f"no program for seed {seed} of {self.name}")
