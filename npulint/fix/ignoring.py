"""Edits that insert suppression comments.

Every edit is verified first: the comment must suppress the finding according to `npulint.judge.postprocess.comments`,
and the code must stay the same."""

from __future__ import annotations

import io
import os
import re
import tokenize
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache

import msgspec

from npulint.discover.kinds import kinds_by_content, kinds_of
from npulint.discover.paths import local
from npulint.discover.safe_open import read_regular
from npulint.facts.model import FileFacts, Span
from npulint.fix.model import FixRefused
from npulint.fix.source import SourceDocument
from npulint.judge.findings import Edit, Finding
from npulint.judge.fix_results import FileChange
from npulint.judge.postprocess.comments import suppress
from npulint.judge.postprocess.engine import ENGINE_RULES
from npulint.judge.postprocess.removal import applied
from npulint.read.shell.lex import Lexer
from npulint.read.shell.tokens import ShellOperator, Word
from npulint.read.source import comments

_OWN = re.compile(r"npulint\s*:\s*(ignore-file|ignore)(?![\w-])\s*(?:\[([^\]]*)\])?", re.IGNORECASE)
_ABOUT_COMMENTS = ("unused-suppression", "invalid-suppression")
_YAML = "configuration"
_NO_SIDE = ("setup.cfg",)  # comments only on their own line


class Style(msgspec.Struct, frozen=True):
    """The comment syntax of a file kind: its `mark`, and whether comments may end a line (`side`)."""

    kind: str
    mark: str = "#"
    side: bool = True


def style_of(path: str, head: bytes = b"") -> Style | None:
    """The comment syntax of the file at `path`, whose content begins with `head`; None if it has no comments."""
    name = os.path.basename(path)
    kinds = kinds_of(path) or kinds_by_content(head)
    kind = kinds[0] if kinds else ""
    if not kind and name.lower().endswith((".yaml", ".yml")):
        return Style(_YAML)
    if kind == "cuda":
        return Style(kind, "//")
    if kind in ("python", "shell", "makefile", "dependency", "dockerfile"):
        return Style(kind, side=kind != "dockerfile" and name not in _NO_SIDE)
    return None


def ignore_here(finding: Finding, lines: Sequence[str], style: Style | None, reason: str = "") -> Edit | None:
    """The edit that suppresses a finding at its statement, with a `reason` in a new comment; None where no comment
    can."""
    if style is None or finding.name in _ABOUT_COMMENTS or not 0 < finding.span.line <= len(lines):
        return None
    same = _meaning(lines, style)
    for edit in _here(finding, lines, style, f" {reason}" if reason else ""):
        after, span = applied(lines, edit), _moved(finding.span, edit)
        if _silences(msgspec.structs.replace(finding, span=span), after, style) and _meaning(after, style) == same:
            return edit
    return None


def ignore_in_file(finding: Finding, lines: Sequence[str], style: Style | None) -> Edit | None:
    """The edit that suppresses a check in the whole file; None where no comment can."""
    if style is None or finding.name in _ABOUT_COMMENTS:
        return None
    edit = _merged(finding, lines, style, lambda number, word: word == "ignore-file") or _at_top(finding, lines, style)
    after = applied(lines, edit)
    proved = _silences(finding, after, style) and _meaning(after, style) == _meaning(lines, style)
    return edit if proved else None


def _span(line: int, start: int, end: int) -> Span:
    return Span(line, start + 1, line, end + 1)


def _moved(span: Span, edit: Edit) -> Span:
    """The span after a line was inserted above it."""
    if not edit.text.endswith("\n"):
        return span
    return Span(span.line + 1, span.column, span.end_line + 1, span.end_column)


