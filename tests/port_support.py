"""Plans of ports for the files of a test."""

from __future__ import annotations

from pathlib import Path

from npulint.commands.port.model import PortPlan
from npulint.commands.port.plan import plan_port
from npulint.judge.settings import Settings


def planned(folder: Path, files: dict[str, str], style: str = "npu") -> PortPlan:
    """The plan for a project of these files, which are written to `folder`."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return plan_port(Settings(paths=(str(folder),), cache=False), style, ())


def texts(plan: PortPlan) -> dict[str, str]:
    """What files contain after a port, by their names without folders."""
    return {one.path.rpartition("/")[2]: one.after.decode() for one in plan.files}
