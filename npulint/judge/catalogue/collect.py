"""Builds a catalogue from check files: parses every file and validates the checks against each other."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence

import msgspec

from npulint.core.digest import blake2b
from npulint.core.errors import CatalogueError, CatalogueProblem
from npulint.judge.catalogue import messages
from npulint.judge.catalogue.check import Catalogue, Check, ItemDefinition
from npulint.judge.catalogue.codes import PATTERN
from npulint.judge.catalogue.readiness import FOLDER, PRETUNING, ParsedItem, parse_item
from npulint.judge.catalogue.schema import Parsed
from npulint.judge.catalogue.sources import RETIRED, CheckFile, builtin_directory, read_file
from npulint.judge.catalogue.tables import parse_checks

_RETIRED_LINE = re.compile(rf"({PATTERN})(?:\s|\Z)")


def collect(files: Sequence[CheckFile], alone: bool = False) -> Catalogue:
    """The catalogue of these files; raises `CatalogueError` with all problems. Files collected `alone` may name checks
    that are not among them."""
    problems: list[CatalogueProblem] = []
    retired: dict[str, str] = {}
    parsed: list[Parsed] = []
    items: dict[str, list[ParsedItem]] = {FOLDER: [], PRETUNING: []}
    tables: dict[str, messages.MessageTable] = {}
    for source in files:
        if source.path.endswith(RETIRED):
            retired.update(_retired(source, problems))
        elif source.path.endswith(".yml"):
            problems.append(CatalogueProblem(source.path, 1, 1, "the file name must end in .yaml"))
        elif source.family == messages.FOLDER:
            tables[source.path] = messages.parse_table(read_file(source), source.path)
        elif source.family in items:
            compared = source.family == PRETUNING
            items[source.family].append(parse_item(read_file(source), source.path, source.name, compared))
        else:
            parsed += parse_checks(read_file(source), source.path, source.family, source.name)
    parsed += [check for table in tables.values() for check in table.checks]
    for result in parsed:
        problems += result.problems
    problems += [problem for table in tables.values() for problem in table.problems]
    problems += [*_clashes(parsed, retired), *_twice(tables)]
    checks = sorted((result.check for result in parsed if result.check is not None), key=lambda check: check.code)
    problems += [] if alone else _unreported(tables, checks)
    for parsed_item in (*items[FOLDER], *items[PRETUNING]):
        problems += parsed_item.problems or ([] if alone else _strangers(parsed_item, checks))
    if problems:
        raise CatalogueError(problems)
    listed, pretuning = _ordered(items[FOLDER]), _ordered(items[PRETUNING])
    strange = _foreign(parsed)
    foreign = tuple(check.code for check in checks if check.code in strange)
    digest = content_digest(checks, [*listed, *pretuning])
    return Catalogue(tuple(checks), digest, tuple(listed), foreign, tuple(pretuning))


def _ordered(parsed: Sequence[ParsedItem]) -> list[ItemDefinition]:
    return sorted(
        (parsed_item.item for parsed_item in parsed if parsed_item.item is not None),
        key=lambda item: (item.order, item.name),
    )


def _foreign(parsed: Sequence[Parsed]) -> set[str]:
    """The codes of checks outside the built-in folder."""
    home = os.path.join(builtin_directory(), "")
    outside = (file for file in parsed if not os.path.realpath(file.path).startswith(home))
    return {file.check.code for file in outside if file.check is not None}


def content_digest(checks: Sequence[Check], items: Sequence[ItemDefinition] = ()) -> str:
    """A digest of checks and items."""
    return blake2b(msgspec.msgpack.encode((checks, items)), digest_size=16).hexdigest()


def _strangers(parsed: ParsedItem, checks: Sequence[Check]) -> list[CatalogueProblem]:
    """Problems for checks that an item names and that do not exist."""
    if parsed.item is None:
        return []
    item = parsed.item
    named = {name for part in (item.fails, item.doubted) for name in (*part.checks, *part.but, *part.anywhere)}
    wrong = sorted(named - {check.name for check in checks})
    return [CatalogueProblem(parsed.path, 1, 1, f"there is no check '{name}'") for name in wrong]


def _twice(tables: Mapping[str, messages.MessageTable]) -> list[CatalogueProblem]:
    """Problems for log messages that occur in several entries, by table path."""
    catalogue_problems: list[CatalogueProblem] = []
    places: dict[str, str] = {}
    for path, table in tables.items():
        for message in table.messages:
            if message.id in places:
                text = f"the message '{message.id}' belongs to {places[message.id]}"
                catalogue_problems.append(CatalogueProblem(path, message.line, 1, text))
            places.setdefault(message.id, f"{path}:{message.line}")
    return catalogue_problems


def _unreported(tables: Mapping[str, messages.MessageTable], checks: Sequence[Check]) -> list[CatalogueProblem]:
    """Problems for entries without a code whose name is not that of a check file."""
    names = {check.name for check in checks} | {""}
    lost = [
        (path, message) for path, table in tables.items() for message in table.messages if message.finding not in names
    ]
    return [
        CatalogueProblem(
            path, message_entry.line, 1, f"{message_entry.id}: there is no check '{message_entry.finding}'"
        )
        for path, message_entry in lost
    ]


def _retired(source: CheckFile, problems: list[CatalogueProblem]) -> dict[str, str]:
    """The retired codes in a list, each with its place."""
    retired: dict[str, str] = {}
    text = read_file(source).decode("utf-8", "replace")
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip() or line.startswith("#"):
            continue
        match = _RETIRED_LINE.match(line)
        if match is None:
            problems.append(CatalogueProblem(source.path, number, 1, "a line must begin with a code"))
        else:
            retired[match[1]] = f"{source.path}:{number}"
    return retired


def _clashes(results: Sequence[Parsed], retired: dict[str, str]) -> list[CatalogueProblem]:
    """Problems for duplicate codes and names, and reused retired codes."""
    catalogue_problems: list[CatalogueProblem] = []
    codes: dict[str, str] = {}
    names: dict[str, str] = {}
    for result in results:
        check = result.check
        if check is None:
            continue
        line, column = result.code_at
        if check.code in retired:
            message = f"code: {check.code} is retired ({retired[check.code]}); a code is never used again"
            catalogue_problems.append(CatalogueProblem(result.path, line, column, message))
        if check.code in codes:
            message = f"code: {check.code} belongs to {codes[check.code]}"
            catalogue_problems.append(CatalogueProblem(result.path, line, column, message))
        if check.name in names:
            message = f"the name '{check.name}' belongs to {names[check.name]}"
            catalogue_problems.append(CatalogueProblem(result.path, *(result.named_at or (1, 1)), message))
        codes.setdefault(check.code, result.location)
        names.setdefault(check.name, result.location)
    return catalogue_problems
