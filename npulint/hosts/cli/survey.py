"""``npulint survey``: checks a fleet of projects and shows them on one page."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from npulint import __version__
from npulint.commands.settings.config import load
from npulint.commands.settings.options import OPTIONS, InvalidOption, number
from npulint.core.errors import ConfigError, NpulintError
from npulint.core.texts import count, say
from npulint.hosts.cli.host import Host
from npulint.hosts.cli.progress import ProgressLine, wants_progress
from npulint.report.terminal import escape_control_chars, is_terminal, leading
from npulint.survey.model import Job, Plan, Totals, Words

if TYPE_CHECKING:
    from npulint.survey.inputs import Listed

_SECONDS, _GIGABYTES = 600, 4
_PATHS = ("checks", "config", "supported_ops")
"""Options that name paths, which are relative to the folder where the command was started."""


def run(words: list[str], options: Words, host: Host, lang: str) -> int:
    """Check all projects of a folder or list. Returns 1 if one has no result. Raises `ConfigError`, or `NpulintError`
    for a list, folder or cluster that cannot be used."""
    from npulint.survey.inputs import listed

    plan = _plan(words[0], options, host, lang)
    processes, scheduler = _number("jobs", options, 0, plan.lang), options.get("scheduler")
    projects = listed(words[0], plan.out, plan.lang)
    if not projects:
        raise NpulintError(say(plan.lang, "survey.nothing", path=leading(words[0])))
    try:
        queue = _brought(projects, plan, bool(options.get("restart")), host)
        done_before = _executed(plan, queue, processes, scheduler[-1] if isinstance(scheduler, list) else "", host)
        totals = _written(plan, queue)
    except OSError as error:
        detail = error.strerror or type(error).__name__
        raise NpulintError(say(plan.lang, "output.failed", path=leading(plan.out), detail=detail)) from error
    _tell(totals, done_before, plan, host)
    return int(totals.failed > 0)


def _brought(projects: Sequence[Listed], plan: Plan, restart: bool, host: Host) -> list[Job]:
    """The jobs of projects, of which some must be cloned. Raises `NpulintError` for a folder that is not of a survey,
    and `OSError`."""
    from npulint.survey.clones import absent, cloned, forget
    from npulint.survey.inputs import jobs
    from npulint.survey.parts import CLONES, foreign, prepare

    if foreign(plan.out):
        raise NpulintError(say(plan.lang, "survey.foreign", path=leading(plan.out)))
    prepare(plan.out, restart)
    if restart:
        forget(plan.out)
    queue = jobs(projects)
    missing = absent(projects, queue, plan.out)
    if missing:
        host.warn(count(plan.lang, "survey.cloning", missing, path=leading(os.path.join(plan.out, CLONES))))
    return cloned(projects, queue, plan.out, plan.seconds)


def _plan(path: str, options: Words, host: Host, lang: str) -> Plan:
    from npulint.judge.result_cache import engine_version

    if not os.path.lexists(path):
        raise NpulintError(say(lang, "survey.missing", path=leading(path)))
    out = options.get("out")
    if not isinstance(out, list) or not out[-1]:
        raise ConfigError([say(lang, "missing.argument", word="--out DIR")])
    shared = {option.name for option in OPTIONS}
    words: Words = {
        name: [os.path.abspath(value) for value in values] if name in _PATHS and isinstance(values, list) else values
        for name, values in options.items()
        if name in shared and name not in ("jobs", "lang")
    }
    alone: Words = {} if "config" in words else {"isolated": True}  # each project has its own configuration
    settings = load([], {**words, **alone, "lang": options.get("lang", ["auto"])}, host.environ)
    _check_catalogue(settings.checks)
    return Plan(
        out=os.path.abspath(out[-1]),
        words=words,
        version=__version__,
        engine=engine_version(),
        lang=settings.language(),
        reports=bool(options.get("reports", True)),
        seconds=_number("time_limit", options, _SECONDS, lang),
        memory=_number("memory_limit", options, _GIGABYTES, lang) << 30,
    )


def _check_catalogue(folders: tuple[str, ...]) -> None:
    """Raise `CatalogueError` for checks that are broken, before they are so for every project."""
    from npulint.judge.catalogue.load import load_catalogue

    load_catalogue(folders, whole=False)


def _number(name: str, options: Words, default: int, lang: str) -> int:
    values = options.get(name)
    if not isinstance(values, list):
        return default
    try:
        return number(values[-1], lang) or default
    except InvalidOption as refused:
        raise ConfigError([f"--{name.replace('_', '-')}: {text}" for text in refused.texts]) from None


def _executed(plan: Plan, queue: list[Job], processes: int, scheduler: str, host: Host) -> int:
    """Have the jobs done, with progress on a terminal; returns how many projects were known already."""
    from npulint.survey.execution import execute

    if not is_terminal(host.stderr) or not wants_progress(host.stderr, host.environ):
        return execute(plan, queue, processes, scheduler)
    with ProgressLine(host.stderr, plan.lang, "survey.progress") as line:
        return execute(plan, queue, processes, scheduler, line)


def _written(plan: Plan, queue: list[Job]) -> Totals:
    """Write the tables and the page."""
    from npulint.survey.dashboard import write_dashboard
    from npulint.survey.model import Summed
    from npulint.survey.tables import parts_of, write_tables

    summed = Summed()
    for part in write_tables(plan.out, parts_of(plan.out, queue)):
        summed.add(part)
    write_dashboard(plan, summed)
    return summed.totals()


def _tell(totals: Totals, done_before: int, plan: Plan, host: Host) -> None:
    from npulint.survey.model import VERDICTS
    from npulint.survey.tables import has_parquet

    lang = plan.lang
    host.write(count(lang, "survey.done", totals.projects) + "\n")
    words = [(say(lang, f"survey.verdict.{word}"), totals.verdicts[word]) for word in VERDICTS if totals.verdicts[word]]
    if totals.failed:
        words.append((say(lang, "survey.failed"), totals.failed))
    width = max(len(f"{number:,}") for _, number in words)
    host.write("".join(f"  {number:>{width},}  {word}\n" for word, number in words))
    host.write(say(lang, "survey.page", path=escape_control_chars(os.path.join(plan.out, "index.html"))) + "\n")
    if done_before:
        host.warn(count(lang, "survey.known", done_before))
    if not has_parquet():
        host.warn(say(lang, "survey.no-parquet"))
