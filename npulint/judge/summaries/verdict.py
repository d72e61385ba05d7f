"""The record of a verdict: what a run says of the programs of a project as a whole, in numbers."""

from __future__ import annotations

from typing import Literal, get_args

import msgspec

RunsOn = Literal["npu", "cuda", "host", "unknown"]
"""Where a program runs on an NPU server as it is: on the NPU; nowhere, since it requires CUDA; on the CPU; unknown."""
VerdictWord = Literal["ready", "check", "open", "blocked", "unrecognised", "unused", "nothing"]
"""The verdict in one word, the best first. ``ready``: nothing is left to do; ``check``: items are to be verified on the
device; ``open``: there are warnings; ``blocked``: there are errors, or a training program does not reach the NPU;
``unrecognised``: no training program was recognised; ``unused``: nothing uses a framework; ``nothing``: nothing was
read."""
VERDICT_WORDS: tuple[VerdictWord, ...] = get_args(VerdictWord)


class TrainingVerdict(msgspec.Struct, frozen=True):
    """The verdict on one training program: where it runs, and how many findings (errors and warnings) say that it stops
    or may stop, and that its results are wrong, and how many findings are about its speed. `errors` are those of the
    first that are sure. Of its readiness items, `undetermined` are to be verified, `to_compare` await a comparison with
    the reference, `failed` fail."""

    entry: str
    runs_on: RunsOn = "unknown"
    stops: int = 0
    errors: int = 0
    wrong: int = 0
    slows: int = 0
    undetermined: int = 0
    to_compare: int = 0
    failed: int = 0

    @property
    def away(self) -> bool:
        """Whether it surely does not reach the NPU."""
        return self.runs_on in ("cuda", "host")


class Verdict(msgspec.Struct, frozen=True):
    """What a run says of a project, from all findings that neither a comment nor the baseline accepts, whatever reports
    display. `programs` counts the programs that use a framework, `training` are those that train, `needing_cuda` the
    entry scripts of others that stop without CUDA; `library`: code that no training program starts keeps others from
    the NPU. `errors`, `warnings` and `notes` count all findings, `stops`,
    `wrong` and `slows` those of them with this meaning, as for one program, `unused` those about a training that does
    not use the NPU. `undetermined` and `to_compare` count the different readiness items of some program that are to be
    verified, and that await a comparison with the reference. `unstarted` counts the files with training code where no
    script starts one. Not understood: files that were not read (`unread`) or
    only in part, and configurations and started scripts that no training program was recognised from. `runs`, `graphs`
    and `steps` are numbers of training runs, graphs and recorded steps, `silent` that of the files of runs without a
    result. `read` counts files; `frameworks`: a file or program uses a framework; `selective`: only some checks were
    selected."""

    programs: int = 0
    training: tuple[TrainingVerdict, ...] = ()
    needing_cuda: tuple[str, ...] = ()
    library: bool = False
    errors: int = 0
    warnings: int = 0
    notes: int = 0
    stops: int = 0
    unused: int = 0
    wrong: int = 0
    slows: int = 0
    undetermined: int = 0
    to_compare: int = 0
    unread: int = 0
    partly_read: int = 0
    unstarted: int = 0
    not_recognised: int = 0
    graphs: int = 0
    runs: int = 0
    steps: int = 0
    silent: int = 0
    read: int = 0
    frameworks: bool = False
    selective: bool = False

    @property
    def total(self) -> int:
        """The number of findings."""
        return self.errors + self.warnings + self.notes

    @property
    def others(self) -> int:
        """How many findings are about something else than what stops a run, the use of the NPU, results and speed."""
        return self.total - self.stops - self.unused - self.wrong - self.slows

    @property
    def away(self) -> int:
        """How many training programs surely do not reach the NPU."""
        return sum(program.away for program in self.training)

    @property
    def stopping(self) -> int:
        """How many training programs reach the NPU, as far as is known, and surely stop."""
        return sum(program.errors > 0 and not program.away for program in self.training)

    @property
    def in_doubt(self) -> int:
        """How many training programs may stop."""
        return sum(program.stops > 0 and not program.errors and not program.away for program in self.training)

    @property
    def deviating(self) -> int:
        """How many training programs may give wrong results."""
        return sum(program.wrong > 0 for program in self.training)

    @property
    def unplaced(self) -> int:
        """Of how many training programs it is unknown where they run, if they do."""
        return sum(program.runs_on == "unknown" and not program.stops for program in self.training)

    @property
    def word(self) -> VerdictWord:
        """The verdict in one word."""
        if self.errors or self.away:
            return "blocked"
        if not self.read:
            return "nothing"
        if self.warnings or any(program.failed for program in self.training):
            return "open"
        if not self.training and not self.graphs and not self.runs:
            if self.frameworks:
                return "unrecognised"
            if not self.notes and not self.unread and not self.partly_read:
                return "unused"
        complete = (
            self.training and not self.undetermined and not self.to_compare and not self.unread and not self.unplaced
        )
        return "ready" if complete and not self.selective else "check"
