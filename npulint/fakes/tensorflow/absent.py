"""What the declared release of TF Adapter does not have, for the fakes."""

from __future__ import annotations

import os
from typing import Any

import msgspec

import npulint.data
from npulint.data.releases import standing

_ABSENT = ("later", "gone")
_FOLDER = os.path.dirname(os.path.abspath(npulint.data.__file__))


def absent_from(adapter: str, cann: str) -> dict[str, Any] | None:
    """The names and options that the declared release does not have; None if no release is declared."""
    if not adapter and not cann:
        return None

    def lacks(since: str, until: str) -> bool:
        found = standing(since, until, adapter, cann)
        return found in _ABSENT or (found == "unknown" and bool(until))

    symbols = {
        module: [name for name, (_, since, until) in names.items() if lacks(since, until)]
        for module, names in _table("npu_symbols.json").items()
    }
    options: dict[str, list[str]] = {}
    for option in _table("adapter_options.json"):
        for mechanism, use in option["uses"].items():
            if lacks(use.get("since", ""), use.get("until", "")):
                options.setdefault(mechanism, []).append(use["name"])
    return {"symbols": {module: names for module, names in symbols.items() if names}, "options": options}


def _table(name: str) -> Any:
    with open(os.path.join(_FOLDER, name), "rb") as file:
        return msgspec.json.decode(file.read())
