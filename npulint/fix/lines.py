"""Applies fix steps in line-based files: requirements, conda environments, Dockerfiles, configurations."""

from __future__ import annotations

import re

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.model import Span
from npulint.fix.model import FixRefused, Plan, Text
from npulint.fix.renaming import whole
from npulint.fix.script import Script
from npulint.judge.findings import Edit, FixStep

# Deletes entries of mappings in YAML files.

_ENTRY = lazy_compile(
    r"(?P<indent> *)[\w.+/-]+:[ \t]+"
    r"(?P<value>\"[^\"\\]*\"|'[^'\\]*'|[\w.+/-][^\[\]{}&*|>\"'#]*)\s*(?:#.*)?\Z"
)


def without_entry(path: str, line: int, start: int, lines: list[str]) -> Edit:
    """Delete the entry whose value begins at a place (both from 0); a mapping without another is empty afterwards.
    Raises `FixRefused` (``joined``) if more than the entry stands in its line, or its value in others."""
    entry = _ENTRY.match(lines[line])
    if entry is None or not entry.start("value") <= start < entry.end("value"):
        raise FixRefused("joined")
    if not line:
        raise FixRefused("joined")
    following = next((text for text in lines[line + 1 :] if text.strip()), "")
    if len(following) - len(following.lstrip(" ")) > len(entry["indent"]):
        raise FixRefused("joined")
    if line + 1 < len(lines):
        return Edit(path, Span(line + 1, 1, line + 2, 1), "")
    return Edit(path, Span(line, len(lines[line - 1]) + 1, line + 1, len(lines[line]) + 1), "")


_BEHIND = lazy_compile(r"[ \t]+[#;].*\Z|[ \t]*;.*\Z")  # a marker of the environment, a comment
_NAME = lazy_compile(r"[A-Za-z0-9][\w.-]*(?:[ \t]*\[[^\]\n]*\])?")
_ITEM = lazy_compile(r"[ \t]*(?:-[ \t]+)?[\"']?\Z")
_OLD_ENV = lazy_compile(r"[ \t]*ENV[ \t]+\w+[ \t]+[^=]*\Z", re.IGNORECASE)


def plan(step: FixStep, text: Text) -> Plan:
    """The edits of one step in a requirements file, a conda environment, a configuration or a Dockerfile. Raises
    `FixRefused`: ``place`` (no such element there), ``joined`` (the line contains more), ``verb``, and for Dockerfile
    commands as `npulint.fix.shell.plan`."""
    if text.kind == "dockerfile":
        return Plan(_dockerfile(step, text))
    lines = text.text.split("\n")
    line, start = _place(step.span, lines)
    if step.verb == "retext":
        return Plan(_retexted(step, line, start, lines[line]))
    if step.verb == "value":
        return Plan((_versioned(step, line, start, lines[line]),))
    if step.verb == "insert":
        return Plan((_added(step, line, start, lines),))
    if step.verb == "delete":
        in_yaml = text.kind in ("configuration", "data") and step.path.endswith((".yaml", ".yml"))
        return Plan(((without_entry if in_yaml else _deleted)(step.path, line, start, lines),))
    raise FixRefused("verb")


def _place(span: Span, lines: list[str]) -> tuple[int, int]:
    line, start = span.line - 1, span.column - 1
    if not 0 <= line < len(lines) or start >= len(lines[line]):
        raise FixRefused("place")
    return line, start


def _edit(path: str, line: int, start: int, end: int, text: str) -> Edit:
    return Edit(path, Span(line + 1, start + 1, line + 1, end + 1), text)


def _end(line: str, start: int) -> int:
    """The end of the element that begins at `start`, without comments and markers."""
    behind = _BEHIND.search(line, start)
    return len(line.rstrip()) if behind is None else behind.start()


def _retexted(step: FixStep, line: int, start: int, content: str) -> tuple[Edit, ...]:
    """Replace a part of the element at the place; names are compared as package indexes do."""
    part, to = step.words["part"], step.words["to"]
    pattern = whole(part)
    if part[:1].isalnum():
        spelt = "[-_.]+".join(map(re.escape, re.split(r"[-_.]+", part)))
        pattern = re.compile(rf"(?<![\w.-]){spelt}(?![\w-])", re.IGNORECASE)
    end = _end(content, start)
    edits = [_edit(step.path, line, match.start(), match.end(), to) for match in pattern.finditer(content, start, end)]
    if not edits:
        raise FixRefused("place")
    return tuple(edits)


