"""Readiness checklists in reports for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from npulint.core.texts import count, known, say
from npulint.judge.findings import ChecklistItem, ProgramSummary, RunResult
from npulint.judge.priorities import Group
from npulint.report.terminal import Paint, cells, escape_control_chars, leading, wrap
from npulint.report.view import ReportView

STATUSES = ("passed", "failed", "unknown")
_COMPARE = "compare"  # the item that stands for all that only a comparison with the reference can decide
_COLOR = {"passed": "green", "failed": "red", "unknown": "yellow"}


def lists(result: RunResult) -> list[ProgramSummary]:
    """The programs with a readiness checklist, the main one first."""
    return [program for program in result.programs if program.checklist]


def traits(program: ProgramSummary, families: Sequence[str], lang: str) -> list[str]:
    """Properties of a program in words: framework, modes, migration state, roles, devices."""
    keys = {
        "framework": [f"framework.{program.framework}", f"configured.{program.configured_by}"],
        "mode": [f"mode.{mode}" for mode in program.modes],
        "state": [f"state.{'agnostic' if program.migration == 'agnostic' else program.state}"],
        "role": [f"role.{role}" for role in program.roles],
        "devices": [f"devices.{program.devices}"],
    }
    pairs = ((key, key.partition(".")[2]) for family in families for key in keys[family])
    words = [
        say(lang, key) if known(key) else escape_control_chars(value)
        for key, value in pairs
        if value not in ("", "unknown")
    ]
    if program.counterpart and "state" in families:
        words.append(say(lang, "state.counterpart", path=escape_control_chars(program.counterpart)))
    return words


def shown_items(program: ProgramSummary, lang: str) -> list[ChecklistItem]:
    """The items of a program as people read them: those that only a comparison with the reference can decide are one,
    as long as they are undetermined."""
    left = [item for item in program.checklist if _awaits_reference(item)]
    items = [item for item in program.checklist if not _awaits_reference(item)]
    if not left:
        return items
    look = say(lang, "readiness.compare.look", items=say(lang, "list.and").join(item.title for item in left))
    return [*items, ChecklistItem(_COMPARE, say(lang, "readiness.compare"), "unknown", look=look)]


def _awaits_reference(item: ChecklistItem) -> bool:
    return item.compared and item.status == "unknown"


def tally(program: ProgramSummary, lang: str) -> str:
    """How many of the shown items passed, failed, or are undetermined."""
    statuses = Counter(item.status for item in shown_items(program, lang))
    return say(
        lang, "readiness.counts", passed=statuses["passed"], failed=statuses["failed"], unknown=statuses["unknown"]
    )


def place_of(item: ChecklistItem) -> str:
    """``path:line`` of the evidence; empty if none."""
    place = item.evidence
    return "" if place is None else f"{escape_control_chars(leading(place.path))}:{place.span.line}"


def seen(result: RunResult, lang: str) -> list[str]:
    """What is seen where no training program is recognised, in sentences: frameworks that files import, configuration
    files, and scripts that are started and are not there."""
    return [
        count(
            lang,
            f"readiness.seen.{framework_use.use}",
            framework_use.files,
            name=framework_use.framework,
            place=f"{leading(framework_use.path)}:{framework_use.line}",
        )
        for framework_use in result.seen
    ]


def readiness(result: RunResult, view: ReportView) -> list[list[str]]:
    """A block of lines for the main program; for every program in verbose reports."""
    programs = lists(result)
    if result.seen:
        head = Paint(view.color)("bold", say(view.lang, "readiness.none"))
        return [[head, *(f"  {escape_control_chars(line)}" for line in seen(result, view.lang))]]
    shown = programs if view.verbose else programs[:1]
    blocks = [_block(program, view) for program in shown]
    if len(programs) > len(shown):
        blocks[-1].append(f"  {count(view.lang, 'readiness.more', len(programs) - len(shown))}")
    return blocks


def _block(program: ProgramSummary, view: ReportView) -> list[str]:
    paint = Paint(view.color)
    head = say(view.lang, "readiness", entry=escape_control_chars(leading(program.entry)))
    lines = [f"{paint('bold', head)}{say(view.lang, 'aside', text=tally(program, view.lang))}"]
    words = {status: say(view.lang, f"status.{status}") for status in _COLOR}
    first = max(cells(word) for word in words.values())
    items = shown_items(program, view.lang)
    second = max(cells(item.title) for item in items)
    for item in items:
        word, title = words[item.status], escape_control_chars(item.title)
        marked = paint(_COLOR[item.status], word) + " " * (first - cells(word))
        details = "  ".join(filter(None, (place_of(item), _check(item))))
        lines.append(f"  {marked}  {title}{' ' * (second - cells(title))}  {paint('dim', details)}".rstrip())
        lines += _look(item, view, first + 4)
    return lines


def _check(item: ChecklistItem) -> str:
    return "" if item.evidence is None else escape_control_chars(item.evidence.check)


def _look(item: ChecklistItem, view: ReportView, indent: int) -> Sequence[str]:
    """What needs review: in verbose reports, and for an undetermined item without a place what is not known."""
    is_open = item.status == "unknown" and item.evidence is None and item.item != _COMPARE
    if not item.look or not (view.verbose or is_open):
        return ()
    return [" " * indent + line for line in wrap(item.look, max(0, view.width - indent) if view.width else 0)]


def open_items(result: RunResult, steps: Sequence[Group], lang: str) -> list[tuple[str, str]]:
    """What remains to do for the main program, as (what, where): its failed readiness items that no finding of the
    `steps` fails, and its undetermined ones."""
    todo: list[tuple[str, str]] = []
    named = {finding.name for step in steps for finding in step.findings}
    for program in lists(result)[:1]:
        entry = escape_control_chars(leading(program.entry))
        failed = [
            (item.title, failure.check)
            for item in program.checklist
            if item.status == "failed"
            for failure in item.failures[:1]
        ]
        failed = [(title, check) for title, check in failed if check not in named]
        if failed:
            what = count(lang, "fixes.left.failed", len(failed), entry=entry)
            details = (title + say(lang, "aside", text=check) for title, check in failed)
            todo.append((what, escape_control_chars(say(lang, "list.clause").join(details))))
        unknown = [item for item in shown_items(program, lang) if item.status == "unknown"]
        to_verify = sum(item.item != _COMPARE for item in unknown)
        titles = escape_control_chars(say(lang, "list.clause").join(item.title for item in unknown))
        if to_verify:
            todo.append((count(lang, "fixes.left.compare", to_verify, entry=entry), titles))
        elif unknown:
            todo.append((titles, ""))
    return todo
