"""Findings: what a run says, before any reporter gives it a shape."""

from __future__ import annotations

import msgspec

from npulint.facts.model import Problem, Span
from npulint.run_summary import RunSummary

SEVERITIES = ("note", "warning", "error")
CONFIDENCES = ("low", "medium", "high")


class Related(msgspec.Struct, frozen=True):
    """A second place that explains a finding."""

    path: str
    span: Span
    message: str


class Edit(msgspec.Struct, frozen=True):
    """A replacement: `text` instead of what stands at `span` of the file at `path`. Columns count code points."""

    path: str
    span: Span
    text: str


class FixStep(msgspec.Struct, frozen=True):
    """One verb of the closed set (`npulint.catalogue.vocabulary.verbs`) with its words, about a place in a file."""

    verb: str
    path: str
    span: Span
    words: dict[str, str] = {}


class FixEdit(msgspec.Struct, frozen=True):
    """What mends one place: steps that are taken all or not at all. Applicability: safe or unsafe."""

    applicability: str
    steps: tuple[FixStep, ...]


class Fix(msgspec.Struct, frozen=True):
    """How to mend it. Applicability: safe, unsafe (when a part of it is) or manual (nothing is known that a program can
    do). `edits` do it, where they are known exactly; `changes` are what they are to be worked out from."""

    text: str
    applicability: str = "manual"
    edits: tuple[Edit, ...] = ()
    changes: tuple[FixEdit, ...] = ()


class MatchCandidate(msgspec.Struct, frozen=True):
    """A finding about the source that may say what a run says, by its code and place. Of several, those with the
    lowest `rank` are meant; what they say is alike."""

    code: str
    path: str
    span: Span
    rank: int = 0


class ArtifactLocation(msgspec.Struct, frozen=True):
    """Where an artifact of a run shows what a finding says: its row or line. `operator` is what that is about, its
    type and its node, if it is about one; `origins` are the lines that build it. `exact`: it is said of the very line
    of code that the artifact names; `several`: of operators, each of which has a place of its own. `same` are the
    places of findings about the source of the project that may say the same, the likeliest first. `about` is what stays
    when the run is repeated: other times, numbers and rows say the same then."""

    path: str
    span: Span
    about: str = ""
    operator: tuple[str, ...] = ()
    origins: tuple[tuple[str, int], ...] = ()
    exact: bool = False
    several: bool = False
    same: tuple[MatchCandidate, ...] = ()


class Finding(msgspec.Struct, frozen=True):
    """One judgement at one place, its texts already in the language of the run. `places` is the number of places that
    it speaks for; the others are among the related ones. What is said of a graph has a `subject`, the name of the fact
    that was found (an operator); its `program` is the file of the graph. `cost` is what a run lost to it, in percent of
    its time (0: nobody measured it)."""

    code: str
    name: str
    topic: str
    category: str
    severity: str
    confidence: str
    path: str
    span: Span
    message: str
    why: str
    fix: Fix
    related: tuple[Related, ...] = ()
    program: str = ""
    fingerprint: str = ""
    url: str = ""
    places: int = 1
    subject: str = ""
    artifact_location: ArtifactLocation | None = None
    cost: float = 0.0


class Silenced(msgspec.Struct, frozen=True):
    """A finding that is not reported: `by` a ``comment`` with its `reason`, or because a ``baseline`` knows it."""

    finding: Finding
    by: str
    reason: str = ""


