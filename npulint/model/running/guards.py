"""Guards: does a piece of code run unless somebody turns on an option?"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Literal

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.attributes import Flag
from npulint.facts.code import Ref
from npulint.model.code.module import Module
from npulint.model.running.conditions import BRANCHES, is_taken, needs_presence, waits_for_a_name, words
from npulint.model.running.npu_server import npu_server
from npulint.model.values.context import Context, once, once_per_file
from npulint.model.values.cursors import CallSite, Scope, scope_named
from npulint.model.values.script_role import is_test_file
from npulint.model.values.walker import memoized, walker

_NPU = lazy_compile(r"(?<!i)npu|ascend|davinci|hccl|910", re.IGNORECASE)  # no input
_GPU = lazy_compile(r"cuda|gpu|nccl", re.IGNORECASE)
# Options that may choose the job of a script.
_ROLE = lazy_compile(
    r"(?:^|[._])(?:is_|do_|if_|for_|to_)?(?:pre|fine)?_?(?:train|training|eval|evaluate|test|predict"
    r"|infer|inference|mode|phase|action|task|command|cmd|export|tune)(?:_mode|_only|_phase)?$",
    re.IGNORECASE,
)
# Those that surely do, each of whose jobs counts as run: not the mode of something else (``deterministic_mode``), nor
# a kind of training (``fp8_training``).
_JOB = lazy_compile(
    r"(?:^|\.)_*(?:(?:is|do|if|for|to|run|should|only|just|start|enable)_)*(?:pre|fine)?_?(?:train|training|eval|evaluate|test|predict"
    r"|infer|inference|action|task|command|cmd|export|tune)(?:_mode|_only|_phase)?$"
    r"|(?:^|\.|[._](?:run|running|work|working|job|script|main|program))_?(?:mode|phase)$",
    re.IGNORECASE,
)
# What a script that is meant to be started imports: a module without it tests itself below ``__main__``.
_COMMAND_LINES = frozenset("argparse absl.flags absl fire click typer hydra docopt optparse unittest".split())
# What starts a training, or the program itself.
_STARTING = tuple("backward main train train_and_evaluate train_on_batch run fit fit_generator minimize".split())
_MADE_UP = frozenset("rand randn randint zeros ones empty arange Tensor FloatTensor".split())


@memoized(meanwhile=lambda: "unknown")
def active(scope: Scope) -> Flag:
    """Whether a block runs by default on an NPU server: ``no`` when it is behind something that is off by default, or
    that is not so there."""
    if npu_server(scope.context).runs(scope) == "no":
        return "no"
    here = _condition(scope) if scope.kind in BRANCHES else "yes"
    if here == "no" or (scope.kind == "function" and _has_inactive_callers_only(scope)):
        return "no"
    around = scope.parent
    outer = "yes" if around is None else active(around)
    return outer if outer == "no" or here == "yes" else here


@memoized(meanwhile=bool)
def surely_runs(scope: Scope) -> bool:
    """Whether a block surely runs when its function is called: every condition around it holds on an NPU server or by
    default, or chooses the job of the script, each of which counts as run."""
    around = scope.parent
    if around is None or scope.kind in ("function", "lambda"):
        return True
    if scope.kind == "except" or (scope.kind in BRANCHES and _condition(scope) != "yes" and not _names(_JOB, scope)):
        return False
    return surely_runs(around)


@walker(depth=8, otherwise=str)
def turned_on_by(scope: Scope) -> str:
    """The option that turns on a block which is off by default, as it is written (``args.resume``); empty if it runs by
    default or not at all on an NPU server, or if something else than an option decides."""
    if npu_server(scope.context).runs(scope) == "no":
        return ""
    off = (around for around in scope.ancestors if around.kind in BRANCHES and _condition(around) == "no")
    branch = next(off, None)
    if branch is not None:
        return next((part.written for part in branch.test.mentioned if part.known.symbol), "")
    function = scope.function
    if function is None or not _has_inactive_callers_only(function):
        return ""
    return next(filter(None, (turned_on_by(call.scope) for call in function.callers)), "")


def alternatives(scope: Scope) -> list[tuple[Scope, list[Scope]]]:
    """The branches around a block that may not run, innermost first, each with the other branches of its ``if``; empty
    if something else may keep the block from running."""
    branches: list[tuple[Scope, list[Scope]]] = []
    for around in scope.ancestors:
        if around.kind in ("function", "lambda"):
            break
        if around.kind == "except":
            return []
        if around.kind in BRANCHES and _condition(around) != "yes" and not _names(_JOB, around):
            others = [branch for branch in branches_in(around).get(around.record.parent, []) if branch is not around]
            branches.append((around, [other for other in others if other.record.test == around.record.test]))
    return branches


@memoized(meanwhile=lambda: "unknown")
def _condition(branch: Scope) -> Flag:
    """Whether a branch is taken on an NPU server, else by default."""
    there = npu_server(branch.context).taken(branch)
    return _active_branch(branch) if there == "unknown" else there


def _active_branch(branch: Scope) -> Flag:
    """Whether the condition of an ``if`` or ``else`` block lets it run by default."""
    if branch.has_main_test:
        return "no" if branch.kind == "if" and tests_itself(branch.at(0)) else "yes"
    taken = is_taken(branch)
    if taken is None:
        return "no" if not needs_presence(branch) and _names(_NPU, branch) else "unknown"
    if waits_for_a_name(branch.test):
        return "unknown"
    if taken:
        return "yes"
    return "unknown" if _names(_ROLE, branch) else "no"


def _names(pattern: re.Pattern[str], branch: Scope) -> bool:
    """Whether a condition has a name or a text in which a pattern is found."""
    return any(pattern.search(word) for word in words(branch.test))


@walker(depth=8, otherwise=bool)
def _has_inactive_callers_only(function: Scope) -> bool:
    callers = function.callers
    server = npu_server(function.context)
    return (
        bool(callers)
        and function.record.name.rpartition(".")[2] not in _passed_names(function.context)
        and all(active(call.scope) == "no" or server.is_dead(call.scope, call.line) for call in callers)
    )


@once
def _passed_names(context: Context) -> set[str]:
    """The last segments of all names that are arguments of calls: somebody else may call what they name."""
    return set().union(*(module.derive(_passed_in) for module in context.project.modules.values()))


def _passed_in(module: Module) -> frozenset[str]:
    """The last segments of the names that are arguments of calls in one module."""
    return frozenset(name.rpartition(".")[2] for name in module.derive(_passed_written))


def _passed_written(module: Module) -> dict[str, set[int]]:
    """The names that are arguments of calls in one module, as written, with the blocks of these calls."""
    blocks: dict[str, set[int]] = defaultdict(set)
    for call in module.code.calls:
        for value in (*call.args, *[value for _, value in call.keywords]):
            if isinstance(value, Ref) and not _is_local(module, value.name, call.block):
                blocks[value.name].add(call.block)
    return dict(blocks)


def _is_local(module: Module, name: str, block: int) -> bool:
    """Whether a name is a parameter or a variable of the function around a block, and not a function."""
    function = module.function_of(block)
    return function > 0 and (name in module.names.get(function, ()) or name in module.params.get(function, ()))


def is_handled(scope: Scope) -> bool:
    """Whether a block is the body of a ``try`` statement with an ``except`` clause."""
    if scope.kind != "try":
        return False
    for record in scope.module.blocks[scope.block + 1 :]:
        if record.parent == scope.record.parent and record.kind in ("except", "try"):
            return record.kind == "except"
    return False


@walker(depth=4, otherwise=lambda: "none")
def guarded_by(scope: Scope) -> Literal["npu", "cuda", "none"]:
    """Which device the conditions around a block, or around all calls of a function that is named for CUDA, ask for."""
    device = _asked_around(scope)
    function = scope.function
    if device != "none" or function is None or not _GPU.search(function.last_name):
        return device
    callers = [call for call in function.callers if not is_test_file(call.path)]
    return "cuda" if callers and all(guarded_by(call.scope) == "cuda" for call in callers) else "none"


def _asked_around(scope: Scope) -> Literal["npu", "cuda", "none"]:
    wanting = [around for around in scope.ancestors if around.kind in BRANCHES and needs_presence(around)]
    if any(_names(_NPU, branch) for branch in wanting):
        return "npu"
    return "cuda" if any(_names(_GPU, branch) for branch in wanting) else "none"


def has_npu_branch(branch: Scope) -> bool:
    """Whether an ``if`` or ``else`` block belongs to branches of which one is for the NPU: ``elif device == "npu"``."""
    first = branch
    while first.parent is not None and first.parent.kind == "else":
        first = first.parent
    chain = [first]
    for scope in chain:
        inner = branches_in(scope).get(scope.record.parent, [])
        twins = [other for other in inner if other.record.line == scope.record.line and other.test == scope.test]
        others = (other for twin in twins if twin.kind == "else" for other in branches_in(twin).get(twin.block, []))
        chain += [other for other in others if other.kind == "if"]
        if any(_names(_NPU, twin) for twin in twins):
            return True
    return False


@once_per_file
def branches_in(module: Scope) -> dict[int, list[Scope]]:
    """The ``if`` and ``else`` blocks of a file by the block that they stand in."""
    branches: dict[int, list[Scope]] = defaultdict(list)
    for scope in module.blocks_of(*BRANCHES):
        branches[scope.record.parent].append(scope)
    return branches


# -- modules that only try their own classes -------------------------------------------------------


@memoized(meanwhile=bool)
def is_trial(scope: Scope) -> bool:
    """Whether code runs only when a module tests itself, also in functions that nothing else calls."""
    if scope.is_started_only:
        return tests_itself(scope.at(0))
    function = scope.function if scope.module.main_guards else None
    if function is None or function.last_name in _passed_names(function.context):
        return False
    callers = function.callers
    return bool(callers) and all(is_trial(call.scope) for call in callers)


def tries_module(scope: Scope) -> bool:
    """Whether code runs only when its module is started, and then starts no training."""
    if not scope.is_started_only:
        return False
    module = scope.at(0)
    return tests_itself(module) or not any(call.last in _STARTING for call in _started_calls(module))


@memoized(meanwhile=bool)
def tests_itself(module: Scope) -> bool:
    """Whether what a module does when it is started only tries its own classes: others import the module and it calls
    none of them, or it gives a class of its own made-up tensors; it reads no command line, and starts no training
    but on such tensors."""
    code = module.module.code
    if any(record.module in _COMMAND_LINES for record in code.imports):
        return False
    if any(record.name.startswith("sys.argv") for record in code.name_uses):
        return False
    if module.module.calls_of(*_STARTING):
        return _trains_on_made_up_tensors(module)
    return _is_imported_and_alone(module) or _tries_own_class(module)


def of_other_script(scope: Scope, entry: str) -> bool:
    """Whether code of a module that the script `entry` imports runs only when that or another module is started as a
    script itself: below ``__main__``, and in functions that only such code calls."""
    return scope.path != entry and _started_elsewhere(scope, entry)


@walker(depth=12, otherwise=bool)
def _started_elsewhere(scope: Scope, entry: str) -> bool:
    if scope.is_started_only:
        return scope.path != entry
    function = scope.function
    if function is None or function.is_method or function.last_name in _passed_abroad(function.context):
        return False
    callers = [*(call.scope for call in function.callers), *_passed_from(function)]
    return bool(callers) and all(_started_elsewhere(caller, entry) for caller in callers)


@once
def _passed_abroad(context: Context) -> set[str]:
    """The last segments of the names that are arguments of calls in files which do not define them: in
    ``app.run(main)`` it is the function of that file."""
    abroad: set[str] = set()
    for module in context.project.modules.values():
        own = {module.blocks[block].name for block in module.functions_in.get(-1, ())}
        abroad.update(name.rpartition(".")[2] for name in module.derive(_passed_written) if name not in own)
    return abroad


def _passed_from(function: Scope) -> Iterator[Scope]:
    """The blocks whose calls get a function of their own file as an argument (``app.run(main)``)."""
    passed = function.module.derive(_passed_written).get(function.last_name, ())
    return (function.at(block) for block in passed)


def _started_calls(module: Scope) -> Iterator[CallSite]:
    """What a module calls when it is started, directly or in a block within."""
    started = module.module.main_guards
    for call in module.all_calls if started else ():
        if call.scope.block in started or call.scope.record.parent in started:
            yield call


def _is_imported_and_alone(module: Scope) -> bool:
    """Whether others import a module that, when started, calls nothing of theirs and hands none of it on."""
    if not _is_imported(module):
        return False
    called = list(_started_calls(module))
    handed = (scope_named(module.context, value.name) for call in called for value in call.args if ":" in value.name)
    targets = (target for target in (*(call.target for call in called), *handed) if target is not None)
    return all(target.module is module.module for target in targets)


def _trains_on_made_up_tensors(module: Scope) -> bool:
    """Whether a module trains only when it is started, on tensors that it makes out of nothing: once without an
    optimizer, as an example of its classes; or, if others import it, in numbered rounds, to look at memory or speed."""
    called = list(_started_calls(module))
    trained = [call.scope.loop for call in called if call.last == "backward"]
    if not trained or len(trained) < len(module.module.calls_of("backward")):
        return False
    if trained == [None] and _tries_own_class(module):
        return not module.module.calls_of("step", "zero_grad")
    if not _is_imported(module):
        return False
    made = {call.scope.loop for call in called if _makes_up(call)}
    return all(loop is not None and loop in made and loop.test.name == "range()" for loop in trained)


def _tries_own_class(module: Scope) -> bool:
    """Whether a module, when started, makes tensors out of nothing and an object of one of its classes."""
    called = list(_started_calls(module))
    targets = (call.target for call in called) if any(map(_makes_up, called)) else ()
    return any(scope is not None and scope.module is module.module and scope.kind == "class" for scope in targets)


def _makes_up(call: CallSite) -> bool:
    return call.name.startswith("torch.") and call.name.rpartition(".")[2] in _MADE_UP


def _is_imported(module: Scope) -> bool:
    return module.path in module.context.project.imported_paths
