"""Summary of --fix in reports for people: what was fixed and what was refused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from npulint.core.texts import count, say
from npulint.judge.findings import RunResult
from npulint.judge.priorities import Group
from npulint.report.readiness import open_items
from npulint.report.terminal import Paint, escape_control_chars, leading
from npulint.report.view import ReportView

if TYPE_CHECKING:
    from npulint.judge.fix_results import FixResult, Refusal

_REFUSED = 5  # listed
_LOOK = "git diff"  # the command that shows the changes


def summary_lines(applied: FixResult, unsafe: int, view: ReportView) -> list[str]:
    """The number of fixes (`unsafe`: further unsafe ones), the checks by file if requested, and refused fixes with
    reasons."""
    lines = [Paint(view.color)("green" if applied.fixed else "bold", headline(applied, unsafe, view))]
    if view.fixes and applied.fixed:
        lines += _listed(applied, view)
    if applied.refused:
        lines += _refused(applied, view)
    return lines


def headline(applied: FixResult, unsafe: int, view: ReportView) -> str:
    """The number of findings that were or would be fixed, and of further `unsafe` ones. Findings that became fixable
    only by other fixes are told apart, so that the number is the one that a check announces."""
    lang, flags = view.lang, "--fix --unsafe-fixes" if view.unsafe else "--fix"
    if applied.fixed:
        files = count(lang, "fixes.files", len(applied.files))
        number, places = findings_fixed(applied), len(applied.fixed)
        text = count(lang, "fixes.would" if view.dry else "fixes.done", number, files=files, flags=flags)
        text += say(lang, "aside", text=count(lang, "places", places)) if places != number else ""
        enabled = len(_originals(applied, enabled=True))
        text += count(lang, "fixes.enabled", enabled) if enabled else ""
    else:
        text = say(lang, "fixes.none.would" if view.dry else "fixes.none", flags=flags)
    if not unsafe:
        return text
    return say(lang, "list.clause").join((text, count(lang, "fixable.more", unsafe)))


def findings_fixed(applied: FixResult) -> int:
    """The number of originally fixable findings that were or would be fixed, by a fix of their own or of another; one
    finding may cover several places."""
    own = _originals(applied, enabled=False) | set(applied.solved)
    return len(own) + sum(fix.finding is None for fix in applied.fixed)


def _originals(applied: FixResult, enabled: bool) -> set[str]:
    """The fingerprints of the original findings with fixes, those that other fixes have `enabled` or the others."""
    return {fix.original for fix in applied.fixed if fix.original and fix.enabled == enabled}


def left(
    applied: FixResult, result: RunResult, steps: Sequence[Group], described: Iterable[tuple[str, str]], lang: str
) -> list[tuple[str, str]]:
    """The next things to do, as (what, where): review unsafe fixes, the `steps` as `described`, `open_items`."""
    unsafe = sum(fix.applicability == "unsafe" for fix in applied.fixed)
    review = [(count(lang, "fixes.left.look", unsafe), _LOOK)] if unsafe else []
    return [*review, *described, *open_items(result, steps, lang)]


def _listed(applied: FixResult, view: ReportView) -> list[str]:
    """The fixed checks by file with counts."""
    paint = Paint(view.color)
    counts: dict[str, Counter[str]] = {}
    unsafe = {fix.name for fix in applied.fixed if fix.applicability == "unsafe"}
    for fix in applied.fixed:
        counts.setdefault(fix.path, Counter())[fix.name] += 1
    lines = []
    width = len(str(max(n for names in counts.values() for n in names.values())))
    for path in sorted(counts):
        lines.append(f"  {escape_control_chars(leading(path))}")
        for name, n in sorted(counts[path].items(), key=lambda item: (-item[1], item[0])):
            aside = say(view.lang, "aside", text=say(view.lang, "applicability.unsafe")) if name in unsafe else ""
            lines.append(f"    {n:>{width}} × {name}{paint('dim', aside)}")
    return lines


def _refused(applied: FixResult, view: ReportView) -> list[str]:
    """The first refused fixes; all in a verbose report."""
    shown = applied.refused if view.verbose else applied.refused[:_REFUSED]
    lines = [Paint(view.color)("yellow", count(view.lang, "fixes.refused", len(applied.refused)))]
    for refusal in shown:
        place = f"{escape_control_chars(leading(refusal.path))}{f':{refusal.line}' if refusal.line else ''}"
        lines.append("  ".join(filter(None, (f"  {place}", refusal.name, why(refusal, view.lang)))))
    if len(applied.refused) > len(shown):
        lines.append(f"  {count(view.lang, 'fixes.refused.more', len(applied.refused) - len(shown))}")
    return lines


def why(refusal: Refusal, lang: str) -> str:
    """The reason why a fix was refused, with the file that it is about if that is not the one of the finding."""
    if not refusal.files:
        return reason(refusal, lang)
    first, *more = refusal.files
    key = "fix.refused-by.more" if more else "fix.refused-by"
    return count(lang, key, len(more), path=escape_control_chars(first), reason=reason(refusal, lang))


def reason(refusal: Refusal, lang: str) -> str:
    """The reason alone."""
    return say(lang, f"fix.refused.{refusal.reason}", detail=escape_control_chars(refusal.detail))