def _here(finding: Finding, lines: Sequence[str], style: Style, reason: str) -> Iterator[Edit]:
    """Candidate edits, best first: extend an existing comment, add one at the end of the finding, of its statement, or
    of its first line, or on its own line."""
    merged = _merged(finding, lines, style, lambda number, word: word == "ignore" and _near(number, finding, lines))
    if merged is not None:
        yield merged
    statements = [pair for pair in _statements(lines, style) if pair[0] <= finding.span.line <= pair[1]]
    first, last = min(statements, default=(finding.span.line, finding.span.end_line))
    if style.side:
        for number in dict.fromkeys((finding.span.end_line, last, finding.span.line, first)):
            if 0 < number <= len(lines) and not _runs(number, lines) and not _goes_on(number, lines):
                line = lines[number - 1]
                kept = line.rstrip()
                text = f"  {style.mark} npulint: ignore[{finding.name}]{reason}"
                yield Edit(finding.path, _span(number, len(kept), len(line)), text)
    for number in dict.fromkeys((finding.span.line, first)):
        if _runs(number, lines) or (style.kind != "dockerfile" and _goes_on(number - 1, lines)):
            continue
        line = lines[number - 1]
        indent = line[: len(line) - len(line.lstrip())]
        text = f"{indent}{style.mark} npulint: ignore[{finding.name}]{reason}\n"
        yield Edit(finding.path, Span.at(number), text)


def _runs(number: int, lines: Sequence[str]) -> bool:
    """Whether a line is a shebang, which must stay first and unchanged."""
    return number == 1 and lines[0].startswith("#!")


def _goes_on(number: int, lines: Sequence[str]) -> bool:
    """Whether a line ends in a backslash continuation."""
    return number > 0 and lines[number - 1].rstrip().endswith("\\")


def _near(number: int, finding: Finding, lines: Sequence[str]) -> bool:
    """Whether a comment on this line may be about the finding: from the comments above its statement to its end."""
    return finding.span.line - 200 <= number <= finding.span.end_line + 200


def _merged(finding: Finding, lines: Sequence[str], style: Style, fits: Callable[[int, str], bool]) -> Edit | None:
    """The edit that adds the name to a comment which suppresses other checks already; None if there is none."""
    noted = comments(_readable(lines, style), style.kind == "python")
    for comment in noted:
        line = lines[comment.line - 1]
        for match in _OWN.finditer(line):
            if not fits(comment.line, match[1].lower()) or not (match[2] or "").strip():
                continue
            edit = Edit(
                finding.path, _span(comment.line, match.start(2), match.end(2)), f"{match[2].strip()}, {finding.name}"
            )
            if _silences(finding, applied(lines, edit), style):
                return edit
    return None


def _at_top(finding: Finding, lines: Sequence[str], style: Style) -> Edit:
    """An edit that inserts a line below the comments at the top, which may have to stay first."""
    number = 0
    while number < len(lines) and lines[number].startswith(style.mark):
        number += 1
    text = f"{style.mark} npulint: ignore-file[{finding.name}]"
    if number == len(lines):
        last = len(lines[-1]) if lines else 0
        return Edit(finding.path, _span(max(1, number), last, last), f"\n{text}")
    return Edit(finding.path, Span(number + 1, 1, number + 1, 1), f"{text}\n")


def _readable(lines: Sequence[str], style: Style) -> str:
    text = "\n".join(lines)
    return text.replace("//", "# ") if style.mark == "//" else text


def _silences(finding: Finding, lines: Sequence[str], style: Style) -> bool:
    """Whether the comments in `lines` suppress the finding."""
    noted = comments(_readable(lines, style), style.kind == "python")
    facts = FileFacts(finding.path, style.kind, comments=noted)
    left = suppress([finding], [facts], [finding, *ENGINE_RULES], lambda rule: False, lambda path: lines, "en")
    return not left.kept


def _statements(lines: Sequence[str], style: Style) -> list[tuple[int, int]]:
    from npulint.judge.postprocess.comments import long_commands, long_statements

    if style.kind == "python":
        return long_statements(lines)
    return long_commands(lines) if style.kind == "shell" else []


def _meaning(lines: Sequence[str], style: Style) -> list[str]:
    """What a comment must not change: the tokens of Python code, else the lines without comments."""
    return _meaning_of("\n".join(lines), style)


@lru_cache(8)
def _meaning_of(text: str, style: Style) -> list[str]:
    lines = text.split("\n")
    if style.kind == "python":
        return _python_tokens(text)
    if style.kind == "shell":
        return _shell_tokens(text)
    if style.kind == _YAML:
        return _yaml_events(text)
    if style.kind == "dockerfile":
        return [line for line in lines if not line.lstrip().startswith("#")]
    plain = [re.sub(rf"(?:^|\s+){style.mark} npulint:.*", "", line).rstrip() for line in lines]
    return [line for line in plain if line]


