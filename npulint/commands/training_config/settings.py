"""Settings: named options, configuration values and constants that affect training, with their values in one start."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from npulint.commands.training_config.passed import argument_part, passed_settings, passed_value
from npulint.commands.training_config.provenance.launch_values import defined
from npulint.commands.training_config.provenance.plain import ValuePairs, canonical, show
from npulint.commands.training_config.provenance.variables import entry_spot
from npulint.commands.training_config.setting_parts import setting_part
from npulint.commands.training_config.steps.components import named
from npulint.commands.training_config.steps.expressions import is_literal
from npulint.commands.training_config.steps.unused_constants import unread
from npulint.commands.training_config.tracer import Tracer
from npulint.core.lazy_regex import lazy_compile
from npulint.facts.model import Span
from npulint.facts.recipe import ProvenanceStep, Traced, TrainingSetting
from npulint.model.launches.options import Option
from npulint.model.values.cursors import AssignmentSite, Expr, Scope, scope_at

# Settings that are fields of data classes: ``rate: float = 5e-4``, ``size: int = field(default=224)``.

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


__all__ = ["setting_part", "settings"]

_CONFIGURATION = lazy_compile(r"(?i)cfg|conf|param|option|args|flags|setting|hyp(?:er)?|constant")
_CONSTANT = lazy_compile(r"[A-Z][A-Z0-9_]*")
_PATH = lazy_compile(r"^[./~]|\.(?:pth?|ckpt|tar|pkl|h5|npz|npy|bin|pb|json|txt|ya?ml|model|safetensors)$")
_NAMES_FILES = frozenset(("checkpoint", "dataset", "split"))
_FEW = 32  # entries of a tuple; longer ones are data
_DEEP = 8
_ARITHMETIC = frozenset(("+", "-", "*", "/", "//", "**", "neg"))
_MOST = 400  # constants of one module


def settings(tracer: Tracer) -> list[TrainingSetting]:
    """The options of the program that a tracer follows, the values of its configuration files and its constants that
    look like configuration, as far as they affect numbers, with their values in this start. A name with several values
    counts as unknown."""
    context = tracer.context
    leaves = list(_leaves(tracer))
    constants: list[TrainingSetting] = []
    fields: list[TrainingSetting] = []
    for path in sorted(tracer.start.modules):
        module = scope_at(context, context.project.modules[path], 0)
        constants += _constants(tracer, module)
        fields += field_settings(tracer, module)
    files = {leave.what for leave in leaves}  # they replace what the code sets first
    constants = [constant for constant in constants if constant.what not in files]
    passed = passed_settings(tracer, {field.what for field in fields})
    return _settled([*_options(tracer), *leaves, *constants, *map(_shortened, (*fields, *passed))])


def _shortened(training_setting: TrainingSetting) -> TrainingSetting:
    return msgspec.structs.replace(
        training_setting, traced=_without_folders(training_setting.part, training_setting.traced)
    )


def _options(tracer: Tracer) -> Iterator[TrainingSetting]:
    """The options that the modules of the program define."""
    by_module = tracer.context.options.by_module
    own = by_module.get(tracer.start.entry, {})
    for path in sorted(tracer.start.modules):
        for name, options in by_module.get(path, {}).items():
            if path != tracer.start.entry and name in own:
                continue  # the script's own definition takes precedence
            part = setting_part(name)
            if part:  # the first option of a destination provides the default
                traced = _without_folders(part, tracer.option(options[0]))
                place = defined(options[0])
                yield TrainingSetting(part, _shown(options[0]), place.path, place.span, traced)


def _shown(option: Option) -> str:
    if option.kind == "parameter" or not option.flags:
        return option.name
    longest = [flag for flag in option.flags if len(flag) > 1]
    return f"--{longest[0]}" if longest else f"-{option.flags[0]}"


def _leaves(tracer: Tracer) -> Iterator[TrainingSetting]:
    """The values of the configuration files that the program loads."""
    for file in tracer.configs.program() if tracer.configs is not None else ():
        for name, part, leaf in named(file.values):
            if part:
                traced = Traced(True, leaf.value, show(leaf.value), (ProvenanceStep(leaf.path, leaf.span, name),))
                yield TrainingSetting(part, name, leaf.path, leaf.span, _without_folders(part, traced))


def _constants(tracer: Tracer, module: Scope) -> Iterator[TrainingSetting]:
    """Configuration-like literals of modules and classes: ``BATCH_SIZE = 64``, ``cfg.TRAIN.LR = 0.1``, ``self.lr =
    0.1`` in a configuration class, entries of a dictionary of settings."""
    configuration = bool(_CONFIGURATION.search(module.module.name.rpartition(".")[2]))
    idle = unread(tracer.context, module.module, tracer.start.modules)
    count = 0
    for bind in module.assignments:
        name = _setting_of(bind, configuration)
        if not name or name in idle or count > _MOST or is_field(bind):
            continue
        count += 1
        for what, value, span in _entries(name, bind):
            part = setting_part(what.rpartition(".")[2])
            if part and _is_plain(value):
                traced = tracer.trace(value, span, what)
                if traced.known and _is_setting(traced.value):
                    yield TrainingSetting(part, what, module.path, span, _without_folders(part, traced))


def _setting_of(bind: AssignmentSite, configuration: bool) -> str:
    """The name that a configuration-like assignment sets, without its object; else empty."""
    module = bind.scope.module
    if bind.scope.function is None:
        return _of_level(bind, configuration)
    head, _, last = bind.target.partition(".")
    owner = module.owner_of_self(head, bind.scope.block)
    if last and owner >= 0 and "." not in last and _CONFIGURATION.search(module.blocks[owner].name):
        return last
    return ""


def _of_level(bind: AssignmentSite, configuration: bool) -> str:
    """As `_setting_of` outside functions, where names of classes and variables also indicate settings."""
    dotted = bind.target.replace("['", ".").replace('["', ".").replace("[", ".").replace("]", "")
    head, _, rest = dotted.partition(".")
    if rest:
        return rest if _CONFIGURATION.search(head) or head.strip("_") in ("C", "c") else ""
    owner = bind.scope.owner
    around = owner.record.name if owner is not None else ""
    if configuration or _CONSTANT.fullmatch(head) or _CONFIGURATION.search(around or head):
        return head
    once = len(bind.scope.namespace.assigned(head)) == 1
    counter = bind.value.is_literal and bind.value.literal in (0, "")  # may also be an accumulator
    return head if once and not counter and setting_part(head) not in ("", "setting") else ""


def _entries(name: str, bind: AssignmentSite) -> Iterator[tuple[str, Expr, Span]]:
    """A literal by its name, or the entries of a dictionary by theirs, with spans."""
    waiting: list[tuple[str, Expr, Span, int]] = [(name, bind.value, bind.span, 0)]
    while waiting:
        what, part, span, depth = waiting.pop(0)
        if not part.is_dict:
            yield what, part, span
        for key, inner in part.entries if depth < _DEEP else ():
            if key is not None and key.is_literal:
                base = "" if depth == 0 and _CONFIGURATION.search(what) else f"{what}."
                place = entry_spot(part, inner) or span
                waiting.append((f"{base}{key.literal}", inner, place, depth + 1))


def _is_plain(value: Expr) -> bool:
    """Whether a value is written as a literal or as arithmetic on literals."""
    return all(
        (expr.written and "." not in expr.written) or expr.is_literal or expr.is_display or expr.operator in _ARITHMETIC
        for expr in value.nested
    )


def _is_setting(value: object) -> bool:
    if isinstance(value, tuple):
        return len(value) <= _FEW and not isinstance(value, ValuePairs)
    return value is not None


def _without_folders(part: str, traced: Traced) -> Traced:
    """For files with weights or data only the file name counts: folders differ between machines."""
    value = traced.value
    if isinstance(value, str) and "/" in value and (part in _NAMES_FILES or _PATH.search(value)):
        name = value.rstrip("/").rpartition("/")[2]
        return msgspec.structs.replace(traced, value=name, text=name)
    return traced


def _settled(training_settings: list[TrainingSetting]) -> list[TrainingSetting]:
    """One entry per name; several different values become unknown."""
    by_name: dict[str, list[TrainingSetting]] = {}
    for training_setting in training_settings:
        by_name.setdefault(training_setting.what, []).append(training_setting)
    settled = []
    for same in by_name.values():
        first = same[0]
        if len({(setting.traced.known, canonical(setting.traced.value)) for setting in same}) > 1:
            text = " / ".join(dict.fromkeys(setting.traced.text for setting in same))
            provenance = tuple(dict.fromkeys(step for setting in same for step in setting.traced.provenance))
            first = msgspec.structs.replace(first, traced=Traced(False, None, text, provenance))
        settled.append(first)
    return settled
