"""Names of Ascend chips and of CANN releases in launchers, Dockerfiles and configurations."""

from __future__ import annotations

import re

from npulint.core.lazy_regex import lazy_compile
from npulint.data.chips import CHIPS, chip
from npulint.facts.attributes import attribute
from npulint.facts.kinds import fact_kind
from npulint.facts.model import Fact, FileFact, Span

# Full product names only: three characters such as A3 mean anything. A bare "Ascend910" is a chip where it is a value.
_NAME = lazy_compile(
    r"ascend[-_ ]?(?P<soc>910(?:[ABC]\d?|_9\d{1,3}|pro[AB]?|premiumA)|950\w{0,6})(?!\w)"
    r"|[=\"']ascend(?P<first>910)[\"']?(?=\s|$)"
    r"|atlas \d{3}[TI]? (?P<product>A[235])\b"
    r"|\bcann:(?P<release>\d[\w.]*)?[^\s\"']*?-(?P<tag>910[ABC]?|A[235]|950)(?=[-\s\"']|$)",
    re.IGNORECASE,
)
_TOOLKIT = lazy_compile(r"\bcann(?:-toolkit_|:|_version=[\"']?v?)(?P<release>\d[\w.]*)", re.IGNORECASE)
_PACKAGE = lazy_compile(
    r"\bascend[-:]{1,2}cann[-_](?P<name>toolkit|kernels|nnal|\w+-ops|\*|\$\{?\w+)(?P<rest>[^\s\"';&|]*)", re.IGNORECASE
)
_OF_CHIP = lazy_compile(r"kernels-(\w+?)(?=[_.]|$)|cann[-_](\w+?)-ops", re.IGNORECASE)
_SAYS = lazy_compile(r"\s*(?:echo|printf|log\w*|print\w*|info|warn\w*|error)\b", re.IGNORECASE)
_INSTALLED = lazy_compile(
    r"--(?:full|install|upgrade|devel|run)\b|\b(?:conda|mamba|apt|apt-get|yum|dnf)\b[^\n]* install\b"
)
_INFERENCE = lazy_compile(r"(?:^|[\s;&|])atc\s|omg\s", re.IGNORECASE)  # converts a model for the chip that serves it
TRAINED_ON = frozenset(generation.name for generation in CHIPS if generation.name != "310P")
"""The generations of chips that a project may train on."""


@fact_kind("chip", names=TRAINED_ON)
class NamedChip(FileFact):
    """A launcher, Dockerfile or requirement names a generation of Ascend chips, which is the name."""

    written: str
    """The chip as it is written."""


@fact_kind("toolkit", names=("cann",))
class NamedToolkit(FileFact):
    """A launcher, Dockerfile or requirement names a CANN release; the name is cann."""

    written: str
    """The release as it is written, with what it belongs to."""
    version: str
    """The release."""


@fact_kind("cann_package", names=("toolkit", "kernels", "nnal", "any"))
class CannPackage(FileFact):
    """A launcher or Dockerfile names a package of CANN: the toolkit, the operators of a chip (kernels), NNAL, or any
    of them by a pattern."""

    written: str
    """The package as it is written."""
    installed: bool
    """Whether some line that names it installs it."""

    @attribute
    def chip(self) -> str:
        """The generation of chips that a package with operators is for, if its name says it."""
        match = _OF_CHIP.search(self.written) if self.name == "kernels" else None
        return chip(match[1] or match[2]) if match else ""


def cann_packages(text: str, path: str) -> list[Fact]:
    """The packages of CANN that a text names, each once, where it is installed if anywhere. Comments do not count."""
    packages: dict[str, CannPackage] = {}
    for number, line in _lines_with(text, "cann"):
        if line.lstrip().startswith("#") or _SAYS.match(line):
            continue
        for match in _PACKAGE.finditer(line):
            word = match["name"].lower()
            name = word if word in ("toolkit", "nnal") else "kernels" if word == "kernels" or "ops" in word else "any"
            installed = _INSTALLED.search(line) is not None
            if name not in packages or (installed and not packages[name].installed):
                packages[name] = CannPackage(name, path, _span(number, match), _trimmed(match), installed)
    return list(packages.values())


def _lines_with(text: str, *words: str) -> list[tuple[int, str]]:
    """The lines of a text, with their numbers, that have one of some words in any case."""
    lower = text.lower()
    sought = [word for word in words if word in lower]
    if not sought:
        return []
    lines = text.split("\n")
    lowered = lower.split("\n")
    return [(n, line) for n, line in enumerate(lines, 1) if any(word in lowered[n - 1] for word in sought)]


def chip_names(text: str, path: str) -> list[Fact]:
    """The generations of chips and the CANN releases that a text names, each once. Comments and conversions for
    inference do not count."""
    facts: dict[tuple[str, str], Fact] = {}
    for number, line in _lines_with(text, "ascend", "cann", "atlas"):
        if line.lstrip().startswith("#") or _INFERENCE.search(line):
            continue
        for match in _NAME.finditer(line):
            name = chip(match["soc"] or match["first"] or match["product"] or match["tag"])
            if name in TRAINED_ON:
                facts.setdefault(("chip", name), NamedChip(name, path, _span(number, match), _trimmed(match)))
        for match in _TOOLKIT.finditer(line):
            release = match["release"]
            toolkit = NamedToolkit("cann", path, _span(number, match), _trimmed(match), release)
            facts.setdefault(("toolkit", release), toolkit)
    return list(facts.values())


def _trimmed(match: re.Match[str]) -> str:
    return match.group().strip("=\"' ")


def _span(line: int, match: re.Match[str]) -> Span:
    return Span(line, match.start() + 1, line, match.end() + 1)
