"""The plan of a port."""

from __future__ import annotations

import msgspec

from npulint.judge.effort import Effort
from npulint.judge.findings import Finding, RunResult
from npulint.judge.fix_results import FileChange, FixResult
from npulint.judge.summaries.verdict import Verdict


class Style(msgspec.Struct, frozen=True):
    """How code gets to the NPU: ``transfer``, ``npu`` or ``agnostic`` for PyTorch, ``adapter`` for TensorFlow. `why` it
    was chosen is a text key below ``port.why.``, with `count` for its number."""

    name: str
    why: str
    count: int = 0


class PlannedEdit(msgspec.Struct, frozen=True):
    """Adjacent lines of a file that a step changes: the first line in the original file, and the lines."""

    path: str
    line: int
    before: tuple[str, ...]
    after: tuple[str, ...]


class PlannedItem(msgspec.Struct, frozen=True):
    """What a step changes because of one check: all its places (file and line), why, and whether it is safe."""

    code: str
    name: str
    title: str
    message: str
    why: str
    url: str
    safe: bool
    places: tuple[tuple[str, int], ...]
    edits: tuple[PlannedEdit, ...] = ()


class PlannedStep(msgspec.Struct, frozen=True):
    """A step of `npulint.data.port_styles.STEPS` with its items. `files` are the changes from the files after the step
    before to those after this one."""

    name: str
    items: tuple[PlannedItem, ...]
    files: tuple[FileChange, ...] = ()


class OpenFinding(msgspec.Struct, frozen=True):
    """A finding that is left to a person; `reason` says why it has no edit, if an edit was refused."""

    finding: Finding
    reason: str = ""


class PortedProgram(msgspec.Struct, frozen=True):
    """What the port does to one program.

    Status: ``trains`` (its training surely reaches the NPU), ``reaches`` (the same of a program that does not train),
    ``open`` (errors or undetermined items remain: the number of the `findings`, the titles of the `items`, and in
    `because` libraries for GPUs), ``python2`` and ``unread`` (untouched because of the file `because`), ``engine``
    (untouched because of an inference engine for GPUs), ``left`` (it was not named), ``other`` (it needs no port).
    `changed`: the port changes files that it reaches."""

    entry: str
    framework: str
    status: str
    changed: bool
    findings: int = 0
    items: tuple[str, ...] = ()
    because: str = ""


class PortPlan(msgspec.Struct, frozen=True):
    """The whole plan; nothing is written yet. `before` is the verdict on the project as it is, `effort` the estimate
    that ``npulint effort`` gives for what is ported, `result` that of the checks after the port."""

    style: Style
    steps: tuple[PlannedStep, ...]
    left: tuple[OpenFinding, ...]
    programs: tuple[PortedProgram, ...]
    fixes: FixResult
    before: Verdict = Verdict()
    effort: Effort = Effort()

    @property
    def files(self) -> list[FileChange]:
        """The changes of all steps."""
        return self.fixes.files

    @property
    def result(self) -> RunResult:
        """The result of the checks after the port."""
        return self.fixes.result
