"""Puts the made-up data in the place of what is missing."""

from __future__ import annotations

import importlib
from types import ModuleType

from npulint.fakes.torch.synthetic.on_import import Change, when_imported

_CHANGED = {
    "torchvision.datasets": "vision_datasets",
    "torchvision.models": "weights",
    "datasets": "hub_datasets",
    "transformers": "hub_models",
    "timm": "weights",
}


def install() -> None:
    """Let data sets and weights that are missing be made up, from now on."""
    when_imported({name: _change(part) for name, part in _CHANGED.items()})
    for part in ("weights", "files"):
        importlib.import_module(f"npulint.fakes.torch.synthetic.{part}").install()


def _change(part: str) -> Change:
    def change(module: ModuleType) -> None:
        importlib.import_module(f"npulint.fakes.torch.synthetic.{part}").change(module)

    return change
