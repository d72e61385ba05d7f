"""The input pipeline: its stages, lookup tables and variables that belong to it."""

from __future__ import annotations

from npulint.assemble.context import Context
from npulint.assemble.cursors import scope_at
from npulint.assemble.flow import argument
from npulint.assemble.input_reachability import is_stage, looks_like_dataset
from npulint.assemble.module import Module
from npulint.assemble.recognizers.tensorflow.stages import elements, heavy, repeats, shuffled
from npulint.assemble.script_role import purpose
from npulint.facts.code import Assignment, CallResult, Op, Ref
from npulint.facts.model import Fact
from npulint.lazy_regex import lazy_compile

_STAGES = frozenset(
    "map batch padded_batch map_and_batch shard shuffle repeat prefetch interleave flat_map filter cache take skip "
    "shuffle_and_repeat from_generator batch_and_drop_remainder parallel_interleave make_one_shot_iterator "
    "make_initializable_iterator".split()
)
_ONLY_DATASETS = frozenset(
    ("prefetch", "make_one_shot_iterator", "make_initializable_iterator", "interleave", "flat_map")
)
_CHAINED = 24  # stages of one chain
# Stage -> position of drop_remainder.
_BATCHES = {"batch": 1, "padded_batch": 3, "map_and_batch": 3}
_TABLE = lazy_compile(
    r"^tensorflow\.(?:contrib\.lookup|lookup(?:\.experimental)?)\.(?:HashTable|MutableHashTable|MutableDenseHashTable|"
    r"index_table_from_\w+|index_to_string_table_from_\w+|StaticHashTable|StaticVocabularyTable|DenseHashTable|IdTableWithHashBuckets)$"
)
_VARIABLES = frozenset(
    (
        "tensorflow.Variable",
        "tensorflow.get_variable",
        "tensorflow.contrib.framework.model_variable",
        "tensorflow.contrib.slim.model_variable",
    )
)


def matches(name: str) -> bool:
    """Stages, tables and variables."""
    return name.rpartition(".")[2] in _STAGES or name in _VARIABLES or bool(_TABLE.match(name))


def facts_for_call(context: Context, module: Module, index: int, name: str) -> list[Fact]:
    """``input_stage``, ``lookup_table`` and ``variable`` facts."""
    last = name.rpartition(".")[2]
    if last in _STAGES and (is_stage(name) or _may_be_stage(context, module, index, name)):
        return [_stage(context, module, index, name, last)]
    if _TABLE.match(name):
        return [
            context.call_fact(
                "lookup_table", name, module, index, in_input=lambda: _table_in_input(context, module, index)
            )
        ]
    if name in _VARIABLES:
        return [
            context.call_fact(
                "variable", name, module, index, in_input=lambda: _variable_in_input(context, module, index)
            )
        ]
    return []


def _chained(name: str) -> bool:
    return looks_like_dataset(name.rpartition(".")[0])


def _may_be_stage(context: Context, module: Module, index: int, name: str) -> bool:
    """Whether a method of something unknown is a stage, by its receiver's name or by what follows."""
    if name.startswith("?"):
        return _chained(name) or _followed(module, index)
    return ":" in name and context.names.function(name) is None and _followed(module, index)


def _followed(module: Module, index: int) -> bool:
    """Whether a method that only datasets have is called on the result, here or further down the chain."""
    table = module.methods
    for _ in range(8):
        following = table.get(index)
        if following is None:
            return False
        index, method = following
        if method in _ONLY_DATASETS:
            return True
    return False


def _stage(context: Context, module: Module, index: int, name: str, last: str) -> Fact:
    call = module.code.calls[index]
    return context.call_fact(
        "input_stage",
        last,
        module,
        index,
        callee=name,
        purpose=purpose(scope_at(context, module, call.block)),
        held=lambda: _held(module, index),
        certain=lambda: "yes" if name.startswith("tensorflow.") or _followed(module, index) else "no",
        drop_remainder=lambda: _drop_remainder(context, module, index, last),
        repeats=lambda: "yes" if repeats(context, module, index) else "no",
        shard_by=lambda: _shard_by(context, module, index, last),
        shuffled=lambda: shuffled(context, module, index) if last == "shard" else "no",
        elements=lambda: elements(context, module, index) if last == "shuffle" else "unknown",
        heavy=lambda: heavy(context, module, index) if last == "map" else "unknown",
    )


