"""Graphs that grow while they run: operations that a loop of session runs builds again in every iteration, directly or
in the functions that it calls."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from npulint.core.lazy_regex import lazy_compile
from npulint.data.op_apis import api_words, plain
from npulint.facts.attributes import attribute
from npulint.facts.kinds import fact_kind
from npulint.model.running.code_facts import CallFact
from npulint.model.values.context import Context, once, once_per_file
from npulint.model.values.cursors import CallSite, Expr, Scope, module_scopes
from npulint.model.values.walker import memoized
from npulint.recognizers.registry import recognizes
from npulint.recognizers.tensorflow.functions import compiled, may_compile
from npulint.recognizers.tensorflow.runs import is_session_run

_BUILDERS = frozenset(
    f"tensorflow.{name}"
    for name in """assign assign_add assign_sub constant cast convert_to_tensor reduce_mean reduce_sum reduce_max add
    multiply matmul concat stack reshape transpose equal argmax one_hot gradients placeholder
    random_uniform random_normal zeros ones expand_dims squeeze slice group clip_by_value square subtract global_norm
    global_variables_initializer local_variables_initializer variables_initializer train.Saver nn.softmax nn.sigmoid
    nn.l2_loss summary.scalar summary.image summary.histogram summary.merge summary.merge_all image.resize_images
    image.resize_bilinear image.decode_jpeg image.decode_png image.decode_image read_file
    image.per_image_standardization image.random_flip_left_right image.random_crop get_variable Variable
    Variable().assign Variable().assign_add Variable().assign_sub get_variable().assign get_variable().assign_add
    get_variable().assign_sub""".split()
)
# Functions of these modules that are named like an operator build it.
_FUNCTION = lazy_compile(
    r"^tensorflow\.(?:(?:math|nn|image|linalg|losses|layers|strings|sparse|random|signal|metrics|contrib\.layers|"
    r"contrib\.slim)\.)?[a-z]\w*$"
)
_ITERATOR = lazy_compile(r"^tensorflow\.data\..*\.make_(?:one_shot|initializable)_iterator$")
_STEP = lazy_compile(r"^tensorflow\..*Optimizer\(\)\.(?:minimize|compute_gradients|apply_gradients)$")
_ASSIGNING = ("assign", "assign_add", "assign_sub")
_SETTING = frozenset((*_ASSIGNING, "variables_initializer"))
_RUNS = ("run", "eval")
_FRESH = frozenset(
    """tensorflow.Session tensorflow.InteractiveSession tensorflow.train.MonitoredSession tensorflow.Graph
    tensorflow.train.MonitoredTrainingSession tensorflow.train.SingularMonitoredSession tensorflow.train.Supervisor
    tensorflow.reset_default_graph tensorflow.keras.backend.clear_session keras.backend.clear_session""".split()
)
_HARMLESS = frozenset(("staticmethod", "classmethod"))
_COMPARISONS = frozenset(("<", ">", "<=", ">="))
_HOPS = 4  # maximum calls between a loop and what builds or runs
_CALLERS = 20


@fact_kind("graph_growth")
class GraphGrowth(CallFact):
    """A loop that runs a session adds an operation to its graph in every iteration; the name is the operation."""

    _around: Scope

    @attribute
    def loop(self) -> str:
        """The place of the loop, as file and line."""
        return f"{self._around.path.rpartition('/')[2]}:{self._around.record.line}"

    @attribute
    def loads(self) -> bool:
        """Whether all session runs of the loop only set variables by what it builds: values are loaded one by one."""
        runs = [
            run for run in _runs_below(self._around) if run.argument("fetches", 0) is not None or run.last == "eval"
        ]
        return bool(runs) and all(map(_runs_new, runs))


def _is_builder(name: str) -> bool:
    if not name.startswith("tensorflow."):
        return False
    if name in _BUILDERS or _ITERATOR.match(name) or _STEP.match(name):
        return True
    return _FUNCTION.match(name) is not None and plain(name.rpartition(".")[2]) in api_words()


@recognizes(matching=lambda name: _is_builder(name) or name.endswith(_ASSIGNING))
def graph_growth(call: CallSite) -> list[GraphGrowth]:
    """Operations that a loop around session runs creates again in each iteration, on the same graph."""
    if not _may_be_repeated(call):  # most operators are built once
        return []
    if not _is_builder(call.name) and not _is_fetched(call):
        return []
    scope = next(_loops_of(call), None)
    return [] if scope is None or _is_compiled(call.scope) else [GraphGrowth(call, call.name, scope)]


def _is_compiled(scope: Scope) -> bool:
    return may_compile(scope.context) and compiled(scope) == "yes"


def _may_be_repeated(call: CallSite) -> bool:
    """Whether a call stands in a loop of a function that runs a session, or in what such loops call, a few calls
    deep."""
    near = _near_runs(call.context)
    routine = call.scope.routine
    return routine in near.called or (routine in near.looping and call.scope.loop is not None)


class _NearRuns(NamedTuple):
    """Functions, and modules outside functions: with loops that may run a session, and those that these loops call."""

    looping: frozenset[Scope]
    called: frozenset[Scope]


@once
def _near_runs(context: Context) -> _NearRuns:
    runs = [call for module in module_scopes(context) for call in module.calls_named(*_RUNS) if is_run(call)]
    running = _grown({call.scope.routine for call in runs}, _calling)
    inside = {routine: [call for call in routine.calls if call.scope.loop is not None] for routine in running}
    called = _bodies(call for calls in inside.values() for call in calls)
    looping = frozenset(routine for routine, calls in inside.items() if calls)
    return _NearRuns(looping, frozenset(_grown(called, lambda routine: _bodies(routine.calls))))


def _grown(start: set[Scope], neighbours: Callable[[Scope], set[Scope]]) -> set[Scope]:
    """Some functions with those that are a few calls away."""
    scopes = new = start
    for _ in range(_HOPS):
        new = {other for scope in new for other in neighbours(scope)} - scopes
        scopes = scopes | new
    return scopes


def _calling(function: Scope) -> set[Scope]:
    return {call.scope.routine for call in function.callers} if function.kind == "function" else set()


def _bodies(calls: Iterable[CallSite]) -> set[Scope]:
    """What some calls run of the project's own functions."""
    targets = (call.target for call in calls)
    bodies = (target.called_block for target in targets if target is not None)
    return {body for body in bodies if body is not None}


