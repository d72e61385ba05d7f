"""Compares what the launchers of both sides set in addition to script options: variables of the environment that decide
numbers, and the number of processes."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from npulint.commands.training_config.configs.lookup import Configs
from npulint.core.lazy_regex import lazy_compile
from npulint.data.compare_parts import parts_by_name
from npulint.facts.comparison.difference import Difference, SideValue, of_both, of_one
from npulint.facts.model import Fact
from npulint.model.launches.project_launches import Launch
from npulint.model.values.context import Context
from npulint.read.launcher_facts import LaunchFact

_OF_MACHINE = ("nproc_per_node", "nproc-per-node", "num_gpus", "num_processes", "np", "n")
_MACHINES = ("nnodes", "num_nodes", "num_machines")
_OF_ALL = frozenset(("num_processes", "np", "n"))  # on all machines together
_SIZES = ("WORLD_SIZE", "RANK_SIZE")
_OF_DEVICES = lazy_compile(r"gpu|npu|device|world|rank|dist|nproc|node|ddp")
_PLAIN = "must_keep_origin_dtype"  # what an NPU does where nothing else is set
_DEFAULTS = {"ACL_PRECISION_MODE": _PLAIN}


class StartedProcesses(msgspec.Struct, frozen=True):
    """The number of processes that a launcher starts, with the place that sets it."""

    count: int
    side: SideValue


def of_launchers(
    reference: Context,
    first: Launch | None,
    migrated: Context,
    second: Launch | None,
    configs: tuple[Configs | None, Configs | None] = (None, None),
) -> Iterator[Difference]:
    """The differences between two launchers: environment variables that decide numbers, and process counts. A variable
    that only one of them sets counts if its default is known."""
    if first is None or second is None:
        return
    left, right = variables(reference, first), variables(migrated, second)
    for name in dict.fromkeys((*left, *right)):
        yield from _variable(name, left.get(name), right.get(name), first, second)
    started_processes, other = processes(first, configs[0]), processes(second, configs[1])
    if started_processes and other and not set(_SIZES) & left.keys() & right.keys():
        yield of_both(
            "ranks", started_processes.count == other.count, "processes", "", started_processes.side, other.side
        )
    elif (started_processes is None) != (other is None):
        yield from _beside_plain(started_processes, other, first, second)


def _variable(name: str, fact: Fact | None, other: Fact | None, first: Launch, second: Launch) -> Iterator[Difference]:
    part = parts_by_name("variable")[name]
    if fact is not None and other is not None:
        left, right = _side(fact), _side(other)
        yield of_both(part, left.text == right.text, name, "", left, right, named=True)
        return
    given = fact or other
    if given is None or name not in _DEFAULTS:
        return
    change, near = ("removed", second) if other is None else ("added", first)
    if str(given.get("value")) != _DEFAULTS[name]:
        place = SideValue("", near.fact.path, near.fact.span) if change == "removed" else None
        yield of_one(part, change, name, "", _side(given), near=place)
    elif change == "removed":  # said explicitly what is the default anyway
        side = SideValue(_DEFAULTS[name], near.fact.path, near.fact.span)
        yield of_both(part, True, name, "", _side(given), side)


def _beside_plain(
    started_processes: StartedProcesses | None, other: StartedProcesses | None, first: Launch, second: Launch
) -> Iterator[Difference]:
    """A start by a launcher for several processes against one without: the script may start processes by itself."""
    several, plain = (started_processes, second) if started_processes is not None else (other, first)
    if several is None or several.count == 1 or not _is_plain(plain):
        return
    alone = SideValue("1", plain.fact.path, plain.fact.span)
    sides = (several.side, alone) if started_processes is not None else (alone, several.side)
    yield of_both("ranks", False, "processes", "", *sides, certain=False)


def _is_plain(launch: Launch) -> bool:
    """Whether a start is one of a script alone, without a loop and without options for devices."""
    fact = launch.fact
    if fact.launcher or fact.loop or fact.record.rounds > 1 or fact.size.isdigit():
        return False
    return not any(_OF_DEVICES.search(name) for name in launch.options)


def _side(fact: Fact) -> SideValue:
    return SideValue(str(fact.get("value")), fact.path, fact.span)


def variables(context: Context, launch: Launch) -> dict[str, Fact]:
    """The variables that decide numbers and that the launcher sets to known values; the last value counts."""
    parts = parts_by_name("variable")
    files = [file for file in context.project.files if file.path == launch.fact.path]
    by_name: dict[str, Fact] = {}
    for fact in (fact for file in files for fact in file.facts):
        if fact.kind == "environment" and fact.name in parts and isinstance(fact.get("value"), str):
            by_name[fact.name] = fact
    return by_name


def processes(launch: Launch, configs: Configs | None = None) -> StartedProcesses | None:
    """The number of processes of a start; None if it is not known, as without a launcher for several."""
    fact = launch.fact
    if fact.size.isdigit():
        return StartedProcesses(int(fact.size), SideValue(fact.size, fact.path, fact.span))
    counts = {
        name: side_value
        for name in (*_OF_MACHINE, *_MACHINES)
        if (side_value := _option(fact, name, configs)) is not None
    }
    name = next((name for name in _OF_MACHINE if name in counts), "")
    machines = next((counts[name] for name in _MACHINES if name in counts), None)
    if not name or (machines is not None and not machines.text.isdigit()) or not counts[name].text.isdigit():
        return None
    own = counts[name]
    several = machines is not None and name not in _OF_ALL
    count = int(own.text) * (int(machines.text) if machines is not None and several else 1)
    shown = f"{machines.text} × {own.text}" if machines is not None and several and machines.text != "1" else own.text
    return StartedProcesses(count, own.shown_as(shown))


def _option(fact: LaunchFact, name: str, configs: Configs | None) -> SideValue | None:
    """An option of the launcher, or an entry of the file that configures it; None if there is none."""
    record = fact.record
    text = record.launcher_options.get(name)
    if name in record.launcher_options:
        return SideValue(text or "?", fact.path, record.launcher_places.get(name, fact.span))
    named = record.launcher_options.get("config_file")
    for file in configs.program() if configs is not None and named else ():
        for leaf in file.values:
            if leaf.name == name and file.path.endswith(str(named).lstrip("./")):
                return SideValue(str(leaf.value), leaf.path, leaf.span)
    return None
