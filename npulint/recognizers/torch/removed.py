"""Interfaces that PyTorch no longer has in the releases that torch_npu exists for."""

from __future__ import annotations

import re
from collections.abc import Iterator

from npulint.core.lazy_regex import lazy_compile
from npulint.data.torch_removed import Removed, removed_interfaces
from npulint.facts.attributes import Flag, attribute, flag
from npulint.facts.kinds import fact_kind
from npulint.facts.model import Span
from npulint.model.running.code_facts import PlaceFact
from npulint.model.running.conditions import words_around
from npulint.model.values.context import Context, once, once_per_file
from npulint.model.values.cursors import CallSite, Scope, module_scopes
from npulint.recognizers.registry import recognizes, recognizes_in_modules

_VERSION = lazy_compile(r"version|hasattr|torch_?\d|(?:^|[._])(?:major|minor)(?:$|_)", re.IGNORECASE)
"""What a condition about the release of PyTorch names."""
_EARLY = ((1, 8), (1, 11))
"""The releases before 2.0 that torch_npu exists for."""
_LATER = (2, 0)


@fact_kind("removed_interface")
class RemovedInterface(PlaceFact):
    """A function of PyTorch is called, or a module or member imported, that later releases no longer have, or refuse
    without another argument; not where the code tests the release or tries first. The name is its canonical name."""

    _removed: Removed

    @attribute
    def gone(self) -> Flag:
        """Whether the release of PyTorch on the NPU lacks it: that of the project, or a later one if torch_npu does not
        exist for it or it is not known."""
        release = self.scope.context.torch_release
        if release is None or (release < _LATER and release not in _EARLY):
            return "yes"
        return flag(release >= tuple(map(int, self._removed.gone.split("."))))

    @attribute
    def since(self) -> str:
        """The first release with torch_npu that surely lacks it."""
        return self._removed.gone

    @attribute
    def without(self) -> str:
        """The argument whose absence is an error since then, or `-` where the interface is gone."""
        return self._removed.argument.partition("|")[0] or "-"

    @attribute
    def instead(self) -> str:
        """What to write instead."""
        return self._removed.instead


@recognizes(matching=lambda name: name in removed_interfaces())
def called(call: CallSite) -> list[RemovedInterface]:
    """Calls of removed functions."""
    name = call.name
    removed = removed_interfaces()[name]
    if _is_tried(call.scope) or name in _given(call.context) or _passes(call, removed.argument):
        return []
    return [RemovedInterface(call.scope, call.span, name, removed)]


def _passes(call: CallSite, argument: str) -> bool:
    """Whether a call may pass the argument (``name|position``) that releases ask for."""
    name, _, position = argument.partition("|")
    return name != "" and (call.starred or call.argument(name, int(position)) is not None)


@recognizes_in_modules
def imported(module: Scope) -> Iterator[RemovedInterface]:
    """Imports of removed modules, and of removed members of modules."""
    table = removed_interfaces()
    for record in module.module.code.imports:
        if record.level or not record.module.startswith("torch."):
            continue
        member = f"{record.module}.{record.name}"
        name = next(
            (candidate for candidate in (record.module, member) if candidate in table and candidate != "torch.fft"), ""
        )
        if name and not _is_tried(module.at(record.block)):
            yield RemovedInterface(module.at(record.block), Span.of(record), name, table[name])


def _is_tried(scope: Scope) -> bool:
    """Whether the code handles several releases: it tries, its condition is about the release, or its file asks for the
    release of PyTorch or for the presence of names."""
    if any(around.kind in ("try", "except") for around in scope.ancestors):
        return True
    return any(map(_VERSION.search, words_around(scope))) or _asks(scope)


@once_per_file
def _asks(module: Scope) -> bool:
    if any(name_use.name.endswith("torch.__version__") for name_use in module.module.code.name_uses):
        return True
    return any(call.args[0].name == "torch" for call in module.calls_named("hasattr", "getattr") if call.args)


@once
def _given(context: Context) -> set[str]:
    """The removed interfaces that the project gives back by an assignment (``torch.rfft = …``)."""
    table = removed_interfaces()
    return {name for module in module_scopes(context) for name in module.module.dotted if name in table}
