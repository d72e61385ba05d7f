"""``npulint try``: runs a program for a few steps on the fake NPU. The only command that runs the user's code."""

from __future__ import annotations

import ast
import os
import shutil
import warnings

import msgspec

from npulint.commands.settings.options import InvalidOption, number
from npulint.core.errors import NpulintError
from npulint.core.processes import own_interpreter
from npulint.core.texts import say
from npulint.fakes.orders import Order
from npulint.fakes.trial import Trial, run_trial
from npulint.hosts.cli.host import Host
from npulint.hosts.cli.try_report import reported
from npulint.judge.settings import Settings
from npulint.live.judge import declared_torch
from npulint.read.launcher_facts import LaunchFact
from npulint.read.shell_script import read_script
from npulint.report.terminal import escape_control_chars

# What ``npulint try`` says to a file that is no Python program, such as the launcher of one.

_SUFFIXES = (".py", ".pyw", ".pyz")
_ARCHIVE = b"PK"  # with which a zip file begins: Python runs those, too
_MOST = 3  # commands that are named
_READ = 1 << 20  # bytes


def refuse_other_than_python(path: str, lang: str) -> None:
    """Raise `NpulintError` for a file that Python cannot run, with the Python programs that it starts if it is a
    launcher."""
    with open(path, "rb") as file:
        content = file.read(_READ)
    if _is_python(path, content):
        return
    lines = [say(lang, "try.no-python", path=escape_control_chars(path))]
    text = content.decode("utf-8", "replace")
    for launch in _launches(text, path)[:_MOST]:
        command, program = (escape_control_chars(shown) for shown in (_command(text, launch), launch.record.path))
        lines.append(say(lang, "try.launcher", line=launch.span.line, command=command, program=program))
    raise NpulintError("\n".join(lines))


def _is_python(path: str, content: bytes) -> bool:
    first = content.partition(b"\n")[0]
    if path.endswith(_SUFFIXES) or content.startswith(_ARCHIVE):
        return True
    if first.startswith(b"#!"):
        return b"python" in first
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(content)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def _launches(text: str, path: str) -> list[LaunchFact]:
    """The starts of Python programs whose path is known."""
    launches = [fact for fact in read_script(text, path)[0] if isinstance(fact, LaunchFact)]
    return [launch for launch in launches if launch.name.endswith(".py") and "*" not in launch.record.path]


def _command(text: str, launch: LaunchFact) -> str:
    """The line that starts a program, with those that continue it."""
    words: list[str] = []
    for line in text.splitlines()[launch.span.line - 1 :]:
        words.append(line.strip().removesuffix("\\").strip())
        if not line.rstrip().endswith("\\"):
            break
    return " ".join(words)


_STEPS, _SECONDS = 3, 300
_SHARE = 0.75  # of the memory of the machine


def run(words: list[str], options: dict[str, list[str] | bool], host: Host, near: str, settings: Settings) -> int:
    """Run the program, report, and return the exit code: 2 if nothing was seen. `near` is the path whose project and
    `settings` apply. Raises `NpulintError` for a program that cannot be started."""
    settings = _targeted(settings, near)
    order = order_of(words, options, settings)
    devices = _number(options, "devices", 1, settings.language())
    release = settings.target.get("torch", "")
    trial = Trial(order, interpreter(options), os.getcwd(), release, settings.language(), devices)
    announce(order, settings, host)
    outcome = run_trial(trial)
    return reported(outcome, settings, host, near, order.program, bool(options.get("explain_differences")))


def announce(order: Order, settings: Settings, host: Host) -> None:
    """Say that the user's code is run, where, and until when."""
    program = " ".join((order.program, *order.arguments))
    values = {"steps": order.steps, "seconds": order.seconds, "folder": os.getcwd()}
    host.warn(say(settings.language(), "try.runs", program=program, **values))


def near_path(program: str, module: bool, lang: str) -> str:
    """The path whose project and configuration apply. Raises `NpulintError` where it is no Python program."""
    if module:
        return "."
    if not os.path.isfile(program):
        raise NpulintError(say(lang, "try.no-script", path=program))
    refuse_other_than_python(program, lang)
    return program


def _targeted(settings: Settings, near: str) -> Settings:
    """The settings with the release of PyTorch that the project declares, if any."""
    declared = settings.target.get("torch", "") or declared_torch(near, "", settings.target)
    return msgspec.structs.replace(settings, target={**settings.target, "torch": declared}) if declared else settings


def order_of(words: list[str], options: dict[str, list[str] | bool], settings: Settings) -> Order:
    """What to run, and its limits; `words` are the program and its arguments."""
    lang = settings.language()
    program, *arguments = words
    return Order(
        program,
        arguments,
        module=bool(options.get("module")),
        steps=max(1, _number(options, "steps", _STEPS, lang)),
        seconds=max(1, _number(options, "time_limit", _SECONDS, lang)),
        memory=_number(options, "memory_limit", 0, lang) * (1 << 30) or int(_SHARE * _memory()),
        transfer=settings.torch_port == "transfer",
        ranks=max(1, _number(options, "nproc", 1, lang)),
        synthetic=bool(options.get("synthetic")),
    )


def _number(options: dict[str, list[str] | bool], name: str, default: int, lang: str) -> int:
    given = options.get(name)
    if not isinstance(given, list):
        return default
    try:
        return number(given[-1], lang)
    except InvalidOption as refused:
        raise NpulintError("\n".join(f"--{name.replace('_', '-')}: {text}" for text in refused.texts)) from None


def _memory() -> int:
    """The bytes of memory of this machine; 0 where that is unknown."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return 0


def interpreter(options: dict[str, list[str] | bool]) -> str:
    """The interpreter to run the program with."""
    given = options.get("python")
    if not isinstance(given, list):
        return own_interpreter()
    return shutil.which(given[-1]) or os.path.abspath(given[-1])
