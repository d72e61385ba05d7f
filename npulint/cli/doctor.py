"""``npulint doctor``: whether this machine is ready for training on NPUs."""

from __future__ import annotations

import os

from npulint.catalogue.load import load_catalogue
from npulint.cli.catalogue import known_options
from npulint.cli.commands import DOCTOR_FORMAT
from npulint.cli.host import Host
from npulint.cli.outputs import save
from npulint.config import load
from npulint.doctor.compare import differences
from npulint.doctor.judge import judge
from npulint.doctor.machine import Machine
from npulint.doctor.report import Report, rendered, worst
from npulint.doctor.take import take
from npulint.errors import ConfigError, NpulintError
from npulint.option_parsing import InvalidOption, choice, number
from npulint.read.artifacts.machine.snapshot import Snapshot, decoded, encoded
from npulint.report.terminal import escape_control_chars
from npulint.texts import say

_DEEP = 120
"""Seconds for the import of torch_npu and a first operator."""
_FAILS = ("warning", "error")

Options = dict[str, list[str] | bool]


def run(words: list[str], options: Options, host: Host, lang: str) -> int:
    """Take the snapshot of this machine, or read that of another one, judge and report it; 1 if something is wrong."""
    settings = load([], known_options(options), host.environ)
    lang = settings.language()
    shape = _shape(options, lang)
    if words:
        snapshot = _read(words[0], lang)
    else:
        deep = float(_seconds(options, lang)) if options.get("deep") else None
        snapshot = take(Machine(environ=host.environ), _text(options, "python"), deep, lang)
    other = _text(options, "compare")
    found = judge(snapshot, load_catalogue(settings.checks, whole=False), lang)
    report = Report(snapshot, found, differences(snapshot, _read(other, lang)) if other else None)
    dump = _text(options, "dump")
    if dump:
        warning = save(dump, lambda _: [encoded(snapshot)], host.environ, lang)
        host.warn(warning or say(lang, "doctor.dumped", path=dump))
    host.write(_plain(rendered(report, shape, lang)))
    return 1 if worst(found) in _FAILS else 0


def _plain(text: str) -> str:
    """Lines without control characters: what commands and files of the machine say is not trusted."""
    return "\n".join(map(escape_control_chars, text.split("\n")))


def _shape(options: Options, lang: str) -> str:
    try:
        return choice(_text(options, "format") or "text", DOCTOR_FORMAT.choices, lang)
    except InvalidOption as refused:
        raise ConfigError([f"--format: {text}" for text in refused.texts]) from refused


def _seconds(options: Options, lang: str) -> int:
    try:
        return number(_text(options, "time_limit") or str(_DEEP), lang) or _DEEP
    except InvalidOption as refused:
        raise ConfigError([f"--time-limit: {text}" for text in refused.texts]) from refused


def _text(options: Options, name: str) -> str:
    values = options.get(name)
    return values[-1] if isinstance(values, list) else ""


def _read(path: str, lang: str) -> Snapshot:
    """The snapshot in a file. Raises `NpulintError`."""
    try:
        with open(path, "rb") as file:
            return decoded(file.read())
    except OSError as error:
        raise NpulintError(f"{path}: {error.strerror or os.strerror(error.errno or 0)}") from error
    except ValueError as error:
        raise NpulintError(say(lang, "doctor.file", path=path, detail=error)) from error
