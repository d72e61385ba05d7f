"""Settings given to NPURunConfig and to the objects that it takes: ``DumpConfig(enable_dump=True)``."""

from __future__ import annotations

from typing import Any

from npulint.assemble.context import Context
from npulint.assemble.flow import Site
from npulint.assemble.recognizers.tensorflow.protos import site_key
from npulint.data.options import arguments, option
from npulint.facts.code import Const, Op, Value
from npulint.facts.model import Fact, Span
from npulint.facts.values import NOTHING, PossibleValues

_MAIN = "NPURunConfig"
HOLDERS = (
    _MAIN,
    "DumpConfig",
    "ProfilingConfig",
    "MemoryConfig",
    "DynamicInputConfig",
    "ExperimentalConfig",
    "GraphMemoryOptimizeConfig",
)


def run_config_settings(context: Context, site: Site, name: str) -> list[Fact]:
    """What a call of NPURunConfig, or of the class of an object for it, sets. The settings of such an object stand
    on the NPURunConfig that takes it, or on the object where none is seen; they are named after its class."""
    holder = name.rpartition(".")[2]
    if holder not in HOLDERS or not name.startswith("npu_bridge."):
        return []
    module, index = site
    call = module.code.calls[index]
    entry = site_key(site)
    entry = _takers(context).get(entry, entry)
    prefix = "" if holder == _MAIN else f"{holder}."
    attrs = {"via": "run_config", "entry": entry, "starred": _starred(call.args, call.keywords)}
    found = [
        argument_fact(context, site, prefix + key, value, place, **attrs)
        for place, (key, value) in enumerate(call.keywords)
        if key != "**"
    ]
    names = arguments(prefix.rstrip("."))
    for place, value in enumerate(call.args):
        if isinstance(value, Op) and value.op == "star":
            break
        if place in names:
            found.append(argument_fact(context, site, prefix + names[place], value, -1, **attrs))
    return found


def argument_fact(context: Context, site: Site, key: str, value: Value, place: int, **attrs: Any) -> Fact:
    """The setting that keyword number `place` makes (-1: an argument without a keyword), at the place of the keyword
    if that is known. The value of an object is the class that made it."""
    module, index = site
    call = module.code.calls[index]
    written = call.keyword_spans[place] if 0 <= place < len(call.keyword_spans) else None
    span = Span(*(written or (call.line, call.column, call.end_line, call.end_column)))
    known = (lambda: _made_by(context, site, value)) if _is_object(key) else lambda: context.known(module, value, call)
    around = context.around(module, call.block)
    own = {"field": "", "value": known, "key": key.rpartition(".")[2], "literal": _literal(value)}
    return Fact("setting", key, module.path, span, {**own, **attrs}, None, around)


def _literal(value: Value) -> str:
    """Whether the value stands there as it is."""
    return "yes" if isinstance(value, Const) else "no"


def _is_object(key: str) -> bool:
    known = option(key)
    use = None if known is None else known.uses.get("run_config")
    return use is not None and use.name == key and use.type == "object"


def _made_by(context: Context, site: Site, value: Value) -> PossibleValues:
    """The last segments of the names of the calls that an argument may come from; None if it is that."""
    module, index = site
    call = module.code.calls[index]
    known = context.known(module, value, call)
    if known.values:
        return known
    made = [context.names.of_call(home, at) for home, at in context.flow.sites(module, value, call.block, call.line)]
    if not made or any(":" in name for name in made):
        return NOTHING
    return PossibleValues(tuple(dict.fromkeys(name.rpartition(".")[2] for name in made)), True)


def _takers(context: Context) -> dict[str, str]:
    """By the place of each object the NPURunConfig that it comes to."""
    return context.memoize("run config objects", lambda: _taken(context))


def _taken(context: Context) -> dict[str, str]:
    next_ones: dict[str, str] = {}
    for module in context.project.modules.values():
        for index in module.calls_of(_MAIN, "ExperimentalConfig"):
            call = module.code.calls[index]
            for key, value in call.keywords:
                if key.endswith("_config"):
                    for site in context.flow.sites(module, value, call.block, call.line):
                        next_ones.setdefault(site_key(site), site_key((module, index)))
    return {place: next_ones.get(taker, taker) for place, taker in next_ones.items()}


def _starred(values: tuple[Value, ...], keywords: tuple[tuple[str, Value], ...]) -> str:
    """Whether arguments are handed on that cannot be seen."""
    starred = any(isinstance(v, Op) and v.op == "star" for v in values) or any(key == "**" for key, _ in keywords)
    return "yes" if starred else "no"
