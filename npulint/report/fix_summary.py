"""What --fix did, and what it could not do, as the reports for people tell it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from npulint.findings import RunResult
from npulint.report.readiness import lists
from npulint.report.terminal import Paint, escape_control_chars, leading
from npulint.report.view import ReportView
from npulint.texts import count, say

if TYPE_CHECKING:
    from npulint.fix.model import FixResult

_REFUSED = 5  # that are named
_LOOK = "git diff"  # the command that shows them


def told(mended: FixResult, unsafe: int, view: ReportView) -> list[str]:
    """The lines: how much was mended (`unsafe` more could be), which checks in which files where that is asked for, and
    what could not be mended and why."""
    lines = [Paint(view.color)("green" if mended.fixed else "bold", headline(mended, unsafe, view))]
    if view.fixes and mended.fixed:
        lines += _listed(mended, view)
    if mended.refused:
        lines += _refused(mended, view)
    return lines


def headline(mended: FixResult, unsafe: int, view: ReportView) -> str:
    """How much was mended, or would be, and how much more (`unsafe`) could be."""
    lang, flags = view.lang, "--fix --unsafe-fixes" if view.unsafe else "--fix"
    if mended.fixed:
        files = count(lang, "fixes.files", len(mended.files))
        text = count(lang, "fixes.would" if view.dry else "fixes.done", len(mended.fixed), files=files, flags=flags)
    else:
        text = say(lang, "fixes.none.would" if view.dry else "fixes.none", flags=flags)
    if not unsafe:
        return text
    return say(lang, "list.clause").join((text, count(lang, "fixable.more", unsafe)))


def left(mended: FixResult, result: RunResult, steps: Sequence[tuple[str, str]], lang: str) -> list[tuple[str, str]]:
    """What a person is to do next, and where: look through changes that may alter results, then the `steps`, then what
    of the main program is not ready though no finding above says so, and what code alone cannot tell of it."""
    todo = list(steps)
    named = " ".join(where for _, where in steps)
    unsafe = sum(one.applicability == "unsafe" for one in mended.fixed)
    if unsafe:
        todo.insert(0, (count(lang, "fixes.left.look", unsafe), _LOOK))
    for program in lists(result)[:1]:
        entry = escape_control_chars(leading(program.entry))
        failed = [
            (item.title, one.check)
            for item in program.checklist
            if item.status == "failed"
            for one in item.failures[:1]
        ]
        failed = [(title, check) for title, check in failed if f"{check}:" not in named]
        if failed:
            what = count(lang, "fixes.left.failed", len(failed), entry=entry)
            told = (title + say(lang, "aside", text=check) for title, check in failed)
            todo.append((what, escape_control_chars(say(lang, "list.clause").join(told))))
        open_items = [item.title for item in program.checklist if item.status == "unknown"]
        if open_items:
            what = count(lang, "fixes.left.compare", len(open_items), entry=entry)
            todo.append((what, escape_control_chars(say(lang, "list.clause").join(open_items))))
    return todo


def _listed(mended: FixResult, view: ReportView) -> list[str]:
    """The checks by file, each with how often."""
    paint = Paint(view.color)
    found: dict[str, Counter[str]] = {}
    unsafe = {one.name for one in mended.fixed if one.applicability == "unsafe"}
    for one in mended.fixed:
        found.setdefault(one.path, Counter())[one.name] += 1
    lines = []
    width = len(str(max(n for names in found.values() for n in names.values())))
    for path in sorted(found):
        lines.append(f"  {escape_control_chars(leading(path))}")
        for name, n in sorted(found[path].items(), key=lambda item: (-item[1], item[0])):
            aside = say(view.lang, "aside", text=say(view.lang, "applicability.unsafe")) if name in unsafe else ""
            lines.append(f"    {n:>{width}} × {name}{paint('dim', aside)}")
    return lines


def _refused(mended: FixResult, view: ReportView) -> list[str]:
    """The first of them, or all in a verbose report."""
    shown = mended.refused if view.verbose else mended.refused[:_REFUSED]
    lines = [Paint(view.color)("yellow", count(view.lang, "fixes.refused", len(mended.refused)))]
    for one in shown:
        place = f"{escape_control_chars(leading(one.path))}{f':{one.line}' if one.line else ''}"
        lines.append("  ".join(filter(None, (f"  {place}", one.name, why(one.reason, view.lang)))))
    if len(mended.refused) > len(shown):
        lines.append(f"  {count(view.lang, 'fixes.refused.more', len(mended.refused) - len(shown))}")
    return lines


def why(reason: str, lang: str) -> str:
    """Why something could not be mended, in words."""
    return say(lang, f"fix.refused.{reason}")
