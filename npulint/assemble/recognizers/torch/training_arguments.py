"""Arguments of training frameworks in code: ``TrainingArguments(tf32=True)``, ``Trainer(accelerator="gpu")``."""

from __future__ import annotations

from collections.abc import Iterator

from npulint.assemble.code_facts import CodeFact
from npulint.assemble.configured.arguments import ArgumentMeaning, meanings
from npulint.assemble.configured.settings import Setting
from npulint.assemble.configured.versions import required_versions
from npulint.assemble.cursors import AssignmentSite, CallSite, Expr, Scope, assignment_at
from npulint.assemble.recognizers.registry import recognizes, recognizes_in_modules
from npulint.data.training_arguments import ArgumentRule, ConfiguringCall, configuring_call
from npulint.facts.attributes import attribute
from npulint.facts.kinds import fact_kind
from npulint.facts.model import Fact, Span

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
    known = configuring_call(call.name)
    if known is not None:
        yield from _facts(call.scope, [*_passed(call, known)])


@recognizes_in_modules
def default_arguments(module: Scope) -> Iterator[Fact]:
    """The defaults in a dataclass that extends the arguments of a framework:
    ``class Arguments(TrainingArguments): optim: str = field(default="adamw_bnb_8bit")``."""
    for block in range(1, len(module.module.blocks)):
        scope = module.module.blocks[block].kind == "class" and module.at(block)
        for base in scope.bases if scope else ():
            known = configuring_call(base.name)
            if scope and known is not None:
                yield from _facts(scope, [*_defaults(scope, known)])
                break


def _facts(scope: Scope, settings: list[Setting]) -> Iterator[Fact]:
    for rule, setting in meanings(settings, required_versions(scope.context)):
        yield WrittenArgument(scope, setting.span, rule, setting)


def _passed(call: CallSite, known: ConfiguringCall) -> Iterator[Setting]:
    """The keyword arguments of a call; of a nested configuration the entries of the dict."""
    spans = dict(zip([key for key, _ in call.record.keywords], _spans(call), strict=True))
    pairs = [(name, value) for name, value in call.keywords.items() if name != "**"]
    for name, value in [*pairs, *call.spread][:_MOST]:
        span = spans.get(name) or call.span
        if known.prefix.startswith("{"):
            if name == known.prefix.strip("{}"):
                for inner, leaf in _nested(value):
                    yield from _setting(known.framework, inner, leaf, span)
            continue
        yield from _setting(known.framework, known.prefix + name, value, span)


def _spans(call: CallSite) -> list[Span]:
    """The place of each keyword argument; that of the call where they are not recorded."""
    recorded = call.record.keyword_spans
    return [Span(*one) for one in recorded] if recorded else [call.span] * len(call.record.keywords)


def _nested(value: Expr, prefix: str = "", depth: int = 0) -> Iterator[tuple[str, Expr]]:
    """The leaves of a dict, with dotted keys."""
    for display in value.displays if depth < _DEEP else ():
        for key, inner in display.entries if display.is_dict else ():
            if key is not None and key.text:
                name = f"{prefix}{key.text}"
                if inner.is_dict:
                    yield from _nested(inner, f"{name}.", depth + 1)
                else:
                    yield name, inner


def _defaults(scope: Scope, known: ConfiguringCall) -> Iterator[Setting]:
    """The fields of a dataclass with their defaults."""
    module = scope.module
    fields = (one for one in module.code.assignments if one.block == scope.block)
    for one in (assignment_at(scope.context, module, record) for record in fields):
        value = _default(one)
        if value is not None:
            yield from _setting(known.framework, known.prefix + one.target, value, one.span)


def _default(field: AssignmentSite) -> Expr | None:
    call = field.value.call
    if call is None:
        return field.value
    return call.argument("default") if call.name == _FIELD else None


def _setting(framework: str, name: str, value: Expr, span: Span) -> Iterator[Setting]:
    """A setting for each value that an argument may have."""
    known = value.known
    for one in known.values:
        if one is not None or known.exact:
            text = one.rpartition(".")[2] if isinstance(one, str) and one.startswith("torch.") else one
            yield Setting(framework, name, text, "", span, "code", guarded=len(known.values) > 1)


__all__ = ["WrittenArgument", "default_arguments", "training_arguments"]
