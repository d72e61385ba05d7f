"""Applies fix steps in shell scripts, based on the lexer's tokens."""

from __future__ import annotations

from collections.abc import Iterator

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.model import Span
from npulint.fix.model import FixRefused, Plan, Text
from npulint.fix.rank_loop import in_ranks
from npulint.fix.renaming import renamed, retexted
from npulint.fix.script import JOINTS, OPENERS, TESTED, Script, Statement
from npulint.judge.findings import Edit, FixStep
from npulint.read.shell.tokens import Word
from npulint.read.shell_script import DECLARES

# Deletes shell commands, or words of them, so that the script stays valid.

_BLANKS = lazy_compile(r"(?:\\\n|\s)*")
_CODE = lazy_compile(r"[=$;|&`]|\bexport\b|\bpython")
_OVERRIDE = lazy_compile(r"[+~]{0,2}\w+(?:\.\w+)+=")  # hydra's way to set one value of a configuration
_REST = lazy_compile(r"[ \t]*;?[ \t]*(?:#[^\n]*)?(?:\n|\Z)")


def without(script: Script, first: int, last: int) -> list[Edit]:
    """The edits that delete the words from `first` to `last`: only an assignment if there are others, else the whole
    command. Raises `FixRefused` where surrounding commands depend on it."""
    word, statement = script.tokens[first], script.statement(first)
    if not isinstance(word, Word) or not any(candidate is word for candidate in statement.words):
        raise FixRefused("shell")  # the target of a redirection
    if first != last or (word.to is None and word is not statement.words[0] and word.literal not in DECLARES):
        return _argument(script, statement, first, last)
    leading = statement.words[: statement.leading]
    if any(candidate is word for candidate in leading):
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
    following = words[[candidate is word for candidate in words].index(True) + 1]
    return [script.edit(word.start, following.start, "")]


def _declared(script: Script, statement: Statement, word: Word) -> list[Edit]:
    """Delete a word after ``export``, or one that ``env`` and ``mpirun -x`` pass on."""
    if statement.head in DECLARES:
        others = [
            declared
            for declared in statement.words[statement.leading + 1 :]
            if not (declared.literal or "").startswith("-")
        ]
        if len(others) == 1 and not statement.leading:
            return [_command(script, statement)]
    return [_without_word(script, word)]


def _without_word(script: Script, word: Word) -> Edit:
    number = script.word_number(word)
    first = number - 1 if _literal(script, number - 1) == "-x" else number  # mpirun -x NAME=value
    return script.edit(*script.gap(first, number), "")


def _literal(script: Script, number: int) -> str:
    token = script.tokens[number]
    return (token.literal or "") if isinstance(token, Word) else ""


def _argument(script: Script, statement: Statement, first: int, last: int) -> list[Edit]:
    """Delete a name after ``export`` with its assignment, an option with its value, or ``group.name=value``."""
    word, end = script.tokens[first], script.tokens[last]
    if not isinstance(word, Word) or not any(candidate is end for candidate in statement.words):
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


_QUOTED = lazy_compile(r"\"[^\"\\$`]*\"|'[^']*'")
_COMPUTED = lazy_compile(r"[$`(]")
_PASSED = OPENERS | (JOINTS - {"&&"}) | {")", "}", "case", "for", "select", "if", "while", "until", "elif"}


def plan(step: FixStep, text: Text) -> Plan:
    """The edits of one step in the script `text`. Raises `FixRefused`: ``place`` (no word of a command there, but a
    comment, here-document or nested command), ``shell`` (unsupported syntax), ``joined`` (neighbouring commands depend
    on it), ``computed`` (the text to replace is computed), ``several`` (the variable has unclear uses), ``verb``."""
    if step.verb == "line_ends":
        return Plan(tuple(_ends(text)))
    if step.verb == "retext" and (edit := _in_directive(step, text)) is not None:
        return Plan((edit,))
    return Plan(tuple(edits(step, Script(text.text, text.path))))


