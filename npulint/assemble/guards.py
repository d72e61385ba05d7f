"""Guards: does a piece of code run unless somebody turns on an option?"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from npulint.assemble.conditions import BRANCHES, is_taken, needs_presence, waits_for_a_name, words
from npulint.assemble.context import Context, once
from npulint.assemble.cursors import CallSite, Scope
from npulint.assemble.npu_server import npu_server
from npulint.assemble.walker import memoized, walker
from npulint.facts.attributes import Flag
from npulint.facts.code import Ref
from npulint.lazy_regex import lazy_compile

_NPU = lazy_compile(r"(?<!i)npu|ascend|davinci|hccl|910", re.IGNORECASE)  # no input
_GPU = lazy_compile(r"cuda|gpu", re.IGNORECASE)
# Options that choose the job of a script: each of its jobs counts as run.
_ROLE = lazy_compile(
    r"(?:^|[._])(?:is_|do_|if_|for_|to_)?(?:pre|fine)?_?(?:train|training|eval|evaluate|test|predict"
    r"|infer|inference|mode|phase|action|task|command|cmd|export|tune)(?:_mode|_only|_phase)?$",
    re.IGNORECASE,
)
# What a script that is meant to be started imports: a module without it tests itself below ``__main__``.
_COMMAND_LINES = frozenset("argparse absl.flags absl fire click typer hydra docopt optparse unittest".split())
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
    if scope.kind == "except" or (scope.kind in BRANCHES and _condition(scope) != "yes" and not _names(_ROLE, scope)):
        return False
    return surely_runs(around)


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
    return (
        bool(callers)
        and function.record.name.rpartition(".")[2] not in _passed_names(function.context)
        and all(active(call.scope) == "no" for call in callers)
    )


@once
def _passed_names(context: Context) -> set[str]:
    """The last segments of all names that are arguments of calls: somebody else may call what they name."""
    calls = [call for module in context.project.modules.values() for call in module.code.calls]
    found = {value.name for call in calls for value in call.args if isinstance(value, Ref)}
    found.update(value.name for call in calls for _, value in call.keywords if isinstance(value, Ref))
    return {written.rpartition(".")[2] for written in found}


def guarded_by(scope: Scope) -> Literal["npu", "cuda", "none"]:
    """Which device the conditions around a block ask for."""
    wanting = [around for around in scope.ancestors if around.kind in BRANCHES and needs_presence(around)]
    if any(_names(_NPU, branch) for branch in wanting):
        return "npu"
    return "cuda" if any(_names(_GPU, branch) for branch in wanting) else "none"


# -- modules that only try their own classes -------------------------------------------------------


def is_trial(scope: Scope) -> bool:
    """Whether code runs only when a module tests itself."""
    return scope.is_started_only and tests_itself(scope.at(0))


@memoized(meanwhile=bool)
def tests_itself(module: Scope) -> bool:
    """Whether what a module does when it is started only tries its own classes: others import the module and it calls
    none of them, or it gives a class of its own made-up tensors; it reads no command line, and starts no training."""
    code = module.module.code
    return (
        not any(record.module in _COMMAND_LINES for record in code.imports)
        and not any(record.name.startswith("sys.argv") for record in code.name_uses)
        and not module.module.calls_of("backward", "main", "train", "run", "fit")
        and (_is_imported_and_alone(module) or _tries_own_class(module))
    )


def _started_calls(module: Scope) -> Iterator[CallSite]:
    """What a module calls when it is started, directly or in a block within."""
    started = module.module.main_guards
    for call in module.all_calls if started else ():
        if call.scope.block in started or call.scope.record.parent in started:
            yield call


def _is_imported_and_alone(module: Scope) -> bool:
    """Whether others import a module that, when started, calls nothing of theirs."""
    if module.path not in module.context.project.imported_paths:
        return False
    targets = (call.target for call in _started_calls(module))
    return all(target is None or target.module is module.module for target in targets)


def _tries_own_class(module: Scope) -> bool:
    """Whether a module, when started, makes tensors out of nothing and an object of one of its classes."""
    called = list(_started_calls(module))
    made_up = any(call.name.startswith("torch.") and call.name.rpartition(".")[2] in _MADE_UP for call in called)
    found = (call.target for call in called) if made_up else ()
    return any(one is not None and one.module is module.module and one.kind == "class" for one in found)
