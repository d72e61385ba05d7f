"""Weights that cannot be downloaded: a model keeps the ones it was made with."""

from __future__ import annotations

import functools
from collections import OrderedDict
from types import ModuleType
from typing import Any

import torch

from npulint.fakes.torch.synthetic.absent import is_absent
from npulint.fakes.torch.synthetic.said import say


class Unloaded(OrderedDict):  # type: ignore[type-arg]
    """Stands for weights that are missing: loading it changes nothing."""


def install() -> None:
    """Let modules take missing weights, and ``torch.hub`` give them."""
    module: Any = torch.nn.Module
    load = module.load_state_dict

    @functools.wraps(load)
    def load_state_dict(self: Any, state_dict: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(state_dict, Unloaded):
            return torch.nn.modules.module._IncompatibleKeys([], [])
        return load(self, state_dict, *args, **kwargs)

    module.load_state_dict = load_state_dict
    hub: Any = torch.hub
    hub.load_state_dict_from_url = _or_unloaded(hub.load_state_dict_from_url)


def _or_unloaded(download: Any) -> Any:
    @functools.wraps(download)
    def downloaded(*args: Any, **kwargs: Any) -> Any:
        try:
            return download(*args, **kwargs)
        except Exception as error:
            if not is_absent(error):
                raise
            name = str(args[0] if args else kwargs.get("url", "")).rpartition("/")[2]
            say(f"weights {name}: random")
            return Unloaded()

    return downloaded


def change(module: ModuleType) -> None:
    """The same for torchvision and timm, which have names of their own for it."""
    if module.__name__ == "timm":
        create: Any = vars(module)["create_model"]

        @functools.wraps(create)
        def create_model(name: str, pretrained: bool = False, *args: Any, **kwargs: Any) -> Any:
            if pretrained:
                say(f"weights of timm {name}: random")
            return create(name, False, *args, **kwargs)

        vars(module)["create_model"] = create_model
        return
    names = vars(module)
    enumeration: Any = names.get("WeightsEnum") or names["_api"].WeightsEnum
    enumeration.get_state_dict = _of_weights(enumeration.get_state_dict)


def _of_weights(download: Any) -> Any:
    @functools.wraps(download)
    def downloaded(self: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return download(self, *args, **kwargs)
        except Exception as error:
            if not is_absent(error):
                raise
            say(f"weights {self}: random")
            return Unloaded()

    return downloaded
