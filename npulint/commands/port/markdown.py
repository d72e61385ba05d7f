"""The plan of a port in Markdown, for the description of a pull request."""

from __future__ import annotations

from collections.abc import Iterator

from npulint.commands.port.model import PlannedItem, PortPlan
from npulint.commands.port.text import effort_told, headline, labelled, status, style_reason, verdicts_told
from npulint.core.texts import count, say
from npulint.report.terminal import code, link, prose

_PLACES = 10  # shown of an item
_EDITS = 2
_LINES = 12


def rendered(plan: PortPlan, lang: str) -> str:
    """The plan: a list of items for each step, what is left as tasks, and programs."""
    return "\n".join(_lines(plan, lang)) + "\n"


def _lines(plan: PortPlan, lang: str) -> Iterator[str]:
    yield f"# {say(lang, 'port.title')}"
    yield from ("", prose(headline(plan, lang)), "")
    for key, value in (("style", say(lang, f"port.style.{plan.style.name}")), ("why", style_reason(plan, lang))):
        yield f"- {prose(labelled(f'port.{key}', value, lang))}"
    yield from (f"- {prose(sentence)}" for sentence in (*verdicts_told(plan, lang), *effort_told(plan, lang)))
    for number, step in enumerate(plan.steps, 1):
        title = say(lang, f"port.step.{step.name}")
        yield from ("", f"## {say(lang, 'port.step.head', number=number, title=title)}", "")
        for item in step.items:
            yield from _item(item, lang)
    yield from ("", f"## {say(lang, 'port.left')}", "")
    if not plan.left:
        yield say(lang, "port.left.none")
    for open_finding in plan.left:
        finding = open_finding.finding
        place = code(f"{finding.path}:{finding.span.line}")
        yield f"- [ ] {place} {prose(finding.message)} ({link(finding.name, finding.url)})"
        if open_finding.reason:
            yield f"  {prose(say(lang, 'port.left.refused', reason=open_finding.reason))}"
        yield f"  {prose(finding.fix.text)}"
    yield from ("", f"## {say(lang, 'port.programs')}", "")
    yield from (
        f"- {code(program.entry)} {prose(status(program, lang))}"
        for program in plan.programs
        if program.status != "other"
    )


def _item(item: PlannedItem, lang: str) -> Iterator[str]:
    sure = say(lang, "port.safe" if item.safe else "port.review")
    places = count(lang, "port.places", len(item.places))
    yield f"- **{prose(item.title)}** ({link(item.name, item.url)}): {places}{say(lang, 'list.clause')}{sure}"
    yield f"  {prose(item.why)}"
    shown = [code(f"{path}:{line}") for path, line in item.places[:_PLACES]]
    if len(item.places) > _PLACES:
        shown.append(count(lang, "port.more", len(item.places) - _PLACES))
    yield f"  {say(lang, 'list.and').join(shown)}"
    for edit in item.edits[:_EDITS]:
        yield from ("", "  ```diff")
        yield from (f"  - {line}" for line in edit.before[:_LINES])
        yield from (f"  + {line}" for line in edit.after[:_LINES])
        yield from ("  ```", "")