def _versioned(step: FixStep, line: int, start: int, content: str) -> Edit:
    """Replace the version specifiers of the package at the place."""
    name = _NAME.match(content, start)
    if name is None or content[start:].startswith("-"):
        raise FixRefused("place")
    old = re.split(r"[\"']", content[name.end() : _end(content, start)])[0]
    return _edit(step.path, line, name.end(), name.end() + len(old), step.words["with"].replace("$old", old))


def _added(step: FixStep, line: int, start: int, lines: list[str]) -> Edit:
    """Insert a package in a line of its own, behind that of the package at the place."""
    if step.words["where"] != "after":
        raise FixRefused("verb")
    if start or lines[line].rstrip().endswith("\\"):
        raise FixRefused("joined")
    if line + 1 < len(lines):
        return Edit(step.path, Span(line + 2, 1, line + 2, 1), f"{step.words['text']}\n")
    end = len(lines[line]) + 1
    return Edit(step.path, Span(line + 1, end, line + 1, end), f"\n{step.words['text']}")


def _deleted(path: str, line: int, start: int, lines: list[str]) -> Edit:
    """Delete the line of a package with continuation lines (hashes) and its own comments."""
    if not _ITEM.match(lines[line][:start]) or (line and lines[line - 1].rstrip().endswith("\\")):
        raise FixRefused("joined")
    if _NAME.match(lines[line], start) is None:
        raise FixRefused("place")
    if re.match(r"[ \t]*-[ \t]", lines[line]) and not _has_sibling(lines, line):
        raise FixRefused("joined")
    last = line
    while last < len(lines) - 1 and lines[last].rstrip().endswith("\\"):
        last += 1
    while last < len(lines) - 1 and re.match(r"[ \t]+#", lines[last + 1]):
        last += 1
    if last + 1 < len(lines):
        return Edit(path, Span(line + 1, 1, last + 2, 1), "")
    if not line:
        return Edit(path, Span(1, 1, last + 1, len(lines[last]) + 1), "")
    return Edit(path, Span(line, len(lines[line - 1]) + 1, last + 1, len(lines[last]) + 1), "")


def _has_sibling(lines: list[str], line: int) -> bool:
    """Whether the YAML list of an item has another item."""
    indent = len(lines[line]) - len(lines[line].lstrip())
    for step in (-1, 1):
        at = line + step
        while 0 <= at < len(lines):
            content = lines[at]
            depth = len(content) - len(content.lstrip())
            if content.strip() and not content.lstrip().startswith("#"):
                if depth == indent and content.lstrip().startswith("- "):
                    return True
                if depth <= indent:
                    break
            at += step
    return False


def _dockerfile(step: FixStep, text: Text) -> tuple[Edit, ...]:
    """The edits of steps in RUN and ENV instructions, which have shell syntax."""
    from npulint.fix.shell import edits
    from npulint.read.dockerfile import shell_of

    lines = text.text.split("\n")
    line, start = _place(step.span, lines)
    if _OLD_ENV.match(lines[line]) and not lines[line].rstrip().endswith("\\"):
        return (_environment(step, line, start, lines),)
    if step.verb not in ("delete", "rename_part", "retext", "value", "drop"):
        raise FixRefused("verb")
    script = Script(shell_of(text.text)[0], text.path)
    dockerfile = edits(step, script)
    for edit in dockerfile:
        if _slice(script.text, edit.span).strip() not in _slice(text.text, edit.span):
            raise FixRefused("joined")  # a list of words in JSON
    return tuple(dockerfile)


def _slice(text: str, span: Span) -> str:
    lines = text.split("\n")[span.line - 1 : span.end_line]
    lines[-1] = lines[-1][: span.end_column - 1]
    lines[0] = lines[0][span.column - 1 :]
    return "\n".join(lines)


def _environment(step: FixStep, line: int, start: int, lines: list[str]) -> Edit:
    """The edit of the old form ``ENV name value``."""
    if step.verb == "delete":
        last = line + 1 < len(lines)
        end = Span(line + 1, 1, line + 2, 1) if last else Span(line + 1, 1, line + 1, len(lines[line]) + 1)
        return Edit(step.path, end, "")
    if step.verb == "rename_part" and lines[line][start:].split(None, 1)[0] == step.words["part"]:
        return _edit(step.path, line, start, start + len(step.words["part"]), step.words["to"])
    raise FixRefused("verb")
