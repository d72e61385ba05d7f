"""Facts about the network of a machine, and about the rank table."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from npulint.facts.model import Fact
from npulint.runs.read.machine.facts import MachinePort, MachineRankTable, MachineVariable
from npulint.runs.read.machine.places import Places
from npulint.runs.read.machine.snapshot import Network, RankTable, Snapshot

NONE = "-"
_PORTS = 16  # that HCCL uses from its first one on
_FIRST_PORT = 60000
_VISIBLE = "ASCEND_RT_VISIBLE_DEVICES"
_Problem = Literal["none", "no-interface", "other-address", "no-device", "loopback", "no-folder"]


def network(snapshot: Snapshot, places: Places) -> Iterator[Fact]:
    """Variables that name what the machine may not have, and ports in use."""
    environment, found = snapshot.environment or {}, snapshot.network or Network()
    problems = {
        "HCCL_SOCKET_IFNAME": _interface(environment.get("HCCL_SOCKET_IFNAME", ""), found),
        "HCCL_IF_IP": _address(environment.get("HCCL_IF_IP", ""), found),
        "MASTER_ADDR": _master(environment, snapshot, found),
        _VISIBLE: _visible(environment.get(_VISIBLE, ""), snapshot),
    }
    for name, (problem, has, lacking) in problems.items():
        if name in environment:
            yield _variable(name, environment[name], problem, has, lacking, places)
    for name, missing in snapshot.missing_paths.items():
        if name != "ASCEND_HOME_PATH":
            yield _variable(name, environment.get(name, ""), "no-folder", NONE, missing[0], places)
    yield from _ports(environment, found, places)


def _variable(name: str, value: str, problem: _Problem, has: str, lacking: str, places: Places) -> MachineVariable:
    span = places.at("environment", name)
    return MachineVariable(
        name, places.path, span, value=value, problem=problem, has=has or NONE, lacking=lacking or NONE
    )


def _interface(value: str, found: Network) -> tuple[_Problem, str, str]:
    """HCCL takes prefixes: ``eth``, ``^eth`` (all others), ``=eth0`` (exactly), several with commas."""
    has = found.interfaces
    wanted = [part.strip() for part in value.lstrip("^=").split(",") if part.strip()]
    if has is None or not wanted or value.startswith("^"):
        return "none", "", ""
    exact = value.startswith("=")
    if any(one == part or (not exact and one.startswith(part)) for part in wanted for one in has):
        return "none", "", ""
    return "no-interface", ", ".join(has), value


def _address(value: str, found: Network) -> tuple[_Problem, str, str]:
    if found.addresses is None or not value or value in found.addresses:
        return "none", "", ""
    return "other-address", ", ".join(found.addresses), value


def _master(environment: dict[str, str], snapshot: Snapshot, found: Network) -> tuple[_Problem, str, str]:
    """The name of the machine itself must not lead to a loopback address when other machines use it."""
    value = environment.get("MASTER_ADDR", "")
    own = snapshot.host.name if snapshot.host else ""
    several = environment.get("NNODES", environment.get("PET_NNODES", "1")) not in ("", "1")
    loopback = [one for one in found.own_name_at if one.startswith("127.") or one == "::1"]
    if several and value and value == own and loopback:
        return "loopback", ", ".join(found.own_name_at), loopback[0]
    return "none", "", ""


def _visible(value: str, snapshot: Snapshot) -> tuple[_Problem, str, str]:
    ids = [int(part) for part in re.findall(r"\d+", value)]
    if not snapshot.devices or not ids:
        return "none", "", ""
    has = {device.id for device in snapshot.devices}
    beyond = [one for one in ids if one not in has and one >= len(has)]
    if beyond:
        return "no-device", ", ".join(map(str, sorted(has))), ", ".join(map(str, beyond))
    return "none", "", ""


def _ports(environment: dict[str, str], found: Network, places: Places) -> Iterator[Fact]:
    if found.listening is None:
        return
    base = environment.get("HCCL_IF_BASE_PORT", "")
    first = int(base) if base.isdigit() else _FIRST_PORT
    master = environment.get("MASTER_PORT", "")
    for port in found.listening:
        purpose: Literal["hccl", "master"] | None = None
        if first <= port < first + _PORTS:
            purpose = "hccl"
        elif str(port) == master:
            purpose = "master"
        if purpose is not None:
            yield MachinePort(str(port), places.path, places.at("network", "listening"), purpose=purpose)


def rank_table(snapshot: Snapshot, places: Places) -> Iterator[Fact]:
    """The rank table, with its first problem."""
    one = snapshot.rank_table
    if one is not None:
        problem, detail = _problem(one, snapshot)
        yield MachineRankTable(one.path, places.path, places.at("rank_table"), problem=problem, detail=detail or NONE)


_TableProblem = Literal["none", "missing", "unreadable", "invalid", "ranks", "server", "devices", "unfinished"]


def _problem(one: RankTable, snapshot: Snapshot) -> tuple[_TableProblem, str]:
    if one.problem in ("missing", "unreadable"):
        return ("missing" if one.problem == "missing" else "unreadable"), one.path
    if one.status and one.status != "completed":
        return "unfinished", one.status
    if one.problem or not one.ranks:
        return "invalid", one.path
    if sorted(one.ranks) != list(range(len(one.ranks))):
        twice = sorted({rank for rank in one.ranks if one.ranks.count(rank) > 1})
        lacking = sorted(set(range(len(one.ranks))) - set(one.ranks))
        return "ranks", ", ".join(map(str, twice or lacking))
    addresses = snapshot.network.addresses if snapshot.network else None
    own = {*(addresses or ()), snapshot.host.name if snapshot.host else ""}
    if addresses and one.servers and not own & set(one.servers):
        return "server", ", ".join(one.servers)
    has = {device.id for device in snapshot.devices or ()}
    beyond = sorted({device for device in one.devices if device not in has})
    if has and beyond:
        return "devices", ", ".join(map(str, beyond))
    return "none", ""
