"""``npulint port``: plans the port of a GPU project to the NPU, and shows, writes or commits it."""

from __future__ import annotations

import os

import msgspec

from npulint.commands.port.model import PortPlan
from npulint.commands.settings.config import load
from npulint.commands.settings.options import InvalidOption, choice
from npulint.core.errors import ConfigError, NpulintError
from npulint.core.progress import Progress
from npulint.core.texts import count, say
from npulint.hosts.cli.commands import PLAN_FORMATS, STYLES
from npulint.hosts.cli.host import Host
from npulint.judge.settings import Settings
from npulint.report.terminal import is_terminal, leading, wants_color, width_of


def run(words: list[str], options: dict[str, list[str] | bool], host: Host, lang: str) -> int:
    """Show the plan, or the patch; write or commit it if asked. Returns 1 if an error is left to the user, 2 if a file
    could not be written. Raises `ConfigError`, or `NpulintError` where the project cannot be ported."""
    path = words[0]
    settings = port_settings(load([path], _of_checks(options), host.environ))
    lang = settings.language()
    if not os.path.isdir(path):
        raise NpulintError(say(lang, "port.no-project", path=leading(path)))
    style, form = _one_of("style", options, STYLES, lang), _one_of("format", options, PLAN_FORMATS, lang) or "text"
    entries = options.get("entry")
    _apart(options, lang)

    def planned(run_settings: Settings, progress: Progress | None) -> PortPlan:
        from npulint.commands.port.plan import plan_port

        names = [name.strip() for text in entries for name in text.split(",")] if isinstance(entries, list) else []
        return plan_port(run_settings, style, names, progress)

    plan = host.watched(planned, settings, lang)
    if options.get("diff"):
        from npulint.fix.diff import unified

        host.put(unified(plan.files))
    else:
        _show(plan, form, settings, host)
    failed = False
    if options.get("commit"):
        from npulint.commands.port.commit import committed

        branch, number = committed(plan, path, lang)
        if number:
            host.warn(count(lang, "port.committed", number, branch=branch))
    elif options.get("write"):
        failed = _write(plan, host, lang)
    elif plan.files and not options.get("diff"):
        host.warn(say(lang, "port.next", path=leading(path)))
    if failed:
        return 2
    return int(any(open_finding.finding.severity == "error" for open_finding in plan.left))


def _of_checks(options: dict[str, list[str] | bool]) -> dict[str, list[str] | bool]:
    return {
        name: value
        for name, value in options.items()
        if name not in ("style", "entry", "write", "commit", "format", "diff")
    }


def port_settings(settings: Settings) -> Settings:
    """The settings of a port: all fixes, whatever the configuration says of checks; no reference and no baseline."""
    return msgspec.structs.replace(settings, fix=False, unsafe_fixes=True, reference="", baseline="", format="text")


def _one_of(name: str, options: dict[str, list[str] | bool], choices: tuple[str, ...], lang: str) -> str:
    given = options.get(name)
    if not isinstance(given, list):
        return ""
    try:
        return choice(given[-1], choices, lang)
    except InvalidOption as refused:
        raise ConfigError([f"--{name}: {text}" for text in refused.texts]) from None


def _apart(options: dict[str, list[str] | bool], lang: str) -> None:
    """Raise `ConfigError` for options that exclude each other."""
    for name, other in (("write", "commit"), ("diff", "format")):
        if options.get(name) and options.get(other):
            raise ConfigError([say(lang, "bad.combination", one=f"--{name}", other=f"--{other}")])


def _show(plan: PortPlan, form: str, settings: Settings, host: Host) -> None:
    lang = settings.language()
    if form == "json":
        from npulint.commands.port.json import rendered as as_json

        host.write(as_json(plan, lang))
    elif form == "markdown":
        from npulint.commands.port.markdown import rendered as as_markdown

        host.write(as_markdown(plan, lang))
    else:
        from npulint.commands.port.text import rendered

        color = wants_color(settings.color, host.stdout, host.environ)
        width = width_of(host.stdout, host.environ) if is_terminal(host.stdout) else 100
        host.write(rendered(plan, lang, color, width, settings.verbose))


def _write(plan: PortPlan, host: Host, lang: str) -> bool:
    """Write all files; returns whether one could not be written."""
    from npulint.hosts.cli.fix import write_files
    from npulint.report.fix_summary import why

    failed = write_files(plan.fixes, host, lang)
    for refusal in failed.values():
        host.warn(say(lang, "error", text=say(lang, "fixes.not-written", path=refusal.path, detail=why(refusal, lang))))
    done = len(plan.files) - len(failed)
    if done:
        host.warn(say(lang, "port.written", files=count(lang, "port.files", done)))
    return bool(failed)
