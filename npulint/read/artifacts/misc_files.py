"""Files of a run that say little: groups of ranks, trees of modules, settings of a profiler, summaries, advice.

Sources: `communication_group.json` of msprof-analyze, `construct.json` of msprobe, `sample.json` and `info.json` of
msprof, summaries that scripts of 2020 print of training traces, `advisor*.txt` of msaccucmp and msprobe.
"""

from __future__ import annotations

from typing import BinaryIO

from npulint.facts.model import Fact, GenericFact, Span
from npulint.lazy_regex import lazy_compile
from npulint.read.artifacts.json_objects import LIMIT, documents
from npulint.read.artifacts.rows import Seen

_LINE = 1 << 16
_TEXT = 200
_SUMMARY = lazy_compile(rb"[A-Za-z]\w{0,40}: ?\d")
_FIELD = lazy_compile(r"(?:\[\w{1,20}\] ?)?([A-Za-z][A-Za-z ]{1,30}):(.*)")
_KEYS = {
    "line": "row",
    "operator index": "row",
    "suspect nodes": "nodes",
    "detection type": "detection",
    "expert advice": "text",
}
_NOTHING = frozenset(("", "na", "n/a", "none", "-", "null"))
_OTHERS = lazy_compile(r"[,;\s]+")


def read_json(stream: BinaryIO, path: str, seen: Seen) -> list[Fact]:
    """No facts; what is counted are groups, modules, or settings. Of a file beyond 64 MB nothing is read. Raises
    `ValueError`."""
    data = stream.read(LIMIT + 1)
    if len(data) > LIMIT:
        seen.note = "unread"
        return []
    for _, _, value in documents(data.decode("utf-8-sig", "replace")):
        if seen.form == "communication_group" and isinstance(value, dict):
            seen.rows += sum(len(one) for one in value.values() if isinstance(one, list | dict))
        elif isinstance(value, list | dict):
            seen.rows += len(value)
    return []


def read_summary(stream: BinaryIO, path: str, seen: Seen) -> list[Fact]:
    """No facts: such summaries tell means of an unknown number of iterations. Their lines are counted."""
    while text := stream.readline(_LINE):
        seen.rows += bool(_SUMMARY.match(text))
    return []


def read_advice(stream: BinaryIO, path: str, seen: Seen) -> list[Fact]:
    """`run_advice`, if the advice names an operator or its row in the comparison."""
    told: dict[str, str] = {}
    number, place, whole = 0, 0, True
    while data := stream.readline(_LINE):
        number, whole = number + whole, data.endswith(b"\n")
        text = data.decode("utf-8-sig" if number == 1 else "utf-8", "replace").strip()
        seen.rows += bool(text)
        match = _FIELD.fullmatch(text)
        key = _KEYS.get(match.group(1).lower(), "") if match is not None else ""
        value = match.group(2).strip() if match is not None else ""
        if not key or key in told or value.lower() in _NOTHING:
            continue
        told[key] = value
        if key == "nodes" or (key == "row" and not place):
            place = number
    nodes = [one for one in _OTHERS.split(told.get("nodes", "").strip("[]'\" ")) if one]
    if not place or not (nodes or told.get("row")):
        return []
    name = nodes[0].strip("'\"")[:_TEXT] if nodes else told["row"][:_TEXT]
    attrs: dict[str, object] = {key: told[key][:_TEXT] for key in ("row", "detection", "text") if key in told}
    attrs["named"] = "yes" if nodes else "no"
    return [GenericFact("run_advice", name, path, Span.at(place), attrs)]
