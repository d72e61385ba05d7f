"""Typed records of check files; fields correspond to the YAML keys."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from functools import cached_property
from typing import Any, TypeVar

import msgspec

from npulint.facts.recipe import Side
from npulint.judge.catalogue.severity import where_unsure

T = TypeVar("T")

CATEGORIES = ("functional", "precision", "performance", "hygiene")
LEFT = "left"  # a PyTorch program that is not ported, next to its counterpart or others that use the NPU
MIGRATIONS = ("none", "transfer", "manual", "agnostic", LEFT)
STATES = ("not_started", "partial", "migrated")
FAMILIES = {
    "engine": 0,
    "tensorflow": 1,
    "pytorch": 2,
    "launch": 3,
    "graph": 4,
    "run": 5,
    "compare": 6,
    "configuration": 7,
    "machine": 8,
}
ANSWERS = ("passed", "failed", "unknown")  # of a readiness item; in a comparison: consistent, differs, undetermined
UNUSED = "unused"  # further answer of an item of a comparison
COMPARE = "compare"  # the family of checks that need a reference
GRAPH = "graph"  # the family of checks evaluated for graphs only
RUN = "run"  # the family of checks evaluated for run artifacts
MACHINE = "machine"  # the family of checks evaluated for snapshots of machines, which are artifacts too
SIDES: tuple[Side, Side] = ("reference", "migrated")
TOPICS = frozenset(
    """session_config estimator_migration setting mixed_precision mixlist loss_scale dropout drop_remainder
    dynamic_shape topk mix_compile variable_in_input_fn control_flow_v2 unsupported_op affinity_op py_func
    iterations_per_loop host_sync distribution debug_leftover deprecated_api device_cuda fused_optimizer
    apex_amp dataloader_perf determinism env_vars dependency graph_op run_artifact recipe_difference parse
    framework_support agnostic other""".split()
)


class Query(msgspec.Struct, frozen=True):
    """A query about facts: either `kind` with patterns and filters, or one of all/any/not. `names` are canonical-name
    patterns (``*`` one dotted segment, ``**`` any number). `where` maps attributes to conditions; `args` maps
    arguments, written ``name``, ``position`` or ``name|position``. In `when` of a fix, `anywhere` queries all facts of
    the program even if the kind is that of the found fact."""

    kind: str = ""
    names: tuple[str, ...] = ()
    where: dict[str, Any] = {}
    args: dict[str, Any] = {}
    active: bool = True
    at_least: int = 1
    anywhere: bool = False
    all: tuple[Query, ...] = ()
    any: tuple[Query, ...] = ()
    negated: Query | None = None


class CheckText(msgspec.Struct, frozen=True):
    """The texts of a check in one language; ``{captures}`` are filled from the found fact."""

    title: str
    message: str
    why: str
    fix: str


class StepRule(msgspec.Struct, frozen=True):
    """A fix verb with its arguments. It applies to the place of the found fact, of the first fact that `at` finds
    (preferably in the same file), or of the head of the entry script (`entry`)."""

    verb: str
    words: dict[str, str] = {}
    at: Query | None = None
    entry: bool = False


class FixRule(msgspec.Struct, frozen=True):
    """How to fix facts for which `when` holds. A part of `when` with the kind of the found fact is evaluated for that
    fact alone. `because`: nothing is edited then, for this reason, by language; `at` finds the
    fact that it names."""

    applicability: str
    steps: tuple[StepRule, ...]
    when: Query | None = None
    because: dict[str, str] = {}
    at: Query | None = None


class SafeReason(msgspec.Struct, frozen=True):
    """Why the safe fixes of a check change nothing that whatever runs the code afterwards computes: `text` by language.
    That holds `only` under some conditions (``npu``: no program may run the code without an NPU; ``uncaught``: no
    ``except`` around it catches what the old text raises); where one does not hold, the fix is unsafe."""

    text: dict[str, str]
    only: tuple[str, ...] = ()


class Example(msgspec.Struct, frozen=True):
    """A test of the check. `files` maps names to sources; if `bad`, the marked lines must be reported (``# expect`` at
    their end), else nothing. `target` sets versions; `also` lists codes of other checks that may report in a good
    example. `fixed` are the files that the fixes change, after fixing."""

    bad: bool
    files: dict[str, str]
    target: dict[str, str] = {}
    expect: tuple[tuple[str, int], ...] = ()
    also: tuple[str, ...] = ()
    fixed: dict[str, str] = {}


def two_sided(files: Iterable[str]) -> bool:
    """Whether file names form a comparison: all lie below the folders ``reference`` and ``migrated``, and both have
    some."""
    return {side if below else "" for side, _, below in (name.partition("/") for name in files)} == set(SIDES)


class Reference(msgspec.Struct, frozen=True):
    """The source of a check: a document title with URL, or ``owner/repo:path``."""

    title: str
    source: str = ""


class Applies(msgspec.Struct, frozen=True):
    """The programs that a check applies to; empty fields mean any. `versions` maps tensorflow, torch, adapter, cann to
    ranges such as ``>=1.15,<2``; `soc` lists SoC families; `trains` requires a training program (or, if false, any
    other); `migrations` are the ways of porting PyTorch code to the NPU."""

    frameworks: tuple[str, ...] = ()
    states: tuple[str, ...] = ()
    modes: tuple[str, ...] = ()
    soc: tuple[str, ...] = ()
    versions: dict[str, str] = {}
    trains: bool | None = None
    migrations: tuple[str, ...] = ()


class Check(msgspec.Struct, frozen=True):
    """One check. `severity` follows from `consequence` and `occurs` (see `npulint.judge.catalogue.severity`); where it
    does not, `because` says why, by language. `once` is ``project`` (for each name), ``program``, ``file`` or empty:
    within it, one finding at the first place covers all places, the others are related locations. `joins` are codes of
    source checks into whose findings those of this check are merged: they report the same problem as this graph or run
    check, or the same line as this source check. Of `fixes` the first matching rule applies; `safe` says why those
    labelled so are. `severe_on` lists the chips on which the check has its severity; elsewhere it is a note (empty: it
    is as severe everywhere), and so is what `minor` finds of the reported facts. It does not report in files of the
    roles `except_in`; in those of the roles `severe_in` it keeps its severity, in others it is a note. `basis` is
    ``tables`` if it repeats what a table of the adapter says. `opt_in`: it runs only where settings select it by topic,
    code or name; it is also for code that nothing in the project uses, and takes files of the roles `severe_in` for any
    other."""

    code: str
    name: str
    family: str
    since: str
    status: str
    topic: str
    category: str
    severity: str
    confidence: str
    find: Query
    text: dict[str, CheckText]
    applies: Applies = Applies()
    needs: Query | None = None
    unless: Query | None = None
    related: Query | None = None
    minor: Query | None = None
    severe_on: tuple[str, ...] = ()
    severe_in: tuple[str, ...] = ()
    except_in: tuple[str, ...] = ()
    once: str = ""
    basis: str = ""
    opt_in: bool = False
    joins: tuple[str, ...] = ()
    fixes: tuple[FixRule, ...] = ()
    safe: SafeReason | None = None
    references: tuple[Reference, ...] = ()
    examples: tuple[Example, ...] = ()
    consequence: str = ""
    occurs: str = ""
    because: dict[str, str] = {}

    def in_role(self, role: str) -> Check:
        """The check for files of a role, which take no part in the training: no program surely comes to them."""
        return self.as_severe(where_unsure(self.severity, self.occurs) if role in self.severe_in else "note")

    def as_note(self) -> Check:
        """The check with its severity lowered to note."""
        return self.as_severe("note")

    def as_severe(self, severity: str) -> Check:
        """The check with another severity."""
        return self if self.severity == severity else msgspec.structs.replace(self, severity=severity)

    @property
    def applicability(self) -> str:
        """The best applicability of its fixes: safe, unsafe or manual."""
        applicabilities = {rule.applicability for rule in self.fixes}
        return next((word for word in ("safe", "unsafe") if word in applicabilities), "manual")


class ItemText(msgspec.Struct, frozen=True):
    """The texts of a checklist item in one language: title, and what needs review when undetermined."""

    title: str
    look: str


class Failing(msgspec.Struct, frozen=True):
    """The findings that fail a checklist item: of some topics from a severity on, without some checks, and of some
    checks at any severity. They must have a place that the entry script surely comes to; where it only may come there,
    the item is undetermined. Those of the checks in `anywhere`, at any severity, are about the program as a whole."""

    topics: tuple[str, ...] = ()
    checks: tuple[str, ...] = ()
    but: tuple[str, ...] = ()
    severity: str = "warning"
    anywhere: tuple[str, ...] = ()


class ItemExample(msgspec.Struct, frozen=True):
    """A test of a checklist item: its `answer` (passed, failed, unknown, absent) for the program train.py, and the
    places of its evidence."""

    answer: str
    files: dict[str, str]
    target: dict[str, str] = {}
    evidence: tuple[tuple[str, int], ...] = ()


class ItemDefinition(msgspec.Struct, frozen=True):
    """One item of the readiness or pre-tuning checklist. It is omitted where `needs` does not hold. A finding in
    `fails` fails it; else one in `doubted` leaves it undetermined; else the first fact found by `passed` that the
    program surely reaches passes it; else `otherwise` is its status, unless `unused` holds: nothing that the item is
    about is used (in comparisons only). The first fact found by `look` is the place that needs review.
    `compared`: only a comparison with the reference can pass it."""

    name: str
    order: int
    text: dict[str, ItemText]
    fails: Failing
    otherwise: str
    doubted: Failing = Failing()
    applies: Applies = Applies()
    needs: Query | None = None
    passed: Query | None = None
    unused: Query | None = None
    look: Query | None = None
    compared: bool = False
    examples: tuple[ItemExample, ...] = ()

    @property
    def key(self) -> str:
        """The name in machine-readable reports."""
        return self.name.replace("-", "_")


class Catalogue(msgspec.Struct, frozen=True, dict=True):
    """All checks by code and the checklist items in order; `digest` identifies the content for caches. `foreign` are
    codes of checks that are not built in. `pretuning` are the items of the pre-tuning checklist."""

    checks: tuple[Check, ...] = ()
    digest: str = ""
    items: tuple[ItemDefinition, ...] = ()
    foreign: tuple[str, ...] = ()
    pretuning: tuple[ItemDefinition, ...] = ()

    @cached_property
    def _answers(self) -> dict[Hashable, Any]:
        return {}

    def once(self, question: Hashable, answer: Callable[[], T]) -> T:
        """What `answer` gives, worked out the first time that `question` is asked of this catalogue: for what depends
        on its checks and the question alone, because a run asks again for every project."""
        if question not in self._answers:
            self._answers[question] = answer()
        remembered: T = self._answers[question]
        return remembered

    def told_once(self, scope: str) -> frozenset[str]:
        """The codes of the checks that are reported once per "program" or "project"."""
        return self.once(
            ("told once", scope), lambda: frozenset(check.code for check in self.checks if check.once == scope)
        )

    def with_opt_in(self) -> Catalogue:
        """The catalogue whose opt-in checks run as all others do, to test their examples; the same each time, because
        compiling its checks takes time."""
        return self.once("with opt-in", self._opted_in)

    def _opted_in(self) -> Catalogue:
        on = (msgspec.structs.replace(check, opt_in=False) if check.opt_in else check for check in self.checks)
        return msgspec.structs.replace(self, checks=tuple(on))
