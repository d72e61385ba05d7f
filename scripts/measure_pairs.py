"""Measures `npulint compare` on pairs of projects whose differences a person has listed (tests/data/pairs.csv).

    python -m scripts.measure_pairs FOLDER [--pair WORD] [--missing] [--unlisted]

FOLDER holds a folder per project, named as in the columns `case_orig` and `case_migr`; the project may lie deeper.
Paths of the table are relative to the project; a place may have several, divided by semicolons, where a value passes
through several hands. Printed are, per pair and in total: listed differences that are found
(those that are certain, and those that one may argue about), rows of the comparison that are not listed (candidates for
false alarms), and rows at places that are listed as equal.
"""

from __future__ import annotations

import argparse
import csv
import re
import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePosixPath
from typing import NamedTuple

import msgspec

from npulint.commands.compare.compare_command import compare_folders
from npulint.facts.recipe import ITEM_OF
from npulint.judge.findings import ComparedPair, ComparedRow, ComparedSide

TABLE = Path(__file__).parent.parent / "tests" / "data" / "pairs.csv"
NEAR = 3  # lines between a listed and a reported place
Place = tuple[str, int]


class Listed(NamedTuple):
    """A line of the table."""

    pair: tuple[str, str]
    entries: tuple[str, str]
    item: str
    part: str
    what: str
    change: str
    places: tuple[tuple[Place, ...], tuple[Place, ...]]
    values: tuple[str, str]
    certain: bool

    def shown(self) -> str:
        """For a line of the output."""
        there = " | ".join(f"{side[0][0]}:{side[0][1]}" if side else "-" for side in self.places)
        return f"{self.change} {self.part} {self.what}: {self.values[0]} -> {self.values[1]} ({there})"


class Measured(NamedTuple):
    """What came out of one pair. `found` counts the rows that speak of a listed difference; `other` are those listed
    differences that were only found under another item."""

    listed: Sequence[Listed]
    found: dict[Listed, int]
    other: set[Listed]
    unlisted: Sequence[ComparedRow]
    trapped: Sequence[ComparedRow]
    paired: bool
    seconds: float

    def share(self, certain: bool) -> tuple[int, int]:
        """(found, listed) of the differences that are certain, or of the others."""
        chosen = [one for one in self.listed if one.change != "equal" and one.certain == certain]
        return sum(one in self.found for one in chosen), len(chosen)

    @property
    def repeated(self) -> int:
        """Rows beyond the first about the same listed difference."""
        return sum(count - 1 for count in self.found.values())


def read_table(path: Path = TABLE) -> dict[tuple[str, str], list[Listed]]:
    """The lines of the table by pair of projects."""
    result: dict[tuple[str, str], list[Listed]] = defaultdict(list)
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            one = Listed(
                pair=(row["case_orig"], row["case_migr"]),
                entries=(row["entry_orig"], row["entry_migr"]),
                item=row["item"],
                part=row["part"],
                what=row["what"],
                change=row["change"],
                places=(_places(row, "reference"), _places(row, "migrated")),
                values=(row["reference_value"], row["migrated_value"]),
                certain=row["certain"] == "yes",
            )
            result[one.pair].append(one)
    return dict(result)


def _places(row: dict[str, str], side: str) -> tuple[Place, ...]:
    paths, lines = row[f"{side}_path"], row[f"{side}_line"]
    if paths == "-":
        return ()
    return tuple((path, int(line)) for path, line in zip(paths.split(";"), lines.split(";"), strict=True))


def project_root(folder: Path, paths: Iterable[str]) -> Path:
    """The folder at or below `folder` in which all the paths lie, the highest there is. Raises FileNotFoundError."""
    needed = sorted(set(paths))
    for found in sorted(folder.rglob(PurePosixPath(needed[0]).name), key=lambda path: (len(path.parts), path)):
        depth = len(PurePosixPath(needed[0]).parts)
        root = found.parents[depth - 1]
        if all((root / path).is_file() for path in needed):
            return root
    raise FileNotFoundError(f"{folder} has no project with {', '.join(needed)}")


def measure(folder: Path, listed: Sequence[Listed]) -> Measured:
    """Compare the two projects of a pair and set the rows against the table."""
    paths = [[listed[0].entries[side], *(path for one in listed for path, _ in one.places[side])] for side in (0, 1)]
    roots = [project_root(folder / name, paths[side]) for side, name in enumerate(listed[0].pair)]
    begun = time.perf_counter()
    result = compare_folders(str(roots[0]), str(roots[1]))
    seconds = time.perf_counter() - begun
    pairs = result.comparison.pairs if result.comparison else ()
    mine = [pair for pair in pairs if _is(pair.reference, listed[0], 0) and _is(pair.migrated, listed[0], 1)]
    return _set_against(listed, _rows(mine or pairs), bool(mine), seconds)


def _is(entry: str, one: Listed, side: int) -> bool:
    return f"/{entry}".endswith(f"/{one.entries[side]}")


def _rows(pairs: Iterable[ComparedPair]) -> list[ComparedRow]:
    """The rows that differ; one that stands for several places once for each."""
    rows = [row for pair in pairs for item in pair.items for row in item.rows if row.answer in ("differs", "note")]
    every = [(row, ((row.reference, row.migrated), *row.also)) for row in rows]
    found = (
        msgspec.structs.replace(row, reference=reference, migrated=migrated, also=())
        for row, ways in every
        for reference, migrated in ways
    )
    return list(dict.fromkeys(found))


