"""One pass of fixes: computes proposals, applies compatible ones, and verifies each file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

import msgspec

from npulint.facts.model import Span
from npulint.fix.edits import CheckInFile, CompatibleFixes, ImportMerger, Proposal, coherent
from npulint.fix.model import FixRefused, Plan, Text
from npulint.fix.source import SourceDocument, edited_text
from npulint.fix.verify import objection
from npulint.judge.findings import Edit, Finding, FixEdit

Documents = Callable[[str], SourceDocument]
"""From a path to its current document; raises `FixRefused` if it may not be edited."""

Planner = Callable[[FixEdit, Callable[[str], Text]], Plan]
"""From a fix to its plan; raises `FixRefused`."""

RefusalReason = Callable[[Finding, str, Span, Plan], FixRefused | None]
"""From a finding, its place and a plan to the reason to refuse it; none if permitted."""


_BUGS = (ArithmeticError, AssertionError, AttributeError, LookupError, RuntimeError, SyntaxError, TypeError, ValueError)


class RefusedFix(msgspec.Struct, frozen=True):
    """A fix that is refused, with the reason. `elsewhere` is the file that the reason is about, if not `path`."""

    finding: Finding
    path: str
    place: Span
    change: FixEdit | None
    reason: str
    detail: str = ""
    elsewhere: str = ""

    @property
    def makes_file(self) -> bool:
        """Whether it would write a new file beside one that stays as it is."""
        return self.change is not None and any(step.verb == "sibling" for step in self.change.steps)

    @property
    def check_in_file(self) -> CheckInFile:
        """The code of its check and the file."""
        return self.finding.code, self.path


class PassResult(msgspec.Struct, frozen=True):
    """The result of a pass: new bytes by path, their edits, the applied fixes, those to retry (`waiting`), and those
    refused."""

    data: dict[str, bytes]
    edits: dict[str, tuple[Edit, ...]]
    made: list[Proposal]
    waiting: list[Proposal]
    denied: list[RefusedFix]

    @property
    def effective(self) -> list[Proposal]:
        """The applied fixes with an effect."""
        return [proposal for proposal in self.made if not proposal.paths.isdisjoint(self.data)]


def proposals(
    findings: Iterable[Finding],
    unsafe: bool,
    documents: Documents,
    planner_of: Callable[[Finding], Planner],
    refusal_reason: RefusalReason,
) -> tuple[list[Proposal], list[RefusedFix]]:
    """The proposals of findings in order of application, and the refused ones. Equal proposals of one check are
    merged."""
    proposed: list[Proposal] = []
    denied: list[RefusedFix] = []
    seen: set[tuple[object, ...]] = set()

    def text_of(path: str) -> Text:
        try:
            return documents(path).text
        except FixRefused as refused:
            refused.path = refused.path or path
            raise

    for finding in findings:
        for change, edits, applicability in _permitted(finding, unsafe):
            key = (finding.code, edits, change and (change.applicability, *map(_key, change.steps)))
            if key in seen:
                continue
            seen.add(key)
            path, place = _place(finding, change)
            try:
                plan = _plan(change, edits, text_of, planner_of(finding))
                objected = refusal_reason(finding, path, place, plan)
                if objected is not None:
                    raise objected
            except FixRefused as refused:
                elsewhere = refused.path if refused.path != path else ""
                denied.append(RefusedFix(finding, path, place, change, refused.reason, refused.detail, elsewhere))
                continue
            if plan.edits or plan.imports:
                proposed.append(Proposal(finding, applicability, path, place, change, plan))
    return sorted(proposed, key=Proposal.order), denied


def made(proposed: Sequence[Proposal], documents: Documents, merge_imports: ImportMerger) -> PassResult:
    """The result of applying all compatible proposals."""
    proposed, kept_back = _without_copied(proposed)

    def text_of(path: str) -> Text:
        return documents(path).text

    together, waiting, denied = _together(proposed, text_of, merge_imports)
    data, broken = _applied(together.edits(), documents)
    if broken:
        suspects = [proposal for proposal in together.accepted if not proposal.paths.isdisjoint(broken)]
        kept = [proposal for proposal in together.accepted if proposal.paths.isdisjoint(broken)]
        good, later, bad = _one_by_one(suspects, kept, documents, text_of, merge_imports)
        waiting, denied = [*waiting, *later], [*denied, *bad]
        together, _, _ = _together(good, text_of, merge_imports)
        data, _ = _applied(together.edits(), documents)
    return PassResult(data, together.edits(), together.accepted, [*waiting, *kept_back], denied)


def _without_copied(proposed: Sequence[Proposal]) -> tuple[list[Proposal], list[Proposal]]:
    """The proposals without those that change a file from which another makes one for the NPU, and these."""
    copied = {proposal.plan.copied for proposal in proposed} - {""}
    kept_back = [proposal for proposal in proposed if not proposal.paths.isdisjoint(copied)]
    return [proposal for proposal in proposed if proposal.paths.isdisjoint(copied)], kept_back


def _permitted(finding: Finding, unsafe: bool) -> list[tuple[FixEdit | None, tuple[Edit, ...], str]]:
    """The permitted fixes of a finding, or its exact edits where known."""
    allowed = ("safe", "unsafe") if unsafe else ("safe",)
    if finding.fix.changes:
        return [(change, (), change.applicability) for change in finding.fix.changes if change.applicability in allowed]
    permitted = finding.fix.edits and finding.fix.applicability in allowed
    return [(None, finding.fix.edits, finding.fix.applicability)] if permitted else []


def _key(step: object) -> bytes:
    return msgspec.msgpack.encode(step)


def _place(finding: Finding, change: FixEdit | None) -> tuple[str, Span]:
    """The place that a fix applies to: that of the finding, or of a related location that it covers."""
    spots = [(finding.path, finding.span), *((place.path, place.span) for place in finding.related)]
    steps = [(step.path, step.span) for step in change.steps] if change else []
    return next((step for step in steps if step in spots), spots[0])


def _plan(change: FixEdit | None, edits: tuple[Edit, ...], text_of: Callable[[str], Text], planned: Planner) -> Plan:
    if change is None:
        for edit in edits:
            text_of(edit.path)
        return Plan(coherent(edits))
    with _sheltered():
        plan = planned(change, text_of)
    return Plan(coherent(plan.edits), tuple(dict.fromkeys(plan.imports)), plan.copied)


@contextmanager
def _sheltered() -> Iterator[None]:
    """Context manager that turns an internal error into the refusal of one fix."""
    try:
        yield
    except FixRefused:
        raise
    except (RecursionError, MemoryError) as error:
        raise FixRefused("too-deep") from error
    except _BUGS as error:
        raise FixRefused("failed") from error


def _together(
    proposed: Iterable[Proposal], text_of: Callable[[str], Text], merge_imports: ImportMerger
) -> tuple[CompatibleFixes, list[Proposal], list[RefusedFix]]:
    together = CompatibleFixes(text_of, merge_imports)
    waiting: list[Proposal] = []
    denied: list[RefusedFix] = []
    for proposal in proposed:
        try:
            with _sheltered():
                taken = together.add(proposal)
            if not taken:
                waiting.append(proposal)
        except FixRefused as refused:
            denied.append(_denied(proposal, refused.reason, refused.detail))
    return together, waiting, denied


def _applied(edits: Mapping[str, tuple[Edit, ...]], documents: Documents) -> tuple[dict[str, bytes], dict[str, str]]:
    """The new bytes by path, and the files whose new content is invalid, with the reason. Unchanged files are
    omitted."""
    data: dict[str, bytes] = {}
    broken: dict[str, str] = {}
    for path, some in edits.items():
        document = documents(path)
        try:
            after = document.edited(some)
            reason = objection(document.text, edited_text(document.text.text, some), some)
        except FixRefused as refused:
            reason = refused.reason
        if reason:
            broken[path] = reason
        elif after != document.data or document.text.new:
            data[path] = after
    return data, broken


def _one_by_one(
    suspects: Sequence[Proposal],
    kept: Sequence[Proposal],
    documents: Documents,
    text_of: Callable[[str], Text],
    merge_imports: ImportMerger,
) -> tuple[list[Proposal], list[Proposal], list[RefusedFix]]:
    """The fixes of invalid files retried one by one: those that are compatible, those that work alone, and the refused
    ones."""
    good, later = list(kept), []
    denied: list[RefusedFix] = []
    for suspect in suspects:
        related = [other for other in good if not other.paths.isdisjoint(suspect.paths)]
        alone = _fault([suspect], suspect.paths, documents, text_of, merge_imports)
        if alone:
            denied.append(_denied(suspect, alone))
        elif _fault([*related, suspect], suspect.paths, documents, text_of, merge_imports):
            later.append(suspect)
        else:
            good.append(suspect)
    return good, later, denied


def _fault(
    some: Sequence[Proposal],
    paths: Iterable[str],
    documents: Documents,
    text_of: Callable[[str], Text],
    merge_imports: ImportMerger,
) -> str:
    """What is wrong with the files after these fixes; empty if nothing."""
    together, waiting, denied = _together(some, text_of, merge_imports)
    edits = together.edits()
    _, broken = _applied({path: edits[path] for path in paths if path in edits}, documents)
    return next(iter(broken.values()), "") or ("overlap" if waiting or denied else "")


def _denied(proposal: Proposal, reason: str, detail: str = "") -> RefusedFix:
    return RefusedFix(proposal.finding, proposal.path, proposal.place, proposal.change, reason, detail)