def _in_directive(step: FixStep, text: Text) -> Edit | None:
    """The edit in a directive of Slurm, which is a comment to the shell; None elsewhere."""
    lines = text.text.split("\n")
    line = lines[step.span.line - 1] if 0 < step.span.line <= len(lines) else ""
    if not line.startswith("#SBATCH"):
        return None
    start = line.find(step.words["part"], step.span.column - 1)
    if start < 0:
        raise FixRefused("place")
    end = start + len(step.words["part"])
    return Edit(text.path, Span(step.span.line, start + 1, step.span.line, end + 1), step.words["to"])


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
    if step.verb == "rank_processes":
        return in_ranks(script, first)
    raise FixRefused("verb")


def _word(script: Script, number: int) -> Word:
    token = script.tokens[number]
    if not isinstance(token, Word):
        raise FixRefused("place")
    return token


def _value(script: Script, first: int, last: int, template: str) -> Edit:
    """Replace the value of ``NAME=value``, ``--option=value`` or ``--option value``."""
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
    """Replace a name and its value by a template: ``$callee`` and ``$arguments`` are the two, without the sign of
    ``NAME = value``, ``$old`` is all."""
    name = _word(script, first)
    if "$arguments" not in template:
        new = template.replace("$old", script.text[name.start : script.end(last)])
        return script.edit(name.start, script.end(last), new)
    statement = script.statement(first)
    if not script.text.startswith("-", name.start):
        last = script.word_number(statement.words[-1])  # the span of the fact may be shorter than the command
    rest = [
        script.text[word.start : word.end] for word in statement.words if name.start < word.start < script.end(last)
    ]
    if rest[:1] == ["="]:
        del rest[0]
    elif rest:
        rest[0] = rest[0].removeprefix("=")
    if len(rest) != 1 or not rest[0] or name.literal is None or "=" in name.literal:
        raise FixRefused("shell")
    new = template.replace("$callee", name.literal).replace("$arguments", rest[0])
    return script.edit(name.start, script.end(last), new)


def _dropped(script: Script, number: int, name: str) -> list[Edit]:
    """Remove an option without value from a command, with any number of dashes."""
    statement = script.statement(number)
    numbers = [
        script.word_number(word)
        for word in statement.words
        if (word.literal or "").startswith("-") and (word.literal or "").lstrip("-").replace("-", "_") == name
    ]
    if not numbers:
        raise FixRefused("place")
    return [script.edit(*script.gap(position, position), "") for position in numbers]


def _exported(script: Script, number: int) -> Edit:
    statement = script.statement(number)
    word = _word(script, number)
    if len(statement.words) != 1 or word.to is None or word.to.index or statement.before in ("|", "|&"):
        raise FixRefused("shell")
    return script.edit(word.start, word.start, "export ")


def _inserted(script: Script, number: int, text: str, where: str) -> Edit:
    """Insert lines above or below the command at a place, equally indented, or (``imports``) above the first
    command."""
    if where == "imports":
        first = next(position for position, token in enumerate(script.tokens) if isinstance(token, Word))
        top = _above_comment(script.text, script.line_start(script.start(first)))
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


def _above_comment(text: str, line: int) -> int:
    """The start of the comment right above a line that begins at `line`, if a blank line is above it: it is about the
    command there. Else `line`."""
    top = line
    while top and text[text.rfind("\n", 0, top - 1) + 1 : top].lstrip().startswith("#"):
        top = text.rfind("\n", 0, top - 1) + 1
    return top if top and not text[text.rfind("\n", 0, top - 1) + 1 : top].strip() else line


def _chain(script: Script, statement: Statement) -> int:
    """The first token of a command's line; raises `FixRefused` (``joined``) where no line can be inserted above."""
    number = statement.first
    line = script.line_start(script.start(number))
    while number > 0 and script.start(number - 1) >= line:
        number -= 1
    before = [script.written(position) for position in range(number, statement.first)]
    above = script.statement(number).before
    if not _PASSED.isdisjoint(before) or above in JOINTS or not script.begins_line(script.start(number)):
        raise FixRefused("joined")
    return number


def _ends(text: Text) -> Iterator[Edit]:
    """Edits that convert each line end to LF."""
    lines = text.text.split("\n")
    for number, line in enumerate(lines[:-1], 1):
        yield Edit(text.path, Span(number, len(line) + 1, number + 1, 1), "\n")
