"""Dockerfiles: ``ENV`` and the shell commands of ``RUN``, ``CMD`` and ``ENTRYPOINT``."""

from __future__ import annotations

import re

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.model import Fact, Span
from npulint.read.image_steps import image_steps
from npulint.read.launcher_facts import BaseImage, VariableRecord
from npulint.read.shell_script import read_shell

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
    known = None if "$" in value or value.endswith("\\") else value
    return VariableRecord(match.group("name"), path, span, known, "dockerfile")
