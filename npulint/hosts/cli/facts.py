"""``npulint facts``: lists the facts of a file."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import msgspec

from npulint.commands.settings.config import load
from npulint.core.errors import NpulintError
from npulint.core.texts import say
from npulint.discover.paths import local, shown
from npulint.facts.model import Fact
from npulint.facts.values import PossibleValues
from npulint.hosts.cli.catalogue import known_options
from npulint.hosts.cli.host import Host
from npulint.hosts.cli.rules import list_format
from npulint.report.json import encodable
from npulint.report.terminal import escape_control_chars


def run(words: list[str], options: dict[str, list[str] | bool], host: Host, lang: str) -> int:
    """Print the facts of one file, ordered by place."""
    shape = list_format(options, lang)
    path = words[0]
    lang = load([], known_options(options), host.environ).language()
    if not os.path.isfile(path):
        detail = say(lang, "short.not-a-file" if os.path.lexists(path) else "short.missing")
        raise NpulintError(f"{path}: {detail}")
    try:
        facts = host.facts_of(path)
    except FileNotFoundError as error:
        raise NpulintError(f"{path}: {say(lang, 'short.unsupported')}") from error
    here = shown(local(path))
    facts = sorted(facts, key=lambda fact: (fact.path != here, fact.path, fact.span, fact.kind, fact.name))
    if shape == "json":
        rows = encodable([_row(fact, here) for fact in facts])
        host.write(msgspec.json.format(msgspec.json.encode(rows), indent=2).decode() + "\n")
    else:
        host.write(_table(facts, here) if facts else say(lang, "facts.none", path=escape_control_chars(path)) + "\n")
    return 0


def _table(facts: Sequence[Fact], here: str) -> str:
    places = [f"{_elsewhere(fact, here)}{fact.span.line}:{fact.span.column}" for fact in facts]
    kinds = max(len(fact.kind) for fact in facts)
    width = max(map(len, places))
    rows = []
    for fact, place in zip(facts, places, strict=True):
        attributes = "  ".join(f"{name}={_word(fact.get(name))}" for name in fact.own_attributes())
        rows.append(
            escape_control_chars(f"{place:>{width}}  {fact.kind:<{kinds}}  {fact.name}  {attributes}".rstrip()) + "\n"
        )
    return "".join(rows)


def _elsewhere(fact: Fact, here: str) -> str:
    """The path of a fact in another file than `here` (the source that built a graph); empty otherwise."""
    return "" if fact.path == here else f"{fact.path}:"


def _word(value: Any) -> str:
    if isinstance(value, PossibleValues):
        text = value.text()
        return text if value.exact or text.endswith("?") else f"{text}?"
    return str(value)


def _row(fact: Fact, here: str) -> dict[str, Any]:
    span = fact.span
    return {
        **({"path": fact.path} if _elsewhere(fact, here) else {}),
        "kind": fact.kind,
        "name": fact.name,
        "line": span.line,
        "column": span.column,
        "end_line": span.end_line,
        "end_column": span.end_column,
        "attributes": {name: _plain(fact.get(name)) for name in fact.own_attributes()},
    }


def _plain(value: Any) -> Any:
    """A value as JSON data; a partly known one becomes its possible values."""
    if isinstance(value, PossibleValues):
        return {"values": [_plain(part) for part in value.values], "exact": value.exact, "symbol": value.symbol}
    if isinstance(value, tuple | list):
        return [_plain(part) for part in value]
    if value is None or isinstance(value, str | bool | float):
        return value
    if isinstance(value, int):
        return value if abs(value) < 2**53 else str(value)
    return str(value)
