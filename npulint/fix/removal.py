"""Deletes shell commands, or words of them, so that the script stays valid."""

from __future__ import annotations

from npulint.core.lazy_regex import lazy_compile
from npulint.fix.model import FixRefused
from npulint.fix.script import OPENERS, TESTED, Script, Statement
from npulint.judge.findings import Edit
from npulint.read.shell.tokens import Word
from npulint.read.shell_script import DECLARES

_BLANKS = lazy_compile(r"(?:\\\n|\s)*")
_CODE = lazy_compile(r"[=$;|&`]|\bexport\b|\bpython")
_OVERRIDE = lazy_compile(r"[+~]{0,2}\w+(?:\.\w+)+=")  # hydra's way to set one value of a configuration
_REST = lazy_compile(r"[ \t]*;?[ \t]*(?:#[^\n]*)?(?:\n|\Z)")


def without(script: Script, first: int, last: int) -> list[Edit]:
    """The edits that delete the words from `first` to `last`: only an assignment if there are others, else the whole
    command. Raises `FixRefused` where surrounding commands depend on it."""
    word, statement = script.tokens[first], script.statement(first)
    if not isinstance(word, Word) or not any(one is word for one in statement.words):
        raise FixRefused("shell")  # the target of a redirection
    if first != last or (word.to is None and word is not statement.words[0] and word.literal not in DECLARES):
        return _argument(script, statement, first, last)
    leading = statement.words[: statement.leading]
    if any(one is word for one in leading):
        return _leading(script, statement, word)
    if word.to is None:
        return [_command(script, statement)]
    return _declared(script, statement, word)


def _leading(script: Script, statement: Statement, word: Word) -> list[Edit]:
    words = statement.words
    if len(words) == 1:
        return [_command(script, statement)]
    if word is words[-1]:
        return [script.edit(words[-2].end, word.end, "")]
    following = words[[one is word for one in words].index(True) + 1]
    return [script.edit(word.start, following.start, "")]


def _declared(script: Script, statement: Statement, word: Word) -> list[Edit]:
    """Delete a word after ``export``, or one that ``env`` and ``mpirun -x`` pass on."""
    if statement.head in DECLARES:
        others = [one for one in statement.words[statement.leading + 1 :] if not (one.literal or "").startswith("-")]
        if len(others) == 1 and not statement.leading:
            return [_command(script, statement)]
    return [_word(script, word)]


def _word(script: Script, word: Word) -> Edit:
    number = script.word_number(word)
    first = number - 1 if _literal(script, number - 1) == "-x" else number  # mpirun -x NAME=value
    return script.edit(*script.gap(first, number), "")


def _literal(script: Script, number: int) -> str:
    token = script.tokens[number]
    return (token.literal or "") if isinstance(token, Word) else ""


def _argument(script: Script, statement: Statement, first: int, last: int) -> list[Edit]:
    """Delete a name after ``export`` with its assignment, an option with its value, or ``group.name=value``."""
    word, end = script.tokens[first], script.tokens[last]
    if not isinstance(word, Word) or not any(one is end for one in statement.words):
        raise FixRefused("shell")
    if statement.head in DECLARES and first == last:
        return [*_declared(script, statement, word), *_assigned(script, word.literal or "")]
    option = script.text.startswith("-", word.start) or (first == last and _OVERRIDE.match(script.text, word.start))
    if not option or statement.words[0] is word:
        raise FixRefused("shell")
    return [script.edit(*script.gap(first, last), "")]


def _assigned(script: Script, name: str) -> list[Edit]:
    """Delete the assignments of a variable that is exported by name."""
    setting = [
        n for n, token in enumerate(script.tokens) if isinstance(token, Word) and token.to and token.to.name == name
    ]
    if not setting:
        return []
    statement = script.statement(setting[0])
    if len(setting) > 1 or len(statement.words) > 1 or script.lone(statement):
        raise FixRefused("several")
    return [_command(script, statement)]


def _command(script: Script, statement: Statement) -> Edit:
    """Delete a whole command with the operator that joins it to its neighbours."""
    start, end = script.start(statement.first), script.end(statement.last)
    chained = statement.after == "&&"
    if any(script.written(number) in ("<<", "<<-") for number in range(statement.first, statement.last + 1)):
        raise FixRefused("joined")  # a here-document would remain
    if (
        statement.before in TESTED
        or statement.before in ("||", "|", "|&")
        or (statement.before == "&&" and not chained)
    ):
        raise FixRefused("joined")
    if statement.after in ("||", "|", "|&", "&"):
        raise FixRefused("joined")
    if chained:
        return script.edit(start, _next(script, statement.last + 2), "")
    if script.lone(statement):
        return script.edit(start, end, ":")
    rest = _REST.match(script.text, end)
    if script.begins_line(start) and rest:
        first = _described(script, script.line_start(start), rest.end())
        return script.edit(first, _apart(script, first, rest.end()), "")
    return _within_line(script, statement, start, end)


def _next(script: Script, number: int) -> int:
    """The start of the command after the ``&&`` before a token; only blanks may be between."""
    end = script.end(number - 1)
    while number < len(script.tokens) and script.written(number) == "\n":
        number += 1
    blanks = _BLANKS.match(script.text, end)
    if number == len(script.tokens) or blanks is None or blanks.end() != script.start(number):
        raise FixRefused("joined")
    return blanks.end()


def _within_line(script: Script, statement: Statement, start: int, end: int) -> Edit:
    following = statement.last + 2
    if statement.after == ";" and following < len(script.tokens) and isinstance(script.tokens[following], Word):
        behind = script.start(following)
        if "\n" not in script.text[end:behind]:
            return script.edit(start, behind, "")
    previous = statement.first - 1
    if previous < 1 or statement.after not in ("", "\n", ";", ")", ";;"):
        raise FixRefused("joined")
    if statement.before == ";":
        return script.edit(script.end(previous - 1), end, "")
    if statement.before in OPENERS and "\n" in statement.after:
        return script.edit(script.end(previous), end, "")
    raise FixRefused("joined")


def _apart(script: Script, start: int, end: int) -> int:
    """The end of a whole-line deletion, so that one of two blank lines around it is kept."""
    above = script.text[script.line_start(start - 1) : start] if start else "\n"
    blank = script.text[end : script.line_end(end)]
    return script.line_end(end) if not above.strip() and blank.endswith("\n") and not blank.strip() else end


def _described(script: Script, start: int, end: int) -> int:
    """The start of the comment above a line if it is about that line only, else the start of the line."""
    above = script.line_start(start - 1) if start else 0
    comment = script.text[above:start].strip()
    before = script.text[script.line_start(above - 1) if above else 0 : above].strip()
    below = script.text[end : script.line_end(end)].strip()
    if not comment.startswith("#") or comment.startswith("#!") or "npulint" in comment or _CODE.search(comment):
        return start
    if (
        not comment.strip("# \t=-")
        or (before.startswith("#") and not _CODE.search(before))
        or (below and not below.startswith("#"))
    ):
        return start
    return above
