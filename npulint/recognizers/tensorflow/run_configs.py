"""Arguments of NPURunConfig and of the objects passed to it: ``DumpConfig(enable_dump=True)``."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Literal

from npulint.data.options import arguments, option
from npulint.facts.attributes import attribute
from npulint.facts.kinds import fact_kind
from npulint.facts.model import Span
from npulint.facts.values import NOTHING, PossibleValues
from npulint.model.programs.adapter_settings import AdapterSetting
from npulint.model.running.situations import ANY
from npulint.model.values.context import Context, once
from npulint.model.values.cursors import CallSite, Expr, module_scopes
from npulint.recognizers.registry import recognizes
from npulint.recognizers.tensorflow.protos import place_of

_MAIN = "NPURunConfig"
_HOLDERS = (
    _MAIN,
    "DumpConfig",
    "ProfilingConfig",
    "MemoryConfig",
    "DynamicInputConfig",
    "ExperimentalConfig",
    "GraphMemoryOptimizeConfig",
)


@fact_kind("setting")
class RunConfigOption(AdapterSetting, kw_only=True):
    """An argument of NPURunConfig, or of the class of an object passed to it, whose name precedes the option
    (``DumpConfig.dump_path``)."""

    via: Literal["run_config"] = "run_config"
    field: str = ""
    """Empty: only session keys have one. Assigned settings do not have this attribute."""
    entry: str
    """The place of the NPURunConfig; if none is found, that of the object."""
    _starred: bool

    @property
    def is_incomplete(self) -> bool:
        """See `AdapterSetting.is_incomplete`."""
        return self._starred

    @attribute
    def value(self) -> PossibleValues:
        """Its value; for an object, the class name of its constructor."""
        return _made_by(self._expr) if self._is_object else self._expr.known

    @cached_property
    def _is_object(self) -> bool:
        adapter_option = option(self.name)
        use = None if adapter_option is None else adapter_option.uses.get("run_config")
        return use is not None and use.name == self.name and use.type == "object"


@recognizes(matching=lambda name: name.startswith("npu_bridge.") and name.rpartition(".")[2] in _HOLDERS)
def run_config_options(call: CallSite) -> Iterator[RunConfigOption]:
    """The settings of a call of NPURunConfig, or of the class of an object for it."""
    holder = call.name.rpartition(".")[2]
    prefix = "" if holder == _MAIN else f"{holder}."
    entry, starred = _run_config_of(call), call.starred
    for name, value, span in keyword_arguments(call):
        yield RunConfigOption(call.scope, span, prefix + name, value, entry=entry, _starred=starred)
    for name, value in call.spread:
        spread = RunConfigOption(call.scope, call.span, prefix + name, value, ANY, True, entry=entry, _starred=starred)
        yield spread
    names = arguments(prefix.rstrip("."))
    for position, value in enumerate(call.args):
        if value.operator == "star":
            break
        if position in names:
            name = prefix + names[position]
            yield RunConfigOption(call.scope, call.span, name, value, entry=entry, _starred=starred)


def keyword_arguments(call: CallSite) -> list[tuple[str, Expr, Span]]:
    """The names, values and places of the keyword arguments of a call."""
    spans = call.record.keyword_spans
    return [
        (name, call.expr(value), Span(*spans[number]) if number < len(spans) and spans[number] else call.span)
        for number, (name, value) in enumerate(call.record.keywords)
        if name != "**"
    ]


def _made_by(value: Expr) -> PossibleValues:
    """The last name segments of the constructors that an argument may come from; None if it is None."""
    values = value.known
    if values.values:
        return values
    names = [call.name for call in value.sites]
    if not names or any(":" in name for name in names):
        return NOTHING
    return PossibleValues(tuple(dict.fromkeys(name.rpartition(".")[2] for name in names)), True)


def _run_config_of(call: CallSite) -> str:
    """The place of the NPURunConfig that gets an object; the object's own place if none does."""
    place = place_of(call)
    return _takers(call.context).get(place, place)


@once
def _takers(context: Context) -> dict[str, str]:
    """From the place of each object to that of the NPURunConfig that gets it."""
    direct: dict[str, str] = {}
    for module in module_scopes(context):
        for call in module.calls_named(_MAIN, "ExperimentalConfig"):
            objects = [value for name, value in call.keywords.items() if name.endswith("_config")]
            for maker in (maker for value in objects for maker in value.sites):
                direct.setdefault(place_of(maker), place_of(call))
    return {place: direct.get(taker, taker) for place, taker in direct.items()}
