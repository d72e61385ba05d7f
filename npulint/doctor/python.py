"""Probes of the Python interpreter: its packages by their metadata; nothing is imported.

An interpreter of the user starts in a neutral folder (`npulint.doctor.machine.run_command`), but not with ``-I``: that
would hide packages that were installed for the user alone, and those of CANN, which are on PYTHONPATH."""

from __future__ import annotations

import json
import os
import re
import sys

from npulint.core.errors import NpulintError
from npulint.core.processes import own_interpreter
from npulint.core.texts import say
from npulint.doctor.machine import Machine
from npulint.runs.read.machine.snapshot import Operator, Python

_LIMIT = 10.0
_METADATA = re.compile(r"(.+?)-([^-]+)(?:-py[\d.]+)?\.(?:dist|egg)-info")
_ASK = "import json,sys;print(json.dumps([sys.version.split()[0],sys.path]))"
_ADD = (
    "import torch,torch_npu;torch.npu.set_device(0);"
    "print('sum',float((torch.ones(8).npu()+torch.ones(8).npu()).sum().cpu()))"
)
_SUM = "sum 16.0"
_SHOWN = 300


def python(machine: Machine, interpreter: str = "", lang: str = "en") -> Python:
    """The interpreter and its packages; without `interpreter` the one that runs npulint. Raises `NpulintError`."""
    version, folders, path = sys.version.split()[0], sys.path, own_interpreter()
    if interpreter:
        ran = machine.run([interpreter, "-c", _ASK], _LIMIT)
        try:
            version, folders = json.loads((ran.output if ran else "").strip().splitlines()[-1])
        except (ValueError, IndexError):
            raise NpulintError(say(lang, "doctor.interpreter", path=interpreter)) from None
        path = interpreter
    return Python(version=version, path=path, packages=packages(folders))


def packages(folders: list[str]) -> dict[str, str]:
    """The installed packages in folders, by the names of their metadata; the first of a name counts, as in imports."""
    found: dict[str, str] = {}
    for folder in filter(os.path.isabs, folders):
        try:
            names = sorted(os.listdir(folder))
        except OSError:
            continue
        for name in names:
            match = _METADATA.fullmatch(name)
            if match:
                found.setdefault(re.sub(r"[-_.]+", "-", match.group(1)).lower(), match.group(2))
    return dict(sorted(found.items()))


def operator(machine: Machine, interpreter: str, limit: float) -> Operator:
    """Add two tensors on the first device, in a process of its own."""
    ran = machine.run([interpreter or own_interpreter(), "-c", _ADD], limit)
    if ran is None:
        return Operator(state="failed", message=interpreter)
    if ran.code is None:
        return Operator(state="timeout", message=f"{limit:g} s")
    if ran.code == 0 and _SUM in ran.output:
        return Operator(state="ok")
    lines = [line.strip() for line in ran.output.splitlines() if line.strip()]
    named = [line for line in lines if re.match(r"[\w.]*(?:Error|Exception)\b", line)]
    return Operator(state="failed", message=(named or lines or [f"exit code {ran.code}"])[-1][:_SHOWN])
