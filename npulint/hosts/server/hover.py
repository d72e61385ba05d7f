"""Hover: a finding in full, or the documentation of a check named in a suppression comment."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from npulint.core.texts import say
from npulint.judge.findings import Finding
from npulint.report.terminal import escape_control_chars
from npulint.report.view import RulePage

_COMMENT = re.compile(r"npulint\s*:\s*ignore(?:-file)?\s*\[([^\]]*)\]|noqa\s*:\s*([A-Z0-9,\s]+)", re.IGNORECASE)
_WORD = re.compile(r"[\w-]+")
_LINK = re.compile(r"\[([^\]]+)\]\(<?([^)>]+)>?\)")


def named_at(line: str, column: int) -> tuple[str, int, int] | None:
    """The name in a suppression comment at a column (from 1), with its start and end column; None if there is none."""
    for comment in _COMMENT.finditer(line):
        group = 1 if comment[1] is not None else 2
        for word in _WORD.finditer(line, comment.start(group), comment.end(group)):
            if word.start() < column <= word.end() + 1:
                return word[0], word.start() + 1, word.end() + 1
    return None


def as_markdown(findings: Sequence[Finding], lang: str, title: Callable[[str], RulePage | None]) -> str:
    """Findings as Markdown: title, message, rationale and advice."""
    return "\n\n---\n\n".join(_section(finding, lang, title(finding.code)) for finding in findings)


def _section(finding: Finding, lang: str, page: RulePage | None) -> str:
    facts = say(lang, "list.and").join(
        [finding.code, say(lang, f"severity.{finding.severity}"), say(lang, f"category.{finding.category}")]
    )
    parts = [f"**{finding.name}** ({facts})", page.title if page else "", escape_control_chars(finding.message)]
    parts.append(f"**{say(lang, 'server.why')}** {escape_control_chars(finding.why)}" if finding.why else "")
    if finding.fix.text:
        parts.append(f"**{say(lang, 'server.todo')}** {escape_control_chars(finding.fix.text)}")
    if finding.url:
        parts.append(f"[{say(lang, 'server.page')}](<{finding.url}>)")
    return "\n\n".join(part for part in parts if part)


def plain(markdown: str) -> str:
    """Markdown as plain text, for clients without Markdown."""
    lines = []
    for line in markdown.split("\n"):
        if line.startswith("```") or re.fullmatch(r"\|(?: --- \|)+", line):
            continue
        line = _LINK.sub(r"\1 (\2)", line.lstrip("#").lstrip() if line.startswith("#") else line)
        lines.append(line.replace("**", "").replace("`", ""))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip() + "\n"
