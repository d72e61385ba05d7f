"""``npulint doctor``: whether this machine is ready for training on NPUs."""

from __future__ import annotations

import os
from collections.abc import Sequence

from npulint.commands.settings.config import load
from npulint.commands.settings.options import InvalidOption, choice, from_words, number
from npulint.core.errors import ConfigError, NpulintError
from npulint.core.texts import say
from npulint.doctor.formats import rendered
from npulint.doctor.judge import judge
from npulint.doctor.machine import Machine
from npulint.doctor.report import Report, differences, worst
from npulint.doctor.take import take
from npulint.hosts.cli.catalogue import known_options
from npulint.hosts.cli.commands import DOCTOR_FORMAT, DOCTOR_OUTPUT
from npulint.hosts.cli.host import Host
from npulint.hosts.cli.outputs import deliver, save
from npulint.judge.catalogue.load import load_catalogue
from npulint.runs.read.machine.snapshot import Snapshot, decoded, encoded

_DEEP = 120
"""Seconds for the import of torch_npu and a first operator."""
_FAILS = ("warning", "error")

Options = dict[str, list[str] | bool]


def run(words: list[str], options: Options, host: Host, lang: str) -> int:
    """Take the snapshot of this machine, or read that of another one, judge and report it; 1 if something is wrong."""
    words_of_output = options.pop("output", [])
    settings = load([], known_options(options), host.environ)
    lang = settings.language()
    shape, further = _shape(options, lang), _further(words_of_output, lang)
    if words:
        snapshot = _read(words[0], lang)
    else:
        deep = float(_seconds(options, lang)) if options.get("deep") else None
        snapshot = take(Machine(environ=host.environ), _text(options, "python"), deep, lang)
    other = _text(options, "compare")
    findings = judge(snapshot, load_catalogue(settings.checks, whole=False), lang)
    report = Report(snapshot, findings, differences(snapshot, _read(other, lang)) if other else None)
    dump = _text(options, "dump")
    if dump:
        warning = save(dump, lambda _: [encoded(snapshot)], host.environ, lang)
        host.warn(warning or say(lang, "doctor.dumped", path=dump))
    host.write(rendered(report, shape, lang))
    for other_shape, path in further:
        deliver(rendered(report, other_shape, lang), path, host, lang)
    return 1 if worst(findings) in _FAILS else 0


def _further(words: list[str] | bool, lang: str) -> Sequence[tuple[str, str]]:
    """The additional reports: format and file."""
    try:
        further: Sequence[tuple[str, str]] = from_words(DOCTOR_OUTPUT, words if isinstance(words, list) else [], lang)
        return further
    except InvalidOption as refused:
        raise ConfigError([f"--output: {text}" for text in refused.texts]) from refused


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
