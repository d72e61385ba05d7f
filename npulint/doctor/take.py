"""Takes the snapshot of a machine."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import msgspec

from npulint.doctor import host, installed, ranks
from npulint.doctor.devices import nodes, npu_smi
from npulint.doctor.machine import Machine
from npulint.doctor.python import operator, python
from npulint.runs.read.machine.snapshot import FORMAT, Device, Snapshot


def take(machine: Machine, interpreter: str = "", deep: float | None = None, lang: str = "en") -> Snapshot:
    """Everything that can be found out about a machine; with `deep`, a number of seconds, also whether an operator
    runs. Raises `NpulintError` for an interpreter that does not run."""
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(npu_smi, machine)  # it takes longer than all other probes
        boards, chip = installed.boards(machine)
        network = host.network(machine)
        snapshot = Snapshot(
            npulint_machine=FORMAT,
            host=host.host(machine),
            boards=boards,
            driver=installed.driver(machine),
            firmware=installed.firmware(machine),
            toolkits=installed.toolkits(machine),
            nodes=nodes(machine),
            environment=host.environment(machine),
            missing_paths=host.missing_paths(machine),
            driver_libraries=installed.driver_libraries(machine),
            nnal=installed.nnal(machine),
            network=network,
            disks=host.disks(machine),
            rank_table=ranks.rank_table(machine, set(network.addresses or ())),
            python=python(machine, interpreter, lang),
            operator=None if deep is None else operator(machine, interpreter, deep),
        )
        tool, devices = asked.result()
    return msgspec.structs.replace(snapshot, tool=tool, devices=devices, chip=_chip(devices or [], chip))


def _chip(devices: list[Device], board: str) -> str:
    """The chip: as npu-smi names it, except on the third generation, which it calls Ascend910 like the first."""
    named = next((device.name for device in devices if device.name), "")
    if named not in ("", "Ascend910"):
        return named
    return board or ("910C" if any(device.chip for device in devices) else "")
