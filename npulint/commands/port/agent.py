"""The plan of a port for coding agents: every edit, what is left, and programs, in few tokens."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from npulint.commands.port.model import OpenFinding, PlannedEdit, PlannedItem, PortPlan
from npulint.commands.port.text import first_sentence, headline, labelled, status, verdicts_told
from npulint.core.texts import say, with_label
from npulint.judge.findings import Finding
from npulint.report.agent import change_lines
from npulint.report.changed import ChangedLines
from npulint.report.quoted import MESSAGE, PATH, quoted


class PlanUnit(msgspec.Struct, frozen=True):
    """What stays on one page: an edit, an open finding or a program, below its `heads`."""

    heads: tuple[str, ...]
    text: str


def units(plan: PortPlan, lang: str) -> list[PlanUnit]:
    """The plan in order."""
    return [*_steps(plan, lang), *_left(plan, lang), *_programs(plan, lang)]


def rendered(some: Iterable[PlanUnit]) -> Iterator[str]:
    """The units as lines; a heading is repeated only where it changes."""
    before: tuple[str, ...] = ()
    for unit in some:
        shared = 0
        while shared < min(len(before), len(unit.heads)) and before[shared] == unit.heads[shared]:
            shared += 1
        yield from unit.heads[shared:]
        yield unit.text
        before = unit.heads


def begun(plan: PortPlan, lang: str) -> list[str]:
    """The lines above the plan: its size and style."""
    style = labelled("port.style", say(lang, f"port.style.{plan.style.name}"), lang)
    return [say(lang, "agent.quoted"), headline(plan, lang), style, *verdicts_told(plan, lang)]


def _steps(plan: PortPlan, lang: str) -> Iterator[PlanUnit]:
    shown: set[PlannedEdit] = set()
    for number, step in enumerate(plan.steps, 1):
        title = say(lang, f"port.step.{step.name}")
        head = "\n" + say(lang, "port.step.head", number=number, title=title)
        for item in step.items:
            yield from _item(item, head, shown, lang)


def _item(item: PlannedItem, head: str, shown: set[PlannedEdit], lang: str) -> Iterator[PlanUnit]:
    """The edits of an item; one that is among the `shown` ones, because two items share it, is not repeated."""
    sure = say(lang, "agent.fix.safe" if item.safe else "agent.fix.unsafe")
    why = with_label(lang, say(lang, "agent.why"), quoted(first_sentence(item.why), MESSAGE))
    heads = (head, f"{item.code} {item.name} ({sure})\n{why}")
    for edit in item.edits:
        block = ChangedLines(edit.path, edit.line, edit.before, edit.after)
        text = "\n".join(change_lines(block, lang))
        text = f"{edit.line} {say(lang, 'agent.above')}" if edit in shown else text
        shown.add(edit)
        yield PlanUnit((*heads, f"@ {quoted(edit.path, PATH)}"), text)
    if not item.edits:
        for path, line in item.places:
            yield PlanUnit(heads, f"@ {quoted(path, PATH)}:{line}")


def _left(plan: PortPlan, lang: str) -> Iterator[PlanUnit]:
    head = "\n" + say(lang, "port.left")
    told: set[str] = set()
    for open_finding in plan.left:
        finding = open_finding.finding
        advice = "\n" + with_label(lang, say(lang, "agent.fix.manual"), quoted(finding.fix.text, 2 * MESSAGE))
        yield PlanUnit((head,), _open(open_finding, finding) + ("" if finding.code in told else advice))
        told.add(finding.code)


def _open(open_finding: OpenFinding, finding: Finding) -> str:
    reason = f" {quoted(open_finding.reason, MESSAGE)}" if open_finding.reason else ""
    place = f"@ {quoted(finding.path, PATH)}:{finding.span.line}"
    return f"{place} {finding.code} {finding.name} ({finding.severity}) {quoted(finding.message, MESSAGE)}{reason}"


def _programs(plan: PortPlan, lang: str) -> Iterator[PlanUnit]:
    head = "\n" + say(lang, "port.programs")
    for program in plan.programs:
        if program.status != "other":
            yield PlanUnit((head,), f"{quoted(program.entry, PATH)} {quoted(status(program, lang), MESSAGE)}")
