"""Settings: one key for ``parameter_map["k"].b = v``, ``NPURunConfig(k=v)``, ``global_options().k = v`` and the
ConfigProto fields."""

from __future__ import annotations

from npulint.assemble.context import Context
from npulint.assemble.flow import argument
from npulint.assemble.module import Module
from npulint.assemble.recognizers.tensorflow.protos import Protos, protos_of
from npulint.assemble.recognizers.tensorflow.run_configs import HOLDERS, argument_fact, run_config_settings
from npulint.facts.code import Assignment, Call, CallResult, Const, Ref, Table, Value
from npulint.facts.model import Fact
from npulint.lazy_regex import lazy_compile

_MAP = lazy_compile(r"^(?P<root>.+)\.parameter_map\[(?P<key>[^\]]*)\]\.(?P<field>\w+)$")
_PLAIN = lazy_compile(r"^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*$")
_ENCODERS = frozenset(("as_bytes", "bytes", "as_text", "str"))
_NPU_OPTIONS = lazy_compile(r"^(?P<root>.+?)(?:\.npu_device)?\.global_options\(\)\.(?P<key>[\w.]+)$")
_PROTO_FIELDS = ("rewrite_options", "optimizer_options", "gpu_options")
_PROTO_DIRECT = frozenset(("allow_soft_placement", "log_device_placement"))
_GRAPPLER = "tensorflow.config.optimizer.set_experimental_options"
_CONFIGURING = ("GPUOptions", "OptimizerOptions", "ConfigProto", "set_experimental_options", *HOLDERS)
_CONFIG_CALLS = {
    "tensorflow.GPUOptions": "gpu_options",
    "tensorflow.OptimizerOptions": "optimizer_options",
    "tensorflow.ConfigProto": "config_proto",
}


def facts_for_module(context: Context, module: Module) -> list[Fact]:
    """All ``setting`` facts of a module."""
    found = []
    protos = protos_of(context)
    for target, binds in module.dotted.items():
        for bind in binds:
            fact = _assigned(context, protos, module, target, bind)
            if fact is not None:
                found.append(fact)
    for index, name in enumerate(context.names.of_calls(module)):
        if name.endswith(_CONFIGURING):
            found += _passed(context, module, index, name)
    return found


def _assigned(context: Context, protos: Protos, module: Module, target: str, bind: Assignment) -> Fact | None:
    match = _MAP.match(target) if ".parameter_map[" in target else None
    if match:
        key = match["key"]
        if key == "*":
            return None
        entry = protos.entry_of(module, bind, match["root"])
        return context.bind_fact(
            "setting",
            key,
            module,
            bind,
            via="session_key",
            field=match["field"],
            entry=entry,
            text="yes" if _is_text(bind.value) else "no",
            key=key,
            root=match["root"] if _PLAIN.match(match["root"]) else "unknown",
            literal=_literal(module, bind.value),
        )
    match = _NPU_OPTIONS.match(target) if ".global_options()." in target else None
    if match:
        return _npu_option(context, match["key"], module, bind)
    head, _, last = target.rpartition(".")
    holder = head.rpartition(".")[2]
    if holder in _PROTO_FIELDS:
        return context.bind_fact("setting", f"{holder}.{last}", module, bind, via="proto")
    root = head.partition(".")[0]
    meaning = (
        context.names.of_name(module, head, bind.block, bind.line)
        if last in _PROTO_DIRECT or "global_options" not in head
        else ""
    )
    if meaning.startswith("npu_device.") and "global_options()" in meaning and root:
        inner = meaning.partition("global_options()")[2].strip(".")
        return _npu_option(context, f"{inner}.{last}".strip("."), module, bind)
    if last in _PROTO_DIRECT and "ConfigProto" in meaning:
        return context.bind_fact("setting", f"config_proto.{last}", module, bind, via="proto")
    return None


def _npu_option(context: Context, name: str, module: Module, bind: Assignment) -> Fact:
    key = name.rpartition(".")[2]
    return context.bind_fact(
        "setting", name, module, bind, via="npu_options", key=key, literal=_literal(module, bind.value)
    )


def _literal(module: Module, value: Value) -> str:
    """Whether the value stands there as it is, at most encoded."""
    if isinstance(value, CallResult):
        call = module.code.calls[value.call]
        encodes = isinstance(call.callee, Ref) and call.callee.name.rpartition(".")[2] in _ENCODERS
        return "yes" if encodes and _constant(call) else "no"
    return "yes" if isinstance(value, Const) else "no"


def _constant(call: Call) -> bool:
    return bool(call.args) and isinstance(call.args[0], Const)


def _is_text(value: Value) -> bool:
    return isinstance(value, Const) and isinstance(value.value, str) and not value.binary


def _passed(context: Context, module: Module, index: int, name: str) -> list[Fact]:
    if name in _CONFIG_CALLS:
        call = module.code.calls[index]
        prefix, entry = _CONFIG_CALLS[name] + ".", f"{module.path}:{call.line}:{call.column}"
        return [
            argument_fact(context, (module, index), prefix + key, value, place, via="proto", entry=entry)
            for place, (key, value) in enumerate(call.keywords)
            if key != "**"
        ]
    if name == _GRAPPLER:
        return _grappler(context, module, index)
    return run_config_settings(context, (module, index), name)


def _grappler(context: Context, module: Module, index: int) -> list[Fact]:
    """``set_experimental_options({"constant_folding": False})``: the passes of rewrite_options, as truth values."""
    call = module.code.calls[index]
    given = argument(call, "options", 0)
    binds = context.flow.bindings(module, given.name, call.block, call.line) if isinstance(given, Ref) else ()
    tables = [given] if isinstance(given, Table) else [b.value for _, b in binds if isinstance(b.value, Table)]
    return [
        argument_fact(context, (module, index), f"rewrite_options.{key.value}", value, -1, via="proto", entry="")
        for table in tables[:1]
        for key, value in zip(table.keys, table.values, strict=True)
        if isinstance(key, Const) and isinstance(key.value, str)
    ]
