"""What makes a graph grow, wait for the host, or lose precision: operations by how they are used."""

from __future__ import annotations

from npulint.assemble.context import Context
from npulint.assemble.cursors import scope_at
from npulint.assemble.flow import argument
from npulint.assemble.module import Module
from npulint.assemble.recognizers.tensorflow.host import placed
from npulint.assemble.recognizers.tensorflow.runs import runs_each_round
from npulint.facts.code import Const, Op, Ref, Value
from npulint.facts.model import Fact

_BUILDERS = frozenset(
    f"tensorflow.{name}"
    for name in """assign assign_add assign_sub constant cast convert_to_tensor reduce_mean reduce_sum reduce_max add
    multiply matmul concat stack reshape transpose equal argmax one_hot gradients placeholder
    random_uniform random_normal zeros ones expand_dims squeeze slice group clip_by_value square subtract
    global_variables_initializer local_variables_initializer variables_initializer train.Saver nn.softmax nn.sigmoid
    nn.l2_loss summary.scalar summary.image summary.histogram summary.merge summary.merge_all image.resize_images
    image.resize_bilinear image.decode_jpeg image.decode_png image.decode_image read_file""".split()
)
_FRESH = frozenset(
    (
        "tensorflow.Session",
        "tensorflow.InteractiveSession",
        "tensorflow.train.MonitoredSession",
        "tensorflow.train.MonitoredTrainingSession",
        "tensorflow.train.Supervisor",
        "tensorflow.Graph",
        "tensorflow.reset_default_graph",
    )
)
_PY_FUNCS = frozenset(
    f"tensorflow.{name}" for name in ("py_func", "numpy_function", "py_function", "contrib.framework.py_func")
)
_DROPOUTS = frozenset(("tensorflow.nn.dropout", "tensorflow.compat.v2.nn.dropout"))
_NPU_DROPOUTS = ("dropout", "dropout_v3", "dropoutV3")
_SHAPERS = frozenset(("set_shape", "ensure_shape", "_set_shape"))
_HALF = frozenset(("tensorflow.float16", "tensorflow.half", "float16", "half"))
_SUMS = frozenset(("tensorflow.reduce_sum", "tensorflow.reduce_mean"))
_WANTED = _BUILDERS | _PY_FUNCS | _DROPOUTS | _SUMS | {"tensorflow.sqrt"}
_RECURRENT = frozenset(("dynamic_rnn", "bidirectional_dynamic_rnn"))


def matches(name: str) -> bool:
    """Operations that are often built in loops, Python functions, dropout, sums, roots, copied RNNs."""
    return name in _WANTED or _copied(name)


def facts_for_call(context: Context, module: Module, index: int, name: str) -> list[Fact]:
    """``graph_growth``, ``py_func``, ``dropout``, ``half_reduction``, ``zero_root`` and, for a recurrent
    network's loop that the project keeps a copy of, ``control_flow``."""
    found = []
    if name in _BUILDERS and _in_step_loop(context, module, index):
        found.append(context.call_fact("graph_growth", name, module, index))
    if name in _PY_FUNCS:
        found.append(
            context.call_fact(
                "py_func",
                name,
                module,
                index,
                shaped=lambda: context.memoize(("shaped", module.path), lambda: _shaped(module)),
                place=lambda: placed(context, module, index),
            )
        )
    elif name in _DROPOUTS:
        noise = _noise_shape(context, module, index)
        choice = _alternative(context, module, index)
        found.append(context.call_fact("dropout", name, module, index, noise_shape=noise, alternative=choice))
    elif name in _SUMS and _is_half(context, module, index):
        found.append(context.call_fact("half_reduction", name, module, index))
    elif name == "tensorflow.sqrt" and _of_sum(context, module, index):
        found.append(context.call_fact("zero_root", name, module, index))
    elif _copied(name):
        last = name.replace(":", ".").rpartition(".")[2]
        found.append(context.call_fact("control_flow", last, module, index, implicit="no"))
    return found


