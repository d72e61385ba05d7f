"""Source excerpts with context and the marked part highlighted. The file may have changed since it was read, so lines
and columns are checked."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence
from functools import cache
from html import escape
from keyword import kwlist

from npulint.facts.model import Span
from npulint.judge.source_lines import cell_line
from npulint.report.terminal import escape_control_chars

# Syntax colours of source lines: keywords, strings and comments, told by a small scanner that any text can pass.

_WORDS = {
    "python": kwlist,
    "shell": "if then elif else fi for while until do done case esac in function return export local exit".split(),
    "other": ["true", "false", "null"],
}
_LANGUAGES = {".py": "python", ".ipynb": "python", ".sh": "shell", ".bash": "shell"}
_QUOTED = r"""'(?:\\.|[^'\\\n])*(?:'|$)|"(?:\\.|[^"\\\n])*(?:"|$)"""
_TRIPLE = r"""'{3}[\s\S]*?(?:'{3}|\Z)|"{3}[\s\S]*?(?:"{3}|\Z)"""
_COMMENT = r"(?<![\w$&{])\#[^\n]*"
_LONG = 500_000  # characters of a file that is searched for strings of several lines

Token = tuple[int, int, str]
"""Where a token begins and ends in its line, and its tag."""


@cache
def _scanner(language: str) -> re.Pattern[str]:
    strings = rf"(?:\b[bfruBFRU]{{1,2}})?(?:{_TRIPLE}|{_QUOTED})" if language == "python" else _QUOTED
    words = "|".join(_WORDS[language])
    return re.compile(rf"(?P<u>{strings})|(?P<i>{_COMMENT})|(?P<b>(?<![\w.$-])(?:{words})(?![\w-]))")


class Syntax:
    """The syntax of one file: `lines` are all of its lines, needed for strings that begin on lines above."""

    def __init__(self, path: str, lines: Sequence[str] = ()) -> None:
        self._language = _LANGUAGES.get(posixpath.splitext(path)[1], "other")
        self._inside = _inside(lines) if path.endswith(".py") else {}

    def tokens(self, text: str, number: int = 0) -> list[Token]:
        """The tokens of a line; `number` (0: unknown) says whether it begins within a string."""
        begin, tokens = 0, []
        quote = self._inside.get(number)
        if quote:
            end = text.find(quote)
            begin = len(text) if end < 0 else end + len(quote)
            tokens.append((0, begin, "u"))
        for match in _scanner(self._language).finditer(text, begin):
            tokens.append((match.start(), match.end(), match.lastgroup or ""))
        return tokens


def _inside(lines: Sequence[str]) -> dict[int, str]:
    """The lines that begin within a string of several lines, by number, with the quote that ends it."""
    text = "\n".join(lines)
    if len(text) > _LONG or ('"""' not in text and "'''" not in text):
        return {}
    quotes: dict[int, str] = {}
    number, last = 1, 0
    for match in _scanner("python").finditer(text):
        if match.lastgroup != "u" or "\n" not in match[0]:
            continue
        number += text.count("\n", last, match.start())
        rest = match[0].count("\n")
        quote = match[0].lstrip("bfruBFRU")[:3]
        quotes.update(dict.fromkeys(range(number + 1, number + rest + 1), quote))
        number, last = number + rest, match.end()
    return quotes


def colored(text: str, tokens: Sequence[Token], first: int, last: int) -> str:
    """The part of a line from `first` to `last` as HTML, its tokens in their tags."""
    pieces = []
    for begin, end, tag in tokens:
        begin, end = max(begin, first), min(end, last)
        if begin < end:
            pieces += [plain(text[first:begin]), f"<{tag}>", plain(text[begin:end]), f"</{tag}>"]
            first = end
    return "".join([*pieces, plain(text[first:last])])


def plain(text: str) -> str:
    """Source text as HTML, without colours."""
    return escape(escape_control_chars(text.replace("\t", "    ")), quote=False)


_CONTEXT = 2  # lines on both sides
_TALL = 10  # lines of a statement that are all shown
_WIDE = 200  # characters of a line that are shown
_LEAD = 60  # of these, before the marked part
_ROOMY = 88  # characters that fit most screens without scrolling
_GAP = "⋯"


def frame(
    path: str, source: Sequence[str], span: Span, label: str, roomy: int = _ROOMY, syntax: Syntax | None = None
) -> str:
    """The source around `span`; empty if there is none. `label` names the scrollable region, used when a line has more
    than `roomy` characters. `syntax` is that of the file, if it is known already."""
    if not 0 < span.line <= len(source):
        return ""
    syntax = syntax or Syntax(path, source)
    last = min(max(span.line, span.end_line), len(source))
    texts = _texts(path, source, span.line, last)
    indent = _indent(list(texts.values()))
    shown = _numbers(texts, span.line, last)
    rows = []
    longest = 0
    for number in shown:
        if not number:
            rows.append(_GAP)
            continue
        pieces = _window(*_parts(texts[number], number, span, last, indent))
        longest = max(longest, sum(map(len, pieces)))
        rows.append(_marked(*pieces, syntax, number))
    gutter = "\n".join(str(number) if number else "" for number in shown)
    focus = f' tabindex="0" role="group" aria-label="{escape(label)}"' if longest > roomy else ""
    code = "\n".join(rows)
    return f'<pre class="src"{focus}><span aria-hidden="true">{gutter}</span><code>{code}</code></pre>'


def line_of(path: str, source: Sequence[str], number: int) -> str:
    """One line as code, for related locations; empty if there is none."""
    if not 0 < number <= len(source):
        return ""
    text = _text(path, source[number - 1]).strip(" \t")
    shown = text[: _WIDE // 2] + ("…" if len(text) > _WIDE // 2 else "")
    return f"<code>{plain(shown)}</code>" if text else ""


def _texts(path: str, source: Sequence[str], first: int, last: int) -> dict[int, str]:
    """The lines to show by number: the statement and its non-blank neighbours."""
    notebook = path.endswith(".ipynb")
    middle = {number: _text(path, source[number - 1]) for number in _span_numbers(first, last) if number}
    before: dict[int, str] = {}
    after: dict[int, str] = {}
    for neighbours, numbers in (
        (before, range(first - 1, max(0, first - 1 - _CONTEXT), -1)),
        (after, range(last + 1, min(len(source), last + _CONTEXT) + 1)),
    ):
        for number in numbers:
            text = _text(path, source[number - 1])
            if notebook and text == source[number - 1]:  # not a line of this cell
                break
            neighbours[number] = text
        while neighbours and not next(reversed(neighbours.values())).strip():
            neighbours.popitem()
    return {**dict(reversed(before.items())), **middle, **after}


def _span_numbers(first: int, last: int) -> list[int]:
    numbers = list(range(first, last + 1))
    return numbers if len(numbers) <= _TALL else [*numbers[: _TALL - 3], 0, *numbers[-2:]]


def _numbers(texts: dict[int, str], first: int, last: int) -> list[int]:
    before = [number for number in texts if number < first]
    return [*before, *_span_numbers(first, last), *(number for number in texts if number > last)]


def _text(path: str, line: str) -> str:
    if len(line) > 100_000:  # data, or a notebook in one line
        return line
    return cell_line(line) if path.endswith(".ipynb") else line


def _indent(texts: Sequence[str]) -> int:
    """The common indentation of all lines."""
    starts = [text[: len(text) - len(text.lstrip(" \t"))] for text in texts if text.strip(" \t")]
    least, most = min(starts, default=""), max(starts, default="")
    return next((n for n, (char, other) in enumerate(zip(least, most, strict=False)) if char != other), len(least))


def _parts(text: str, number: int, span: Span, last: int, indent: int) -> tuple[str, str, str]:
    """The line before, in and after the span, without the common `indent`."""
    if not span.line <= number <= last:
        return text[indent:], "", ""
    begin = min(max(span.column - 1, 0), len(text)) if number == span.line else len(text) - len(text.lstrip(" \t"))
    end = min(max(span.end_column - 1, begin), len(text)) if number == span.end_line else len(text)
    if number == span.line and end == begin:
        end = min(begin + 1, len(text))
    return text[indent:begin], text[max(begin, indent) : end], text[max(end, indent) :]


def _window(head: str, marked: str, tail: str) -> tuple[str, str, str]:
    """A long line cut to the surroundings of its marked part."""
    if len(head) + len(marked) + len(tail) <= _WIDE:
        return head, marked, tail.rstrip(" \t")
    if marked and len(head) > _LEAD and len(head) + min(len(marked), _WIDE - _LEAD) > _WIDE:
        head = "…" + head[-_LEAD:]
    head = head[:_WIDE]
    room = _WIDE - len(head)
    if len(marked) > room:
        return head, marked[:room] + "…", ""
    room -= len(marked)
    return head, marked, tail if len(tail) <= room else tail[:room] + "…"


def _marked(head: str, marked: str, tail: str, syntax: Syntax, number: int) -> str:
    text, begin, end = head + marked + tail, len(head), len(head) + len(marked)
    tokens = syntax.tokens(text, number)
    middle = f"<mark>{colored(text, tokens, begin, end)}</mark>" if marked else ""
    return f"{colored(text, tokens, 0, begin)}{middle}{colored(text, tokens, end, len(text))}"
