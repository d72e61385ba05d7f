"""Source texts that set one adapter option, in each way there is to set it."""

from __future__ import annotations

from npulint.data.options import OptionUse

TEMPLATE = """
import tensorflow as tf
from npu_bridge.npu_init import *
from npu_bridge.estimator.npu.npu_config import ExperimentalConfig, GraphMemoryOptimizeConfig
import npu_device
config = tf.ConfigProto()
op = config.graph_options.rewrite_options.custom_optimizers.add()
op.name = "NpuOptimizer"
"""
_TAKEN_AS = {
    "DumpConfig": "dump_config",
    "ProfilingConfig": "profiling_config",
    "MemoryConfig": "memory_config",
    "DynamicInputConfig": "dynamic_input_config",
    "ExperimentalConfig": "experimental_config",
}
Setting = tuple[str, str, object]
"""The name of an option, its protobuf field (of session keys) and its value."""


class Code(str):
    """A value that is written as it stands."""

    __slots__ = ()


def script(mechanism: str, *settings: Setting) -> str:
    """A script that sets options in one place: a custom optimizer, an NPURunConfig or the global options."""
    if mechanism == "session_key":
        return TEMPLATE + "".join(f'op.parameter_map["{n}"].{f} = {_field(f, v)}\n' for n, f, v in settings)
    if mechanism == "npu_options":
        return TEMPLATE + "".join(f"npu_device.global_options().{n} = {_written(v)}\n" for n, _, v in settings)
    return TEMPLATE + f"run = {_run_config(settings)}\n"


def _run_config(settings: tuple[Setting, ...]) -> str:
    arguments = [f"{name}={_written(value)}" for name, _, value in settings if "." not in name]
    holders: dict[str, list[str]] = {}
    for name, _, value in settings:
        holder, _, argument = name.rpartition(".")
        if holder:
            holders.setdefault(holder, []).append(f"{argument}={_written(value)}")
    inner = holders.pop("GraphMemoryOptimizeConfig", [])
    if inner:
        made = f"graph_memory_optimize_config=GraphMemoryOptimizeConfig({', '.join(inner)})"
        holders.setdefault("ExperimentalConfig", []).append(made)
    arguments += [f"{_TAKEN_AS[holder]}={holder}({', '.join(values)})" for holder, values in holders.items()]
    return f"NPURunConfig({', '.join(arguments)})"


def _written(value: object) -> str:
    return str(value) if isinstance(value, Code) else repr(value)


def _field(field: str, value: object) -> str:
    return f"tf.compat.as_bytes({_written(value)})" if field == "s" else _written(value)


def right_value(use: OptionUse, field: str) -> object:
    """A value that the adapter takes."""
    if use.type == "object":
        return Code(f"{use.values[0]}()" if use.values else "given")
    for value in use.values:
        if value is not None and str(value) not in use.value_chips:
            return str(value) if field == "s" else value
    if use.pattern:
        return use.example.partition(",")[0] if use.name.endswith("parallel_mode") else use.example
    if use.type == "any":
        return 1
    if use.type in ("bool", "flag"):
        return True
    return max(use.low or 0, 1) if use.type == "int" else "/home/somewhere"
