"""Writes the JSON schemas of the configuration, as SchemaStore takes them.

    python -m scripts.config_schema

A test holds the files against the table of options.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from npulint.commands.settings.config_schema import pyproject, schema

FOLDER = Path(__file__).parent.parent / "schemas"


def documents() -> dict[str, dict[str, Any]]:
    """The schemas by file name."""
    return {"npulint.json": schema(), "partial-npulint.json": pyproject()}


def written(document: dict[str, Any]) -> str:
    """A schema as text."""
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, document in documents().items():
        (FOLDER / name).write_text(written(document), encoding="utf-8")
