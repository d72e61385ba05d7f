"""Changes modules as soon as a program imports them."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

Change = Callable[[ModuleType], None]


def when_imported(changes: dict[str, Change]) -> None:
    """Apply the change of each named module after it was imported; at once for those that are."""
    left = dict(changes)
    for name in [name for name in left if name in sys.modules]:
        left.pop(name)(sys.modules[name])
    sys.meta_path.insert(0, _Finder(left))


class _Finder(MetaPathFinder):
    def __init__(self, changes: dict[str, Change]) -> None:
        self._changes = changes

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        change = self._changes.pop(fullname, None)
        if change is None:
            return None
        spec = importlib.util.find_spec(fullname)
        if spec is not None and spec.loader is not None:
            spec.loader = _Changing(spec.loader, change)
        return spec


class _Changing(Loader):
    """The loader of a module, with a change at its end."""

    def __init__(self, loader: Any, change: Change) -> None:
        self._loader = loader
        self._change = change

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        made: ModuleType | None = self._loader.create_module(spec)
        return made

    def exec_module(self, module: ModuleType) -> None:
        self._loader.exec_module(module)
        self._change(module)
