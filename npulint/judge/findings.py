"""Findings and the result of a run, independent of any report format."""

from __future__ import annotations

from typing import Literal

import msgspec

from npulint.facts.model import Problem, Span
from npulint.judge.summaries.run_comparison import RunComparison
from npulint.judge.summaries.run_summary import RunSummary
from npulint.judge.summaries.step_summary import StepSummary
from npulint.judge.summaries.verdict import RunsOn, Verdict

SEVERITIES = ("note", "warning", "error")
CONFIDENCES = ("low", "medium", "high")


class Related(msgspec.Struct, frozen=True, gc=False):
    """A second place that explains a finding."""

    path: str
    span: Span
    message: str


class Edit(msgspec.Struct, frozen=True, gc=False):
    """Replace `span` of the file at `path` by `text`. Columns count code points."""

    path: str
    span: Span
    text: str


class FixStep(msgspec.Struct, frozen=True, gc=False):
    """One verb (`npulint.judge.catalogue.vocabulary.verbs`) with its arguments, applied to a place in a file."""

    verb: str
    path: str
    span: Span
    words: dict[str, str] = {}


class FixEdit(msgspec.Struct, frozen=True, gc=False):
    """The steps that fix one place, applied all or none. Applicability: safe or unsafe."""

    applicability: str
    steps: tuple[FixStep, ...]


class Fix(msgspec.Struct, frozen=True, gc=False):
    """How to fix a finding. Applicability: safe, unsafe (if any part is) or manual (no automatic fix is known). `edits`
    are exact replacements, where known; `changes` are the steps that edits are derived from. `because` says why a fix
    that the check knows does not fit here."""

    text: str
    applicability: str = "manual"
    edits: tuple[Edit, ...] = ()
    changes: tuple[FixEdit, ...] = ()
    because: str = ""


class MatchCandidate(msgspec.Struct, frozen=True, gc=False):
    """A source finding, by code and place, that may report the same problem as a graph or run finding. Those with the
    lowest `rank` match; they are equivalent."""

    code: str
    path: str
    span: Span
    rank: int = 0


class ArtifactLocation(msgspec.Struct, frozen=True, gc=False):
    """The row or line of a run artifact that shows a finding. `operator` is the type and node of the operator
    concerned, if any; `origins` are the source lines that build it. `exact`: the artifact names that line of code
    itself; `several`: the finding covers operators with different places. `same` are the places of source findings that
    may report the same problem, likeliest first. `about` identifies the finding across runs, without times, numbers and
    rows."""

    path: str
    span: Span
    about: str = ""
    operator: tuple[str, ...] = ()
    origins: tuple[tuple[str, int], ...] = ()
    exact: bool = False
    several: bool = False
    same: tuple[MatchCandidate, ...] = ()


class Finding(msgspec.Struct, frozen=True, gc=False):
    """What a check reports at one place, with texts in the language of the run. `places` is the number of places
    that it covers; the others are related locations. A graph finding has a `subject`, the name of the fact (an
    operator), and the graph file as `program`. `cost` is the share of the run's time that it took, in percent (0:
    not measured). Of a grouped finding, `about` is the name of what is at its own place, `wording` the message with
    its counts left open, and `programs` are the entry scripts of further programs that have the same places, or need
    the same advice. `project` is the folder of the project that it is about, `consequence` what happens to
    the run (`npulint.judge.catalogue.severity`), empty for findings of no check. `distance` is how far its place is
    from one that matters most (`npulint.judge.evaluate.distance`)."""

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
    about: str = ""
    wording: str = ""
    programs: tuple[str, ...] = ()
    project: str = ""
    consequence: str = ""
    distance: int = 0


class SuppressedFinding(msgspec.Struct, frozen=True):
    """A suppressed finding: `by` is ``comment``, with its `reason`, or ``baseline``."""

    finding: Finding
    by: str
    reason: str = ""


