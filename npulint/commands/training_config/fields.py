"""Settings that are fields of data classes: ``rate: float = 5e-4``, ``size: int = field(default=224)``."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from npulint.commands.training_config.passed import argument_part, passed_value
from npulint.commands.training_config.steps.literals import is_literal
from npulint.commands.training_config.tracer import Tracer
from npulint.core.lazy_regex import lazy_compile
from npulint.facts.recipe import ProvenanceStep, TrainingSetting
from npulint.model.values.cursors import AssignmentSite, Expr, Scope

_DATA_CLASS = lazy_compile(r"(?:^|\.)(?:dataclass|configclass|attrs|define|s)$")
_MODEL_CLASS = lazy_compile(r"(?:^|\.)(?:BaseModel|BaseSettings|TrainingArguments)$")
_MAKING = frozenset(("field", "Field", "attrib", "ib"))


def is_field(bind: AssignmentSite) -> bool:
    """Whether an assignment is a field of a data class."""
    owner = bind.scope
    if owner.kind != "class" or "." in bind.target:
        return False
    decorated = any(_DATA_CLASS.search(_named(decorator)) for decorator in owner.decorators)
    return decorated or any(_MODEL_CLASS.search(getattr(base, "name", "")) for base in owner.record.bases)


def field_settings(tracer: Tracer, module: Scope) -> Iterator[TrainingSetting]:
    """The fields of a module's data classes that affect numbers: with the value that the launcher passes for an option
    of that name, else that of the instances which the start makes, else their default."""
    for bind in module.assignments:
        part = argument_part(bind.target) if is_field(bind) else ""
        default = field_default(bind.value) if part else None
        if default is None:
            continue
        given = passed_value(tracer, bind.target) or tracer.field(bind)
        here = ProvenanceStep(module.path, bind.span, bind.target)
        if given is not None:
            place = given.provenance[0] if given.provenance else here
            yield TrainingSetting(part, bind.target, place.path, place.span, given)
            continue
        traced = tracer.trace(default, bind.span, bind.target)
        if traced.known and (is_literal(default.value) or default.written or traced.value is None):
            traced = msgspec.structs.replace(traced, provenance=(here,))  # not where a member is defined
            yield TrainingSetting(part, bind.target, module.path, bind.span, traced)


def field_default(value: Expr) -> Expr | None:
    """The default of a field: the value itself, or what ``field(default=...)`` or a factory gives; None if it has none
    or makes an object."""
    site = value.call
    if site is None:
        return value
    if site.last not in _MAKING:
        return None
    given = {key: site.expr(inner) for key, inner in site.record.keywords}
    if "default" in given:
        return given["default"]
    if site.args:
        return site.args[0]
    factory = given.get("default_factory")
    function = factory.function if factory is not None else None
    returned = function.returns if function is not None else ()
    return returned[0] if len(returned) == 1 else None


def _named(decorator: Expr) -> str:
    return decorator.call.callee.written if decorator.call is not None else decorator.written
