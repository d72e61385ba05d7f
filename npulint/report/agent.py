"""The report for coding agents: what, where, why, the edit, and how to verify it, in few tokens.

Findings are grouped by check, so that texts about a check are there once; a row is one place with its edit. Whatever
comes from the checked files is a quotation (`npulint.report.quoted`), and so are the texts of checks of which the view
has no page: a project may bring its own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

import msgspec

from npulint.core.lazy_regex import lazy_compile
from npulint.core.texts import count, say, with_label
from npulint.judge.evaluate.places import covered, place_of
from npulint.judge.findings import Comparison, Finding, ProgramSummary, Related, RunResult
from npulint.judge.priorities import by_priority, first_steps, to_do
from npulint.judge.verdict import verdict_of
from npulint.report.changed import ChangedLines, blocks
from npulint.report.open_releases import labelled
from npulint.report.quoted import MESSAGE, PATH, quoted
from npulint.report.verdict import told
from npulint.report.view import ReportView, visible

_SENTENCE_END = lazy_compile(r"(?<=[.!?])\s+(?=[A-Z`\"])|(?<=[。！？])")
_RELATED = 2  # places that explain a finding
_TALL = 12  # lines of one change
_UNREAD = 5  # paths


class AgentRow(msgspec.Struct, frozen=True):
    """One place of a finding, with the blocks of its fix that belong to it. `repeated` are those that an earlier row
    has."""

    finding: Finding
    path: str
    line: int
    edits: tuple[ChangedLines, ...] = ()
    first: bool = False
    repeated: tuple[ChangedLines, ...] = ()

    @property
    def edited_here(self) -> bool:
        """Whether a block of the fix is in the file of the place."""
        return any(block.path == self.path for block in (*self.repeated, *self.edits))


def render(result: RunResult, view: ReportView) -> str:
    """The whole report."""
    rows = rows_of(visible(result, view), view, result.programs)
    parts = [*heading(result, view), *described(rows, view)]
    if rows:
        parts.append(say(view.lang, "agent.verify"))
    return "".join(f"{part}\n" for part in parts)


def heading(result: RunResult, view: ReportView) -> list[str]:
    """The verdict, counts, what to do first, what could not be read, and the checklist of a comparison."""
    findings = visible(result, view)
    numbers = {
        f"{name}s": sum(finding.severity == name for finding in findings) for name in ("error", "warning", "note")
    }
    lines = [] if result.comparison is not None else [told(verdict_of(result), view.lang)]
    lines.append(count(view.lang, "agent.found", len(findings), read=result.summary.read, **numbers))
    lines += [*_first(result, findings, view.lang), *labelled(result.open_releases, view.lang)]
    unread = [problem.path for problem in result.unreadable if problem.fatal]
    if unread:
        paths = ", ".join(quoted(path, PATH) for path in unread[:_UNREAD])
        if len(unread) > _UNREAD:
            paths += say(view.lang, "agent.unread.more", n=len(unread) - _UNREAD)
        lines.append(say(view.lang, "agent.unread", paths=paths))
    if result.comparison is not None:
        lines += _checklist(result.comparison, view.lang)
    if findings or unread or result.comparison is not None:
        lines.insert(0, say(view.lang, "agent.quoted"))
    return lines


def _first(result: RunResult, findings: Sequence[Finding], lang: str) -> Iterator[str]:
    """What to do first; of a comparison the findings say it in their order."""
    steps = [] if result.comparison is not None else first_steps(to_do(result, findings), programs=result.programs)
    named = [f"{step.first.code} @ {quoted(step.first.path, PATH)}:{step.first.span.line}" for step in steps]
    if named:
        yield with_label(lang, say(lang, "first"), say(lang, "list.clause").join(named))


def _checklist(comparison: Comparison, lang: str) -> Iterator[str]:
    for pair in comparison.pairs:
        items = ", ".join(f"{item.item} {item.status}" for item in pair.items)
        names = {"reference": quoted(pair.reference, PATH), "migrated": quoted(pair.migrated, PATH)}
        yield say(lang, "agent.checklist", items=items, **names)


def rows_of(findings: Sequence[Finding], view: ReportView, programs: Sequence[ProgramSummary] = ()) -> list[AgentRow]:
    """The rows of findings, those of the check to begin with first. A line is edited once: as fixes are applied, the
    edit of the more important check comes first, and another one has to wait for the next run."""
    edited = _EditedLines()
    return [
        edited.row(row)
        for group in by_priority(findings, programs)
        for finding in group.findings
        for row in _rows(finding, view)
    ]


class _EditedLines:
    """The lines that the edits of earlier rows change."""

    def __init__(self) -> None:
        self._blocks: set[ChangedLines] = set()
        self._lines: set[tuple[str, int]] = set()

    def row(self, row: AgentRow) -> AgentRow:
        """The row without the edits of lines that earlier rows edit."""
        repeated = [block for block in row.edits if block in self._blocks]
        new = [block for block in row.edits if block not in self._blocks]
        free = [block for block in new if self._lines.isdisjoint(_replaced(block))]
        self._blocks.update(free)
        for block in free:
            self._lines.update(_replaced(block))
        return msgspec.structs.replace(row, edits=tuple(free), repeated=tuple(repeated))


def _replaced(block: ChangedLines) -> list[tuple[str, int]]:
    """The lines that a block removes or changes; none for inserted ones, which do not touch each other."""
    return [(block.path, block.line + number) for number in range(len(block.old))]


def _rows(finding: Finding, view: ReportView) -> list[AgentRow]:
    """A row for each place; an edit that is at none of them belongs to the first."""
    changed = blocks([edit for edit in finding.fix.edits if not edit.path.endswith(".ipynb")], view.lines)
    places = [place_of(place) for place in covered(finding)]
    lines = list(dict.fromkeys((path, span.line) for path, span in places))
    owned: dict[tuple[str, int], list[ChangedLines]] = {place: [] for place in lines}
    for block in changed:
        inside = range(block.line, block.line + max(len(block.old), 1))
        owner = next((place for place in lines if place[0] == block.path and place[1] in inside), lines[0])
        owned[owner].append(block)
    return [AgentRow(finding, *place, tuple(owned[place]), place == lines[0]) for place in lines]


def described(rows: Sequence[AgentRow], view: ReportView) -> Iterator[str]:
    """The rows in words, each group below the texts of its check."""
    for _, some in groupby(rows, lambda row: (row.finding.code, row.finding.severity)):
        group = list(some)
        first = group[0].finding
        yield ""
        name = first.name if view.page(first.code) is not None else quoted(first.name, PATH)
        yield f"{first.code} {name} ({first.severity})"
        yield from _about(group, view)
        yield from _places(group, view)


def _about(group: Sequence[AgentRow], view: ReportView) -> Iterator[str]:
    """What, why and how. ``npulint explain`` has the rest of why, and of the advice where the edits are known."""
    finding = group[0].finding
    page = view.page(finding.code)
    why, fix = (page.why, page.fix) if page is not None else ("", "")
    yield with_label(view.lang, say(view.lang, "agent.what"), quoted(finding.message, MESSAGE))
    yield from _sentence(view.lang, say(view.lang, "agent.why"), finding.why, why, short=True)
    label = say(view.lang, f"agent.fix.{finding.fix.applicability}")
    if all(row.edits or row.repeated for row in group):  # they say it
        yield label
    else:
        yield from _sentence(view.lang, label, finding.fix.text, fix, short=any(row.edits for row in group))


def _sentence(lang: str, label: str, text: str, general: str, *, short: bool) -> Iterator[str]:
    """A text of a check, if `short` its first sentence; one that is filled in with words of the project is quoted."""
    if text:
        own = text == general
        text = _SENTENCE_END.split(text, 1)[0] if short else text
        yield with_label(lang, label, text if own else quoted(text, 2 * MESSAGE))


def _places(group: Sequence[AgentRow], view: ReportView) -> Iterator[str]:
    """The places by file; those without anything to show are on one line. A block stands below the path of the file
    that it changes, which may be another one than that of its place."""
    first = group[0].finding
    plain: dict[str, list[str]] = {}
    further: dict[str, list[str]] = {}
    for row in group:
        numbers, lines = plain.setdefault(row.path, []), further.setdefault(row.path, [])
        explained = list(_explained(row, first, view))
        if explained:
            lines += explained if row.edited_here else [f"{row.line}:", *explained]
        elif not row.edited_here:
            numbers.append(str(row.line))
        for block in row.repeated:
            further.setdefault(block.path, []).append(f"{block.line} {say(view.lang, 'agent.above')}")
        for block in row.edits:
            further.setdefault(block.path, []).extend(change_lines(block, view.lang))
    for path, lines in further.items():
        numbers = plain.get(path, [])
        yield f"@ {quoted(path, PATH)}{':' if numbers else ''}{','.join(numbers)}"
        yield from lines


def _explained(row: AgentRow, first: Finding, view: ReportView) -> Iterator[str]:
    """A message of its own and related places of a row."""
    finding = row.finding
    if row.first and finding is not first and finding.message != first.message and not finding.wording:
        yield f"  {quoted(finding.message, MESSAGE)}"
    related = (
        []
        if row.edits or row.repeated or not row.first
        else [*finding.related[max(finding.places - 1, 0) :]][:_RELATED]
    )
    if related:
        yield f"  {say(view.lang, 'agent.see', places=', '.join(map(_place, related)))}"


def _place(related: Related) -> str:
    return f"{quoted(related.path, PATH)}:{related.span.line}"


def change_lines(block: ChangedLines, lang: str) -> Iterator[str]:
    """Removed and added lines with the number of the first; the path of the block stands above them."""
    lines = [*(f"- {quoted(line)}" for line in block.old), *(f"+ {quoted(line)}" for line in block.new)]
    for number, line in enumerate(lines[:_TALL]):
        yield f"{block.line} {line}" if not number else line
    if len(lines) > _TALL:
        yield count(lang, "agent.lines", len(lines) - _TALL)
