"""The plan of a port as text for a terminal."""

from __future__ import annotations

from collections.abc import Iterator

from npulint.commands.port.model import OpenFinding, PlannedItem, PortedProgram, PortPlan
from npulint.core.texts import count, say, with_label
from npulint.judge.verdict import verdict_of
from npulint.report.effort.document import sentences
from npulint.report.terminal import Paint, cut, escape_control_chars, leading, wrap
from npulint.report.verdict import told

_PLACES = 4  # shown of an item
_LINES = 6  # shown of an edit
_OF_SEVERITY = {"error": "red", "warning": "yellow", "note": "dim"}
_COLOR = {"trains": "green", "reaches": "green", "open": "yellow", "other": "dim"}


def rendered(plan: PortPlan, lang: str, color: bool, width: int, verbose: bool = False) -> str:
    """The plan: style, steps with their edits, what is left, and programs."""
    return "\n".join(_Text(plan, lang, color, width, verbose).lines()) + "\n"


class _Text:
    def __init__(self, plan: PortPlan, lang: str, color: bool, width: int, verbose: bool) -> None:
        self._plan = plan
        self._lang = lang
        self._paint = Paint(color)
        self._width = max(width, 40)
        self._verbose = verbose

    def lines(self) -> Iterator[str]:
        """All lines."""
        yield self._paint("bold", headline(self._plan, self._lang))
        style = self._plan.style
        yield from self._wrapped(labelled("port.style", say(self._lang, f"port.style.{style.name}"), self._lang), "  ")
        yield from self._wrapped(labelled("port.why", style_reason(self._plan, self._lang), self._lang), "  ")
        for sentence in (*verdicts_told(self._plan, self._lang), *effort_told(self._plan, self._lang)):
            yield from self._wrapped(sentence, "  ")
        for number, step in enumerate(self._plan.steps, 1):
            title = say(self._lang, f"port.step.{step.name}")
            yield ""
            yield self._paint("bold", say(self._lang, "port.step.head", number=number, title=title))
            for item in step.items:
                yield from self._item(item)
        yield ""
        yield from self._left()
        yield ""
        yield from self._programs()

    def _item(self, item: PlannedItem) -> Iterator[str]:
        sure = say(self._lang, "port.safe" if item.safe else "port.review")
        places = count(self._lang, "port.places", len(item.places))
        mark = say(self._lang, "list.and").join((places, self._paint("green" if item.safe else "yellow", sure)))
        yield f"  {escape_control_chars(item.title)}  {self._paint('dim', item.name)}  {mark}"
        yield from self._wrapped(labelled("port.why", first_sentence(item.why), self._lang), "    ")
        shown = item.places if self._verbose else item.places[:_PLACES]
        named = [f"{escape_control_chars(leading(path))}:{line}" for path, line in shown]
        if len(shown) < len(item.places):
            named.append(count(self._lang, "port.more", len(item.places) - len(shown)))
        yield from self._wrapped(say(self._lang, "list.and").join(named), "    ")
        for edit in item.edits if self._verbose else item.edits[:1]:
            limit = None if self._verbose else _LINES
            yield from (self._code("-", "red", line) for line in edit.before[:limit])
            yield from (self._code("+", "green", line) for line in edit.after[:limit])

    def _code(self, sign: str, color: str, line: str) -> str:
        return self._paint(
            color, f"    {sign} {cut(escape_control_chars(line.rstrip().expandtabs(4)), self._width - 6)}"
        )

    def _left(self) -> Iterator[str]:
        if not self._plan.left:
            yield say(self._lang, "port.left.none")
            return
        yield self._paint("bold", say(self._lang, "port.left"))
        for open_finding in self._plan.left:
            yield from self._open(open_finding)

    def _open(self, open_finding: OpenFinding) -> Iterator[str]:
        finding = open_finding.finding
        place = f"{escape_control_chars(leading(finding.path))}:{finding.span.line}"
        severity = self._paint(_OF_SEVERITY[finding.severity], say(self._lang, f"severity.{finding.severity}"))
        yield f"  {severity}  {place}  {finding.name}"
        yield from self._wrapped(escape_control_chars(finding.message), "    ")
        if open_finding.reason:
            yield from self._wrapped(say(self._lang, "port.left.refused", reason=open_finding.reason), "    ")
        yield from self._wrapped(labelled("port.left.how", escape_control_chars(finding.fix.text), self._lang), "    ")

    def _programs(self) -> Iterator[str]:
        yield self._paint("bold", say(self._lang, "port.programs"))
        for program in self._plan.programs:
            if program.status != "other" or self._verbose:
                text = self._paint(_COLOR.get(program.status, "red"), status(program, self._lang))
                yield from self._wrapped(f"{escape_control_chars(leading(program.entry))}  {text}", "  ")
        others = sum(ported_program.status == "other" for ported_program in self._plan.programs)
        if others and not self._verbose:
            yield "  " + self._paint("dim", count(self._lang, "port.others", others))

    def _wrapped(self, text: str, indent: str) -> Iterator[str]:
        return (f"{indent}{line}" for line in wrap(text, self._width - len(indent)))


def headline(plan: PortPlan, lang: str) -> str:
    """How much the port changes."""
    edits = sum(len(item.places) for step in plan.steps for item in step.items)
    if not plan.files:
        return say(lang, "port.nothing")
    files = count(lang, "port.files", len(plan.files))
    size = count(lang, "port.size", edits, files=files)
    return labelled("port.title", size, lang)


def effort_told(plan: PortPlan, lang: str) -> list[str]:
    """How much work the port is, in two sentences; empty without work."""
    return sentences(plan.effort, lang)[:2] if plan.effort.items else []


def verdicts_told(plan: PortPlan, lang: str) -> list[str]:
    """What is said of the project before and after the port."""
    after = verdict_of(plan.result)
    both = (
        [("verdict.before", plan.before), ("verdict.after", after)] if plan.files else [("verdict.before", plan.before)]
    )
    return [labelled(key, told(verdict, lang), lang) for key, verdict in both]


def labelled(key: str, text: str, lang: str) -> str:
    """A text behind its label and a colon."""
    return with_label(lang, say(lang, key), text)


def style_reason(plan: PortPlan, lang: str) -> str:
    """Why the style was chosen."""
    return count(lang, f"port.why.{plan.style.why}", plan.style.count, count=plan.style.count)


def first_sentence(text: str) -> str:
    """The first sentence of an explanation."""
    for end in (". ", "。", "; ", "；"):
        at = text.find(end)
        if at > 0:
            return escape_control_chars(text[:at].strip() + end.strip().replace(";", ".").replace("；", "。"))
    return escape_control_chars(text)


def status(ported_program: PortedProgram, lang: str) -> str:
    """What the port has done to a program, in words."""
    key = "shared" if ported_program.status == "left" and ported_program.changed else ported_program.status
    text = (
        say(lang, f"port.status.{key}", path=ported_program.because)
        if ported_program.because
        else say(lang, f"port.status.{key}")
    )
    details = []
    if ported_program.status == "open" and ported_program.because:
        details.append(say(lang, "port.gpu-only", names=ported_program.because))
    if ported_program.findings:
        details.append(count(lang, "port.errors", ported_program.findings))
    if ported_program.items:
        details.append(say(lang, "port.items", items=say(lang, "list.and").join(ported_program.items)))
    if ported_program.status == "open" and not details:
        details.append(say(lang, "port.no-step"))
    return say(lang, "list.and").join([text, *details])