def _held(module: Module, index: int) -> str:
    """The names that a stage's data set has in the code: where its chain of stages begins, and where it is kept."""
    calls = module.code.calls
    start = index
    for _ in range(_CHAINED):
        callee = calls[start].callee
        if not (isinstance(callee, Op) and callee.op == "." and isinstance(callee.operands[0], CallResult)):
            break
        start = callee.operands[0].call
    callee = calls[start].callee
    names = [callee.name.rpartition(".")[0]] if isinstance(callee, Ref) else []
    ends = {index}
    for _ in range(_CHAINED):
        following = module.methods.get(index)
        if following is None:
            break
        index = following[0]
        ends.add(index)
    names += [b.target for b in module.code.assignments if isinstance(b.value, CallResult) and b.value.call in ends]
    return " ".join(names) or "-"


def _shard_by(context: Context, module: Module, index: int, last: str) -> str:
    """The canonical name of what gives ``Dataset.shard`` its index, ``$DEVICE_ID`` for an environment variable; empty
    for other stages."""
    call = module.code.calls[index]
    value = argument(call, "index", 1) if last == "shard" else None
    if value is None:
        return ""
    symbol = context.known(module, value, call).symbol
    return symbol if symbol.startswith("$") else context.names.of_value(module, value, call.block, call.line)


def _drop_remainder(context: Context, module: Module, index: int, last: str) -> str:
    if last not in _BATCHES:
        return "yes" if last == "batch_and_drop_remainder" else "missing"
    call = module.code.calls[index]
    value = argument(call, "drop_remainder", _BATCHES[last])
    if value is None:
        return "unknown" if any(k == "**" for k, _ in call.keywords) else "missing"
    known = context.known(module, value, call)
    if known.symbol:
        return "variable"
    single = known.single
    return "yes" if single is True else "no" if single is False else "variable"


def _variable_in_input(context: Context, module: Module, index: int) -> str:
    """Whether a function of the input pipeline makes this variable, or reads it from around itself."""
    here = context.reach.in_input(module, module.code.calls[index].block)
    readers = context.reach.readers(module)
    if here == "yes" or not readers:
        return here
    for bind in module.code.assignments:
        made_here = isinstance(bind.value, CallResult) and bind.value.call == index
        if made_here and any(_sees(module, bind, block) for block in readers.get(bind.target, ())):
            return "yes"
    return here


def _sees(module: Module, bind: Assignment, block: int) -> bool:
    """Whether what an assignment binds is what code in a block reads under that name."""
    if "." in bind.target:
        return module.class_of(bind.block) == module.class_of(block) >= 0
    return module.scope[bind.block] in module.ancestors(block)


def _table_in_input(context: Context, module: Module, index: int) -> str:
    """Whether the input pipeline looks something up in this table (or in any, when that cannot be told)."""
    if context.reach.in_input(module, module.code.calls[index].block) == "yes":
        return "yes"
    known, unsure = context.memoize("lookups", lambda: _lookups(context))
    return "yes" if (module.path, index) in known else "maybe" if unsure else "no"


def _lookups(context: Context) -> tuple[set[tuple[str, int]], bool]:
    """The tables that the input pipeline looks something up in, and whether there are others unknown."""
    known: set[tuple[str, int]] = set()
    unsure = False
    for home in context.project.modules.values():
        for at, call in enumerate(home.code.calls):
            if not context.names.of_call(home, at).endswith(".lookup"):
                continue
            if context.reach.in_input(home, call.block) != "yes":
                continue
            receiver = Ref(call.callee.name.rpartition(".")[0]) if isinstance(call.callee, Ref) else None
            sites = context.flow.sites(home, receiver, call.block, call.line) if receiver else []
            known.update((m.path, i) for m, i in sites)
            unsure = unsure or not sites
    return known, unsure