class BaselineEntry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Accepted findings: equal ones of one check in one file. `path` is relative to the folder of the baseline file.
    `line` is the source line with normalized whitespace, `scope` the enclosing function. `count` is the number of
    findings, `places` how many places each of them covers, `at` digests of the paths and lines of these places (empty:
    one place, or not recorded)."""

    path: str
    check: str
    code: str
    line: str
    scope: str = ""
    count: int = 1
    places: int = 1
    message: str = ""
    at: tuple[str, ...] = ()

    @property
    def key(self) -> tuple[str, str, str]:
        """What must be equal for a finding to match this entry: path, code and line."""
        return self.path, self.code, self.line


class Baseline(msgspec.Struct, frozen=True):
    """The state of the baseline file at `path`: entries that still match, with their current place (`active`), that
    cover more places than there are (`stale`), that the run did not evaluate (`not_evaluated`), and whose findings are
    gone (`fixed`)."""

    path: str
    active: list[BaselineEntry] = []
    stale: list[BaselineEntry] = []
    not_evaluated: list[BaselineEntry] = []
    fixed: list[BaselineEntry] = []


class Evidence(msgspec.Struct, frozen=True, gc=False):
    """A place that decides a readiness item. `check` and `code` name the check that fails the item there; they are
    empty for evidence that it passes, or that needs review. `surely_runs`: the program surely comes to the place of
    the check."""

    path: str
    span: Span
    check: str = ""
    code: str = ""
    surely_runs: bool = False


class ChecklistItem(msgspec.Struct, frozen=True, gc=False):
    """One item of a program's readiness checklist, its texts in the language of the run. Status is passed, failed or
    unknown; `evidence` is the place that shows it, if any. `look` says what needs review when the status is unknown.
    `failures` are all places that fail the item, most severe first, `doubts` those of findings of its matter that
    leave it open, or to which the program may come, or not. `compared`: only a comparison with the reference can pass
    it."""

    item: str
    title: str
    status: str
    evidence: Evidence | None = None
    look: str = ""
    failures: tuple[Evidence, ...] = ()
    doubts: tuple[Evidence, ...] = ()
    compared: bool = False


class ProgramSummary(msgspec.Struct, frozen=True, gc=False):
    """Facts of a run about one entry script. `state` is not_started, partial or migrated; `roles` are train, evaluate,
    export, data, library. `file_role` is what the script is for if it is not there for training
    (`npulint.facts.roles.Role`, else empty), `started_by` is console_script, launcher or empty, `launches` the
    number of launchers that start it; `configured_by` is the framework of a training that is configured rather than
    written (else empty), of which the entry is the configuration file or the launcher. `paths` are the files of code
    that it reaches, `torch` is the PyTorch release that it is for (empty: unknown), `migration` how a PyTorch program
    gets to the NPU (`npulint.model.programs.program_fact.ProgramFact`), `gpu_only` are libraries that only GPUs have
    and whose import stops it elsewhere, with their groups (``inference``, ``data`` …). `device` is where code that
    nothing moves to the NPU runs on an NPU server (`npulint.judge.evaluate.summary`), else unknown; `counterpart` is
    the launcher that is used instead of one on the NPU (else empty)."""

    entry: str
    files: int
    framework: str
    state: str
    modes: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()
    devices: str = "unknown"
    checklist: tuple[ChecklistItem, ...] = ()
    file_role: str = ""
    started_by: str = ""
    launches: int = 0
    configured_by: str = ""
    paths: tuple[str, ...] = ()
    torch: str = ""
    migration: str = "none"
    gpu_only: tuple[tuple[str, str], ...] = ()
    device: RunsOn = "unknown"
    counterpart: str = ""


class ChipEvidence(msgspec.Struct, frozen=True):
    """What shows the chip: `word` as written (``cann:8.0.rc1-910b``, ``bfloat16``), and its place. `path` is empty for
    a version of the target environment."""

    word: str
    path: str = ""
    line: int = 0


class InferredChips(msgspec.Struct, frozen=True):
    """`named` are the generations that launchers and images name, `unlikely` those that the project hardly runs on (see
    `npulint.data.chips`); both are empty when nothing shows the chip. `evidence` is the place that shows it best."""

    named: tuple[str, ...] = ()
    unlikely: tuple[str, ...] = ()
    evidence: ChipEvidence | None = None


class FrameworkUse(msgspec.Struct, frozen=True):
    """What is seen where no training program is recognised, in how many files, and the first place. `use`: a framework
    whose training steps are in code that no script starts, a framework or adapter that is imported, a configuration
    file of a framework, or a script or module that is started and is not among the files; `framework` names it."""

    framework: str
    files: int
    path: str
    line: int
    use: Literal["training", "import", "configuration", "start"] = "import"


class OpenRelease(msgspec.Struct, frozen=True, order=True):
    """A check that finds nothing at a place because nothing shows a release or the chip, and would find something for
    some. `key` is what is unknown: a key of the target (``cann``), or a package; `releases` are those for which it
    would (``<7.0.0``), empty where the table has no single range."""

    key: str
    releases: str
    name: str
    code: str
    path: str
    line: int


class GraphSummary(msgspec.Struct, frozen=True):
    """Facts of a run about the graph in the file at `path`; form, framework and version as in
    `npulint.facts.graph.Graph`. `nodes` counts its main body and its `functions`, `trains` says whether it has a
    training step. `counts` are nodes by placement, if evaluated: device, aicpu, host and unknown with TensorFlow; npu,
    decomposes, cpu, error, custom and unknown with PyTorch; parsed, unparsed and private with ONNX. `clusters` is the
    number of subgraphs that the device could run, `left` that of nodes that stay on the host although the device
    supports them. `listed` is the operator list that was used (empty: the built-in one), `release` the release of that
    list, of PyTorch, or with ONNX of CANN; `assumed` says that nothing specifies it. `opset` is that of the standard
    operators of an ONNX model."""

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
    opset: int = 0


class Summary(msgspec.Struct, frozen=True):
    """Counts of the run: `files` found, of which `read` were read and `skipped` not; findings by severity; `suppressed`
    by comments, `known` by the baseline, `hidden` by thresholds; `elsewhere` in files of the same projects that were
    not named."""

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
    """One side of a row: its text, its place, and the locations that its value was passed through (`path`, `span`, name
    as message), beginning with where it is written."""

    text: str
    path: str = ""
    span: Span = Span()
    stations: tuple[Related, ...] = ()


class ComparedRow(msgspec.Struct, frozen=True):
    """One compared value. `part` is one of `npulint.facts.recipe.ITEMS`, `what` names the value. Answers: same,
    differs, unknown, note (a difference that the NPU requires). A side that lacks the value is None; `near` is then
    where the migrated program would set it. `code` is the check that reports the difference. `effect` is what the
    difference does to the loss (`npulint.facts.comparison.difference`), `also` are both sides of its further places."""

    part: str
    what: str
    answer: str
    reference: ComparedSide | None = None
    migrated: ComparedSide | None = None
    code: str = ""
    near: ComparedSide | None = None
    effect: str = ""
    also: tuple[tuple[ComparedSide | None, ComparedSide | None], ...] = ()


class ComparedPart(msgspec.Struct, frozen=True):
    """What was seen of a part of an item: the first place and value on each side; None where a program does not use it.
    Answers: same, differs, note, unknown, found (but not comparable), unused (on either side)."""

    part: str
    answer: str
    reference: ComparedSide | None = None
    migrated: ComparedSide | None = None


class ComparedItem(msgspec.Struct, frozen=True):
    """One item of the pre-tuning checklist, its texts in the language of the run. Status: consistent, differs, unused
    (on either side) or unknown. `look` says what needs review when the code alone does not decide; `failures` are the
    places of the findings that make it differ, most severe first; `same` counts equal values; `parts` are the evidence.
    """

    item: str
    title: str
    status: str
    rows: tuple[ComparedRow, ...] = ()
    look: str = ""
    failures: tuple[Evidence, ...] = ()
    same: int = 0
    parts: tuple[ComparedPart, ...] = ()


class ComparedPair(msgspec.Struct, frozen=True):
    """A training program of the reference and its migrated counterpart: entry scripts, frameworks, the launcher whose
    values were compared (empty: none), and the items. `why` says why the two belong together: named (by the user),
    code (the scripts share code), name (of the scripts), modules (they run the same code) or only (of the training
    programs)."""

    reference: str
    migrated: str
    reference_framework: str = ""
    migrated_framework: str = ""
    reference_launcher: str = ""
    migrated_launcher: str = ""
    items: tuple[ComparedItem, ...] = ()
    why: str = ""


class ComparedChange(msgspec.Struct, frozen=True):
    """The change of a project that was compared: its states, as named and by commit (`head_commit` is empty for the
    working tree), the number of changed files that were read, and how many training programs are `same` after it."""

    base: str
    base_commit: str
    head: str
    head_commit: str
    files: int
    same: int = 0


class Comparison(msgspec.Struct, frozen=True):
    """The result of comparing two projects: their roots, the pairs of programs, and the training programs of each side
    without a counterpart. `change`: they are two states of one project; then pairs, items and rows are only those that
    the change affects. `runs` are a training run of each side."""

    reference: str
    migrated: str
    pairs: tuple[ComparedPair, ...] = ()
    only_reference: tuple[str, ...] = ()
    only_migrated: tuple[str, ...] = ()
    change: ComparedChange | None = None
    runs: RunComparison | None = None


class RunResult(msgspec.Struct, frozen=True):
    """The result of a run. `target` maps framework, adapter, cann and soc to texts such as ``1.15 (inferred)``.
    `notices` are warnings about the run itself, ready to be printed. `suppressed` are the findings that comments or the
    `baseline` remove from `findings`. `comparison` is None without a reference. `graphs` describe the graph files,
    `runs` the run artifacts of each project. `seen` are the frameworks that files import, if no training program was
    recognised. `step` describes a recorded step (live checks and ``npulint try``). `verdict` is what all of it says of
    the project; None: `npulint.judge.verdict.verdict_of` works it out. Who changes the findings later clears it.
    `open_releases` are the checks that find nothing because a release or the chip is not known."""

    findings: list[Finding] = []
    programs: list[ProgramSummary] = []
    unreadable: list[Problem] = []
    target: dict[str, str] = {}
    summary: Summary = Summary()
    notices: list[str] = []
    suppressed: list[SuppressedFinding] = []
    baseline: Baseline | None = None
    comparison: Comparison | None = None
    graphs: list[GraphSummary] = []
    runs: list[RunSummary] = []
    seen: list[FrameworkUse] = []
    step: StepSummary | None = None
    verdict: Verdict | None = None
    open_releases: list[OpenRelease] = []
