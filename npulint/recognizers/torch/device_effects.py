"""What an NPU server loses where code asks for CUDA: whether the branch that is not taken there does anything that a
run on the NPU needs, or the project has an alternative branch for the NPU."""

from __future__ import annotations

from npulint.core.lazy_regex import lazy_compile
from npulint.model.running.block_contents import assignments_inside, blocks_inside, calls_inside, exits_inside
from npulint.model.running.conditions import BRANCHES, needs_presence, words
from npulint.model.running.guards import branches_in, has_npu_branch
from npulint.model.running.npu_server import npu_server
from npulint.model.running.uses import is_never_read
from npulint.model.values.context import once, once_per_file
from npulint.model.values.cursors import AssignmentSite, CallSite, Expr, Scope
from npulint.model.values.walker import memoized

_SEEDS = lazy_compile(r"(?i)seed|deterministic|npu\w*avail")
_LONG = 12  # lines of a condition
_CUDA = lazy_compile(r"(?i)cuda|gpu|nccl")
_NPU_AVAILABLE = lazy_compile(r"(?i)npu\w*avail|avail\w*npu|(?:^|[._])is_npu$|torch\.npu\.is_available$")
_NPU_DEVICE = lazy_compile(r"(?i)^(?:torch\.)?(?:npu|hccl|ascend)\b")
# What only watches, tidies up or makes a run repeatable: without it a run on the NPU computes the same.
_IDLE = lazy_compile(
    r"^torch\.cuda\.(?:.*memory\w*|empty_cache|ipc_collect|.*seed\w*|.*rng_state\w*|synchronize|Event(?:\(\)\.\w+)?"
    r"|nvtx\..*|profiler\..*|cudart\(\).*|is_available|get_device_name|current_device|device(?:_of)?)$"
    r"|^torch\.backends\.(?:cuda|cudnn)\.|^torch\.(?:set_float32_matmul_precision|manual_seed|npu\.is_available)$"
    r"|^(?:gc|time|logging|warnings|pprint|sys\.stdout|sys\.stderr)\.|^(?:print|len|str|int|float|round|repr|format|isinstance|range"
    r"|max|min|sum|getattr|hasattr)$"
)
_LOOKS = lazy_compile(r"^torch\.cuda\.(?:device_count|get_device_properties)$")
_IDLE_METHODS = frozenset("contiguous elapsed_time format join record flush".split())
_WATCHES = lazy_compile(r"(?i)(?:^|_)(?:mem|memory)_?(?:stats|usage|info|summary|used|allocated|reserved|log)?(?:_|$)")
_LOGGED = lazy_compile(
    r"(?i)(?:^|[._])_?(?:log|logger|logging|print\w*)(?:\.(?:debug|info|warn|warning|error|log|print\w*))?$"
)
_EXCEPTION = lazy_compile(r"(?:Error|Exception|Warning|SystemExit)$")
_ENDS = frozenset(("sys.exit", "exit", "quit", "os._exit"))
_FLAGS = lazy_compile(r"^torch\.backends\.|(?:^|\.)environ\[(?:CUDA|NCCL|CUBLAS|TORCH_NCCL|PYTORCH_CUDA)\w*\]$")
# With several GPUs one process may drive them all; an NPU has one process for each.
_SEVERAL = frozenset((">", ">=", "!="))
_OTHERWISE = frozenset(("!=", "not in"))
_STARTS = frozenset(
    "init_process_group spawn DistributedDataParallel set_device init_distributed start_processes".split()
)
_GPU_FUNCTION = lazy_compile(r"(?i)(?:^|_)(?:cuda|nccl|nvidia)(?:_|$)")


def is_spared(scope: Scope, line: int, question: Expr | None = None) -> bool:
    """Whether an NPU server does not run code that uses CUDA, and misses nothing: it stands in branches for CUDA that
    are not needed there, or after what ends the function. Of a `question` for CUDA: whether it does the same there
    whatever the answer is, also because nobody reads it."""
    if question is not None and question.call is not None and is_never_read(question.call):
        return True
    decided = [] if question is None else _decided_by(question)
    if question is not None and (_is_named_for_cuda(scope) or (decided and not any(map(decides, decided)))):
        return True
    outside = decided[0].parent or scope if decided else scope
    branches = [ancestor for ancestor in outside.ancestors if ancestor.kind in BRANCHES and _is_for_cuda(ancestor)]
    if branches:
        return not any(map(decides, branches))
    return npu_server(scope.context).runs(outside, line) == "no" or _only_watches(scope, line)


