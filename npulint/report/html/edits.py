"""The fix of a finding as removed and added lines."""

from __future__ import annotations

from collections.abc import Sequence

from npulint.findings import Finding
from npulint.report.changed import blocks as changed
from npulint.report.html.markup import escape_html
from npulint.report.html.page import Page
from npulint.texts import say

_TALL = 40  # lines of a change that are shown


def change(page: Page, finding: Finding) -> str:
    """The edits of a finding's fix; empty when it has none or the lines have changed."""
    found = [
        f'<p class="path">{page.place(one.path, one.line)}</p>'
        f'<pre class="diff"><code>{_diff(one.old, one.new)}</code></pre>'
        for one in changed(finding.fix.edits, page.view.lines)
    ]
    return f'<div class="edits"><h5>{say(page.lang, "html.edits")}</h5>{"".join(found)}</div>' if found else ""


def _diff(old: Sequence[str], new: Sequence[str]) -> str:
    rows = [f"<del>- {_line(line)}</del>" for line in old if line or len(old) > 1]
    rows += [f"<ins>+ {_line(line)}</ins>" for line in new if line or len(new) > 1]
    return "\n".join(rows if len(rows) <= _TALL else [*rows[:_TALL], "⋯"])


def _line(text: str) -> str:
    return escape_html(text.replace("\t", "    ")[:400])
