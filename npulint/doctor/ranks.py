"""The probe of the rank table, in its versions 1.0 and 1.2 (server_list)."""

from __future__ import annotations

import json
import os
from typing import Any

from npulint.doctor.host import name_of
from npulint.doctor.machine import Machine
from npulint.runs.read.machine.snapshot import RankTable


def rank_table(machine: Machine, own: set[str]) -> RankTable | None:
    """The file that RANK_TABLE_FILE names; `own` are the addresses of the machine."""
    path = machine.environ.get("RANK_TABLE_FILE", "")
    if not path:
        return None
    text = machine.read(path if path.startswith("/") else os.path.abspath(path))
    if text is None:
        return RankTable(path=path, problem="unreadable" if machine.exists(path) else "missing")
    try:
        table = json.loads(text)
        servers = _servers(table)
    except (ValueError, TypeError, AttributeError, KeyError, RecursionError):
        return RankTable(path=path, problem="invalid")
    names = [str(server.get("server_id", "")) for server in servers]
    mine = {*own, name_of(machine)}
    here = [server for server in servers if str(server.get("server_id")) in mine] or (
        servers if len(servers) == 1 else []
    )
    return RankTable(
        path=path,
        status=str(table.get("status", "")),
        servers=names,
        ranks=[int(device["rank_id"]) for server in servers for device in server.get("device", ())],
        devices=[int(device["device_id"]) for one in here for device in one.get("device", ())],
    )


def _servers(table: Any) -> list[dict[str, Any]]:
    """The servers of a table, whose devices have ids. Raises one of the errors of wrong shapes."""
    servers: list[dict[str, Any]] = list(table.get("server_list") or ())
    for server in servers:
        for device in server.get("device", ()):
            int(device["rank_id"])
            int(device["device_id"])
    return servers
