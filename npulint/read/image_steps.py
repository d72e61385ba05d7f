"""Steps of a Dockerfile that do not do what they seem to on the way to a container with NPUs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.kinds import fact_kind
from npulint.facts.model import Fact, FileFact, Span

_SETS_UP = lazy_compile(r"(?:source|\.)\s+\S*(?:set_env|setenv)\.(?:sh|bash)\S*")
_EXPORT = lazy_compile(r"export\s+(?P<name>[A-Za-z_]\w*)=.*", re.DOTALL)
_OF_NPUS = lazy_compile(r"LD_LIBRARY_PATH|PYTHONPATH|(?:ASCEND|HCCL|CANN|ATB|TORCH|PYTORCH_NPU|NPU|TASK_QUEUE|ACL)\w*")
_SEPARATOR = lazy_compile(r"&&|;|\n")
_PYTHON = lazy_compile(
    r"(?:^|[\s/])python[\d.]*\s+(?:-[uBOE]\s+)*-c\s+(?P<quote>[\"'])(?P<code>(?:(?!(?P=quote)).)*)(?P=quote)", re.DOTALL
)
_ON_NPUS = lazy_compile(
    r"\b(?:import|from)\s+(?:torch_npu|vllm_ascend|torchair|npu_bridge|npu_device|acl)\b|,\s*torch_npu\b|\btorch\.npu\."
)
_TOOL = lazy_compile(r"(?:sudo\s+)?npu-smi\s+info\b[^|]*$")
_STUBS = lazy_compile(r"(?m)^[^#\n]*(?:devlib|/stub\b|libascend_hal)")  # libraries for linking take the driver's place
_FOR_CONTAINERS = lazy_compile(  # what each container has: variables of the image, its entry point, a profile
    r"(?mi)^\s*(?:ENV\s(?:[^\n]*\\\n)*[^\n]*(?:ASCEND_|LD_LIBRARY_PATH)|(?:ENTRYPOINT|CMD)\s[^\n]*set_?env)"
    r"|set_?env[^\n]*>>|>>[^\n]*\bset_?env"
)
_LONG = 120  # characters of a command that are kept
_FLAGS = lazy_compile(r"(?:--[\w-]+(?:=\S+)?\s+)+")


@fact_kind("image_step")
class ImageStep(FileFact):
    """A step of a Dockerfile that has no effect or fails: the variables of a shell are lost at its end
    (environment-lost), or it needs the driver of NPUs, which no image has while it is built (driver-at-build)."""

    name: Literal["environment-lost", "driver-at-build"]
    command: str
    """The command, as written."""


def image_steps(text: str, path: str) -> list[Fact]:
    """The steps of a Dockerfile that are in vain."""
    has_stubs = _STUBS.search(text) is not None
    kept = _FOR_CONTAINERS.search(text) is not None
    facts: list[Fact] = []
    for number, run in _runs(text):
        commands = [(start, one.strip()) for start, one in _commands(run) if one.strip()]
        if not kept and _lost([one for _, one in commands]):
            facts.append(_step("environment-lost", path, number, run, *commands[-1]))
        for start, one in commands:
            if _TOOL.match(one) or (not has_stubs and _needs_driver(one)):
                facts.append(_step("driver-at-build", path, number, run, start, one))
    return facts


def _runs(text: str) -> Iterator[tuple[int, str]]:
    """The RUN instructions in shell form: the line, and the text with lines of comments blanked out."""
    lines = text.split("\n")
    at = 0
    while at < len(lines):
        first = at
        parts: list[str] = []
        while True:
            line = lines[at]
            comment = line.lstrip().startswith("#")
            goes_on = line.rstrip().endswith("\\") or (bool(parts) and (comment or not line.strip()))
            parts.append("" if comment else line.rstrip().removesuffix("\\"))
            at += 1
            if not goes_on or at == len(lines):
                break
        match = re.match(r"\s*RUN\s+", parts[0], re.IGNORECASE)
        if match:
            flags = _FLAGS.match(parts[0], match.end())
            start = flags.end() if flags else match.end()
            yield first + 1, " " * start + " \n".join(parts)[start:]


def _commands(run: str) -> Iterator[tuple[int, str]]:
    """The commands of a step with their offsets; a separator in quotes divides no command."""
    joined = run.replace("\n", " ")
    begin = 0
    for match in _SEPARATOR.finditer(joined):
        before = joined[begin : match.start()]
        if before.count('"') % 2 or before.count("'") % 2:
            continue
        yield begin, before
        begin = match.end()
    yield begin, joined[begin:]


def _lost(commands: list[str]) -> bool:
    """Whether a step ends in what only its own shell keeps: a sourced set_env.sh, or nothing but exports."""
    if not commands:
        return False
    if _SETS_UP.fullmatch(commands[-1]):
        return True
    exports = [_EXPORT.fullmatch(command) for command in commands]
    return all(export is not None and _OF_NPUS.fullmatch(export["name"]) for export in exports)


def _needs_driver(command: str) -> bool:
    if "||" in command or command.startswith(("if ", "echo ", "then ")):
        return False
    code = _PYTHON.search(command)
    return code is not None and _ON_NPUS.search(code["code"]) is not None


def _step(
    name: Literal["environment-lost", "driver-at-build"], path: str, number: int, run: str, start: int, command: str
) -> ImageStep:
    begin = start + len(run[start:]) - len(run[start:].lstrip())
    line = number + run.count("\n", 0, begin)
    column = begin - (run.rfind("\n", 0, begin) + 1) + 1
    first = run[begin:].partition("\n")[0].rstrip()  # what of it is on its first line
    span = Span(line, column, line, column + min(len(first), len(command)))
    return ImageStep(name, path, span, " ".join(command.split())[:_LONG])
