"""The text report: readiness and programs, the findings of each check, and at its end, where a terminal stands, the
verdict and what to do first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import msgspec

from npulint.core.lazy_regex import lazy_compile
from npulint.core.texts import count, say
from npulint.facts.model import Span
from npulint.judge.evaluate.places import covered, further
from npulint.judge.findings import Finding, ProgramSummary, Related, RunResult
from npulint.judge.priorities import FIRST_STEPS, Group, first_steps, grouped, to_do
from npulint.judge.settings import RANK
from npulint.report.frames import Frames
from npulint.report.readiness import STATUSES, open_items, readiness, shown_items, traits
from npulint.report.summary import closing, fixability
from npulint.report.terminal import COLOR, Paint, cells, escape_control_chars, folded, leading, linked, wrap
from npulint.report.view import ReportView, visible

# Notes that a report hides, in one line for each check.

_LISTED = 8


def notes(result: RunResult, view: ReportView) -> list[str]:
    """A line for each check with most hidden findings, with its first place; empty if the report hides none."""
    lowest = RANK[view.shown_from]
    groups = grouped([finding for finding in result.findings if RANK[finding.severity] < lowest], result.programs)
    groups.sort(key=lambda group: -group.places)
    if not groups:
        return []
    lines = [Paint(view.color)("bold", say(view.lang, "notes"))]
    for group in groups[:_LISTED]:
        first = group.first
        place = f"{escape_control_chars(first.path)}:{first.span.line}"
        lines.append(f"  {count(view.lang, 'first.places', group.places, name=first.name, place=place)}")
    if len(groups) > _LISTED:
        lines.append(f"  {count(view.lang, 'notes.more', len(groups) - _LISTED)}")
    return lines


_APART = 2  # findings of a check up to which each is shown with its source
_MANY = 12  # checks up to which each is shown with source and reason
_LINES = 4  # other places of a group that are listed
_RELATED = 3  # related locations shown per finding
_PROGRAMS = 8
_SENTENCE = lazy_compile(r"(?<=[.!?])\s+(?=[A-Z])|(?<=[。！？])")
_WHOLE = Span()  # a file as a whole, such as a graph
_MARK = "[*]"  # on findings that --fix fixes
_LEFT = 5  # checks with remaining findings that are listed after fixes
_FEW = 3  # findings of a change that need no advice on where to begin


def render(result: RunResult, view: ReportView) -> str:
    """The whole report. Texts about a check are printed with its first finding. For a change, only findings and
    fixes."""
    findings = visible(result, view)
    writer = _Writer(view)
    if view.quiet:
        return _printed(writer.groups(findings, result.programs), view.width)
    blocks = [] if view.change else _overview(result, writer, view)
    blocks += writer.groups(findings, result.programs)
    if view.change:
        blocks += _compared(result, view)
    blocks.append([] if view.change or view.comparing else notes(result, view))
    blocks += [closing(result, view, f"{_MARK} "), writer.first(result, findings)]
    hint = writer.hint(result, findings)
    blocks[-1 if blocks[-1] else -2] += hint  # below the last block, which ends the report on a terminal
    if result.step is not None:
        from npulint.report.step.tables import blocks as step_blocks  # only live checks have one

        blocks += step_blocks(result.step, view)
    return _printed(blocks, view.width)


def _printed(blocks: Iterable[Sequence[str]], width: int) -> str:
    """The blocks with empty lines between them, folded to the terminal."""
    return "\n".join("".join(f"{row}\n" for line in block for row in folded(line, width)) for block in blocks if block)


def _overview(result: RunResult, writer: _Writer, view: ReportView) -> list[list[str]]:
    """The beginning of a report on projects: readiness and programs."""
    if view.comparing:
        return _compared(result, view)
    return [*readiness(result, view), *_artifacts(result, writer, view), *_compared(result, view)]


def _compared(result: RunResult, view: ReportView) -> list[list[str]]:
    if result.comparison is None:
        return []
    from npulint.report.compared.text import blocks  # most runs have no reference

    return blocks(result.comparison, view)


def _artifacts(result: RunResult, writer: _Writer, view: ReportView) -> list[list[str]]:
    """Blocks about training runs, programs and graphs."""
    blocks = [writer.programs(result)]
    if result.runs:
        from npulint.report.runs.text import block as run_block

        blocks.insert(0, run_block(result.runs, view))
    if result.graphs:
        from npulint.report.graphs import block as graph_block

        blocks.append(graph_block(result, view))
    return blocks


def first_sentence(text: str) -> str:
    """The first sentence of an English or Chinese text."""
    return _SENTENCE.split(text, maxsplit=1)[0]


def _arrow(frames: Frames, arrow: str, path: str, span: Span) -> str:
    place = f"{escape_control_chars(path)}:{span.line}:{span.column}"
    return f"{' ' * frames.gutter}{frames.paint('blue', arrow)} {place}"


class _Writer:
    def __init__(self, view: ReportView) -> None:
        self._view = view
        self._lang = view.lang
        self._paint = Paint(view.color)
        self._said: set[tuple[str, str]] = set()

    def groups(self, findings: Sequence[Finding], programs: Sequence[ProgramSummary]) -> list[list[str]]:
        """The findings, one block for each check that has many; one for each finding in verbose reports, those of a
        change or comparison, and where edits are shown."""
        if self._is_ungrouped():
            return [self.finding(finding) for finding in findings]
        if self._is_short(findings):
            return [self._short(group) for group in grouped(findings, programs)]
        blocks: list[list[str]] = []
        for group in grouped(findings, programs):
            few = len(group.findings) <= _APART
            blocks += [self.finding(finding) for finding in group.findings] if few else [self._group(group)]
        return blocks

    def _is_ungrouped(self) -> bool:
        view = self._view
        return view.verbose or view.ungrouped or view.change or view.comparing or view.fixes

    def _is_short(self, findings: Sequence[Finding]) -> bool:
        """Whether checks are shown without source and reasons, because there are many."""
        return not self._is_ungrouped() and len({(finding.code, finding.severity) for finding in findings}) > _MANY

    def _group(self, group: Group) -> list[str]:
        """The first finding, a line for each of some others, and the advice."""
        first, others = group.first, group.findings[1:]
        last = max(first.span.line, first.span.end_line, 9)
        frames = Frames(self._view.lines, self._paint, self._view.width, len(str(last + 1)))
        lines = self._excerpt(msgspec.structs.replace(first, message=group.message), (), frames)
        return [*lines, *self._others(first, others, frames), *self._advice(first, frames.gutter)]

    def _short(self, group: Group) -> list[str]:
        """A check of a long report: its message, a line for each of some places, and the beginning of the advice."""
        first = group.first
        frames = Frames(self._view.lines, self._paint, self._view.width, 1)
        lines = [self._header(msgspec.structs.replace(first, message=group.message))]
        lines.append(_arrow(frames, "-->", first.path, first.span))
        lines += self._others(first, group.findings[1:], frames)
        return [*lines, *self._note("fix", first_sentence(first.fix.text), frames.gutter)]

    def _others(self, first: Finding, others: Sequence[Finding], frames: Frames) -> list[str]:
        """A line for each of some further findings of a check."""
        lines = []
        for other in others[:_LINES]:
            places = len(covered(other))
            text = count(self._lang, "places", places) if places > 1 else other.message
            same = other.message == first.message
            lines.append(
                _arrow(frames, ":::", other.path, other.span) + ("" if same else f"  {escape_control_chars(text)}")
            )
        if len(others) > _LINES:
            lines.append(f"{' ' * frames.gutter}     {count(self._lang, 'group.more', len(others) - _LINES)}")
        return lines

    def finding(self, finding: Finding) -> list[str]:
        """Header, place, source, related locations, and the check's texts if not printed yet."""
        related = finding.related if self._view.verbose else finding.related[:_RELATED]
        last = max(finding.span.line, finding.span.end_line, *(place.span.line for place in related), 9)
        frames = Frames(self._view.lines, self._paint, self._view.width, len(str(last + 1)))
        lines = self._excerpt(finding, related, frames)
        rest = further(finding, len(related))
        if rest > 0:
            lines.append(f"{' ' * frames.gutter}     {count(self._lang, 'related.more', rest)}")
        return [*lines, *self._advice(finding, frames.gutter), *self._change(finding, frames.gutter)]

    def _excerpt(self, finding: Finding, related: Sequence[Related], frames: Frames) -> list[str]:
        """Header, place, source and related locations."""
        color = COLOR[finding.severity]
        lines = [self._header(finding)]
        lines.append(_arrow(frames, "-->", finding.path, finding.span))
        lines += frames.around(finding.path, finding.span, color)
        for place in related:
            wrapped = f"{_arrow(frames, ':::', place.path, place.span)}  {escape_control_chars(place.message)}".rstrip()
            lines += [wrapped, *(() if place.span == _WHOLE else frames.line(place.path, place.span.line))]
        return lines

    def _header(self, finding: Finding) -> str:
        """Severity, name and message."""
        severity = say(self._lang, f"severity.{finding.severity}")
        name = self._paint(COLOR[finding.severity], f"{severity}[{finding.name}]")
        message = self._paint("bold", escape_control_chars(finding.message))
        return f"{name}: {message} {self._paint('dim', self._identity(finding))}{self._mark(finding)}"

    def _mark(self, finding: Finding) -> str:
        """The sign of fixable findings; empty after --fix."""
        mends = ("safe", "unsafe") if self._view.unsafe else ("safe",)
        if self._view.applied is not None or fixability(finding) not in mends:
            return ""
        return f" {self._paint('green', _MARK)}"

    def _change(self, finding: Finding, gutter: int) -> list[str]:
        """The fix as a diff."""
        if not self._view.fixes or not finding.fix.edits:
            return []
        from npulint.report.changed import change  # rarely shown

        return change(finding, self._view, self._paint, gutter)

    def _identity(self, finding: Finding) -> str:
        """The code, with the confidence if not high."""
        code = linked(finding.code, finding.url) if self._view.links else finding.code
        if finding.confidence == "high":
            return f"({code})"
        level = say(self._lang, f"confidence.{finding.confidence}")
        return f"({code}{say(self._lang, 'list.and')}{say(self._lang, 'confidence', level=level)})"

    def _advice(self, finding: Finding, gutter: int) -> list[str]:
        lines = []
        for key, text in (("why", finding.why), ("fix", finding.fix.text)):
            if text and (finding.code, text) not in self._said:
                self._said.add((finding.code, text))
                if key == "fix" and finding.fix.applicability != "manual":
                    applicability = say(self._lang, f"applicability.{finding.fix.applicability}")
                    text += say(self._lang, "aside", text=applicability)
                lines += self._note(key, text, gutter)
        return lines

    def _note(self, key: str, text: str, gutter: int) -> list[str]:
        label = say(self._lang, key)
        head = f"{' ' * gutter} {self._paint('blue', '=')} {self._paint('bold', f'{label}:')} "
        indent = gutter + cells(f" = {label}: ")
        room = self._view.width - indent if self._view.width else 0
        lines = wrap(escape_control_chars(" ".join(text.split())), room)
        return [head + lines[0], *(" " * indent + line for line in lines[1:])]

    def programs(self, result: RunResult) -> list[str]:
        """The recognised programs, the main one first."""
        ordered = result.programs
        shown = ordered[:_PROGRAMS]
        lines = [self._paint("bold", say(self._lang, "programs"))] if shown else []
        width = max((cells(leading(program.entry)) for program in shown), default=0)
        for program in shown:
            entry = leading(program.entry)
            lines.append(f"  {entry}{' ' * (width - cells(entry))}  {self._described(program)}")
        if len(ordered) > _PROGRAMS:
            lines.append(f"  {count(self._lang, 'programs.more', len(ordered) - _PROGRAMS)}")
        if result.target:
            target = say(self._lang, "list.and").join(
                f"{key} {escape_control_chars(text)}" for key, text in result.target.items()
            )
            lines.append(f"{self._paint('bold', say(self._lang, 'target'))}  {target}")
        return lines

    def _described(self, program: ProgramSummary) -> str:
        statuses = Counter(item.status for item in shown_items(program, self._lang))
        items = [count(self._lang, f"checklist.{word}", statuses[word]) for word in STATUSES if statuses[word]]
        described = traits(program, ("framework", "mode", "state", "role", "devices"), self._lang)
        return say(self._lang, "list.and").join([*described, *items])

    def first(self, result: RunResult, findings: Sequence[Finding]) -> list[str]:
        """Where to begin; of a change or comparison only if there are many findings."""
        view, lang = self._view, self._lang
        if view.applied is not None and not view.dry and view.applied.fixed:
            from npulint.report.fix_summary import left  # most runs fix nothing

            steps = first_steps(findings, _LEFT, result.programs)
            todo = left(view.applied, result, steps, map(self._step, steps), lang)
            return self._numbered(say(lang, "fixes.left.title"), todo)
        if view.change or view.comparing:
            steps = first_steps(findings, programs=result.programs) if len(findings) > _FEW else []
            return self._numbered(say(lang, "first"), [*map(self._step, steps)])
        steps = first_steps(to_do(result, findings), programs=result.programs)
        todo = [*map(self._step, steps), *open_items(result, steps, lang)]
        return self._numbered(say(lang, "first"), todo[:FIRST_STEPS])

    def _step(self, step: Group) -> tuple[str, str]:
        """What to do, and where."""
        place = f"{escape_control_chars(step.first.path)}:{step.first.span.line}"
        return step.message, count(self._lang, "first.step", step.places, name=step.first.name, place=place)

    def _numbered(self, title: str, todo: Sequence[tuple[str, str]]) -> list[str]:
        lines = [self._paint("bold", title)] if todo else []
        room = max(0, self._view.width - 5)
        for number, (what, where) in enumerate(todo, 1):
            wrapped = wrap(escape_control_chars(" ".join(what.split())), room)
            lines += [f"  {number}. {wrapped[0]}", *(f"     {line}" for line in wrapped[1:])]
            lines += [f"     {self._paint('dim', line)}" for line in (wrap(where, room) if where else ())]
        return lines

    def hint(self, result: RunResult, findings: Sequence[Finding]) -> list[str]:
        """The next command to run; in a hook also the alternatives."""
        steps = first_steps(findings, 1, result.programs)
        keys = ["explain.hint", "change.hint"] if self._view.change else ["explain.hint"]
        if self._is_short(findings):
            keys.insert(0, "short.hint")
        return [self._paint("dim", say(self._lang, key, name=step.first.name)) for step in steps for key in keys]
