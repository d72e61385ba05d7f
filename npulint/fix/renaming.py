"""Renames variables and parts of words in shell scripts."""

from __future__ import annotations

import re

from npulint.fix.model import FixRefused
from npulint.fix.script import Script
from npulint.judge.findings import Edit
from npulint.read.shell.tokens import Word
from npulint.read.shell_script import DECLARES


def renamed(script: Script, number: int, part: str, to: str) -> list[Edit]:
    """The edits that rename the variable which the word at a place sets or passes on, with its uses; in other words a
    part is replaced. Other assignments have their own findings."""
    word = script.tokens[number]
    if not isinstance(word, Word):
        raise FixRefused("place")
    name = word.to.name if word.to else word.literal
    if name != part:
        return retexted(script, number, number, part, to)
    if _occurs(script, to):
        raise FixRefused("several")
    edits = [script.edit(word.start, word.start + len(part), to)]
    if word.to is None and script.statement(number).head not in DECLARES:
        return edits
    by_name = word.to is None
    for place, other in _mentions(script, part):
        if other is word:
            if place != word.start:
                edits.append(script.edit(place, place + len(part), to))
            continue
        sets = other.to is not None and place == other.start
        if sets and not by_name:
            continue
        edits.append(script.edit(place, place + len(part), to))
    return edits


def _occurs(script: Script, name: str) -> bool:
    """Whether a word of the script contains the name."""
    pattern = re.compile(rf"\b{re.escape(name)}\b")
    return any(
        pattern.search(script.text, token.start, token.end) for token in script.tokens if isinstance(token, Word)
    )


def _mentions(script: Script, name: str) -> list[tuple[int, Word]]:
    """The uses of a variable, with their words; raises `FixRefused` (``several``) if one is unclear."""
    mentions = []
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
        quoted = script.text.count("'", word.start, place) % 2  # the shell expands nothing there
        if not (plain or read) or quoted:
            raise FixRefused("several")
        mentions.append((place, word))
    return mentions


def retexted(script: Script, first: int, last: int, part: str, to: str) -> list[Edit]:
    """The edits that replace a part in the words of a place. The name of a program whose output another command reads
    is not changed."""
    start, end = script.start(first), script.end(last)
    statement = script.statement(first)
    program = statement.words[statement.leading :][:1]
    named = bool(program) and program[0] is script.tokens[first] and first == last
    if named and (statement.after in ("|", "|&") or (" " in to and script.text[start:end] != part)):
        raise FixRefused("joined")
    edits = [
        script.edit(start + match.start(), start + match.end(), to)
        for match in whole(part).finditer(script.text[start:end])
    ]
    if not edits:
        raise FixRefused("place")
    return edits


def whole(part: str) -> re.Pattern[str]:
    """A pattern for `part` as a whole word that is not the name of an expanded variable."""
    before = r"(?<![\w${])" if part[:1].isalnum() or part[:1] == "_" else ""
    behind = r"(?!\w)" if part[-1:].isalnum() or part[-1:] == "_" else ""
    return re.compile(before + re.escape(part) + behind)