def _copied(name: str) -> bool:
    return ":" in name and not name.startswith("?") and name.replace(":", ".").rpartition(".")[2] in _RECURRENT


def _in_step_loop(context: Context, module: Module, index: int) -> bool:
    """Whether the call's own loop also runs a session, on a graph that the loop does not make anew."""
    block = module.code.calls[index].block
    if context.loop_of(module, block) < 0 or context.gated(module, block):
        return False
    if not runs_each_round(scope_at(context, module, block)):
        return False
    anew = context.memoize(("anew", module.path), lambda: _anew(context, module))
    return anew.isdisjoint(b for b in module.ancestors(block) if module.blocks[b].kind == "loop")


def _anew(context: Context, module: Module) -> set[int]:
    """The blocks around calls that make a session or a graph."""
    made = [c.block for at, c in enumerate(module.code.calls) if context.names.of_call(module, at) in _FRESH]
    return {ancestor for block in made for ancestor in module.ancestors(block)}


def _shaped(module: Module) -> str:
    """Whether the module gives any tensor back its static shape."""
    return "yes" if any(module.callee_name(at) in _SHAPERS for at in range(len(module.code.calls))) else "no"


def _noise_shape(context: Context, module: Module, index: int) -> str:
    """Whether the mask of a dropout gets a shape of its own: yes, no, or unknown for a bare name."""
    call = module.code.calls[index]
    value = argument(call, "noise_shape", 2)
    if value is None:
        return "no"
    if isinstance(value, Ref) and not context.flow.displays(module, value, call.block, call.line):
        return "no" if None in context.known(module, value, call).values else "unknown"
    return "no" if isinstance(value, Const) and value.value is None else "yes"


def _alternative(context: Context, module: Module, index: int) -> str:
    """Whether another branch of the same function calls a dropout of the NPU."""
    block = module.code.calls[index].block
    function = module.function_of(block)
    for other in module.calls_of(*_NPU_DROPOUTS) if function >= 0 else ():
        place = module.code.calls[other].block
        apart = place != block and module.function_of(place) == function
        if apart and context.names.of_call(module, other).startswith("npu_bridge."):
            return "yes"
    return "no"


def _is_half(context: Context, module: Module, index: int) -> bool:
    """Whether what is reduced was certainly cast to float16 before."""
    call = module.code.calls[index]
    value = argument(call, "input_tensor", 0)
    sites = [] if value is None else context.flow.sites(module, value, call.block, call.line)
    return bool(sites) and all(_casts_to_half(context, home, at) for home, at in sites)


def _casts_to_half(context: Context, module: Module, index: int) -> bool:
    if context.names.of_call(module, index) != "tensorflow.cast":
        return False
    call = module.code.calls[index]
    dtype = argument(call, "dtype", 1)
    return dtype is not None and context.known(module, dtype, call).single in _HALF


def _of_sum(context: Context, module: Module, index: int) -> bool:
    """Whether the root is taken of a sum of squares and of nothing else."""
    call = module.code.calls[index]
    value = argument(call, "x", 0)
    return value is not None and any(
        context.names.of_call(home, at) == "tensorflow.reduce_sum" and _squares(context, home, at)
        for home, at in context.flow.sites(module, value, call.block, call.line)
    )


def _squares(context: Context, module: Module, index: int) -> bool:
    call = module.code.calls[index]
    inner = argument(call, "input_tensor", 0)
    if inner is None:
        return False
    power = _power(inner)
    if power is not None:
        return context.known(module, power, call).single == 2
    made = context.flow.sites(module, inner, call.block, call.line)
    names = {context.names.of_call(home, at) for home, at in made}
    return bool(names) and names <= {"tensorflow.square", "tensorflow.squared_difference"}


def _power(value: Value) -> Value | None:
    """The exponent of ``x ** n``."""
    return value.operands[1] if isinstance(value, Op) and value.op == "**" else None