def _is_fetched(call: CallSite) -> bool:
    """Whether a call of an unknown object is the operation that a session run gets, as in ``sess.run(v.assign(x))``."""
    if call.last not in _ASSIGNING or not call.args or call.target is not None:
        return False
    return any(
        run.scope is call.scope and is_session_run(run.name) and any(_holds(value, call) for value in run.args[:1])
        for run in call.scope.calls_named("run")
    )


def _holds(value: Expr, call: CallSite) -> bool:
    return value.call is call or any(item.call is call for item in value.items)


def _loops_of(call: CallSite) -> Iterator[Scope]:
    """The loops that run a session and build an operation again in each iteration, directly or by calls."""
    queue = [(call, 0)]
    seen = {call}
    while queue:
        site, hops = queue.pop(0)
        if not _is_repeated(site.scope):
            continue
        loops = _loops_around(site.scope)
        if any(map(_makes_graph, loops)):
            continue
        around = next(filter(_runs_below, loops), None)
        if around is not None:
            yield around
            continue
        function = site.scope.function
        if function is not None and hops < _HOPS:
            callers = [
                caller for caller in function.callers[:_CALLERS] if caller not in seen and _may_be_repeated(caller)
            ]
            if callers and _is_plain(function):
                seen.update(callers)
                queue += [(caller, hops + 1) for caller in callers]


def _loops_around(scope: Scope) -> list[Scope]:
    """The loops around a block within its function, innermost first, but for comprehensions."""
    inside = [ancestor for ancestor in scope.ancestors if ancestor.kind == "loop" and ancestor.routine is scope.routine]
    return [loop for loop in inside if not loop.record.params]


