"""Settings: the same facts for ``parameter_map["k"].b = v``, ``NPURunConfig(k=v)``, ``global_options().k = v`` and
ConfigProto fields."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Literal

from npulint.core.lazy_regex import lazy_compile
from npulint.data.options import arguments, option
from npulint.facts.attributes import Flag, attribute
from npulint.facts.kinds import fact_kind
from npulint.facts.model import Fact, Span
from npulint.facts.values import NOTHING, PossibleValues
from npulint.model.programs import adapter
from npulint.model.programs.adapter_settings import AdapterSetting, Setting
from npulint.model.running.conditions import ANY, Situation, situations, written_for
from npulint.model.values.context import Context, once
from npulint.model.values.cursors import AssignmentSite, CallSite, Expr, Scope, assignment_at, module_scopes
from npulint.model.values.text_type import is_text
from npulint.recognizers.registry import recognizes, recognizes_in_modules
from npulint.recognizers.tensorflow.parameter_maps import MapEntry, map_entries
from npulint.recognizers.tensorflow.protos import place_of, protos_of

# Arguments of NPURunConfig and of the objects passed to it: ``DumpConfig(enable_dump=True)``.

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


_PLAIN = lazy_compile(r"^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*$")
_ENCODERS = frozenset(("as_bytes", "bytes", "as_text", "str"))
_NPU_OPTIONS = lazy_compile(r"^(?P<root>.+?)(?:\.npu_device)?\.global_options\(\)\.(?P<key>[\w.]+)$")
_PROTO_FIELDS = ("rewrite_options", "optimizer_options", "gpu_options")
_PROTO_DIRECT = frozenset(("allow_soft_placement", "log_device_placement"))
_CONFIG_CALLS = {
    "tensorflow.GPUOptions": "gpu_options",
    "tensorflow.OptimizerOptions": "optimizer_options",
    "tensorflow.ConfigProto": "config_proto",
}


@fact_kind("setting")
class SessionKey(AdapterSetting, kw_only=True):
    """An option of a custom optimizer is set: ``op.parameter_map["precision_mode"].s = b"…"``."""

    via: Literal["session_key"] = "session_key"
    field: str
    """The assigned field: s (text), b (bool), i (int) or f (float)."""
    entry: str
    """The place of the custom optimizer; empty if unknown."""
    _root: str

    @property
    def is_incomplete(self) -> bool:
        """See `AdapterSetting.is_incomplete`."""
        return self.feeds_run_config != "no"

    @attribute
    def key(self) -> str:
        """The key in the map."""
        return self.name

    @attribute
    def root(self) -> str:
        """The custom optimizer as written, or unknown."""
        return self._root if _PLAIN.match(self._root) else "unknown"

    @attribute
    def text(self) -> bool:
        """Whether the value is a str instead of bytes."""
        return is_text(self._expr)

    @attribute
    def literal(self) -> bool:
        """Whether the value is a literal, possibly with ``.encode()``."""
        return _is_literal(self._expr)

    @attribute
    def feeds_run_config(self) -> Flag:
        """Whether an NPURunConfig uses the ConfigProto of the custom optimizer."""
        return self._options.feeds_run_config(self.entry)

    @attribute
    def in_run_config(self) -> bool:
        """Whether some NPURunConfig of the project sets the option as well."""
        return self._options.is_in_run_config(self.name)

    @attribute
    def field_ok(self) -> Literal["yes", "no", "outdated", "unknown"] | None:
        """Whether the adapter reads the option from this field: yes, no, outdated (older adapters do) or unknown."""
        return None if self._known is None else adapter.field_fits(self.field, self._known[0])

    @attribute
    def type_ok(self) -> Flag | None:
        """Whether the field accepts the type of the value; unknown for a field that the adapter does not read."""
        if self._known is None:
            return None
        field = self._known[0].field
        is_other = self.field != field or (field == "s" and self.text)
        return "unknown" if is_other else adapter.field_takes(self.value, field)

    @attribute
    def expected_type(self) -> str | None:
        """The type of the option's field."""
        return None if self._known is None else adapter.expected_type(self._known[1], self._known[0].field)


@fact_kind("setting")
class GlobalOption(AdapterSetting, kw_only=True):
    """An option is set for TensorFlow 2: ``npu_device.global_options().precision_mode = …``."""

    via: Literal["npu_options"] = "npu_options"

    @property
    def entry(self) -> None:
        """None: there is one set of options."""

    @attribute
    def literal(self) -> bool:
        """Whether the value is a literal, possibly with ``.encode()``."""
        return _is_literal(self._expr)


@fact_kind("setting")
class ProtoField(Setting):
    """A field of a ConfigProto, or of its options, is assigned; the name is like ``gpu_options.allow_growth``."""

    via: Literal["proto"] = "proto"


