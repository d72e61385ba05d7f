"""Texts that users read, and the phrases that they must not contain (``tests/data/banned_phrases.csv``)."""

from __future__ import annotations

import ast
import csv
import re
from collections.abc import Iterator
from pathlib import Path

import npulint
from npulint.core.texts import FAMILIES, table
from npulint.data.error_patterns import patterns
from npulint.judge.catalogue.check import Check, Query
from npulint.judge.catalogue.load import load_catalogue

PACKAGE = Path(npulint.__file__).parent
ROOT = PACKAGE.parent
RAISING = ("commands/session", "hosts", "judge/catalogue", "judge/evaluate", "live", "report")
"""The packages whose messages are written where they are raised."""

DOCUMENTS = sorted(path for path in (*ROOT.glob("docs/**/*.md"), *ROOT.glob("*.md")) if path.name != "CHANGELOG.md")
"""The pages, in both languages."""

_OUTPUT = re.compile(r"<!-- output.*?<!-- /output -->", re.DOTALL)
CODE = re.compile(r"`[^`]*`|(?<=\])\([^)\s]*\)")
QUOTED = re.compile(rf"{CODE.pattern}|\"[^\"]*\"|“[^”]*”")
"""Code, targets of links, and messages of other programs: they are quoted verbatim."""
_PLACEHOLDER = re.compile(r"\{[^{}]*\}")
with open(Path(__file__).parent / "data" / "banned_phrases.csv", encoding="utf-8", newline="") as _file:
    BANNED = [(re.compile(row["phrase"], re.IGNORECASE), row["instead"]) for row in csv.DictReader(_file)]


def banned(text: str, quoted: re.Pattern[str] = QUOTED) -> list[str]:
    """What is wrong with the wording of an English text: each banned phrase outside of what is `quoted`, and what to
    write instead."""
    prose = quoted.sub("`_`", _PLACEHOLDER.sub("_", text))
    return [f"{match[0]!r}: write {instead}" for phrase, instead in BANNED for match in phrase.finditer(prose)]


def kinds_found(query: Query) -> tuple[str, ...]:
    """The fact kinds that a `find` query reports."""
    if query.any:
        return tuple(kind for part in query.any for kind in kinds_found(part))
    return kinds_found(query.all[0]) if query.all else (query.kind,)


def engine_texts() -> Iterator[tuple[str, str]]:
    """Key and English text of every sentence of the engine, its plural forms one by one."""
    for name in ("main", *FAMILIES):
        yield from ((key, form) for key, (english, _) in table(name).items() for form in english.split("|"))


def check_texts(events: bool) -> Iterator[tuple[str, str]]:
    """Name and English text of the checks; of those that ask for events of logs only if `events` says so."""
    for check in load_catalogue().checks:
        if ("run_event" in kinds_found(check.find)) is events:
            yield from _parts(check)


def item_texts() -> Iterator[tuple[str, str]]:
    """Name and English text of the items of both checklists."""
    catalogue = load_catalogue()
    for item in (*catalogue.items, *catalogue.pretuning):
        text = item.text["en"]
        yield from ((item.name, part) for part in (text.title, text.look))


def raised_texts() -> Iterator[tuple[str, str]]:
    """Place and text of every message that is written where it is raised or noted as a problem."""
    for path in (path for name in RAISING for path in sorted((PACKAGE / name).rglob("*.py"))):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if _reports(node):
                place = f"{path.relative_to(PACKAGE)}:{getattr(node, 'lineno', 0)}"
                yield from ((place, text) for text in map(_text, ast.walk(node)) if text)


def log_message_texts() -> Iterator[tuple[str, str]]:
    """Name and English text of the causes and fixes of messages in logs."""
    for pattern in patterns().values():
        yield from ((pattern.id, part) for part in (pattern.cause[0], pattern.fix[0]))


def document_texts() -> Iterator[tuple[str, str]]:
    """Place and text of each line of the documents in both languages: without the outputs of npulint, and without what
    the glossary says not to write."""
    for path in DOCUMENTS:
        text = _OUTPUT.sub(lambda match: "\n" * match[0].count("\n"), path.read_text(encoding="utf-8"))
        for number, line in enumerate(text.splitlines(), 1):
            avoided = path.name == "glossary.md" and line.startswith("| ")
            yield f"{path.relative_to(ROOT)}:{number}", line.removesuffix("|").rpartition("|")[0] if avoided else line


def _parts(check: Check) -> Iterator[tuple[str, str]]:
    text = check.text["en"]
    reasons = [rule.because["en"] for rule in check.fixes if rule.because]
    yield from ((check.name, part) for part in (text.title, text.message, text.why, text.fix, *reasons))


def _reports(node: ast.AST) -> bool:
    """Whether a node raises an error or notes a problem."""
    if isinstance(node, ast.Raise):
        return True
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "problem"


def _text(node: ast.AST) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
