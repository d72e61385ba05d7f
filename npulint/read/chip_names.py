"""Names of Ascend chips and of CANN releases in launchers, Dockerfiles and configurations."""

from __future__ import annotations

import re

from npulint.data.chips import CHIPS, chip
from npulint.facts.model import Fact, GenericFact, Span
from npulint.lazy_regex import lazy_compile

# Full product names only: three characters such as A3 mean anything. A bare "Ascend910" is a chip where it is a value.
_NAME = lazy_compile(
    r"ascend[-_ ]?(?P<soc>910(?:[ABC]\d?|_9\d{1,3}|pro[AB]?|premiumA)|950\w{0,6})(?!\w)"
    r"|[=\"']ascend(?P<first>910)[\"']?(?=\s|$)"
    r"|atlas \d{3}[TI]? (?P<product>A[235])\b"
    r"|\bcann:(?P<release>\d[\w.]*)?[^\s\"']*?-(?P<tag>910[ABC]?|A[235]|950)(?=[-\s\"']|$)",
    re.IGNORECASE,
)
_TOOLKIT = lazy_compile(r"\bcann(?:-toolkit_|:|_version=[\"']?v?)(?P<release>\d[\w.]*)", re.IGNORECASE)
_INFERENCE = lazy_compile(r"(?:^|[\s;&|])atc\s|omg\s", re.IGNORECASE)  # converts a model for the chip that serves it
_TRAINED_ON = frozenset(one.name for one in CHIPS if one.name != "310P")


def chip_names(text: str, path: str) -> list[Fact]:
    """The facts ``chip`` (the generation; `written`: as it is written) and ``toolkit`` (CANN with its `version`) of a
    text, each once. Comments and conversions for inference do not count."""
    if "ascend" not in (lower := text.lower()) and "cann" not in lower and "atlas" not in lower:
        return []
    found: dict[tuple[str, str], Fact] = {}
    for number, line in enumerate(text.split("\n"), 1):
        if line.lstrip().startswith("#") or _INFERENCE.search(line):
            continue
        for match in _NAME.finditer(line):
            name = chip(match["soc"] or match["first"] or match["product"] or match["tag"])
            if name in _TRAINED_ON:
                found.setdefault(("chip", name), _fact("chip", name, path, number, match, written=_trimmed(match)))
        for match in _TOOLKIT.finditer(line):
            more = {"written": _trimmed(match), "version": match["release"]}
            found.setdefault(("toolkit", match["release"]), _fact("toolkit", "cann", path, number, match, **more))
    return list(found.values())


def _trimmed(match: re.Match[str]) -> str:
    return match.group().strip("=\"' ")


def _fact(kind: str, name: str, path: str, line: int, match: re.Match[str], **attrs: str) -> Fact:
    return GenericFact(kind, name, path, Span(line, match.start() + 1, line, match.end() + 1), dict(attrs))
