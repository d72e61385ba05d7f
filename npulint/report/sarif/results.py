"""SARIF results of findings."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any
from urllib.parse import quote

from npulint.core.digest import blake2b
from npulint.core.lazy_regex import lazy_compile
from npulint.core.texts import count, say
from npulint.facts.model import Span
from npulint.judge.evaluate.places import further
from npulint.judge.findings import CONFIDENCES, Finding, Fix, Related, SuppressedFinding
from npulint.judge.settings import RANK
from npulint.judge.source_lines import LineProvider
from npulint.report.terminal import escape_control_chars
from npulint.report.view import ReportView, RulePage, in_repository
from npulint.report.xmltext import legal

# SARIF reporting descriptors of the checks in a run.

MOST_CHARACTERS = 1024  # of a description, limit of GitHub
_NAME_CHARACTERS = 255
_TAGS = ("ascend", "npu")
_PROBLEM = {"error": "error", "warning": "warning", "note": "recommendation"}
_ADDRESS = lazy_compile(r"https?://[!-;=?-\[\]_a-z~]+\Z")


def rules(findings: Iterable[Finding], view: ReportView) -> list[dict[str, Any]]:
    """A descriptor for each check with a finding, by code."""
    groups: dict[str, list[Finding]] = {}
    for finding in findings:
        groups.setdefault(finding.code, []).append(finding)
    return [_rule(groups[code], view.page(code)) for code in sorted(groups)]


def _rule(findings: Sequence[Finding], page: RulePage | None) -> dict[str, Any]:
    first = findings[0]
    severity = max((finding.severity for finding in findings), key=RANK.__getitem__)
    page = page or RulePage("", "", "", "")
    name = first.name.strip() or first.code
    title = page.title.strip() or name
    why = page.why.strip() or first.why.strip() or title
    advice = page.fix.strip() or first.fix.text.strip()
    plain = "\n\n".join(dict.fromkeys(filter(None, (title, why, advice))))
    described: dict[str, Any] = {
        "id": first.code,
        "name": cut(name, _NAME_CHARACTERS),
        "shortDescription": {"text": cut(title, MOST_CHARACTERS)},
        "fullDescription": {"text": cut(why, MOST_CHARACTERS)},
        "help": {"text": plain, "markdown": page.markdown.strip() or plain},
        "defaultConfiguration": {"level": severity},
        "properties": {
            "precision": max((finding.confidence for finding in findings), key=CONFIDENCES.index),
            "problem.severity": _PROBLEM[severity],
            "category": first.category,
            "topic": first.topic,
            "tags": list(dict.fromkeys(filter(None, (*_TAGS, first.category, first.topic)))),
        },
    }
    if _ADDRESS.match(first.url):
        described["helpUri"] = first.url
    return described


def cut(text: str, limit: int) -> str:
    """`text`, or its beginning in `limit` characters; control characters become escapes and count as such."""
    text = legal(text)
    return text if len(text) <= limit else text[: limit - 1] + "…"


# SARIF locations: URIs and regions.

ROOT = "%SRCROOT%"
"""The uriBaseId of relative paths: the working directory; GitHub assumes the repository root."""

_SAFE = "/!$&'()*+,;=@~"  # allowed in a path; a colon would begin a scheme
_DRIVE = lazy_compile(r"[A-Za-z]:/")
_ESCAPE = lazy_compile(r"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|.)|.", re.DOTALL)


def artifact(path: str, folder: str = "") -> dict[str, str]:
    """The artifactLocation of a path from a run in `folder`: relative to the root, without base for a path with leading
    ``..``, a file URI for an absolute path."""
    uri, below = _uri(in_repository(path, folder))
    return {"uri": uri, "uriBaseId": ROOT} if below else {"uri": uri}


@lru_cache(maxsize=1024)
def _uri(path: str) -> tuple[str, bool]:
    """The URI of a path, and whether it lies below the root."""
    if path.startswith("/"):
        return "file://" + _quoted(path), False
    if _DRIVE.match(path):
        return f"file:///{path[0]}:{_quoted(path[2:])}", False
    segments = [_quoted(name) for name in path.split("/") if name not in ("", ".")]
    return "/".join(segments) or ".", ".." not in segments


def _quoted(path: str) -> str:
    return quote(path.encode("utf-8", "backslashreplace"), safe=_SAFE)


def region(span: Span) -> dict[str, int]:
    """The region of a span with all four numbers, the end column exclusive; invalid numbers are corrected."""
    line, column = max(1, span.line), max(1, span.column)
    end_line, end_column = max(line, span.end_line), max(1, span.end_column)
    if end_line == line:
        end_column = max(column, end_column)
    return {"startLine": line, "startColumn": column, "endLine": end_line, "endColumn": end_column}


def stored(path: str, span: Span, lines: LineProvider) -> Span:
    """The span in the file as stored. Columns in a notebook count in the code of a cell line, which the file stores as
    an indented JSON string with escapes."""
    if not path.endswith(".ipynb"):
        return span
    text = lines(path)

    def column(line: int, column: int) -> int:
        return _stored_column(text[line - 1], column) if 0 < line <= len(text) else column

    return Span(span.line, column(span.line, span.column), span.end_line, column(span.end_line, span.end_column))


def _stored_column(line: str, column: int) -> int:
    start = len(line) - len(line.lstrip())
    if not line[start:].startswith('"'):
        return column
    position = start + 1
    for _ in range(column - 1):
        match = _ESCAPE.match(line, position)
        if match is None:
            break
        position = match.end()
    return position + 1


# The hash of a line (`primaryLocationLineHash`) by which GitHub tracks a finding across changes.

_UNITS = 100
_BASE = 37
_MASK = 2**64 - 1
_WIDE = lazy_compile("[\U00010000-\U0010ffff]")  # two units each


def line_hashes(lines: Sequence[str], numbers: Collection[int]) -> dict[int, str]:
    """The hashes of the `numbers` lines (from 1) of a file; missing lines are omitted."""
    last = min(max(numbers, default=0), len(lines))
    needed = "\n".join(lines[: last + _UNITS])  # the window of the last line ends there
    text = _units(needed.replace(" ", "").replace("\t", ""))
    squeezed = text.split("\n", last)[:last]
    text += "\uffff" if last + _UNITS >= len(lines) else "\n"
    seen: Counter[str] = Counter()
    hashes: dict[int, str] = {}
    start = 0
    for number, line in enumerate(squeezed, 1):
        window = text[start : start + _UNITS]
        seen[window] += 1
        if number in numbers:
            hashes[number] = f"{_hash(window):x}:{seen[window]}"
        start += len(line) + 1
    return hashes


def _units(text: str) -> str:
    """The text with one character per UTF-16 unit."""
    return text if text.isascii() else _WIDE.sub(_pair, text)


def _pair(match: re.Match[str]) -> str:
    code = ord(match.group()) - 0x10000
    return chr(0xD800 + (code >> 10)) + chr(0xDC00 + (code & 0x3FF))


def _hash(window: str) -> int:
    value = 0
    for char in window:
        value = value * _BASE + ord(char) & _MASK
    return value * pow(_BASE, _UNITS - len(window), _MASK + 1) & _MASK


MOST_LOCATIONS = 1_000  # per result, limit of GitHub
_MOST_CHARACTERS = 4_000  # per part of a message
_LINKED = 3  # related locations linked in a message
_PLACEHOLDER = lazy_compile(r"\{(\d+)\}")


class Writer:
    """Renders the results of one run. `indices` maps codes to rule indices; `findings` are all that will be rendered,
    so that every file is read once."""

    def __init__(self, indices: Mapping[str, int], view: ReportView, findings: Iterable[Finding]) -> None:
        self._indices = indices
        self._view = view
        self._hashes = _hashes(findings, view.lines)

    def result(self, finding: Finding, suppressed: SuppressedFinding | None) -> dict[str, Any]:
        """One result; `suppressed` is its suppression, if any."""
        written: dict[str, Any] = {
            "ruleId": finding.code,
            "ruleIndex": self._indices[finding.code],
            "level": finding.severity,
            "message": {"text": self._message(finding)},
            "locations": [{"physicalLocation": self._physical(finding.path, finding.span)}],
            "partialFingerprints": self._fingerprints(finding),
        }
        if finding.related:
            places = enumerate(finding.related[: MOST_LOCATIONS - 1], 1)
            written["relatedLocations"] = [self._related(number, place) for number, place in places]
        changes = self._changes(finding.fix)
        if changes:
            text = finding.fix.text or finding.message
            written["fixes"] = [{"description": {"text": _plain(text)}, "artifactChanges": changes}]
        if suppressed is not None:
            written["suppressions"] = [_suppression(suppressed)]
        written["properties"] = _properties(finding)
        return written

    def _message(self, finding: Finding) -> str:
        """The message with links to related locations, then the advice for this finding."""
        text = _plain(finding.message).strip() or _plain(finding.name).strip() or finding.code
        if finding.related:
            text += say(self._view.lang, "aside", text=self._links(finding))
        return "\n".join(filter(None, (text, _plain(finding.fix.text).strip())))

    def _links(self, finding: Finding) -> str:
        named = finding.related[: MOST_LOCATIONS - 1 if self._view.verbose else _LINKED]
        links = [f"[{_link_text(place, finding.path)}]({number})" for number, place in enumerate(named, 1)]
        rest = further(finding, len(named))
        if rest:
            links.append(count(self._view.lang, "related.more", rest))
        return say(self._view.lang, "list.and").join(links)

    def _physical(self, path: str, span: Span) -> dict[str, Any]:
        return {
            "artifactLocation": artifact(path, self._view.folder),
            "region": region(stored(path, span, self._view.lines)),
        }

    def _related(self, number: int, place: Related) -> dict[str, Any]:
        text = _plain(place.message).strip() or f"{_plain(place.path)}:{place.span.line}"
        return {"id": number, "physicalLocation": self._physical(place.path, place.span), "message": {"text": text}}

    def _fingerprints(self, finding: Finding) -> dict[str, str]:
        own = finding.fingerprint or _digest(finding.path, finding.code, finding.message)
        line = self._hashes.get((finding.path, finding.span.line), f"{own}:1")
        return {"primaryLocationLineHash": line, "npulint/v1": own}

    def _changes(self, fix: Fix) -> list[dict[str, Any]]:
        """The edits by file, without those of notebooks, which store code as JSON strings."""
        files: dict[str, list[dict[str, Any]]] = {}
        if any(edit.path.endswith(".ipynb") for edit in fix.edits):
            return []
        for edit in fix.edits:
            replacement: dict[str, Any] = {"deletedRegion": region(edit.span)}
            if edit.text:
                replacement["insertedContent"] = {"text": edit.text}
            files.setdefault(edit.path, []).append(replacement)
        return [{"artifactLocation": artifact(path, self._view.folder), "replacements": files[path]} for path in files]


def _hashes(findings: Iterable[Finding], lines: LineProvider) -> dict[tuple[str, int], str]:
    lines_of: dict[str, set[int]] = {}
    for finding in findings:
        lines_of.setdefault(finding.path, set()).add(finding.span.line)
    return {
        (path, number): text
        for path in sorted(lines_of)
        for number, text in line_hashes(lines(path), lines_of[path]).items()
    }


def _suppression(suppressed: SuppressedFinding) -> dict[str, str]:
    suppression = {"kind": "inSource" if suppressed.by == "comment" else "external", "status": "accepted"}
    return {**suppression, "justification": suppressed.reason} if suppressed.reason else suppression


def _properties(finding: Finding) -> dict[str, str]:
    """Properties without a standard SARIF field."""
    properties = {
        "category": finding.category,
        "confidence": finding.confidence,
        "applicability": finding.fix.applicability,
        "why": finding.why,
        "program": finding.program,
    }
    return {key: text for key, text in properties.items() if text}


def _plain(text: str) -> str:
    """A text escaped so that code such as ``a[0](1)`` is no link or placeholder."""
    return _PLACEHOLDER.sub(r"{{\1}}", cut(escape_control_chars(text), _MOST_CHARACTERS).replace("](", "] ("))


def _link_text(place: Related, here: str) -> str:
    where = f"L{place.span.line}" if place.path == here else f"{_plain(place.path)}:{place.span.line}"
    text = f"{_plain(place.message)} {where}".strip()
    return text.replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]")


def _digest(*parts: str) -> str:
    return blake2b("\0".join(parts).encode("utf-8", "surrogatepass"), digest_size=10).hexdigest()