def _python_tokens(text: str) -> list[str]:
    tokens: list[str] = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type not in (tokenize.COMMENT, tokenize.NL):
                tokens.append(f"{token.type} {token.string if token.type != tokenize.NEWLINE else ''}")
    except (tokenize.TokenError, SyntaxError, RecursionError):
        tokens.append("…")
    return tokens


def _yaml_events(text: str) -> list[str]:
    """What a YAML file says; the text itself where it is not YAML, such as a template."""
    import yaml

    try:
        events = list(yaml.parse(text, Loader=yaml.CSafeLoader))
    except (yaml.YAMLError, RecursionError, ValueError):
        return [text]
    return [f"{type(event).__name__} {getattr(event, 'tag', '')} {getattr(event, 'value', '')}" for event in events]


def _shell_tokens(text: str) -> list[str]:
    texts: list[str] = []
    for token in Lexer(text, remember=False).tokens():
        if isinstance(token, Word):
            texts.append(text[token.start : token.end])
        elif isinstance(token, ShellOperator) and not (token.text == "\n" and texts[-1:] in ([], ["\n"])):
            texts.append(token.text)
    return texts if texts[-1:] != ["\n"] else texts[:-1]


# Suppression comments for all findings of a run, as file changes; `npulint.fix.write` writes the files.

REASON = "TODO: say why"
"""The placeholder for the reason: ASCII, because a comment must not change the encoding of a file."""
_LIMIT = 20_000_000  # bytes


class AddedIgnores(msgspec.Struct, frozen=True):
    """The changed files, the number of suppressed findings by path, and the findings that no comment can suppress."""

    files: list[FileChange] = []
    suppressed: dict[str, int] = {}
    left: list[Finding] = []


def add_ignores(findings: Iterable[Finding], named: Sequence[str]) -> AddedIgnores:
    """A comment at the place of each finding, in files below the `named` paths. Comments that are there get further
    names. Each edit is proved to suppress its finding and to leave the code as it is."""
    by_path: dict[str, list[Finding]] = {}
    for finding in findings:
        by_path.setdefault(finding.path, []).append(finding)
    files: list[FileChange] = []
    left: list[Finding] = []
    suppressed: dict[str, int] = {}
    for path, some in sorted(by_path.items()):
        root = _root(path, named)
        change, without = _changed(path, some, root) if root else (None, some)
        files += [change] if change is not None else []
        left += without
        suppressed[path] = len(some) - len(without)
    return AddedIgnores(files, suppressed, left)


def _root(path: str, named: Sequence[str]) -> str:
    """The folder that the file must lie in: the named path, or that of the named file; empty if none is above it."""
    place = os.path.abspath(local(path))
    folders = {os.path.abspath(named_path) for named_path in named}
    if place in folders:
        return os.path.dirname(place)
    return max((folder for folder in folders if place.startswith(os.path.join(folder, ""))), key=len, default="")


def _changed(path: str, findings: Sequence[Finding], root: str) -> tuple[FileChange | None, list[Finding]]:
    """The change of one file, None if there is none, and the findings without a comment."""
    location = local(path)
    try:
        before = read_regular(location, _LIMIT)
    except OSError:
        return None, list(findings)
    style = style_of(path, before[:200])
    after, left = before, list[Finding]()
    from_below = sorted(findings, key=lambda finding: (-finding.span.line, finding.code))
    for finding in from_below:  # lines above keep their numbers
        commented = _with_comment(path, finding, after, style)
        if commented is None:
            left.append(finding)
        else:
            after = commented
    change = FileChange(path, before, after, location=location, root=root) if after != before else None
    return change, left


def _with_comment(path: str, finding: Finding, data: bytes, style: Style | None) -> bytes | None:
    """The bytes of a file with a comment about a finding; None where no comment can be."""
    try:
        document = SourceDocument(path, style.kind if style else "", data)
        alone = msgspec.structs.replace(finding, related=(), places=1, wording="")
        edit = ignore_here(alone, document.text.text.split("\n"), style, REASON)
        return document.edited([edit]) if edit is not None else None
    except FixRefused:
        return None