def _only_watches(scope: Scope, line: int) -> bool:
    """Whether code stands in a function that ends where there is no CUDA (``if not torch.cuda.is_available(): return``)
    and else only looks at the devices: how many there are, what memory they have; also in a function inside it."""
    functions = (around for around in scope.ancestors if around.kind == "function")
    ends = (_watches_since(function) for function in functions)
    return any(since is not None and since < line for since in ends)


@once
def _watches_since(function: Scope) -> int | None:
    """The line of the question for CUDA after which a function, which ends there without it, only looks at the
    devices; None if there is none, or it does more."""
    if any(not expr.is_literal or expr.literal is not None for expr in function.returns):
        return None
    first = [scope for scope in branches_in(function).get(function.block, []) if scope.kind == "if"]
    asking = [scope for scope in first if not needs_presence(scope) and any(map(_CUDA.search, words(scope.test)))]
    asked = [scope.record.line for scope in asking if "return" in _leaves(scope)]
    if not asked:
        return None
    since = min(asked)
    calls, assignments = _within(function)
    calls = [
        call for call in calls if call.target is None or not call.target.is_inside(function)
    ]  # these are looked into
    looking = (_is_idle_call(call) or _LOOKS.search(call.name) for call in calls if call.line > since)
    only = all(looking) and all("." not in assignment.target for assignment in assignments if assignment.line > since)
    return since if only else None


def _leaves(block: Scope) -> set[str]:
    """The kinds of statements that stand in a block itself and leave it."""
    return {exit_record.kind for exit_record in exits_inside(block) if exit_record.block == block.block}


def _is_named_for_cuda(scope: Scope) -> bool:
    function = scope.function
    return function is not None and _GPU_FUNCTION.search(function.last_name) is not None


@memoized(meanwhile=lambda: True)
def decides(branch: Scope) -> bool:
    """Whether it matters on an NPU server that an ``if`` or ``else`` block for CUDA does not run there."""
    twins = [
        scope for scope in _beside(branch) if scope.record.line == branch.record.line and scope.test == branch.test
    ]
    if asks_npu(branch.test) or has_npu_branch(branch) or _is_beside_npu_test(branch):
        return False
    lost = [twin for twin in twins if needs_presence(twin)]
    instead = [twin for twin in twins if not needs_presence(twin)]
    if _counts_devices(branch.test):
        return any(call.last in _STARTS for scope in lost for call in _within(scope)[0])
    return not (all(map(_is_idle, lost)) and all(_is_idle(scope, goes_on=True) for scope in instead))


def stops_without(question: Expr) -> bool:
    """Whether all that a question for CUDA decides is whether the program stops, and it stops if there is none:
    ``if device.type != "cuda": raise …``."""
    decided = _decided_by(question)
    asked = (scope.test.value == question.value and question.operator in _OTHERWISE for scope in decided)
    return bool(decided) and all(asked) and all(map(_only_raises, decided))


def only_stops(question: Expr) -> bool:
    """Whether all that a question for CUDA decides is whether an error is raised."""
    decided = _decided_by(question)
    return bool(decided) and all(map(_only_raises, decided))


def _only_raises(branch: Scope) -> bool:
    """Whether all that an ``if`` block does is to raise an error, or to end the program."""
    calls, assignments = _within(branch)
    raised = "raise" in _leaves(branch)
    ended = any(call.name in _ENDS and call.scope == branch for call in calls)
    harmless = (
        call.name in _ENDS or _EXCEPTION.search(call.last) or _IDLE.search(call.name) or _LOGGED.search(call.written)
        for call in calls
    )
    return not assignments and (raised or ended) and all(harmless)


