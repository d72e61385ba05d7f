"""``npulint effort``: how much work the port of a project to the NPU is."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from npulint.commands.settings.config import load
from npulint.commands.settings.options import InvalidOption, choice, from_words
from npulint.core.errors import ConfigError, NpulintError
from npulint.core.texts import say
from npulint.hosts.cli.catalogue import known_options
from npulint.hosts.cli.commands import EFFORT_FORMATS, EFFORT_OUTPUT
from npulint.hosts.cli.host import Host
from npulint.hosts.cli.outputs import deliver
from npulint.hosts.cli.port import port_settings
from npulint.hosts.cli.reporting import fruitless, warn_of_nothing
from npulint.judge.effort import Effort, estimate
from npulint.judge.findings import RunResult
from npulint.judge.settings import Settings
from npulint.judge.verdict import verdict_of
from npulint.report.terminal import is_terminal, wants_color, width_of

Options = dict[str, list[str] | bool]


def run(words: list[str], options: Options, host: Host, lang: str) -> int:
    """Check the projects, print the estimate, and return 0, or 2 where nothing could be read."""
    outputs, form = options.pop("output", []), options.pop("format", ["text"])
    settings = port_settings(load(words, known_options(options), host.environ))
    lang = settings.language()
    shape, further = _shape(form, lang), _further(outputs, lang)
    if shape == "xlsx" and is_terminal(host.stdout):
        raise NpulintError(say(lang, "effort.xlsx-to-file"))
    result = host.watched(host.run, settings, lang)
    effort = estimate(result)
    host.put(_rendered(shape, effort, result, settings, host))
    for name, path in further:
        deliver(_rendered(name, effort, result, settings, host), path, host, lang)
    warn_of_nothing(result, settings, host)
    return 2 if fruitless(result, settings) else 0


def _rendered(shape: str, effort: Effort, result: RunResult, settings: Settings, host: Host) -> bytes:
    """The estimate in a format."""
    lang = settings.language()
    if shape == "xlsx":
        from npulint.report.effort.workbook import workbook

        return workbook(effort, result.findings, lang)
    return _text(shape, effort, result, settings, host).encode("utf-8", "backslashreplace")


def _text(shape: str, effort: Effort, result: RunResult, settings: Settings, host: Host) -> str:
    lang = settings.language()
    if shape == "json":
        from npulint.report.effort.record import document
        from npulint.report.json import encodable

        return (
            msgspec.json.format(
                msgspec.json.encode(encodable(document(effort, verdict_of(result), lang))), indent=2
            ).decode()
            + "\n"
        )
    if shape == "html":
        from npulint.report.html.effort import page_of

        return page_of(effort, result, lang)
    from npulint.report.effort.document import markdown, text

    if shape == "markdown":
        return markdown(effort, verdict_of(result), lang)
    color = wants_color(settings.color, host.stdout, host.environ)
    width = width_of(host.stdout, host.environ) if is_terminal(host.stdout) else 100
    return text(effort, verdict_of(result), lang, color, width, settings.verbose)


def _shape(given: list[str] | bool, lang: str) -> str:
    try:
        return choice(given[-1] if isinstance(given, list) else "text", EFFORT_FORMATS, lang)
    except InvalidOption as refused:
        raise ConfigError([f"--format: {text}" for text in refused.texts]) from refused


def _further(words: list[str] | bool, lang: str) -> Sequence[tuple[str, str]]:
    """The additional reports: format and file."""
    try:
        further: Sequence[tuple[str, str]] = from_words(EFFORT_OUTPUT, words if isinstance(words, list) else [], lang)
        return further
    except InvalidOption as refused:
        raise ConfigError([f"--output: {text}" for text in refused.texts]) from refused
