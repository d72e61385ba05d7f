"""Arguments of training frameworks in code: ``TrainingArguments(tf32=True)``, ``Trainer(accelerator="gpu")``."""

from __future__ import annotations

from collections.abc import Iterator

from npulint.data.training_arguments import UNSET, ArgumentRule, ConfiguringCall, configuring_call, is_known
from npulint.facts.attributes import attribute
from npulint.facts.code import Table
from npulint.facts.kinds import fact_kind
from npulint.facts.model import Fact, Span
from npulint.model.programs.configured.arguments import (
    ArgumentMeaning,
    meanings,
    open_meanings,
    required_versions,
    unknown_release,
)
from npulint.model.programs.configured.settings import Setting
from npulint.model.running.code_facts import CodeFact
from npulint.model.values.cursors import AssignmentSite, CallSite, Expr, Scope, assignment_at
from npulint.recognizers.registry import recognizes, recognizes_in_modules

_FIELD = "dataclasses.field"
_DEEP = 8
_MOST = 400  # arguments of one call


@fact_kind("training_argument")
class WrittenArgument(CodeFact, ArgumentMeaning, dict=True):
    """An argument of a training framework gets a value in code."""

    scope: Scope
    span: Span
    _rule: ArgumentRule
    _setting: Setting

    @attribute
    def guarded(self) -> bool:
        """Whether the value is given under some condition only, or is one of several."""
        return self.active != "yes" or self._setting.guarded


def _configures(name: str) -> bool:
    return configuring_call(name) is not None


@recognizes(matching=_configures)
def training_arguments(call: CallSite) -> Iterator[Fact]:
    """The arguments of a call that mean something on the NPU."""
    configuring = configuring_call(call.name)
    if configuring is not None:
        yield from _facts(call.scope, [*_passed(call, configuring)], configuring.prefix)


@recognizes_in_modules
def default_arguments(module: Scope) -> Iterator[Fact]:
    """The defaults in a dataclass that extends the arguments of a framework:
    ``class Arguments(TrainingArguments): optim: str = field(default="adamw_bnb_8bit")``."""
    for block in range(1, len(module.module.blocks)):
        scope = module.module.blocks[block].kind == "class" and module.at(block)
        for base in scope.bases if scope else ():
            configuring = configuring_call(base.name)
            if scope and configuring is not None:
                yield from _facts(scope, [*_defaults(scope, configuring)], configuring.prefix)
                break


def _facts(scope: Scope, settings: list[Setting], prefix: str) -> Iterator[Fact]:
    """What the arguments of one call mean; those of other calls are not known to be left out."""
    for rule, setting in meanings(settings, required_versions(scope.context)):
        if setting.value != UNSET or prefix.startswith("{") or setting.name.startswith(prefix):
            yield WrittenArgument(scope, setting.span, rule, setting)
    for condition, rule, setting in open_meanings(settings, required_versions(scope.context)):
        yield unknown_release(condition, WrittenArgument(scope, setting.span, rule, setting))


def _passed(call: CallSite, configuring: ConfiguringCall) -> Iterator[Setting]:
    """The keyword arguments of a call, those that are dicts by their entries. Of some calls only the entries of one
    argument are meant: ``deepspeed.initialize(config={"fp16": {"enabled": True}})``."""
    spans = dict(zip([key for key, _ in call.record.keywords], _spans(call), strict=True))
    pairs = [(name, value) for name, value in call.keywords.items() if name != "**"]
    only = configuring.prefix.strip("{}").split("|") if configuring.prefix.startswith("{") else []
    for name, value in [*pairs, *call.spread][:_MOST]:
        span = spans.get(name) or call.span
        prefix = "" if only else f"{configuring.prefix}{name}."
        if not only:
            yield from _setting(configuring.framework, configuring.prefix + name, value, span)
        if not only or name in only:
            for inner, leaf, place, sure in _nested(value, prefix, span, call.scope.module.path):
                yield from _setting(configuring.framework, inner, leaf, place, sure)


def _spans(call: CallSite) -> list[Span]:
    """The place of each keyword argument; that of the call where they are not recorded."""
    recorded = call.record.keyword_spans
    return [Span(*bounds) for bounds in recorded] if recorded else [call.span] * len(call.record.keywords)


def _nested(value: Expr, prefix: str, span: Span, path: str, depth: int = 0) -> Iterator[tuple[str, Expr, Span, bool]]:
    """The leaves of a dict: dotted keys, values, places in the file `path`, and whether it is no other dict."""
    displays = [display for display in (value.displays if depth < _DEEP else ()) if display.is_dict]
    for display in displays:
        recorded = display.value.places if isinstance(display.value, Table) and display.module.path == path else ()
        places = [Span(*bounds) for bounds in recorded] or [span] * len(display.entries)
        for (key, inner), place in zip(display.entries, places, strict=True):
            if key is not None and key.text:
                name, sure = f"{prefix}{key.text}", len(displays) == 1
                if inner.is_dict:
                    for leaf, expr, at, alone in _nested(inner, f"{name}.", place, path, depth + 1):
                        yield leaf, expr, at, sure and alone
                else:
                    yield name, inner, place, sure


def _defaults(scope: Scope, configuring: ConfiguringCall) -> Iterator[Setting]:
    """The fields of a dataclass with their defaults."""
    module = scope.module
    fields = (record for record in module.code.assignments if record.block == scope.block)
    for assignment in (assignment_at(scope.context, module, record) for record in fields):
        value = _default(assignment)
        if value is not None:
            yield from _setting(configuring.framework, configuring.prefix + assignment.target, value, assignment.span)


def _default(field: AssignmentSite) -> Expr | None:
    call = field.value.call
    if call is None:
        return field.value
    return call.argument("default") if call.name == _FIELD else None


def _setting(framework: str, name: str, value: Expr, span: Span, sure: bool = True) -> Iterator[Setting]:
    """A setting for each value that an argument may have; `sure`: where it is given at all, it is this one."""
    if not value.is_literal and not is_known(framework, name):
        return  # what it is does not matter, and to find it out takes time
    values = value.known
    for possible in values.values:
        if possible is not None or values.exact:
            text = (
                possible.rpartition(".")[2] if isinstance(possible, str) and possible.startswith("torch.") else possible
            )
            yield Setting(framework, name, text, "", span, "code", guarded=not sure or len(values.values) > 1)


__all__ = ["WrittenArgument", "default_arguments", "training_arguments"]
