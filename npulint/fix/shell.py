"""Takes the steps of a fix in a shell script: which characters change, as its lexer sees the script."""

from __future__ import annotations

from collections.abc import Iterator

from npulint.facts.model import Span
from npulint.findings import Edit, FixStep
from npulint.fix.model import FixRefused, Plan, Text
from npulint.fix.removal import without
from npulint.fix.renaming import renamed, retexted
from npulint.fix.script import JOINTS, OPENERS, Script, Statement
from npulint.lazy_regex import lazy_compile
from npulint.read.shell.tokens import Word

_QUOTED = lazy_compile(r"\"[^\"\\$`]*\"|'[^']*'")
_COMPUTED = lazy_compile(r"[$`(]")
_PASSED = OPENERS | (JOINTS - {"&&"}) | {")", "}", "case", "for", "select", "if", "while", "until", "elif"}


def plan(step: FixStep, text: Text) -> Plan:
    """The edits that one step comes to in the script `text`.

    Raises `FixRefused`: ``place`` (no word of a command stands there, but a comment, a here-document or something
    nested), ``shell`` (the script, or the command there, is not understood), ``joined`` (neighbours depend on the
    command), ``computed`` (what would be replaced is worked out), ``several`` (the variable is spoken of at other
    places in ways that are not clear), ``verb``.
    """
    if step.verb == "line_ends":
        return Plan(tuple(_ends(text)))
    return Plan(tuple(edits(step, Script(text.text, text.path))))


def edits(step: FixStep, script: Script) -> list[Edit]:
    """The edits of one step; see `plan`."""
    first, last = script.at(step.span)
    words = step.words
    if step.verb == "delete":
        return without(script, first, last)
    if step.verb == "rename_part":
        return renamed(script, first, words["part"], words["to"])
    if step.verb == "retext":
        return retexted(script, first, last, words["part"], words["to"])
    if step.verb == "value":
        return [_value(script, first, last, words["with"])]
    if step.verb == "replace":
        return [_replaced(script, first, last, words["with"])]
    if step.verb == "drop":
        return _dropped(script, first, words["name"])
    if step.verb == "insert":
        return [_inserted(script, first, words["text"], words["where"])]
    if step.verb == "export":
        return [_exported(script, first)]
    raise FixRefused("verb")


def _word(script: Script, number: int) -> Word:
    token = script.tokens[number]
    if not isinstance(token, Word):
        raise FixRefused("place")
    return token


def _value(script: Script, first: int, last: int, template: str) -> Edit:
    """A new right side of ``NAME=value``, ``--option=value`` or ``--option value``."""
    word = _word(script, first)
    start, end = word.start, script.end(last)
    if first != last:
        if last != first + 1 or not script.text.startswith("-", start):
            raise FixRefused("shell")
        start = script.start(last)
    else:
        sign = script.text.find("=", word.start, word.end)
        option = script.text.startswith("-", word.start) and word.parts[0].kind == "text"
        if sign < 0 or not ((word.to and not word.to.index and not word.to.plus) or option):
            raise FixRefused("shell")
        start = sign + 1
    old = script.text[start:end]
    if "$old" not in template and _COMPUTED.search(old):
        raise FixRefused("computed")
    new = template.replace("$old", old)
    if _QUOTED.fullmatch(old) and "$old" not in template and old[0] not in new:
        new = old[0] + new + old[0]
    return script.edit(start, end, new)


def _replaced(script: Script, first: int, last: int, template: str) -> Edit:
    """Another text for a name and its value: ``$callee`` and ``$arguments`` stand for the two, ``$old`` for all.
    The sign of ``NAME = value`` belongs to neither."""
    name = _word(script, first)
    if "$arguments" not in template:
        new = template.replace("$old", script.text[name.start : script.end(last)])
        return script.edit(name.start, script.end(last), new)
    statement = script.statement(first)
    if not script.text.startswith("-", name.start):
        last = script.word_number(statement.words[-1])  # the reader may have seen less of it than there is
    rest = [script.text[one.start : one.end] for one in statement.words if name.start < one.start < script.end(last)]
    if rest[:1] == ["="]:
        del rest[0]
    elif rest:
        rest[0] = rest[0].removeprefix("=")
    if len(rest) != 1 or not rest[0] or name.literal is None or "=" in name.literal:
        raise FixRefused("shell")
    new = template.replace("$callee", name.literal).replace("$arguments", rest[0])
    return script.edit(name.start, script.end(last), new)


def _dropped(script: Script, number: int, name: str) -> list[Edit]:
    """A command without an option that takes no value, however its dashes are written."""
    statement = script.statement(number)
    found = [
        script.word_number(one)
        for one in statement.words
        if (one.literal or "").startswith("-") and (one.literal or "").lstrip("-").replace("-", "_") == name
    ]
    if not found:
        raise FixRefused("place")
    return [script.edit(*script.gap(one, one), "") for one in found]


def _exported(script: Script, number: int) -> Edit:
    statement = script.statement(number)
    word = _word(script, number)
    if len(statement.words) != 1 or word.to is None or word.to.index or statement.before in ("|", "|&"):
        raise FixRefused("shell")
    return script.edit(word.start, word.start, "export ")


def _inserted(script: Script, number: int, text: str, where: str) -> Edit:
    """Lines of their own above or below the command at a place, as far in as it is, or (``imports``) above the first
    command of the script."""
    if where == "imports":
        first = next(one for one, token in enumerate(script.tokens) if isinstance(token, Word))
        top = script.line_start(script.start(first))
        return script.edit(top, top, text + "\n")
    statement = script.statement(number)
    if where == "before":
        head = script.start(_chain(script, statement))
        start = script.line_start(head)
        indent = script.text[start:head]
        return script.edit(start, start, "".join(f"{indent}{line}\n" for line in text.split("\n")))
    end = script.end(statement.last)
    if where != "after" or statement.after not in ("", "\n") or not script.begins_line(script.start(statement.first)):
        raise FixRefused("shell")
    start = script.line_start(script.start(statement.first))
    indent = script.text[start : script.start(statement.first)]
    stop = script.line_end(end)
    lead = "" if script.text[stop - 1 : stop] == "\n" else "\n"
    lines = "\n".join(indent + line for line in text.split("\n"))
    return script.edit(stop, stop, f"{lead}{lines}" + ("" if lead else "\n"))


def _chain(script: Script, statement: Statement) -> int:
    """The token that begins the line of a command; raises `FixRefused` (``joined``) where no line may be put above
    it."""
    number = statement.first
    line = script.line_start(script.start(number))
    while number > 0 and script.start(number - 1) >= line:
        number -= 1
    before = [script.written(one) for one in range(number, statement.first)]
    above = script.statement(number).before
    if not _PASSED.isdisjoint(before) or above in JOINTS or not script.begins_line(script.start(number)):
        raise FixRefused("joined")
    return number


def _ends(text: Text) -> Iterator[Edit]:
    """An edit for each line end: one of a line end alone makes it that of Unix."""
    lines = text.text.split("\n")
    for number, line in enumerate(lines[:-1], 1):
        yield Edit(text.path, Span(number, len(line) + 1, number + 1, 1), "\n")
