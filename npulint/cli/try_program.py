"""``npulint try``: runs a program for a few steps on the fake NPU. The only command that runs the user's code."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable, Sequence

import msgspec

from npulint.catalogue.load import load_catalogue
from npulint.cli.host import Host
from npulint.cli.reporting import report
from npulint.config import load
from npulint.discover.paths import local
from npulint.errors import NpulintError
from npulint.fakes.orders import Ended, Order
from npulint.fakes.trial import Outcome, Trial, run_trial
from npulint.findings import Finding, RunResult
from npulint.live.judge import declared_torch, judged
from npulint.live.result import LiveResult
from npulint.live.tables import aligned, operator_table, sync_table
from npulint.option_parsing import InvalidOption, number
from npulint.postprocess.merge_graph_findings import merge_graph_findings, of_graph
from npulint.report.terminal import escape_control_chars
from npulint.settings import PEOPLE_FORMATS, Settings
from npulint.texts import count, say

_STEPS, _SECONDS = 3, 300
_SHARE = 0.75  # of the memory of the machine
_MOST = 40  # rows of the table of static findings
CANNOT = 2
"""The exit code if nothing was seen."""


def run(words: list[str], options: dict[str, list[str] | bool], host: Host, lang: str) -> int:
    """Run the program, report, and return the exit code: 2 if nothing was seen. Raises `ConfigError`, or `NpulintError`
    for a program that cannot be started."""
    program, *arguments = words
    near = near_path(program, bool(options.get("module")), lang)
    settings = load([near], options, host.environ)
    settings = _targeted(settings, near)
    order = order_of(program, arguments, options, settings)
    trial = Trial(order, interpreter(options), os.getcwd(), settings.target.get("torch", ""), settings.language())
    values = {"steps": order.steps, "seconds": order.seconds, "folder": os.getcwd()}
    host.warn(say(settings.language(), "try.runs", program=" ".join(words), **values))
    outcome = run_trial(trial)
    return _reported(outcome, settings, host, near, program)


def near_path(program: str, module: bool, lang: str) -> str:
    """The path whose project and configuration apply."""
    if module:
        return "."
    if not os.path.isfile(program):
        raise NpulintError(say(lang, "try.no-script", path=program))
    return program


def _targeted(settings: Settings, near: str) -> Settings:
    """The settings with the release of PyTorch that the project declares, if any."""
    declared = settings.target.get("torch", "") or declared_torch(near, "", settings.target)
    return msgspec.structs.replace(settings, target={**settings.target, "torch": declared}) if declared else settings


def order_of(program: str, arguments: list[str], options: dict[str, list[str] | bool], settings: Settings) -> Order:
    """What to run, and its limits."""
    lang = settings.language()
    return Order(
        program,
        arguments,
        module=bool(options.get("module")),
        steps=max(1, _number(options, "steps", _STEPS, lang)),
        seconds=max(1, _number(options, "time_limit", _SECONDS, lang)),
        memory=_number(options, "memory_limit", 0, lang) * (1 << 30) or int(_SHARE * _memory()),
        transfer=settings.torch_port == "transfer",
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
        return sys.executable
    return shutil.which(given[-1]) or os.path.abspath(given[-1])


def _reported(outcome: Outcome, settings: Settings, host: Host, near: str, program: str) -> int:
    """Print the report and the tables of a trial; returns the exit code."""
    lang, ended = settings.language(), outcome.ended
    if "torch" not in settings.target:
        settings = msgspec.structs.replace(settings, target={**settings.target, "torch": ended.torch})
    if not any(node.frames for node in outcome.graph.bodies[0].nodes):
        host.warn(f"{how_ended(ended, lang)}.")
        host.warn(say(lang, "error", text=say(lang, "try.nothing")))
        return CANNOT
    live = judged(
        outcome.graph, name=f"npulint try {program}", lang=lang, root="", steps=ended.steps, settings=settings
    )
    static = host.watched(host.run, msgspec.structs.replace(settings, paths=(_folder(live, near),)), lang)
    if settings.torch_port == "transfer":  # the run redirects CUDA, which the code does not say
        left = [one for one in static.findings if one.topic != "device_cuda"]
        static = msgspec.structs.replace(static, findings=left)
    result = joined(live, static, settings)
    code = report(result, settings, host)
    if settings.format in PEOPLE_FORMATS:
        blocks = [*operator_table(live.operators, lang, settings.verbose), *sync_table(live.syncs, live.steps, lang)]
        blocks += [say(lang, "live.note", text=note) for note in live.notes]
        blocks += static_table(static.findings, result.findings, ended, lang)
        host.write("\n\n".join(["", *blocks, f"{how_ended(ended, lang)}."]).removeprefix("\n") + "\n")
    else:
        for line in (*live.notes, f"{how_ended(ended, lang)}."):
            host.warn(line)
    unfinished = ended.how in ("error", "exit") and not ended.known and not ended.steps
    return code or (CANNOT if unfinished else 0)


def _folder(live: LiveResult, near: str) -> str:
    """What the source check reads: the folder of the program."""
    return near if os.path.isdir(near) else os.path.dirname(near) or "."


def joined(live: LiveResult, static: RunResult, settings: Settings) -> RunResult:
    """The findings of the run; where the source check reports the same, its finding, confirmed."""
    result = live.report
    catalogue = load_catalogue(settings.checks, whole=False)
    known = {id(one) for one in static.findings}
    merged, _ = merge_graph_findings([*static.findings, *result.findings], (), catalogue, settings.language())
    kept = [one for one in merged if of_graph(one) or id(one) not in known]
    return msgspec.structs.replace(result, findings=sorted(kept, key=lambda one: (one.path, one.span, one.code)))


def static_table(static: Sequence[Finding], found: Iterable[Finding], ended: Ended, lang: str) -> list[str]:
    """The errors of the source check in files that ran: confirmed, not reached, or run without failing."""
    confirmed = {(one.path, one.span.line, one.code) for one in found}
    lines = {os.path.realpath(path): frozenset(numbers) for path, numbers in ended.lines.items()}
    rows = []
    for one in static:
        reached = lines.get(os.path.realpath(local(one.path)))
        if one.severity != "error" or one.category != "functional" or reached is None:
            continue
        if (one.path, one.span.line, one.code) in confirmed:
            word = "confirmed"
        else:
            span = range(one.span.line, max(one.span.line, one.span.end_line) + 1)
            word = "missed" if reached.isdisjoint(span) or _stopped(one, ended) else "passed"
        place = f"{escape_control_chars(one.path)}:{one.span.line}"
        rows.append((f"{one.name} ({one.code})", place, say(lang, f"try.static.{word}")))
    heads = (say(lang, "try.column.check"), say(lang, "live.column.place"), say(lang, "try.column.run"))
    return ["\n".join([say(lang, "try.static"), *aligned(heads, list(dict.fromkeys(rows))[:_MOST])])] if rows else []


def _stopped(one: Finding, ended: Ended) -> bool:
    """Whether the program stopped at the line of a finding: then whether the rest fails is unknown."""
    path, _, line = ended.place.rpartition(":")
    return bool(path) and os.path.realpath(local(one.path)) == os.path.realpath(path) and line == str(one.span.line)


def how_ended(ended: Ended, lang: str) -> str:
    """How the program ended, in a sentence without its full stop."""
    key = "other" if ended.how == "error" and not ended.known else ended.how
    text, place = escape_control_chars(ended.text), escape_control_chars(ended.place)
    return count(lang, f"try.ended.{key}", ended.steps, text=text, place=place)
