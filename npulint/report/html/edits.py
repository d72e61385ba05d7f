"""The exact change that mends a finding, as lines taken out and put in."""

from __future__ import annotations

from collections.abc import Sequence

from npulint.findings import Edit, Finding
from npulint.lines import Lines
from npulint.report.html.markup import words
from npulint.report.html.page import Page
from npulint.texts import say

_TALL = 40  # lines of a change that are shown


def change(page: Page, one: Finding) -> str:
    """The edits of a finding's fix; empty when it has none, or the lines they are about are not there."""
    blocks = [
        f'<p class="path">{page.place(path, first)}</p><pre class="diff"><code>{_diff(old, new)}</code></pre>'
        for path, first, old, new in _blocks(one.fix.edits, page.view.lines)
    ]
    return f'<div class="edits"><h5>{say(page.lang, "html.edits")}</h5>{"".join(blocks)}</div>' if blocks else ""


def _blocks(edits: Sequence[Edit], lines: Lines) -> list[tuple[str, int, list[str], list[str]]]:
    """Path, first line, lines before and lines after, of edits that touch each other one."""
    groups: list[list[Edit]] = []
    for edit in sorted(edits, key=lambda edit: (edit.path, edit.span)):
        last = groups[-1][-1] if groups else None
        if last is not None and last.path == edit.path and edit.span.line <= last.span.end_line:
            groups[-1].append(edit)
        else:
            groups.append([edit])
    blocks = []
    for group in groups:
        first, end = group[0].span.line, max(edit.span.end_line for edit in group)
        source = lines(group[0].path)
        if not 0 < first <= end <= max(len(source), 1):
            continue
        old = list(source[first - 1 : end]) or [""]
        blocks.append((group[0].path, first, old, _edited(old, group, first)))
    return blocks


def _edited(old: Sequence[str], group: Sequence[Edit], first: int) -> list[str]:
    starts = [0]
    for line in old:
        starts.append(starts[-1] + len(line) + 1)
    text = "\n".join(old)
    for edit in reversed(group):
        begin = starts[edit.span.line - first] + edit.span.column - 1
        end = starts[edit.span.end_line - first] + edit.span.end_column - 1
        text = text[:begin] + edit.text + text[max(begin, end) :]
    return text.split("\n")


def _diff(old: Sequence[str], new: Sequence[str]) -> str:
    rows = [f"<del>- {_line(line)}</del>" for line in old if line or len(old) > 1]
    rows += [f"<ins>+ {_line(line)}</ins>" for line in new if line or len(new) > 1]
    return "\n".join(rows if len(rows) <= _TALL else [*rows[:_TALL], "⋯"])


def _line(text: str) -> str:
    return words(text.replace("\t", "    ")[:400])
