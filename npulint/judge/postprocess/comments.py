"""Suppression comments: which findings they suppress, and which of them are unused.

``# npulint: ignore[name-or-code, other] reason`` suppresses on its own line, or on the next one when it stands alone;
``# npulint: ignore-file[...]`` in the whole file; ``# noqa: NPU1101`` on its own line. A comment that names no check
suppresses nothing: a bare ``# noqa`` is for other tools.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec

from npulint.core.lazy_regex import lazy_compile
from npulint.core.suggest import closest_match, did_you_mean
from npulint.core.texts import say
from npulint.facts.model import Comment, FileFacts, Span
from npulint.judge.evaluate.places import Place, covered, narrowed, place_of
from npulint.judge.findings import Edit, Finding, Fix, SuppressedFinding
from npulint.judge.postprocess.engine import INVALID_SUPPRESSION, UNUSED_SUPPRESSION, finding
from npulint.judge.postprocess.select import Identity
from npulint.judge.source_lines import LineProvider

# Multi-line statements, so that a comment at either end covers them.


def long_statements(lines: Sequence[str]) -> list[tuple[int, int]]:
    """First and last lines of multi-line statements in Python source, for compound statements of the head; up to the
    first syntax error."""
    import tokenize  # only needed for files with suppression comments

    rest = iter(lines)
    statements: list[tuple[int, int]] = []
    first = 0
    skipped = (tokenize.COMMENT, tokenize.NL, tokenize.INDENT, tokenize.DEDENT)
    try:
        for token in tokenize.generate_tokens(lambda: f"{line}\n" if (line := next(rest, None)) is not None else ""):
            if token.type == tokenize.NEWLINE:
                if first and token.start[0] > first:
                    statements.append((first, token.start[0]))
                first = 0
            elif not first and token.type not in skipped:
                first = token.start[0]
    except (tokenize.TokenError, SyntaxError, RecursionError):
        pass
    return statements


def long_commands(lines: Sequence[str]) -> list[tuple[int, int]]:
    """First and last lines of multi-line shell commands: with backslash continuations, or texts and lists that span
    lines."""
    from bisect import bisect_right

    from npulint.read.shell.lex import Lexer
    from npulint.read.shell.tokens import ShellOperator, Word

    text = "\n".join(lines)
    starts = [0, *(offset + 1 for offset, char in enumerate(text) if char == "\n")]
    commands: list[tuple[int, int]] = []
    first = last = -1
    for token in (*Lexer(text, remember=False).tokens(), None):
        if isinstance(token, Word) or (isinstance(token, ShellOperator) and token.text != "\n"):
            first = token.start if first < 0 else first
            last = token.end - 1 if isinstance(token, Word) else token.start
            continue
        lines_of = (bisect_right(starts, first), bisect_right(starts, last))
        if first >= 0 and lines_of[0] < lines_of[1]:
            commands.append(lines_of)
        first = -1
    return commands


_JOB_OPTION = "#SBATCH"  # a comment for the shell, code for Slurm
_IGNORE = lazy_compile(r"(?:^|#)\s*npulint\s*:\s*(ignore-file|ignore)(?![\w-])\s*(?:\[([^\]]*)\])?", re.IGNORECASE)
_CODE = r"(?:NPU[0-9]{2}[A-Z][0-9]|[A-Z]+[0-9]+)"  # of any linter
_NOQA = lazy_compile(rf"(?:^|#)\s*noqa\s*:\s*({_CODE}(?:[,\s]+{_CODE})*)", re.IGNORECASE)
_OURS = lazy_compile(r"NPU(?:[0-9]{2}[A-Z][0-9]|[0-9]+)", re.IGNORECASE)


class Directive(msgspec.Struct, frozen=True):
    """A parsed suppression: the checks `names` on line `target` (0: whole file). A comment at the end of a line also
    covers statements that end there. `line` is its own line, `reason` the text after it. `start` is the offset of the
    directive in the text of `comment`, `listed` are those of its list."""

    line: int
    target: int
    names: tuple[str, ...]
    trailing: bool
    source: str = ""
    reason: str = ""
    comment: Comment = Comment(0, False, "")
    start: int = 0
    listed: tuple[int, int] = (0, 0)


class _Silencers:
    """The directives of a file by their checks and lines, so that a finding is not held against all of them.
    `statements` are the line ranges of multi-line statements."""

    def __init__(self, directives: Sequence[Directive] = (), statements: Sequence[tuple[int, int]] = ()) -> None:
        self._named: dict[tuple[str, int], list[tuple[int, str]]] = {}
        for position, directive in enumerate(directives):
            for name in directive.names:
                self._named.setdefault((name.casefold(), directive.target), []).append((position, name))
        self._trailing = [directive.trailing for directive in directives]
        self._around: dict[int, list[tuple[int, int]]] = {}
        for first, last in statements if directives else ():
            for line in range(first, last + 1):
                self._around.setdefault(line, []).append((first, last))

    def of(self, rule: Identity | Finding, span: Span | None) -> list[tuple[int, str]]:
        """The positions of the directives that silence a check at a span, or (None) in the whole file, each with the
        name that it uses; in order."""
        names = {rule.code.casefold(), rule.name.casefold()}
        uses = {use for name in names for use in self._named.get((name, 0), ())}
        if span is None:
            return sorted(uses)
        around = [statement for statement in self._around.get(span.line, ()) if span.end_line <= statement[1]]
        begins = {span.line, *(first for first, _ in around)}
        ends = {span.end_line, *(last for _, last in around)} - begins
        uses.update(use for name in names for line in begins for use in self._named.get((name, line), ()))
        behind = (use for name in names for line in ends for use in self._named.get((name, line), ()))
        return sorted(uses.union(use for use in behind if self._trailing[use[0]]))


class Suppressed(msgspec.Struct, frozen=True):
    """The remaining findings, the suppressed ones, and complaints about the comments."""

    kept: list[Finding]
    suppressed: list[SuppressedFinding]
    complaints: list[Finding]


def suppress(
    findings: Sequence[Finding],
    files: Iterable[FileFacts],
    rules: Sequence[Identity],
    active: Callable[[Identity], bool],
    lines: LineProvider,
    lang: str,
) -> Suppressed:
    """Apply the suppression comments of `files`. Only comments about `active` checks can be unused."""
    commented: dict[str, list[FileFacts]] = {}
    for file in files:
        if file.comments:
            commented.setdefault(file.path, []).append(file)
    directives = {path: _directives(parts, lines(path)) for path, parts in commented.items()}
    disputed = {place.path for reported in findings for place in covered(reported)}.intersection(commented)
    silencers = {path: _Silencers(directives[path], _long(commented[path], lines(path))) for path in sorted(disputed)}
    used: dict[str, dict[int, set[str]]] = {}
    kept: list[Finding] = []
    suppressed: list[SuppressedFinding] = []
    for reported in findings:
        quiet: dict[Place, str] = {}  # places with a comment, and its reason
        for place in covered(reported):
            by = silencers[place.path].of(reported, place.span) if place.path in silencers else []
            for position, name in by:
                used.setdefault(place.path, {}).setdefault(position, set()).add(name)
            if by:
                quiet[place_of(place)] = directives[place.path][by[0][0]].reason
        if place_of(reported) in quiet:  # a comment at its own place is about all of it
            suppressed.append(SuppressedFinding(reported, "comment", next(iter(quiet.values()))))
            continue
        if quiet:
            suppressed.append(SuppressedFinding(narrowed(reported, quiet), "comment", next(iter(quiet.values()))))
            reported = narrowed(reported, {place_of(place) for place in covered(reported)} - quiet.keys())
        kept.append(reported)
    if not directives:
        return Suppressed(kept, suppressed, [])
    judge = _Judge(rules, active, lines, lang)
    complaints = []
    for path in sorted(directives):
        complaints += judge.complaints(path, commented[path], directives[path], used.get(path, {}))
    return Suppressed(kept, suppressed, complaints)


def ignoring(files: Sequence[FileFacts], text: Sequence[str]) -> Callable[[Identity, Span | None], bool]:
    """A function that says whether the comments of one file suppress a check at a span, or (None) in the whole file.
    `files` are its facts, of all kinds it is read as, `text` its lines."""
    commented = [file for file in files if file.comments]
    silencers = _Silencers(_directives(commented, text), _long(commented, text) if commented else [])
    return lambda rule, span: bool(silencers.of(rule, span))


def parse(comment: Comment, following: int) -> list[Directive]:
    """The suppressions in a comment; `following` is the line of the next code if the comment stands alone."""
    directives = []
    for match in _IGNORE.finditer(comment.text):
        names = tuple(name for name in re.split(r"[,\s]+", match[2] or "") if name)
        is_of_file = match[1].lower() == "ignore-file"
        target = 0 if is_of_file else following if comment.alone else comment.line
        directives.append(_directive(comment, match, 2, target, names))
    if not comment.alone:
        for match in _NOQA.finditer(comment.text):
            names = tuple(_OURS.findall(match[1]))
            if names:
                directives.append(_directive(comment, match, 1, comment.line, names))
    return directives


def _directive(comment: Comment, match: re.Match[str], group: int, target: int, names: tuple[str, ...]) -> Directive:
    text = comment.text
    source, reason = match[0].lstrip("# \t"), text[match.end() :].partition("#")[0].strip(" \t:-")
    start, listed = match.start(), match.span(group)
    return Directive(comment.line, target, names, not comment.alone, source, reason, comment, start, listed)


def _directives(parts: Sequence[FileFacts], text: Sequence[str]) -> list[Directive]:
    """All directives of a file; files such as setup.py are read as two kinds but have one set of comments."""
    comments = {(comment.line, comment.text): comment for part in parts for comment in part.comments}
    alone = {comment.line for comment in comments.values() if comment.alone}
    return [d for key in sorted(comments) for d in parse(comments[key], _following(comments[key].line, alone, text))]


def _following(line: int, alone: set[int], text: Sequence[str]) -> int:
    """The next line with code, which may be an option of Slurm."""
    line += 1
    while line in alone or (line < len(text) and text[line - 1].lstrip()[:1] in ("", "#")):
        if line <= len(text) and text[line - 1].startswith(_JOB_OPTION):
            break
        line += 1
    return line


def _long(parts: Sequence[FileFacts], text: Sequence[str]) -> list[tuple[int, int]]:
    """The line ranges of multi-line statements, for languages without comments on every line."""
    kinds = {part.kind for part in parts}
    if "python" in kinds:
        return long_statements(text)
    return long_commands(text) if "shell" in kinds else []


class _Judge:
    """Creates findings about suppression comments."""

    def __init__(
        self, rules: Sequence[Identity], active: Callable[[Identity], bool], lines: LineProvider, lang: str
    ) -> None:
        self._known = {word.casefold(): rule for rule in rules for word in (rule.code, rule.name)}
        self._spelled = {word for rule in rules for word in (rule.code, rule.name)}
        self._active = active
        self._lines = lines
        self._lang = lang

    def complaints(
        self, path: str, parts: Sequence[FileFacts], directives: Sequence[Directive], used: Mapping[int, set[str]]
    ) -> list[Finding]:
        """Findings about the directives of one file; `used` are the names that suppressed something. In unreadable
        files no comment counts as unused."""
        unread = any(problem.fatal for part in parts for problem in part.problems)
        useless = [
            [] if unread else self._useless(directive, used.get(position, set()))
            for position, directive in enumerate(directives)
        ]
        edits = self._edits(path, parts[0].kind, directives, useless) if any(useless) else {}
        findings: list[Finding] = []
        for position, directive in enumerate(directives):
            span = self._span(path, directive)
            if not directive.names:
                findings.append(self._invalid(path, span, "blanket", say(self._lang, "invalid.blanket")))
            for name in dict.fromkeys(() if _tolerant(directive) else directive.names):
                if name in useless[position]:
                    findings.append(self._unused(path, span, name, edits.get(position, ())))
                elif name.casefold() not in self._known and name not in used.get(position, ()):
                    findings.append(self._unknown(path, span, name))
        return findings

    def _useless(self, directive: Directive, used: set[str]) -> list[str]:
        """The names of active checks that suppress nothing."""
        if _tolerant(directive):
            return []
        rules = {name: self._known.get(name.casefold()) for name in directive.names if name not in used}
        return [name for name, rule in rules.items() if rule is not None and self._active(rule)]

    def _edits(
        self, path: str, kind: str, directives: Sequence[Directive], useless: Sequence[Sequence[str]]
    ) -> dict[int, tuple[Edit, ...]]:
        """The edits that remove unused names from comments, by index of the directive."""
        from npulint.judge.postprocess.removal import DirectiveNames, removals  # rarely needed

        by_comment: dict[Comment, list[int]] = {}
        for position, directive in enumerate(directives):
            by_comment.setdefault(directive.comment, []).append(position)
        edits_of: dict[int, tuple[Edit, ...]] = {}
        for comment, positions in by_comment.items():
            if any(useless[position] for position in positions):
                listed = [DirectiveNames(directives[p].start, directives[p].listed, useless[p]) for p in positions]
                edits = removals(path, kind, self._lines(path), comment, listed)
                edits_of.update(zip(positions, edits, strict=True))
        return edits_of

    def _unused(self, path: str, span: Span, name: str, edits: tuple[Edit, ...]) -> Finding:
        message = say(self._lang, "unused.message", name=name)
        why, fix = say(self._lang, "unused.why"), say(self._lang, "unused.fix")
        complaint = finding(UNUSED_SUPPRESSION, path, span, message, why, fix)
        removal = Fix(fix, "safe" if edits else "manual", edits)
        return msgspec.structs.replace(complaint, fix=removal)

    def _unknown(self, path: str, span: Span, name: str) -> Finding:
        hint = did_you_mean(closest_match(name, self._spelled), self._lang)
        return self._invalid(path, span, "unknown", say(self._lang, "invalid.unknown", name=name) + hint)

    def _invalid(self, path: str, span: Span, kind: str, message: str) -> Finding:
        why, fix = say(self._lang, "invalid.why"), say(self._lang, f"invalid.fix.{kind}")
        return finding(INVALID_SUPPRESSION, path, span, message, why, fix)

    def _span(self, path: str, directive: Directive) -> Span:
        text = self._lines(path)
        line = text[directive.line - 1] if 0 < directive.line <= len(text) else ""
        begin = max(0, len(line.rstrip()) - len(directive.comment.text) + directive.start)
        column = max(0, line.find(directive.source, begin)) + 1
        width = len(directive.source) if line else 0
        return Span(directive.line, column, directive.line, column + width)


def _tolerant(directive: Directive) -> bool:
    """Whether a directive suppresses findings about itself."""
    return any(
        name.casefold() in (UNUSED_SUPPRESSION.code.casefold(), UNUSED_SUPPRESSION.name) for name in directive.names
    )
