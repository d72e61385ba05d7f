"""What a check file says, as typed records (the YAML keys one by one)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

CATEGORIES = ("functional", "precision", "performance", "hygiene")
LEFT = "left"  # a PyTorch program that stands unported beside others that use the NPU
MIGRATIONS = ("none", "transfer", "manual", "agnostic", LEFT)
STATES = ("not_started", "partial", "migrated")
FAMILIES = {"engine": 0, "tensorflow": 1, "pytorch": 2, "launch": 3, "graph": 4, "run": 5, "compare": 6}
ANSWERS = ("passed", "failed", "unknown")  # of a readiness item; in a comparison: consistent, differs, cannot tell
COMPARE = "compare"  # the family of checks that need a reference
GRAPH = "graph"  # the family of checks that are asked of graphs alone
RUN = "run"  # the family of checks that are asked of what a run left behind
SIDES = ("reference", "migrated")
TOPICS = frozenset(
    """session_config estimator_migration setting mixed_precision mixlist loss_scale dropout drop_remainder
    dynamic_shape topk mix_compile variable_in_input_fn control_flow_v2 unsupported_op affinity_op py_func
    iterations_per_loop host_sync distribution debug_leftover deprecated_api device_cuda fused_optimizer
    apex_amp dataloader_perf determinism env_vars dependency graph_op run_artifact recipe_difference parse
    other""".split()
)


class Query(msgspec.Struct, frozen=True):
    """A question about facts. Either `kind` with patterns and filters, or one of all/any/not.

    `names` are canonical-name patterns (``*`` one dotted segment, ``**`` any number). `where` maps an
    attribute to a condition; `args` an argument, written ``name``, ``position`` or ``name|position``. In `when` of a
    fix `anywhere` tells that any fact of the program is meant, where the kind is that of the found one.
    """

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


class Text(msgspec.Struct, frozen=True):
    """The wording of a check in one language; ``{captures}`` are filled from the found fact."""

    title: str
    message: str
    why: str
    fix: str


class StepRule(msgspec.Struct, frozen=True):
    """A verb with its words. It is about the place of the found fact, of the first fact that `at` finds (one in the
    same file before all), or of the head of the entry script (`entry`)."""

    verb: str
    words: dict[str, str] = {}
    at: Query | None = None
    entry: bool = False


class FixRule(msgspec.Struct, frozen=True):
    """How facts for which `when` holds are mended. A part of `when` that names the kind of the found fact is asked of
    that fact alone."""

    applicability: str
    steps: tuple[StepRule, ...]
    when: Query | None = None


class Example(msgspec.Struct, frozen=True):
    """A test of the check. `files` maps file name to text; `bad` tells whether the marked lines must be
    reported (``# expect`` at the line's end) or nothing at all. `target` sets versions; `also` lists
    the codes of other checks that may speak in a good example. `fixed` are the files that the fixes of the check
    change, as they are then."""

    bad: bool
    files: dict[str, str]
    target: dict[str, str] = {}
    expect: tuple[tuple[str, int], ...] = ()
    also: tuple[str, ...] = ()
    fixed: dict[str, str] = {}


def two_sided(files: Iterable[str]) -> bool:
    """Whether files of an example, by name, are a reference and what was made of it: each lies below the folder of one
    of the two, and both have some."""
    return {side if below else "" for side, _, below in (name.partition("/") for name in files)} == set(SIDES)


class Reference(msgspec.Struct, frozen=True):
    """Where the fact comes from: a document title with an address, or ``owner/repo:path``."""

    title: str
    source: str = ""


class Applies(msgspec.Struct, frozen=True):
    """For which programs a check speaks; empty means any. `versions` maps tensorflow, torch, adapter,
    cann to a range such as ``>=1.15,<2``; `soc` lists SoC families; `trains` asks for a training
    program (or, when false, for any other); `migrations` are the ways in which PyTorch code comes to the NPU."""

    frameworks: tuple[str, ...] = ()
    states: tuple[str, ...] = ()
    modes: tuple[str, ...] = ()
    soc: tuple[str, ...] = ()
    versions: dict[str, str] = {}
    trains: bool | None = None
    migrations: tuple[str, ...] = ()


class Check(msgspec.Struct, frozen=True):
    """One check. `once` is ``program``, ``file`` or empty: how far one finding speaks for all places; it
    stands at the first of them and relates the others. `joins` are the codes of checks of the source that say the same
    as one of the family graph. Of `fixes` the first that fits a place mends it."""

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
    text: dict[str, Text]
    applies: Applies = Applies()
    needs: Query | None = None
    unless: Query | None = None
    related: Query | None = None
    once: str = ""
    joins: tuple[str, ...] = ()
    fixes: tuple[FixRule, ...] = ()
    references: tuple[Reference, ...] = ()
    examples: tuple[Example, ...] = ()

    @property
    def applicability(self) -> str:
        """What can be done about it at best: safe, unsafe or manual."""
        known = {rule.applicability for rule in self.fixes}
        return next((word for word in ("safe", "unsafe") if word in known), "manual")


class ItemText(msgspec.Struct, frozen=True):
    """The wording of a readiness item in one language: its title, and what a person has to look at where the
    code alone cannot tell."""

    title: str
    look: str


class Failing(msgspec.Struct, frozen=True):
    """The findings that fail a readiness item: those of some topics from a severity on, without some
    checks, and those of some checks whatever their severity."""

    topics: tuple[str, ...] = ()
    checks: tuple[str, ...] = ()
    but: tuple[str, ...] = ()
    severity: str = "warning"


class ItemExample(msgspec.Struct, frozen=True):
    """A test of a readiness item: its `answer` (passed, failed, unknown, absent) for the program train.py, and
    the places that are evidence for it."""

    answer: str
    files: dict[str, str]
    target: dict[str, str] = {}
    evidence: tuple[tuple[str, int], ...] = ()


class Item(msgspec.Struct, frozen=True):
    """One line of the readiness list of a training program, or of the pre-tuning checklist of two that are compared. It
    is left out where `needs` does not hold. Else a finding that `fails` it, or a fact that `failed` finds, fails it;
    the first fact that `passed` finds passes it; `otherwise` holds when there is none. The first fact that `look` finds
    is where a person has to look."""

    name: str
    order: int
    text: dict[str, ItemText]
    fails: Failing
    otherwise: str
    applies: Applies = Applies()
    needs: Query | None = None
    passed: Query | None = None
    failed: Query | None = None
    look: Query | None = None
    examples: tuple[ItemExample, ...] = ()

    @property
    def key(self) -> str:
        """The name as reports for programs spell it."""
        return self.name.replace("-", "_")


class Catalogue(msgspec.Struct, frozen=True):
    """All checks in code order and the items of the readiness list in theirs; `digest` identifies their
    content for caches. `foreign` are the codes of checks that are not built in. `pretuning` are the items of the
    checklist for a program and its reference."""

    checks: tuple[Check, ...] = ()
    digest: str = ""
    items: tuple[Item, ...] = ()
    foreign: tuple[str, ...] = ()
    pretuning: tuple[Item, ...] = ()
