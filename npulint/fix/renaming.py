"""Other names in a shell script: of a variable with all that speaks of it, and of a part of a word."""

from __future__ import annotations

import re

from npulint.findings import Edit
from npulint.fix.model import FixRefused
from npulint.fix.script import Script
from npulint.read.shell.facts import DECLARES
from npulint.read.shell.tokens import Word


def renamed(script: Script, number: int, part: str, to: str) -> list[Edit]:
    """The variable that the word at a place sets or hands on gets another name, at its uses too; of other words a
    part is replaced. Assignments elsewhere have findings of their own."""
    word = script.tokens[number]
    if not isinstance(word, Word):
        raise FixRefused("place")
    name = word.to.name if word.to else word.literal
    if name != part:
        return retexted(script, number, number, part, to)
    if _spoken_of(script, to):
        raise FixRefused("several")
    found = [script.edit(word.start, word.start + len(part), to)]
    if word.to is None and script.statement(number).head not in DECLARES:
        return found
    by_name = word.to is None
    for place, other in _mentions(script, part):
        if other is word:
            if place != word.start:
                found.append(script.edit(place, place + len(part), to))
            continue
        sets = other.to is not None and place == other.start
        if sets and not by_name:
            continue
        found.append(script.edit(place, place + len(part), to))
    return found


def _spoken_of(script: Script, name: str) -> bool:
    """Whether a word of the script has the name in it."""
    pattern = re.compile(rf"\b{re.escape(name)}\b")
    return any(
        pattern.search(script.text, token.start, token.end) for token in script.tokens if isinstance(token, Word)
    )


def _mentions(script: Script, name: str) -> list[tuple[int, Word]]:
    """Where the variable is read, set or named, with the words; raises `FixRefused` (``several``) where unclear."""
    found = []
    words = [token for token in script.tokens if isinstance(token, Word)]
    at = 0
    for match in re.finditer(rf"\b{re.escape(name)}\b", script.text):
        place = match.start()
        while at < len(words) and words[at].end <= place:
            at += 1
        word = words[at] if at < len(words) and words[at].start <= place else None
        if word is None:
            if "#" not in script.text[script.line_start(place) : place]:
                raise FixRefused("several")  # a here-document
            continue
        read = re.search(r"\$(?:\{[#!]?)?\Z", script.text[word.start : place])
        plain = place == word.start and (word.to is not None or word.literal == name)
        if not (plain or read) or "'" in script.text[word.start : word.end]:
            raise FixRefused("several")
        found.append((place, word))
    return found


def retexted(script: Script, first: int, last: int, part: str, to: str) -> list[Edit]:
    """The words of a place with another text for a part of them that stands for itself. The name of a program whose
    output another command reads is left alone."""
    start, end = script.start(first), script.end(last)
    statement = script.statement(first)
    program = statement.words[statement.leading :][:1]
    named = bool(program) and program[0] is script.tokens[first] and first == last
    if named and (statement.after in ("|", "|&") or (" " in to and script.text[start:end] != part)):
        raise FixRefused("joined")
    found = [
        script.edit(start + match.start(), start + match.end(), to)
        for match in whole(part).finditer(script.text[start:end])
    ]
    if not found:
        raise FixRefused("place")
    return found


def whole(part: str) -> re.Pattern[str]:
    """A text that stands for itself: no letter or digit goes on before or behind one of its own, and it is no name of a
    variable that is read."""
    before = r"(?<![\w${])" if part[:1].isalnum() or part[:1] == "_" else ""
    behind = r"(?!\w)" if part[-1:].isalnum() or part[-1:] == "_" else ""
    return re.compile(before + re.escape(part) + behind)
