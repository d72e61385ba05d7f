"""``npulint try``: runs a program for a few steps on the fake NPU. The only command that runs the user's code."""

from __future__ import annotations

import os
import shutil

import msgspec

from npulint.commands.settings.option_parsing import InvalidOption, number
from npulint.core.errors import NpulintError
from npulint.core.processes import own_interpreter
from npulint.core.texts import say
from npulint.fakes.orders import Order
from npulint.fakes.trial import Trial, run_trial
from npulint.hosts.cli.host import Host
from npulint.hosts.cli.try_launcher import refuse_other_than_python
from npulint.hosts.cli.try_report import reported
from npulint.judge.settings import Settings
from npulint.live.judge import declared_torch

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
