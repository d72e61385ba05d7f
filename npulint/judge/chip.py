"""The chip that a project is for, as far as its files show it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from npulint.core.lazy_regex import lazy_compile
from npulint.data.chips import OLD_CHIPS, in_order
from npulint.facts.model import Fact, FileFacts
from npulint.judge.findings import ChipEvidence, InferredChips
from npulint.read.chip_names import TRAINED_ON, NamedChip, NamedToolkit
from npulint.read.containers.facts import StartedContainer
from npulint.read.launcher_facts import BaseImage
from npulint.recognizers.programs import Program

_NUMBERS = lazy_compile(r"(\d+)(?:\.(\d+))?")
_TORCH = (2, 1)  # torch_npu for the first generation is mostly used with older releases
_CANN = (8, 0)
_BFLOAT16_OPTIONS = frozenset(("bf16", "bfloat16", "bf16_full_eval"))
_BFLOAT16_CAUSE = "bfloat16-unsupported-chip"  # arguments of frameworks that choose it


UNKNOWN_CHIPS = InferredChips()


def inferred_chips(
    files: Sequence[FileFacts], programs: Iterable[Program], torch: str = "", cann: str = ""
) -> InferredChips:
    """The chips that a project is for: those that its launchers and images name; else, a chip without bfloat16 is
    unlikely where the project uses bfloat16, PyTorch from 2.1 on (`torch`: the declared or pinned release) or CANN from
    8.0 on."""
    facts = [fact for file in files for fact in file.facts]
    named = [fact for fact in facts if isinstance(fact, NamedChip)]
    images = [fact for fact in facts if isinstance(fact, StartedContainer | BaseImage) and fact.chip in TRAINED_ON]
    if named or images:
        chips = in_order([*(fact.name for fact in named), *(fact.chip for fact in images)])
        return InferredChips(chips, (), _place(named[0] if named else images[0]))
    evidence = _newer(programs, [fact for fact in facts if isinstance(fact, NamedToolkit)], torch, cann)
    return InferredChips((), in_order(OLD_CHIPS), evidence) if evidence else UNKNOWN_CHIPS


def _newer(programs: Iterable[Program], toolkits: Sequence[NamedToolkit], torch: str, cann: str) -> ChipEvidence | None:
    """What shows that the project is hardly for a chip of the first generation."""
    for toolkit in toolkits:
        if _reaches(toolkit.version, _CANN):
            return _place(toolkit)
    for name, version, least in (("CANN", cann, _CANN), ("torch", torch, _TORCH)):
        if version and _reaches(version, least):
            return ChipEvidence(f"{name} {version}")
    for program in programs:
        for fact in _bfloat16(program):
            return ChipEvidence("bfloat16", fact.path, fact.span.line)
    return None


def _bfloat16(program: Program) -> Iterable[Fact]:
    """Where the program computes, or is told to compute, in bfloat16."""
    index = program.index
    yield from (fact for fact in index.of_kind("half_model") if fact.name == "bfloat16")
    yield from (fact for fact in index.of_kind("autocast") if fact.get("dtype") == "bfloat16")
    for fact in index.of_kind("launch_option"):
        if fact.name.replace("-", "_") in _BFLOAT16_OPTIONS and fact.get("value") not in ("False", "false"):
            yield fact
    for fact in index.of_kind("training_argument"):
        if fact.get("cause") == _BFLOAT16_CAUSE and fact.get("value") != "unset":
            yield fact


def _place(fact: NamedChip | NamedToolkit | StartedContainer | BaseImage) -> ChipEvidence:
    word = fact.written if isinstance(fact, NamedChip | NamedToolkit) else fact.name
    return ChipEvidence(word, fact.path, fact.span.line)


def _reaches(version: str, least: tuple[int, int]) -> bool:
    match = _NUMBERS.search(version)
    return match is not None and (int(match[1]), int(match[2] or 0)) >= least
