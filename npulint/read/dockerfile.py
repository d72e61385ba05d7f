"""Dockerfiles: ``ENV`` and the shell commands of ``RUN``, ``CMD`` and ``ENTRYPOINT``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.kinds import fact_kind
from npulint.facts.model import Fact, FileFact, Span
from npulint.read.launcher_facts import BaseImage, VariableRecord
from npulint.read.shell_script import read_shell

# Steps of a Dockerfile that do not do what they seem to on the way to a container with NPUs.

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
_STEP_FLAGS = lazy_compile(r"(?:--[\w-]+(?:=\S+)?\s+)+")


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
        commands = [(start, command.strip()) for start, command in _commands(run) if command.strip()]
        if not kept and _lost([command for _, command in commands]):
            facts.append(_step("environment-lost", path, number, run, *commands[-1]))
        for start, command in commands:
            if _TOOL.match(command) or (not has_stubs and _needs_driver(command)):
                facts.append(_step("driver-at-build", path, number, run, start, command))
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
            flags = _STEP_FLAGS.match(parts[0], match.end())
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


_INSTRUCTION = lazy_compile(r"[ \t]*(?P<word>[A-Za-z]+)[ \t]+")
_FLAGS = lazy_compile(r"(?:--[\w-]+(?:=\S+)?[ \t]+)+")
_OLD_ENV = lazy_compile(r"(?P<name>[A-Za-z_]\w*)[ \t]+(?P<value>[^\n=][^\n]*)$")
_FROM = lazy_compile(
    r"[ \t]*FROM[ \t]+(?:(?:--platform=(?P<platform>\S+)|--\S+)[ \t]+)*(?P<image>\S+)(?:[ \t]+AS[ \t]+(?P<stage>\S+))?",
    re.IGNORECASE,
)
_ARGUMENT = lazy_compile(r"[ \t]*ARG[ \t]+(?P<name>\w+)=[\"']?(?P<value>[^\s\"']+)", re.IGNORECASE)
_VARIABLE = lazy_compile(r"\$\{?(?P<name>\w+)\}?")
_CUDA_IMAGE = lazy_compile(r"nvidia|nvcr\.io|cuda|cudnn|(?:^|[:-])cu\d{2,3}\b|tensorrt|[:-]gpu\b", re.IGNORECASE)
_RUNS = frozenset(("RUN", "CMD", "ENTRYPOINT"))


def read_dockerfile(text: str, path: str) -> list[Fact]:
    """The facts of a Dockerfile, as those of a launcher, with ``via`` = ``dockerfile``."""
    script, facts = shell_of(text, path)
    facts = _of_last_stage(facts)
    facts += read_shell(script, path, "dockerfile")
    facts += image_steps(text, path)
    return sorted(facts, key=lambda fact: fact.span)


def shell_of(text: str, path: str = "") -> tuple[str, list[Fact]]:
    """The file as a shell script with unchanged character positions (other instructions are blanked out), and facts of
    the other instructions: base images, ``ENV name value``."""
    script: list[str] = []
    facts: list[Fact] = []
    arguments: dict[str, str] = {}  # defaults of ARG
    word = ""  # the instruction that a backslash continues on the next line
    for number, line in enumerate(text.split("\n"), 1):
        if word and (not line.strip() or line.lstrip().startswith("#")):
            script.append(" " * (len(line) - 1) + "\\")  # a comment or an empty line between continued lines
            continue
        continued = bool(word)
        match = None if continued else _INSTRUCTION.match(line)
        if match:
            word = match.group("word").upper()
        body = line if continued else _body(line, word, match)
        argument = _ARGUMENT.match(line) if word == "ARG" else None
        if argument:
            arguments[argument.group("name")] = argument.group("value")
        if match and word == "FROM":
            facts += _base_image(path, number, line, arguments)
        old = _OLD_ENV.match(line, match.end()) if match and word == "ENV" else None
        if old:
            facts.append(_old_environment(path, number, old))
            body = ""
        script.append(body if word in _RUNS or word == "ENV" else "")
        if not line.rstrip().endswith("\\"):
            word = ""
    return "\n".join(script), facts


def _body(line: str, word: str, match: re.Match[str] | None) -> str:
    """The first line of an instruction as shell text of the same length."""
    if match is None or word not in (*_RUNS, "ENV"):
        return ""
    start = match.end()
    if word == "ENV":
        return " " * match.start("word") + "ENV" + line[match.end("word") :]
    flags = _FLAGS.match(line, start)
    start = flags.end() if flags else start
    rest = line[start:]
    if rest.startswith("[") and rest.rstrip().endswith("]"):  # exec form: a JSON list of words
        rest = re.sub(r'("(?:[^"\\]|\\.)*")|[\[\],]', lambda part: part.group(1) or " ", rest)
    return " " * start + rest


def _base_image(path: str, number: int, line: str, arguments: dict[str, str]) -> list[Fact]:
    match = _FROM.match(line)
    if match is None:
        return []
    image = _VARIABLE.sub(lambda use: arguments.get(use.group("name"), use.group()), match.group("image"))
    span = Span(number, match.start("image") + 1, number, match.end("image") + 1)
    return [
        BaseImage(image, path, span, bool(_CUDA_IMAGE.search(image)), match["stage"] or "", match["platform"] or "")
    ]


def _of_last_stage(facts: list[Fact]) -> list[Fact]:
    """The facts without those of build stages that the last stage does not build on: only files are copied out of
    these."""
    images = [fact for fact in facts if isinstance(fact, BaseImage)]
    kept: list[Fact] = []
    stage = images[-1].name if images else ""
    for image in reversed(images):
        if not kept or image.stage == stage:
            kept.append(image)
            stage = image.name
    return [fact for fact in facts if not isinstance(fact, BaseImage) or fact in kept]


def _old_environment(path: str, number: int, match: re.Match[str]) -> Fact:
    """``ENV name value``: the rest of the line is the value."""
    value = match.group("value").strip().strip("\"'")
    span = Span(number, match.start("name") + 1, number, match.end() + 1)
    text = None if "$" in value or value.endswith("\\") else value
    return VariableRecord(match.group("name"), path, span, text, "dockerfile")
