"""Ranks: does code run only on some of the devices of a distributed run?"""

from __future__ import annotations

from npulint.assemble.flow import Flow
from npulint.assemble.module import Module
from npulint.facts.code import CallResult, Const, Op, Ref, Value
from npulint.lazy_regex import lazy_compile

_NAMED = lazy_compile(r"(?:^|[._])(?:(?:local|npu|hvd|device|worker|my)_rank(?:_id)?|rank_(?:id|idx|index))$")
_ASKED = lazy_compile(
    r"^horovod\.(?:\w+\.)*(?:local_)?rank$|^(?:npu_bridge\.|hccl\.|npu_device\.).*get_(?:npu_)?(?:local_)?rank_id$"
)
_SET = frozenset(("$RANK_ID", "$RANK", "$LOCAL_RANK", "$OMPI_COMM_WORLD_RANK", "$DEVICE_INDEX"))
_COMPARED = frozenset(("==", "!=", "<", ">", "<=", ">=", "in", "not in"))
_DEPTH = 6


def on_some_ranks(flow: Flow, module: Module, block: int) -> bool:
    """Whether a condition around `block` compares the rank of the process."""
    for inner in module.ancestors(block):
        record = module.blocks[inner]
        if record.kind in ("if", "else") and _asks(flow, module, record.test, record.parent, record.line):
            return True
    return False


def _asks(flow: Flow, module: Module, test: Value, block: int, line: int, depth: int = 0) -> bool:
    """Whether a condition is a comparison of the rank, or holds one."""
    if not isinstance(test, Op) or depth > _DEPTH:
        return False
    if test.op in ("and", "or", "not"):
        negated = test.op == "not" and _is_rank(flow, module, test.operands[0], block, line)
        return negated or any(_asks(flow, module, v, block, line, depth + 1) for v in test.operands)
    return test.op in _COMPARED and any(_is_rank(flow, module, v, block, line) for v in test.operands)


def _is_rank(flow: Flow, module: Module, value: Value, block: int, line: int) -> bool:
    """Whether a value is the rank of the process, told by its name, its environment variable or the call that gave
    it; ``rank % n`` as well."""
    if isinstance(value, Op) and value.op == "%" and not isinstance(value.operands[0], Const):
        return any(_is_rank(flow, module, v, block, line) for v in value.operands)
    if not isinstance(value, Ref | CallResult):
        return False
    if isinstance(value, Ref) and _NAMED.search(value.name):
        return True
    if flow.known(module, value, block, line).symbol in _SET:
        return True
    return any(_ASKED.search(flow.names.of_call(home, at)) for home, at in flow.sites(module, value, block, line))
