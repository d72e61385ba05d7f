"""Settings that a launcher passes to a parser that is not in the project: ``--bf16 True`` of `TrainingArguments`."""

from __future__ import annotations

from collections.abc import Container, Iterator

from npulint.commands.training_config.provenance.launch_values import dashed
from npulint.commands.training_config.provenance.plain import show
from npulint.commands.training_config.setting_parts import setting_part
from npulint.commands.training_config.tracer import Tracer
from npulint.data.compare_parts import known_arguments
from npulint.facts.recipe import ProvenanceStep, Traced, TrainingSetting
from npulint.model.launches.project_launches import Launch
from npulint.model.values.cursors import scope_at
from npulint.read.configuration import typed

_WORDS = {"true": True, "false": False}


def passed_settings(tracer: Tracer, but: Container[str]) -> Iterator[TrainingSetting]:
    """The options of the command line that no module of the program defines, except some names, with their values."""
    launch = tracer.start.launch
    defined = _defined(tracer)
    passed = launch.options if launch is not None else {}
    if launch is None:
        launch = _alike(tracer)
        passed = {name: text for name, text in launch.options.items() if _is_common(name)} if launch else {}
    for name in passed:
        part = argument_part(name)
        traced = _value(launch, name) if launch and part and name not in defined and name not in but else None
        if traced is not None and launch is not None:
            place = launch.fact.record.places.get(name, launch.fact.span)
            yield TrainingSetting(part, dashed(name), launch.fact.path, place, traced)
    yield from _set_defaults(tracer, {*defined, *passed})


def _alike(tracer: Tracer) -> Launch | None:
    """The start of another script that parses its command line in a module of this program: it shows how such a script
    is started."""
    start, project = tracer.start, tracer.context.project
    common = [path for path in sorted(start.modules) if path != start.entry and _parses(tracer, path)]
    by_entry = tracer.context.options.passed.launches.by_entry
    for path in common:
        for entry in sorted(project.users.get(path, ())):
            if entry != start.entry and by_entry.get(entry):
                return by_entry[entry][0]
    return None


def _parses(tracer: Tracer, path: str) -> bool:
    module = scope_at(tracer.context, tracer.context.project.modules[path], 0)
    return any(True for _ in module.calls_named("parse_args", "parse_known_args"))


def _is_common(name: str) -> bool:
    """Whether scripts that are started alike share an argument: it is about precision, not about one of them."""
    return argument_part(name) in ("precision_mode", "autocast")


def _defined(tracer: Tracer) -> set[str]:
    """The option strings that the modules of the program define."""
    by_module = tracer.context.options.by_module
    options = (option for path in tracer.start.modules for same in by_module.get(path, {}).values() for option in same)
    return {flag for option in options for flag in option.flags}


def _set_defaults(tracer: Tracer, but: Container[str]) -> Iterator[TrainingSetting]:
    """The defaults that the program gives to such options: ``parser.set_defaults(precision=16)``."""
    context = tracer.context
    for path in sorted(tracer.start.modules):
        for site in scope_at(context, context.project.modules[path], 0).calls_named("set_defaults"):
            for name, value in site.record.keywords:
                part = argument_part(name) if name not in but else ""
                traced = tracer.trace(site.expr(value), site.span, name) if part else Traced()
                if traced.known:
                    yield TrainingSetting(part, dashed(name), path, site.span, traced)


def passed_value(tracer: Tracer, name: str) -> Traced | None:
    """The value that the launcher passes for an option of this name; None if it passes none."""
    launch = tracer.start.launch
    return None if launch is None or name not in launch.options else _value(launch, name)


def _value(launch: Launch, name: str) -> Traced:
    text, place = launch.options[name], launch.fact.record.places.get(name, launch.fact.span)
    alone = name in launch.fact.record.flags
    if text is None and not alone:
        return Traced()
    value = True if alone or text is None else _WORDS.get(text.lower(), typed(text))
    step = ProvenanceStep(launch.fact.path, place, dashed(name) if alone else f"{dashed(name)} {text}")
    return Traced(True, value, show(value), (step,))


def argument_part(name: str) -> str:
    """The part of an argument of a training framework; empty if it does not affect numbers."""
    known_argument = known_arguments().get(name)
    return known_argument.part if known_argument is not None else setting_part(name.rpartition(".")[2])
