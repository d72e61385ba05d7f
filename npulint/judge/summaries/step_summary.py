"""Summary of a recorded training step for reports: where its operators ran, what the host waited for, which shapes
changed, the memory that it needed, and what it says about the findings of the source check."""

from __future__ import annotations

import msgspec


class StepOperator(msgspec.Struct, frozen=True):
    """One operator at one line of user code. `phase` is forward, backward, optimizer or empty; `count` is the number of
    nodes or calls; `via` is the name that fallback warnings show; `path` is empty if no project code made it; `inside`
    is the line of a library that called it."""

    name: str
    verdict: str
    phase: str = ""
    count: int = 1
    path: str = ""
    line: int = 0
    via: str = ""
    inside: str = ""

    @property
    def fine(self) -> bool:
        """Whether it runs on the NPU."""
        return self.verdict in FINE


FINE = frozenset("npu npu_out decomposes generic device".split())
"""Verdicts of operators that run on the NPU."""
PLACES = {
    "npu": "npu",
    "npu_out": "npu",
    "device": "npu",
    "decomposes": "decomposed",
    "generic": "decomposed",
    "cpu": "cpu",
    "cpu_out": "cpu",
    "host": "cpu",
    "error": "failed",
}
"""Where an operator runs, by verdict; other verdicts stand for themselves."""


class StepWait(msgspec.Struct, frozen=True):
    """A place where the host waits for the device: the kind of operator, how often, the line, and the line of a library
    that waits, if one does. `cause` is what reads the value: item, bool, float, int, index, tolist, print, format,
    cpu, equal, found_inf (of a gradient scaler), or the operator whose shape depends on values (nonzero, mask …).
    `why` and `remedy` are texts about a known library."""

    name: str
    count: int = 1
    path: str = ""
    line: int = 0
    inside: str = ""
    cause: str = ""
    why: str = ""
    remedy: str = ""


class StepShape(msgspec.Struct, frozen=True):
    """An operator whose output had a shape in a later step that it did not have in the steps before. `shapes` are those
    seen, in order; `others` is the number of further operators of this kind at the same line."""

    name: str
    shapes: tuple[tuple[int, ...], ...]
    path: str = ""
    line: int = 0
    inside: str = ""
    others: int = 0


class StepMemory(msgspec.Struct, frozen=True):
    """The bytes of device tensors at the moment when most are needed (`peak`), by class, for the shapes of these steps.
    `activations` are results that the backward pass may need; `kept` is the most that they ever needed. `chip` has
    `capacity` bytes (0: unknown); `assumed`: nothing specifies the chip. `fits` is yes, tight, no or unknown; `source`
    says where the capacity is from."""

    peak: int
    parameters: int = 0
    gradients: int = 0
    optimizer: int = 0
    activations: int = 0
    other: int = 0
    kept: int = 0
    chip: str = ""
    assumed: bool = False
    capacity: int = 0
    fits: str = "unknown"
    source: str = ""

    def classes(self) -> dict[str, int]:
        """The bytes by class."""
        return {name: getattr(self, name) for name in CLASSES}


CLASSES = ("parameters", "gradients", "optimizer", "activations", "other")
"""The classes of tensors, as they are stacked in pictures."""


class StepFinding(msgspec.Struct, frozen=True):
    """A finding of the source check in code that ran. `status`: confirmed, contradicted (the line ran on the NPU and
    did not do this), missed (not reached) or open (reached; the run does not decide)."""

    code: str
    name: str
    severity: str
    path: str
    line: int
    status: str


class StepDifference(msgspec.Struct, frozen=True):
    """What source check and run disagree about: `kind` is contradicted (only the source check reports it) or live_only
    (only the run does). `static` and `run` are the reasons of both, as sentences."""

    kind: str
    code: str
    name: str
    path: str
    line: int
    static: str
    run: str


class StepStretch(msgspec.Struct, frozen=True):
    """Consecutive operators of one function, line and phase, of the last whole step: from the operator number `begin`
    up to `end`. `runs` are numbers of operators by where they run, `waits` the numbers of operators that the host waits
    for."""

    path: str
    line: int
    function: str
    phase: str
    begin: int
    end: int
    runs: dict[str, int] = {}
    waits: tuple[int, ...] = ()


class StepPicture(msgspec.Struct, frozen=True):
    """The last whole step in the order in which it ran. `memory` are points (number of operators before, bytes of each
    of CLASSES)."""

    operators: int = 0
    stretches: tuple[StepStretch, ...] = ()
    memory: tuple[tuple[int, tuple[int, ...]], ...] = ()


class StepSummary(msgspec.Struct, frozen=True):
    """A recorded run of `steps` steps. `name` describes what ran, `ended` how it ended (a sentence; empty unless a
    program ran). `notes` say what was not seen."""

    name: str
    steps: int = 1
    ended: str = ""
    operators: tuple[StepOperator, ...] = ()
    waits: tuple[StepWait, ...] = ()
    shapes: tuple[StepShape, ...] = ()
    memory: StepMemory | None = None
    static: tuple[StepFinding, ...] = ()
    differences: tuple[StepDifference, ...] = ()
    explained: bool = False
    picture: StepPicture | None = None
    notes: tuple[str, ...] = ()