def asks_npu(test: Expr) -> bool:
    """Whether a condition asks for the NPU."""
    return any(_NPU_DEVICE.search(part.text) or _NPU_AVAILABLE.search(part.written) for part in test.mentioned)


def _is_for_cuda(branch: Scope) -> bool:
    """Whether a branch is taken where there is CUDA."""
    return needs_presence(branch) and any(_CUDA.search(word) for word in words(branch.test))


def _is_beside_npu_test(branch: Scope) -> bool:
    """Whether the block that a branch stands in also asks for the NPU, and not only to check that there is one."""
    around = branch.parent
    others = (npu_test for npu_test in _npu_tests(branch) if around is not None and npu_test.is_inside(around))
    return any(not _is_idle(other) or _is_idle(branch) for other in others)


def asks_npu_here(scope: Scope) -> bool:
    """Whether the function around a block only seeds generators and sets flags, and has a branch for the NPU."""
    function = scope.function
    if function is None or not any(npu_test.function is function for npu_test in _npu_tests(scope)):
        return False
    return all(_is_idle_call(call) or _SEEDS.search(call.written) for call in function.calls)


@once_per_file
def _npu_tests(module: Scope) -> list[Scope]:
    """The ``if`` blocks of a file whose conditions ask for the NPU."""
    if not module.module.code.npu:
        return []
    return [scope for scope in module.blocks_of("if") if asks_npu(scope.test)]


def _beside(branch: Scope) -> list[Scope]:
    """The branches in the same block."""
    return branches_in(branch).get(branch.record.parent, [])


def _decided_by(question: Expr) -> list[Scope]:
    """The branches that a question decides: those whose condition it is part of."""
    scope: Scope | None = question.scope
    while scope is not None:
        near = branches_in(scope).get(scope.block, [])
        scopes = [branch for branch in near if branch.kind == "if" and _stands_in(question, branch.test)]
        if scopes or scope.kind not in BRANCHES or question.line - scope.record.line > _LONG:
            break
        scope = scope.parent  # the second operand of ``and`` stands in a block of its own
    return scopes


def _stands_in(question: Expr, condition: Expr) -> bool:
    near = 0 <= question.line - condition.line <= _LONG
    return near and any(part.value == question.value for part in condition.mentioned)


def _counts_devices(test: Expr) -> bool:
    """Whether a condition asks for more than one GPU."""
    for part in test.nested:
        operands = part.operands(*_SEVERAL)
        call = operands[0].call if operands else None
        if call is not None and call.name == "torch.cuda.device_count":
            return isinstance(operands[1].literal, int) and (operands[1].literal > 0 or part.operator != ">")
    return False


def _within(block: Scope) -> tuple[list[CallSite], list[AssignmentSite]]:
    """The calls and the assignments in a block and in those inside it."""
    return calls_inside(block), assignments_inside(block)


def _is_idle(block: Scope, goes_on: bool = False) -> bool:
    """Whether a block does nothing that a run on the NPU needs; `goes_on`: it neither raises nor returns either."""
    if any(scope.kind in ("function", "class") for scope in blocks_inside(block)):
        return False
    leaving = ("return", "break", "continue", "raise") if goes_on else ("return", "break", "continue")
    if any(exit_record.kind in leaving for exit_record in exits_inside(block)):
        return False
    calls, assignments = _within(block)
    return all(map(_is_idle_call, calls)) and all(map(_is_idle_assignment, assignments))


def _is_idle_call(call: CallSite) -> bool:
    if call.last in _IDLE_METHODS or _IDLE.search(call.name) or _EXCEPTION.search(call.last):
        return True
    if _WATCHES.search(call.last):  # log_memory_stats()
        return True
    if call.last == "update":  # of what is logged, by what is watched
        given = [value.call for value in call.arguments]
        return bool(given) and all(made is not None and _is_idle_call(made) for made in given)
    return _LOGGED.search(call.written) is not None


def _is_idle_assignment(assignment: AssignmentSite) -> bool:
    if _FLAGS.search(assignment.name) or _FLAGS.search(assignment.target):
        return True
    calls = [part.call for part in assignment.value.mentioned if part.call is not None]
    return bool(calls) and all(map(_is_idle_call, calls))
