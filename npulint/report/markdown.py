"""The Markdown report: for a step summary, a merge request or the record of a migration."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from npulint.findings import ChecklistItem, Finding, ProgramSummary, RunResult
from npulint.report.readiness import lists, place_of, tally
from npulint.report.summary import closing
from npulint.report.terminal import harmless
from npulint.report.view import View, visible
from npulint.texts import say

_MARKUP = str.maketrans({char: f"\\{char}" for char in "\\*_[]#~|$`"} | {"<": "&lt;", ">": "&gt;", "&": "&amp;"})
_PING = "&#64;"  # an @ as it stands would call upon a user of that name


def render(result: RunResult, view: View) -> str:
    """Summary, readiness list of each program that trains, findings."""
    findings = visible(result, view)
    plain = msgspec.structs.replace(view, color=False)
    blocks = [
        f"# {say(view.lang, 'markdown.title')}",
        "\n\n".join(prose(line) for line in closing(result, plain) if line),
        *(_program(program, view.lang) for program in lists(result)),
        _findings(findings, view.lang),
    ]
    return "\n\n".join(block for block in blocks if block) + "\n"


def prose(text: str) -> str:
    """`text` on one line, safe in a paragraph or a table cell; what stands in backticks stays code."""
    parts = harmless(text).split("`")
    if len(parts) % 2 == 0:  # the last backtick has no partner
        parts[-2:] = ["`".join(parts[-2:])]
    told = (code(part) if place % 2 else _escaped(part) for place, part in enumerate(parts))
    return "".join(told)


def code(text: str) -> str:
    """`text` as code, its backticks included."""
    text = harmless(text).replace("|", "\\|")
    if not text:
        return ""
    fence = "`"
    while fence in text:
        fence += "`"
    pad = " " if text[0] == "`" or text[-1] == "`" else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def _escaped(text: str) -> str:
    return text.translate(_MARKUP).replace("@", _PING)


def _program(program: ProgramSummary, lang: str) -> str:
    head = f"## {say(lang, 'readiness', entry=code(program.entry))}"
    titles = (say(lang, f"markdown.{word}") for word in ("item", "result", "evidence", "look"))
    rows = (_row(item, lang) for item in program.checklist)
    return f"{head}\n\n{prose(tally(program, lang))}\n\n{_table(titles, rows)}"


def _row(item: ChecklistItem, lang: str) -> Sequence[str]:
    status = say(lang, f"status.{item.status}")
    marked = f"**{status}**" if item.status == "failed" else status
    check = "" if item.evidence is None else code(item.evidence.check)
    evidence = " ".join(filter(None, (code(place_of(item)), check)))
    return prose(item.title), marked, evidence, prose(item.look)


def _findings(findings: Sequence[Finding], lang: str) -> str:
    if not findings:
        return ""
    titles = (say(lang, f"markdown.{word}") for word in ("severity", "check", "place", "message"))
    rows = (
        (
            say(lang, f"severity.{one.severity}"),
            f"{code(one.name)} {one.code}",
            code(f"{one.path}:{one.span.line}"),
            prose(one.message),
        )
        for one in findings
    )
    return f"## {say(lang, 'markdown.findings')}\n\n{_table(titles, rows)}"


def _table(titles: Iterable[str], rows: Iterable[Sequence[str]]) -> str:
    head = list(titles)
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
