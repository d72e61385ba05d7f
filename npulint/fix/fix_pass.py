"""One round of fixes: what findings propose is worked out, what goes together is made, and each file is verified."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager

import msgspec

from npulint.facts.model import Span
from npulint.findings import Edit, Finding, FixEdit
from npulint.fix.edits import Proposal, Round, Spot, Uniting, coherent
from npulint.fix.model import FixRefused, Plan, Text
from npulint.fix.source import SourceDocument, edited_text
from npulint.fix.verify import objection

Documents = Callable[[str], SourceDocument]
"""The file of a path as it is now; raises `FixRefused` where there is none that may be edited."""

Planned = Callable[[FixEdit, Callable[[str], Text]], Plan]
"""What a change comes to; raises `FixRefused`."""

Unwilling = Callable[[Finding, str, Span, Plan], str]
"""Why a change at a place could be made but shall not be, as the reason of a refusal; empty when nothing speaks against
it."""


_BUGS = (ArithmeticError, AssertionError, AttributeError, LookupError, RuntimeError, SyntaxError, TypeError, ValueError)


class Denied(msgspec.Struct, frozen=True):
    """A change that cannot be made, and why."""

    finding: Finding
    path: str
    place: Span
    change: FixEdit | None
    reason: str

    @property
    def spot(self) -> Spot:
        """Which check wants it in which file."""
        return self.finding.code, self.path


class Done(msgspec.Struct, frozen=True):
    """What a round made: the new bytes by path, the edits that made them, the changes that are in them, those that can
    be tried again (`waiting`), and those that are out for good."""

    data: dict[str, bytes]
    edits: dict[str, tuple[Edit, ...]]
    made: list[Proposal]
    waiting: list[Proposal]
    denied: list[Denied]

    @property
    def effective(self) -> list[Proposal]:
        """The changes that changed something."""
        return [one for one in self.made if not one.paths.isdisjoint(self.data)]


def proposals(
    findings: Iterable[Finding], unsafe: bool, documents: Documents, planned: Planned, unwilling: Unwilling
) -> tuple[list[Proposal], list[Denied]]:
    """What findings want done, in the order in which it is to be tried, and what of it cannot be worked out. What two
    findings of a check want alike is wanted once."""
    found: list[Proposal] = []
    denied: list[Denied] = []
    told: set[tuple[object, ...]] = set()

    def text_of(path: str) -> Text:
        return documents(path).text

    for one in findings:
        for change, edits, applicability in _wanted(one, unsafe):
            key = (one.code, edits, change and (change.applicability, *map(_key, change.steps)))
            if key in told:
                continue
            told.add(key)
            path, place = _place(one, change)
            try:
                plan = _plan(change, edits, text_of, planned)
                reason = unwilling(one, path, place, plan)
                if reason:
                    raise FixRefused(reason)
            except FixRefused as refused:
                denied.append(Denied(one, path, place, change, refused.reason))
                continue
            if plan.edits or plan.imports:
                found.append(Proposal(one, applicability, path, place, change, plan))
    return sorted(found, key=Proposal.order), denied


def made(wanted: Sequence[Proposal], documents: Documents, uniting: Uniting) -> Done:
    """Make as many of the changes as go together."""

    def text_of(path: str) -> Text:
        return documents(path).text

    together, waiting, denied = _together(wanted, text_of, uniting)
    data, broken = _applied(together.edits(), documents)
    if broken:
        suspects = [one for one in together.accepted if not one.paths.isdisjoint(broken)]
        kept = [one for one in together.accepted if one.paths.isdisjoint(broken)]
        good, later, bad = _one_by_one(suspects, kept, documents, text_of, uniting)
        waiting, denied = [*waiting, *later], [*denied, *bad]
        together, _, _ = _together(good, text_of, uniting)
        data, _ = _applied(together.edits(), documents)
    return Done(data, together.edits(), together.accepted, waiting, denied)


def _wanted(one: Finding, unsafe: bool) -> list[tuple[FixEdit | None, tuple[Edit, ...], str]]:
    """The changes of a finding that are allowed; or the edits that mend it, where these are known."""
    allowed = ("safe", "unsafe") if unsafe else ("safe",)
    if one.fix.changes:
        return [(change, (), change.applicability) for change in one.fix.changes if change.applicability in allowed]
    known = one.fix.edits and one.fix.applicability in allowed
    return [(None, one.fix.edits, one.fix.applicability)] if known else []


def _key(step: object) -> bytes:
    return msgspec.msgpack.encode(step)


def _place(one: Finding, change: FixEdit | None) -> tuple[str, Span]:
    """Where a change mends: at the finding, or at one of the other places that it speaks for."""
    spots = [(one.path, one.span), *((place.path, place.span) for place in one.related)]
    steps = [(step.path, step.span) for step in change.steps] if change else []
    return next((step for step in steps if step in spots), spots[0])


def _plan(change: FixEdit | None, edits: tuple[Edit, ...], text_of: Callable[[str], Text], planned: Planned) -> Plan:
    if change is None:
        for edit in edits:
            text_of(edit.path)
        return Plan(coherent(edits))
    with _sheltered():
        plan = planned(change, text_of)
    return Plan(coherent(plan.edits), tuple(dict.fromkeys(plan.imports)))


@contextmanager
def _sheltered() -> Iterator[None]:
    """What goes wrong inside costs one change, and stops none of the others."""
    try:
        yield
    except FixRefused:
        raise
    except (RecursionError, MemoryError) as error:
        raise FixRefused("too-deep") from error
    except _BUGS as error:
        raise FixRefused("failed") from error


def _together(
    wanted: Iterable[Proposal], text_of: Callable[[str], Text], uniting: Uniting
) -> tuple[Round, list[Proposal], list[Denied]]:
    together = Round(text_of, uniting)
    waiting: list[Proposal] = []
    denied: list[Denied] = []
    for one in wanted:
        try:
            with _sheltered():
                taken = together.add(one)
            if not taken:
                waiting.append(one)
        except FixRefused as refused:
            denied.append(_denied(one, refused.reason))
    return together, waiting, denied


def _applied(edits: Mapping[str, tuple[Edit, ...]], documents: Documents) -> tuple[dict[str, bytes], dict[str, str]]:
    """The new bytes by path, and the files that cannot be left so with the reason. What changes no byte is left out."""
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
    uniting: Uniting,
) -> tuple[list[Proposal], list[Proposal], list[Denied]]:
    """Which of the changes of spoilt files are good together, which are good alone, and which are not."""
    good, later = list(kept), []
    denied: list[Denied] = []
    for one in suspects:
        beside = [other for other in good if not other.paths.isdisjoint(one.paths)]
        alone = _fault([one], one.paths, documents, text_of, uniting)
        if alone:
            denied.append(_denied(one, alone))
        elif _fault([*beside, one], one.paths, documents, text_of, uniting):
            later.append(one)
        else:
            good.append(one)
    return good, later, denied


def _fault(
    some: Sequence[Proposal],
    paths: Iterable[str],
    documents: Documents,
    text_of: Callable[[str], Text],
    uniting: Uniting,
) -> str:
    """What is wrong with the files of some changes."""
    together, waiting, denied = _together(some, text_of, uniting)
    edits = together.edits()
    _, broken = _applied({path: edits[path] for path in paths if path in edits}, documents)
    return next(iter(broken.values()), "") or ("overlap" if waiting or denied else "")


def _denied(one: Proposal, reason: str) -> Denied:
    return Denied(one.finding, one.path, one.place, one.change, reason)