class BaselineEntry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Findings that a project has accepted for now: equal ones of one check in one file. `path` is relative to the
    folder of the baseline file. `line` is the text where they stand, its blanks made even, `scope` the function around
    it. `count` tells how many there are, `places` for how many places one of them speaks."""

    path: str
    check: str
    code: str
    line: str
    scope: str = ""
    count: int = 1
    places: int = 1
    message: str = ""

    @property
    def key(self) -> tuple[str, str, str]:
        """What has to be equal for a finding to be this one: path, code and line."""
        return self.path, self.code, self.line


class Baseline(msgspec.Struct, frozen=True):
    """How the baseline file at `path` stands to a run: entries that still hold, where they hold now (`active`), that
    hold for fewer places than there are (`stale`), that the run says nothing about (`not_evaluated`), and of which
    nothing is left (`fixed`)."""

    path: str
    active: list[BaselineEntry] = []
    stale: list[BaselineEntry] = []
    not_evaluated: list[BaselineEntry] = []
    fixed: list[BaselineEntry] = []


class Evidence(msgspec.Struct, frozen=True):
    """A place that decides a readiness item. `check` and `code` name the check that fails it there; they are
    empty for what passes it, and for what a person has to look at."""

    path: str
    span: Span
    check: str = ""
    code: str = ""


class ChecklistItem(msgspec.Struct, frozen=True):
    """One line of a program's readiness list, its texts in the language of the run. Status is passed, failed
    or unknown; `evidence` is the place that shows it, if there is one. `look` says what a person has to
    look at where the status is unknown. `failures` are all places that fail the item, the gravest first."""

    item: str
    title: str
    status: str
    evidence: Evidence | None = None
    look: str = ""
    failures: tuple[Evidence, ...] = ()


class ProgramSummary(msgspec.Struct, frozen=True):
    """What the run knows about one entry script. `state` is not_started, partial or migrated;
    `roles` are train, evaluate, export, data, library."""

    entry: str
    files: int
    framework: str
    state: str
    modes: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()
    devices: str = "unknown"
    checklist: tuple[ChecklistItem, ...] = ()


class GraphSummary(msgspec.Struct, frozen=True):
    """What the run knows about the graph in the file at `path`; form, framework and version are those of
    `npulint.facts.graph.Graph`. `nodes` are those of its main body and of its `functions`, `trains` tells whether a
    training step is in it. `counts` are nodes by where they run, as far as that was judged: device, aicpu, host and
    unknown with TensorFlow; npu, decomposes, cpu, error, custom and unknown with PyTorch. `clusters` are the parts that
    the device could take, `left` the nodes that stay on the host although it could take them. `listed` is the list of
    operators that was used (empty: the recorded one), `release` the release that was judged for: that of the list, or
    of PyTorch, which is `assumed` where nothing tells it."""

    path: str
    form: str
    framework: str
    version: str = ""
    nodes: int = 0
    functions: int = 0
    trains: bool = False
    counts: dict[str, int] = {}
    clusters: int = 0
    left: int = 0
    listed: str = ""
    release: str = ""
    assumed: bool = False


class Summary(msgspec.Struct, frozen=True):
    """Counts of the run: `files` that were found, of which `read` were read and `skipped` were not;
    findings by severity; `suppressed` were silenced by comments, `known` by the baseline, `hidden` by thresholds;
    `elsewhere` lie in files of the same projects that were not named."""

    files: int = 0
    read: int = 0
    skipped: int = 0
    errors: int = 0
    warnings: int = 0
    notes: int = 0
    suppressed: int = 0
    hidden: int = 0
    seconds: float = 0.0
    known: int = 0
    elsewhere: int = 0


class ComparedSide(msgspec.Struct, frozen=True):
    """One side of a row: what it says, where, and the places that the value came by (`path`, `span`, name as message),
    the first of them being where it is written."""

    text: str
    path: str = ""
    span: Span = Span()
    stations: tuple[Related, ...] = ()


class ComparedRow(msgspec.Struct, frozen=True):
    """One thing that was compared. `part` is a word of `npulint.facts.recipe.ITEMS`, `what` names the thing. Answers:
    same, differs, unknown, note (differs in a way that the NPU asks for). A side that lacks it is None; `near` is then
    where the migrated program would have it. `code` is the check that speaks of a difference."""

    part: str
    what: str
    answer: str
    reference: ComparedSide | None = None
    migrated: ComparedSide | None = None
    code: str = ""
    near: ComparedSide | None = None


class ComparedItem(msgspec.Struct, frozen=True):
    """One item of the pre-tuning checklist, its texts in the language of the run. Status: consistent, differs or
    unknown. `look` says what a person has to look at where the code alone cannot tell; `failures` are the places of
    the findings that make it differ, the gravest first; `same` counts what was compared and found equal."""

    item: str
    title: str
    status: str
    rows: tuple[ComparedRow, ...] = ()
    look: str = ""
    failures: tuple[Evidence, ...] = ()
    same: int = 0


class ComparedPair(msgspec.Struct, frozen=True):
    """A training program of the reference and its migrated counterpart: their entry scripts, frameworks, how they are
    started (the launcher that the values are those of; empty: none), and the items."""

    reference: str
    migrated: str
    reference_framework: str = ""
    migrated_framework: str = ""
    reference_launcher: str = ""
    migrated_launcher: str = ""
    items: tuple[ComparedItem, ...] = ()


class Comparison(msgspec.Struct, frozen=True):
    """What a comparison of two projects says: their roots, the pairs of programs, and the training programs of either
    side that have no counterpart."""

    reference: str
    migrated: str
    pairs: tuple[ComparedPair, ...] = ()
    only_reference: tuple[str, ...] = ()
    only_migrated: tuple[str, ...] = ()


class RunResult(msgspec.Struct, frozen=True):
    """The whole answer of one run. `target` maps framework, adapter, cann and soc to text such as
    ``1.15 (inferred)``. `notices` are warnings about the run itself, ready to be printed. `suppressed` are the
    findings that comments or the `baseline` keep out of `findings`. `comparison` is there when there was a
    reference. `graphs` are those of the files that held one, `runs` what is known of the artifacts of each project."""

    findings: list[Finding] = []
    programs: list[ProgramSummary] = []
    unreadable: list[Problem] = []
    target: dict[str, str] = {}
    summary: Summary = Summary()
    notices: list[str] = []
    suppressed: list[Silenced] = []
    baseline: Baseline | None = None
    comparison: Comparison | None = None
    graphs: list[GraphSummary] = []
    runs: list[RunSummary] = []
