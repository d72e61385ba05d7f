"""Reads command lines that start a container: ``docker run``, ``podman run``."""

from __future__ import annotations

from collections.abc import Sequence

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.model import Fact, Span
from npulint.read.containers.record import PROGRAM, StartedWith, container_facts
from npulint.read.json_tree import Lines
from npulint.read.shell.tokens import Word
from npulint.read.shell.values import HOLE, ExpandedArgument

ENGINES = frozenset(("docker", "podman", "nerdctl", "nvidia-docker"))
"""Programs that start containers with ``run``."""

_STARTING = frozenset(("run", "create"))
# The options without a value; all others take the next word, unless they contain an equals sign.
_FLAGS = frozenset(
    """--detach --disable-content-trust --help --init --interactive --no-healthcheck --oom-kill-disable --privileged
    --publish-all --quiet --read-only --rm --sig-proxy --tty""".split()
)
_SHORT_FLAGS = frozenset("ditPq")
_LONG_NAMES = {"-v": "--volume", "-e": "--env", "-w": "--workdir", "-u": "--user"}
_REFERENCE = lazy_compile(r"[\w.*-]+(?::\d+)?(?:/[\w.*-]+)*(?::[\w.*-]+|@sha256:\w+)?")
_MAY_BE_DRIVER = lazy_compile(r"(?i)driver|ascend|npu|mount|vol|opt")  # in the name of a variable for a mount
_PREFIX = 4  # words such as sudo before the program that starts a container
_MANY = 400  # words of a command that are looked at


class StartedContainers:
    """The containers that the commands of a script start; `text` is the script."""

    def __init__(self, text: str, lines: Lines) -> None:
        self._text = text
        self._lines = lines
        self._found: list[StartedWith] = []

    def see(self, fields: Sequence[ExpandedArgument], guarded: bool) -> list[ExpandedArgument]:
        """Record the container that a command line starts, if it does (`guarded`: under some condition only).

        Returns the command that runs in it, unless the line begins with another program, such as sudo: what follows
        that one is found anyway."""
        for at, field in enumerate(fields[:_PREFIX]):
            if field.text.rpartition("/")[2] in ENGINES:
                started = self._started(fields[at : at + _MANY])
                if started is None:
                    return []
                container, inside = started
                container.guarded = guarded
                container.program = (
                    PROGRAM.search(" ".join(expanded_argument.text for expanded_argument in inside) + " ") is not None
                )
                self._found.append(container)
                return inside if at == 0 else []
        return []

    def facts(self, path: str) -> list[Fact]:
        """The facts of all containers of the script at `path`."""
        return container_facts(self._found, path, "command")

    def _started(self, fields: Sequence[ExpandedArgument]) -> tuple[StartedWith, list[ExpandedArgument]] | None:
        if len(fields) < 3 or fields[1].text not in _STARTING:
            return None
        return _RunLine(fields, self._text, self._lines).read()


class _RunLine:
    """``docker run … image command``."""

    def __init__(self, fields: Sequence[ExpandedArgument], text: str, lines: Lines) -> None:
        self._fields = fields
        self._text = text
        self._lines = lines
        self._found = StartedWith("", Span())

    def read(self) -> tuple[StartedWith, list[ExpandedArgument]] | None:
        """The container, and the command that runs in it; None if there is no image."""
        if self._fields[0].text.endswith("nvidia-docker"):
            self._found.gpus.append(("nvidia-docker", self._place(self._fields[0].word, self._fields[0].word)))
        at = 2
        while at < len(self._fields):
            field = self._fields[at]
            if field.text.startswith("-"):
                at = self._option(at)
            elif HOLE in field.text and self._may_be_options(at):
                self._found.open = True
                at += 1
            else:
                self._found.image = field.text.replace(HOLE, "*")
                self._found.span = self._place(field.word, field.word)
                return self._found, list(self._fields[at + 1 :])
        return None

    def _may_be_options(self, at: int) -> bool:
        """Whether a computed word stands for options: it holds several words, or options or an image follow it."""
        field = self._fields[at]
        written = self._written(field.word)
        if any(sign in written for sign in ("$@", "$*", "[@]", "[*]", "{@}", "{*}")):
            return True
        if field.text.strip(HOLE) or at + 1 == len(self._fields):
            return False
        following = self._fields[at + 1].text
        return following.startswith("-") or (
            ":" in following and bool(_REFERENCE.fullmatch(following.replace(HOLE, "*")))
        )

    def _option(self, at: int) -> int:
        """Record the option at a position; returns the position behind it."""
        word = self._fields[at].text
        name, equals, value = word.partition("=")
        if not word.startswith("--"):
            name, value = _short(word)
            equals = value
        if name in ("", *_FLAGS):
            self._flag(name, value)
            return at + 1
        last = at if equals or at + 1 == len(self._fields) else at + 1
        text = (value if equals else self._fields[last].text if last > at else "").replace(HOLE, "*")
        if HOLE in name:
            self._found.open = True
        self._value(_LONG_NAMES.get(name, name), text, at, last)
        return last + 1

    def _flag(self, name: str, value: str) -> None:
        if name == "--privileged" and value != "false":
            self._found.privileged = True

    def _value(self, name: str, text: str, first: int, last: int) -> None:
        started_with = self._found
        if name == "--device":
            started_with.devices.append(text.partition(":")[0])
        elif name == "--volume":
            target = _target(text)
            if not target.startswith("*") or _MAY_BE_DRIVER.search(self._written(self._fields[last].word)):
                started_with.mounts.append(target)
        elif name == "--mount":
            started_with.mounts += [
                part.partition("=")[2]
                for part in text.split(",")
                if part.startswith(("target=", "dst=", "destination="))
            ]
        elif name == "--env":
            started_with.variables.add(text.partition("=")[0])
        elif name in ("--env-file", "--volumes-from"):
            started_with.open = True
        elif name == "--runtime":
            started_with.runtime = text
            if text == "nvidia":
                self._requests(f"{name} {text}", first, last)
        elif name == "--gpus":
            self._requests(f"{name} {text}", first, last)
        elif name == "--shm-size":
            started_with.memory_size = True
        elif name == "--ipc" and text != "private":
            started_with.host_memory = True

    def _place(self, first: Word, last: Word) -> Span:
        return self._lines.span(first.start, last.end)

    def _written(self, word: Word) -> str:
        return self._text[word.start : word.end]

    def _requests(self, text: str, first: int, last: int) -> None:
        self._found.gpus.append((text, self._place(self._fields[first].word, self._fields[last].word)))


def _short(word: str) -> tuple[str, str]:
    """The option of ``-itv/a:/b`` that takes a value, and the value joined to it; no option for flags alone."""
    for position, letter in enumerate(word[1:], 1):
        if letter not in _SHORT_FLAGS:
            return f"-{letter}", word[position + 1 :].removeprefix("=")
    return "", ""


def _target(volume: str) -> str:
    """The path in the container of ``source:target:mode``."""
    parts = volume.split(":")
    return parts[1] if len(parts) > 1 else parts[0]