def _set_against(listed: Sequence[Listed], rows: Sequence[ComparedRow], paired: bool, seconds: float) -> Measured:
    found: dict[Listed, int] = defaultdict(int)
    elsewhere: set[Listed] = set()
    unlisted: list[ComparedRow] = []
    trapped: list[ComparedRow] = []
    for row in rows:
        near = sorted((close, i) for i, one in enumerate(listed) if (close := closeness(row, one)) is not None)
        here = [(listed[i], close) for close, i in near]
        own = [one for one, close in here if close.own and one.change != "equal"]
        if own:
            found[own[0]] += 1
        elif not here:
            unlisted.append(row)
        elif here[0][0].change == "equal":
            trapped.append(row)
        else:
            elsewhere.add(here[0][0])
    other = elsewhere - found.keys()
    return Measured(listed, {**found, **dict.fromkeys(other, 1)}, other, unlisted, trapped, paired, seconds)


class Closeness(NamedTuple):
    """How well a row fits what is listed; the least fits best. `foreign`: under another item, `alien`: another part."""

    foreign: bool
    alien: bool
    lines: int

    @property
    def own(self) -> bool:
        """Whether the row says what is listed."""
        return not self.foreign


def closeness(row: ComparedRow, one: Listed) -> Closeness | None:
    """How close a row is to what is listed; None if it is about something else. It must be near; what stands in the
    next line is another option, so that another part must be in the same line or have a name in common."""
    lines = _lines_between(row, one)
    alien = row.part != one.part
    if lines is None or (alien and lines and not _words(row.what) & _words(one.what)):
        return None
    return Closeness(one.part != "setting" and ITEM_OF[row.part] != one.item, alien, lines)


def _words(name: str) -> set[str]:
    return {word for word in re.split(r"[^a-z0-9]+", name.lower()) if len(word) > 1}


def _sides(row: ComparedRow) -> tuple[ComparedSide | None, ComparedSide | None]:
    return row.reference, row.migrated


def _lines_between(row: ComparedRow, one: Listed) -> int | None:
    """Lines between a side of a row, or where its value came by, and a listed place; None if far. In a launcher,
    where a value is written in one line and used in another, any line of the same part is near."""
    found: list[int] = []
    for side, places in zip(_sides(row), one.places, strict=True):
        ways = [(side.path, side.span.line), *((way.path, way.span.line) for way in side.stations)] if side else []
        for path, line in ways:
            for listed, at in places:
                anywhere = listed.endswith(".sh") and one.part == row.part
                if f"/{path}".endswith(f"/{listed}") and (anywhere or abs(line - at) <= NEAR):
                    found.append(min(abs(line - at), NEAR))
    return min(found, default=None)


def shown_row(row: ComparedRow) -> str:
    """For a line of the output."""
    sides = " | ".join(f"{side.text} {side.path}:{side.span.line}" if side else "-" for side in _sides(row))
    return f"{row.answer} {row.part} {row.what} [{row.code or '-'}]: {sides}"


def report(measured: dict[str, Measured], missing: bool, unlisted: bool) -> Iterable[str]:
    """The lines of the output."""
    width = max(map(len, measured), default=4)
    yield f"{'pair':{width}}  certain  arguable  unlisted  equal  again  seconds"
    for name, one in measured.items():
        yield f"{name:{width}}  {_line(one)}{'' if one.paired else '  programs not matched'}"
        if missing:
            gone = [x for x in one.listed if x.change != "equal" and x not in one.found]
            yield from (f"    missing{'' if x.certain else ' (arguable)'}: {x.shown()}" for x in gone)
            yield from (f"    under another item: {x.shown()}" for x in one.listed if x in one.other)
        if unlisted:
            yield from (f"    unlisted: {shown_row(row)}" for row in one.unlisted)
            yield from (f"    equal: {shown_row(row)}" for row in one.trapped)
    yield f"{'total':{width}}  {_total(list(measured.values()))}"


def _line(one: Measured) -> str:
    shares = [f"{found}/{listed}" for found, listed in (one.share(True), one.share(False))]
    counts = (len(one.unlisted), len(one.trapped), one.repeated)
    return f"{shares[0]:>7}  {shares[1]:>8}  {counts[0]:>8}  {counts[1]:>5}  {counts[2]:>5}  {one.seconds:7.2f}"


def _total(all_of: Sequence[Measured]) -> str:
    shares = []
    for certain in (True, False):
        found, listed = (sum(one.share(certain)[i] for one in all_of) for i in (0, 1))
        shares.append(f"{found}/{listed} = {found / listed:.0%}" if listed else "-")
    unlisted, trapped = sum(len(one.unlisted) for one in all_of), sum(len(one.trapped) for one in all_of)
    other = sum(len(one.other) for one in all_of)
    return (
        f"certain {shares[0]}, arguable {shares[1]}, under another item {other}, not listed {unlisted}, "
        f"listed as equal {trapped}, reported again {sum(one.repeated for one in all_of)}"
    )


def main(words: Sequence[str] | None = None) -> int:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("folder", type=Path, help="folder with the projects")
    parser.add_argument("--table", type=Path, default=TABLE, help="what a person has listed")
    parser.add_argument("--pair", default="", help="only pairs whose name has this word")
    parser.add_argument("--missing", action="store_true", help="show what is not found")
    parser.add_argument("--unlisted", action="store_true", help="show what is not listed")
    options = parser.parse_args(words)
    measured: dict[str, Measured] = {}
    for (name, _), listed in read_table(options.table).items():
        if options.pair.lower() in name.lower():
            try:
                measured[name.removesuffix("-orig")] = measure(options.folder, listed)
            except FileNotFoundError as missing:
                print(missing, file=sys.stderr)
    for line in report(measured, options.missing, options.unlisted):
        print(line)
    return 0 if measured else 1


if __name__ == "__main__":
    sys.exit(main())