@fact_kind("setting")
class ProtoArgument(Setting, kw_only=True):
    """A field of a ConfigProto, or of its options, is set by an argument."""

    via: Literal["proto"] = "proto"
    field: str = ""
    """Empty: only session keys have one. Assigned settings do not have this attribute."""
    entry: str = ""
    """The place of the call; empty for graph optimizer passes, which are set by a dict."""

    @attribute
    def key(self) -> str:
        """The name of the argument."""
        return self.name.rpartition(".")[2]

    @attribute
    def literal(self) -> bool:
        """Whether the value is a literal."""
        return self._expr.is_literal


@recognizes_in_modules
def assigned_settings(module: Scope) -> Iterator[Fact]:
    """The settings that a module makes by assignment."""
    for records in module.module.dotted.values():
        for record in records:
            yield from _assigned(assignment_at(module.context, module.module, record))


def _assigned(assignment: AssignmentSite) -> Iterator[Setting]:
    target = assignment.target
    entries = map_entries(assignment)
    if entries is not None:
        yield from (_session_key(assignment, entry) for entry in entries)
        return
    if target.endswith(".*"):
        for name, situation in situations(assignment.computed_key) if _holds_settings(assignment, target[:-2]) else ():
            yield from _of_field(assignment, f"{target[:-1]}{name}", situation)
        return
    yield from _of_field(assignment, target, ANY)


def _holds_settings(assignment: AssignmentSite, head: str) -> bool:
    """Whether attributes of an object are settings: most objects that ``setattr`` fills are the project's own."""
    meaning = assignment.leading(head).name
    return head.rpartition(".")[2] in _PROTO_FIELDS or "global_options()" in meaning or "ConfigProto" in meaning


def _of_field(assignment: AssignmentSite, target: str, situation: Situation) -> Iterator[Setting]:
    """The setting made by assigning an attribute."""
    value, derived = written_for(assignment.value, situation), assignment.is_call or bool(situation.rounds)
    match = _NPU_OPTIONS.match(target) if ".global_options()." in target else None
    if match:
        yield GlobalOption(assignment.scope, assignment.span, match["key"], value, situation, derived)
        return
    head, _, last = target.rpartition(".")
    holder = head.rpartition(".")[2]
    if holder in _PROTO_FIELDS:
        yield ProtoField(assignment.scope, assignment.span, f"{holder}.{last}", value, situation, derived)
    elif head and (last in _PROTO_DIRECT or "global_options" not in head):
        yield from _of_object(assignment, head, last, situation)


def _session_key(assignment: AssignmentSite, entry: MapEntry) -> SessionKey:
    protos, situation = protos_of(assignment.scope.context), entry.situation
    place = next((entry_place for owner in entry.optimizers if (entry_place := protos.entry_of(owner))), "")
    value, derived = written_for(assignment.value, situation), bool(situation.rounds)
    return SessionKey(
        assignment.scope,
        assignment.span,
        entry.key,
        value,
        situation,
        derived,
        field=entry.field,
        entry=place,
        _root=entry.root,
    )


def _of_object(assignment: AssignmentSite, head: str, last: str, situation: Situation) -> Iterator[Setting]:
    """The setting made by assigning the attribute `last` of an object that is only known by its canonical name."""
    meaning = assignment.leading(head).name
    value, derived = written_for(assignment.value, situation), assignment.is_call or bool(situation.rounds)
    if meaning.startswith("npu_device.") and "global_options()" in meaning and head.partition(".")[0]:
        inner = meaning.partition("global_options()")[2].strip(".")
        yield GlobalOption(assignment.scope, assignment.span, f"{inner}.{last}".strip("."), value, situation, derived)
    elif last in _PROTO_DIRECT and "ConfigProto" in meaning:
        yield ProtoField(assignment.scope, assignment.span, f"config_proto.{last}", value, situation, derived)


@recognizes(*_CONFIG_CALLS)
def proto_arguments(call: CallSite) -> Iterator[ProtoArgument]:
    """The fields of ConfigProto and of its options that a call sets."""
    prefix, entry = _CONFIG_CALLS[call.name], place_of(call)
    for name, value, span in keyword_arguments(call):
        yield ProtoArgument(call.scope, span, f"{prefix}.{name}", value, entry=entry)


@recognizes("tensorflow.config.optimizer.set_experimental_options")
def graph_passes(call: CallSite) -> Iterator[ProtoArgument]:
    """``set_experimental_options({"constant_folding": False})``: the passes of rewrite_options, as booleans."""
    passed = call.argument("options", 0)
    values = [] if passed is None else [passed, *(assignment.value for assignment in passed.assignments)]
    for table in [value for value in values if value.is_dict][:1]:
        for key, value in table.entries:
            if key is not None and isinstance(key.literal, str):
                yield ProtoArgument(call.scope, call.span, f"rewrite_options.{key.literal}", value)


def _is_literal(value: Expr) -> bool:
    """Whether a value is a literal, possibly with ``.encode()``."""
    call = value.call
    if call is None:
        return value.is_literal
    return call.written.rpartition(".")[2] in _ENCODERS and bool(call.args) and call.args[0].is_literal
