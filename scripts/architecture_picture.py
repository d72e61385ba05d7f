"""Draws the rooms of the package into ARCHITECTURE.md, as the import contracts in pyproject.toml say them.

    python -m scripts.architecture_picture

A room points to the rooms of the next floor below that it may ask; rooms of one floor stand side by side."""

from __future__ import annotations

import sys
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "ARCHITECTURE.md"
_BEGIN, _END = "<!-- picture -->\n", "<!-- /picture -->"


def floors() -> list[list[str]]:
    """The rooms of each floor, from the front door down to the ground."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    layers: list[str] = next(one["layers"] for one in contracts if one["type"] == "layers")
    return [layer.replace("|", ":").replace(" ", "").split(":") for layer in layers]


def picture() -> str:
    """The Mermaid diagram of the floors."""
    lines = ["```mermaid", "flowchart TD"]
    rooms = [(number, room) for number, floor in enumerate(floors()) for room in floor]
    for number, floor in enumerate(floors()):
        lines += [f'    subgraph floor{number}[" "]', *(f"        {_id(room)}[{room}]" for room in floor), "    end"]
    last = max(number for number, _ in rooms)
    lines += [f"    floor{number} --> floor{number + 1}" for number in range(last)]
    return "\n".join([*lines, "```", ""])


def _id(room: str) -> str:
    return f"room_{room.strip('_')}"


def drawn(page: str) -> str:
    """A page with the picture between its marks."""
    head, _, rest = page.partition(_BEGIN)
    return f"{head}{_BEGIN}{picture()}{_END}{rest.partition(_END)[2]}"


if __name__ == "__main__":
    PAGE.write_text(drawn(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
