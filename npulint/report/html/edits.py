"""The fix of a finding as removed and added lines."""

from __future__ import annotations

from collections.abc import Sequence

from npulint.core.texts import count, say
from npulint.judge.findings import Finding
from npulint.report.changed import ChangedLines
from npulint.report.changed import blocks as changed
from npulint.report.html.page import Page
from npulint.report.html.syntax import Syntax, colored

_TALL = 40  # lines of a change that are shown
_WIDE = 400  # characters of a line
_BLOCKS = 2  # changes of a finding that are not folded
_MOST = 20  # changes of a finding


def change(page: Page, finding: Finding) -> str:
    """The edits of a finding's fix; empty when it has none or the lines have changed."""
    changed_lineses = changed(finding.fix.edits, page.view.lines)
    if not changed_lineses:
        return ""
    blocks = [_block(page, changed_lines, finding) for changed_lines in changed_lineses[:_MOST]]
    more = ""
    if len(changed_lineses) > _BLOCKS:
        cut = count(page.lang, "html.rows.cut", len(changed_lineses) - _MOST) if len(changed_lineses) > _MOST else ""
        summary = count(page.lang, "html.more", len(changed_lineses) - _BLOCKS)
        more = f"<details><summary>{summary}</summary>{''.join(blocks[_BLOCKS:])}{cut}</details>"
    return f'<div class="edits"><h5>{say(page.lang, "html.edits")}</h5>{"".join(blocks[:_BLOCKS])}{more}</div>'


def _block(page: Page, changed_lines: ChangedLines, finding: Finding) -> str:
    """Adjacent changed lines, below their place if that is not the one of the finding."""
    here = (changed_lines.path, changed_lines.line) == (finding.path, finding.span.line)
    head = "" if here else f'<p class="path">{page.place(changed_lines.path, changed_lines.line)}</p>'
    syntax = page.syntax(changed_lines.path)
    lines = _diff(changed_lines.old, changed_lines.new, syntax, changed_lines.line)
    return f'{head}<pre class="diff"><code>{lines}</code></pre>'


def _diff(old: Sequence[str], new: Sequence[str], syntax: Syntax, first: int) -> str:
    rows = [f"<del>- {_line(text, syntax, first + at)}</del>" for at, text in enumerate(old) if text or len(old) > 1]
    rows += [f"<ins>+ {_line(text, syntax, 0)}</ins>" for text in new if text or len(new) > 1]
    return "\n".join(rows if len(rows) <= _TALL else [*rows[:_TALL], "⋯"])


def _line(text: str, syntax: Syntax, number: int) -> str:
    text = text[:_WIDE]
    return colored(text, syntax.tokens(text, number), 0, len(text))
