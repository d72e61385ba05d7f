"""Classes and functions that configuration files name: ``_target_: models.unet.UNet``."""

from __future__ import annotations

from npulint.model.code.module import Module
from npulint.model.values.context import Context, once
from npulint.read.configuration import KIND, ConfigLeaf

_KEYS = frozenset(("target", "_target_", "class_path"))
_MOST = 2000  # names in the configurations of a project


def modules_of_configurations(context: Context, importer: Module) -> list[Module]:
    """The modules of the project whose classes or functions its configuration files name, as found by a module that
    imports by names that it is given."""
    modules = (context.project.find(name.rpartition(".")[0], importer) for name in _named(context))
    return list({module.path: module for module in modules if module is not None}.values())


@once
def _named(context: Context) -> tuple[str, ...]:
    """The dotted names that configuration files give to keys for classes."""
    values: dict[str, None] = {}
    for file in context.project.files:
        for fact in file.facts if file.kind == KIND else ():
            if isinstance(fact, ConfigLeaf) and fact.key[-1] in _KEYS and isinstance(fact.value, str):
                values[fact.value] = None
    return tuple(values)[:_MOST]