def _is_repeated(scope: Scope) -> bool:
    """Whether a block runs again and again: under no condition that keeps what it has made (``if self.op is None``) or
    singles out one round (``if step == 0``)."""
    for ancestor in scope.ancestors:
        if ancestor.kind in ("function", "lambda", "class") or (ancestor.kind == "loop" and not ancestor.record.params):
            return ancestor.kind != "lambda"
        if ancestor.kind == "except" or (ancestor.kind in ("if", "else") and not _is_now_and_then(ancestor.test)):
            return False
    return True


def _is_now_and_then(test: Expr) -> bool:
    """Whether a condition holds in many rounds: every n-th, or from one on."""
    return any(part.operator == "%" or part.operator in _COMPARISONS for part in test.nested)


@memoized(meanwhile=bool)
def _is_plain(function: Scope) -> bool:
    """Whether every call of a function runs it to its end on the graph of its caller."""
    if any(decorator.name not in _HARMLESS for decorator in function.decorators) or function.last_name == "__init__":
        return False
    return not _makes_graph(function) and not _is_compiled(function)


@memoized(meanwhile=bool)
def _makes_graph(block: Scope) -> bool:
    """Whether a block, or a function that it calls, makes a new graph or session."""
    return any(call.name in _FRESH for call in _calls_below(block))


@memoized(meanwhile=list)
def _runs_below(block: Scope) -> list[CallSite]:
    """The session runs in a block and in the functions that it calls."""
    return [call for call in _calls_below(block) if is_run(call)]


def is_run(call: CallSite) -> bool:
    """Whether a call runs a session, also by a method of a tensor or operation."""
    if call.last not in _RUNS or call.target is not None:
        return False
    by_tensor = call.has_keyword("feed_dict") or call.has_keyword("session")
    return is_session_run(call.name) or by_tensor


def _calls_below(block: Scope) -> list[CallSite]:
    """The calls in a block, and in the project's functions that it calls, a few calls deep."""
    calls = _calls_inside(block)
    seen: set[Scope] = set()
    level = calls
    for _ in range(_HOPS - 1):
        targets = (call.target for call in level)
        bodies = (target.called_block for target in targets if target is not None)
        new = [body for body in dict.fromkeys(bodies) if body is not None and body not in seen]
        seen.update(new)
        level = [call for body in new for call in body.calls]
        calls = calls + level
    return calls


def _calls_inside(block: Scope) -> list[CallSite]:
    """The calls in a block and in the blocks inside it, but for those in functions defined there."""
    return list(_by_block(block).get(block, ())) if block.kind not in ("function", "module") else block.calls


@once_per_file
def _by_block(module: Scope) -> dict[Scope, list[CallSite]]:
    """The calls in each block, but for those in functions defined there."""
    block: dict[Scope, list[CallSite]] = {}
    for call in module.all_calls:
        for around in call.scope.ancestors:
            block.setdefault(around, []).append(call)
            if around.kind in ("function", "lambda"):
                break
    return block


def _runs_new(run: CallSite) -> bool:
    """Whether a session run gets only operations that are built in its own iteration."""
    fetched = run.receiver if run.last == "eval" or run.has_keyword("session") else run.argument("fetches", 0)
    return fetched is not None and _is_new(fetched, run)


def _is_new(value: Expr, run: CallSite) -> bool:
    if value.items:
        return all(_is_new(item, run) for item in value.items)
    calls = [value.call] if value.call is not None else [assignment.value.call for assignment in value.assignments]
    return bool(calls) and all(call is not None and _is_built_beside(call, run) for call in calls)


def _is_built_beside(maker: CallSite, run: CallSite) -> bool:
    """Whether a call builds an operation that sets a variable, in the same iteration or call that runs it."""
    here = maker.scope.routine is run.scope.routine and maker.scope.loop is run.scope.loop
    return here and maker.last in _SETTING
