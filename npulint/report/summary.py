"""The closing lines of reports for people: counts, unread files, next steps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from npulint.core.texts import count, known, say, with_label
from npulint.discover.kinds import kinds_of
from npulint.facts.model import Problem
from npulint.judge.evaluate.applicability import applicability
from npulint.judge.findings import Finding, RunResult
from npulint.judge.priorities import CATEGORIES
from npulint.judge.settings import RANK
from npulint.judge.verdict import verdict_of
from npulint.report.open_releases import labelled
from npulint.report.terminal import Paint, escape_control_chars
from npulint.report.verdict import headline, sentence
from npulint.report.view import ReportView, visible

_LISTED = 5  # unread files listed


def closing(result: RunResult, view: ReportView, mark: str = "") -> list[str]:
    """The summary, one line per statement. `mark` is the sign that fixable findings carry."""
    findings = visible(result, view)
    paint = Paint(view.color)
    asides = _asides(result, len(result.findings) - len(findings), view)
    text = say(view.lang, "list.clause").join([_counted(result, findings, view), *asides])
    good = not findings and not result.unreadable and bool(result.summary.read) and _is_good(result, view)
    color = "green" if good else "bold"
    verdict = _verdict(result, view)
    lines = [*(paint(color, line) for line in verdict), *_applied_fixes(result, view)]
    lines += labelled(result.open_releases, view.lang) if verdict and not view.change else []
    if asides or not _says_all(result, view):
        lines.append(text if len(lines) else paint(color, text))
    lines += _fixable(result, view, mark)
    lines += [paint("yellow", line) for line in _unread(result.unreadable, view)]
    if view.statistics:
        lines += statistics(result, findings, view.lang)
    return lines


def _verdict(result: RunResult, view: ReportView) -> list[str]:
    """What the run says of the project; in a change only what it says of the training programs, and nothing of a
    comparison, or of what would be."""
    if view.comparing or (view.applied is not None and view.dry):
        return []
    verdict = verdict_of(result)
    if not view.change:
        return [sentence(verdict, view.lang)]
    label = say(view.lang, "verdict.project")
    return [with_label(view.lang, label, headline(verdict, view.lang))] if verdict.training else []


def _says_all(result: RunResult, view: ReportView) -> bool:
    """Whether the verdict says what the counts would say: nothing was read, or nothing uses a framework."""
    return bool(_verdict(result, view)) and not result.findings and verdict_of(result).word in ("nothing", "unused")


def _is_good(result: RunResult, view: ReportView) -> bool:
    """Whether the verdict is a good one; of a comparison, whether it found no differences."""
    if not view.comparing or result.comparison is None:
        return view.change or verdict_of(result).word in ("ready", "check", "unused")
    from npulint.report.compared.rows import consistent

    return consistent(result.comparison)


def fixability(finding: Finding) -> str:
    """How --fix can fix a finding: safe, unsafe (if any part is), or empty; notebooks are not modified."""
    fix = finding.fix
    edits = any("notebook" not in kinds_of(edit.path) for edit in fix.edits)
    changes = tuple(
        change for change in fix.changes if not any("notebook" in kinds_of(step.path) for step in change.steps)
    )
    return (applicability(changes) if changes else fix.applicability) if edits or changes else ""


def fixable(findings: Sequence[Finding]) -> dict[str, int]:
    """The number of fixable findings by applicability."""
    counts = Counter(map(fixability, findings))
    return {word: counts[word] for word in ("safe", "unsafe")}


def _fixable(result: RunResult, view: ReportView, mark: str) -> list[str]:
    """A line about what --fix can do, shown or hidden findings; none after --fix."""
    counts = fixable(result.findings)
    safe, unsafe = counts["safe"], counts["unsafe"]
    if view.applied is not None or not safe + unsafe:
        return []
    if view.unsafe:
        parts = [mark + count(view.lang, "fixable.safe", safe + unsafe)]
    elif not safe:
        parts = [count(view.lang, "fixable.unsafe", unsafe)]
    else:
        parts = [mark + count(view.lang, "fixable.safe", safe)]
        parts += [count(view.lang, "fixable.more", unsafe)] if unsafe else []
    unseen = safe + unsafe - sum(fixable(visible(result, view)).values())
    parts += [count(view.lang, "fixable.unseen", unseen)] if unseen else []
    return [say(view.lang, "list.clause").join(parts)]


def _applied_fixes(result: RunResult, view: ReportView) -> list[str]:
    if view.applied is None:
        return []
    from npulint.report.fix_summary import summary_lines  # most runs fix nothing

    return summary_lines(view.applied, 0 if view.unsafe else fixable(result.findings)["unsafe"], view)


def _counted(result: RunResult, findings: Sequence[Finding], view: ReportView) -> str:
    """How many findings the report shows, in how many files."""
    summary, lang = result.summary, view.lang
    if findings:
        after = view.applied is not None and not view.dry
        text = count(lang, "fixes.left" if after else "found", len(findings))
        severities = Counter(finding.severity for finding in findings)
        parts = [count(lang, f"count.{word}", severities[word]) for word in reversed(tuple(RANK)) if severities[word]]
        text += say(lang, "aside", text=say(lang, "list.and").join(parts))
        bad = len({finding.path for finding in findings})
        return text + count(lang, "in.files", max(summary.files, bad), bad=bad)
    runs = result.comparison.runs if result.comparison is not None else None
    if not summary.read and runs is None:
        return say(lang, "verdict.nothing")
    if view.comparing and result.comparison is not None:
        from npulint.report.compared.rows import headline

        return headline(result.comparison, summary.read, lang)
    if result.unreadable or any(file.note for run in result.runs for file in run.files):
        return count(lang, "none.read", summary.read)
    if summary.known:
        return count(lang, "none.new", summary.read)
    if view.applied is not None and view.applied.fixed:
        return count(lang, "fixes.clean", summary.read)
    return count(lang, f"none.{view.shown_from}" if result.findings else "none", summary.read)


def _asides(result: RunResult, below: int, view: ReportView) -> list[str]:
    lang, summary = view.lang, result.summary
    asides = []
    if below:
        severity = say(lang, f"severity.{view.shown_from}")
        asides.append(count(lang, "below-threshold", below, severity=severity))
    if summary.hidden:
        asides.append(count(lang, "hidden", summary.hidden))
    if summary.known:
        asides.append(count(lang, "baseline.known", summary.known))
    if summary.elsewhere:
        asides.append(count(lang, "elsewhere", summary.elsewhere))
    if summary.suppressed:
        asides.append(count(lang, "suppressed", summary.suppressed))
    return asides


def _unread(problems: Sequence[Problem], view: ReportView) -> list[str]:
    """Lines about files that were not or only partly read, each named once. Encoding problems do not count."""
    lang = view.lang
    problems = [problem for problem in problems if problem.path not in view.announced]
    fatal = {problem.path: problem for problem in reversed(problems) if problem.fatal}
    doubts = [problem for problem in problems if problem.path not in fatal and problem.reason != "encoding"]
    partly = {problem.path: problem for problem in reversed(doubts)}
    return [
        count(lang, key, len(by_path), list=_named([by_path[path] for path in sorted(by_path)], lang))
        for key, by_path in (("unread", fatal), ("partly-read", partly))
        if by_path
    ]


def _named(problems: Sequence[Problem], lang: str) -> str:
    names = [escape_control_chars(p.path) + say(lang, "aside", text=reason(p, lang)) for p in problems[:_LISTED]]
    if len(problems) > _LISTED:
        names.append(count(lang, "unread.more", len(problems) - _LISTED))
    return say(lang, "list.and").join(names)


def reason(problem: Problem, lang: str) -> str:
    """Why a file was not read, in two or three words."""
    return say(lang, f"short.{problem.reason}" if known(f"short.{problem.reason}") else "short.other")


def statistics(result: RunResult, findings: Sequence[Finding], lang: str) -> list[str]:
    """Counts per check, most frequent first, and per category."""
    names = Counter((finding.name, finding.code) for finding in findings)
    categories = Counter(finding.category for finding in findings)
    rows = [(n, f"{name} ({code})") for (name, code), n in sorted(names.items(), key=lambda item: (-item[1], item[0]))]
    rows += [(categories[word], say(lang, f"category.{word}")) for word in CATEGORIES if categories[word]]
    width = len(str(max((n for n, _ in rows), default=0)))
    seconds = say(lang, "seconds", seconds=result.summary.seconds)
    return ["", say(lang, "statistics"), *(f"  {n:>{width}}  {text}" for n, text in rows), f"  {seconds}"]
