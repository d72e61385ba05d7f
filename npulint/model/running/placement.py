"""Whether an operation is between the layers that TensorFlow trains, or at the edge of the graph. Decided by data flow
alone: forwards to layers, losses and gradients, backwards to layers and variables. What the flow cannot follow is
unknown."""

from __future__ import annotations

from functools import cached_property
from typing import Literal

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.code import Ref
from npulint.model.running.uses import AnyUse, Assigned, Passed, Returned, Uses, leaves
from npulint.model.values.callers import implicit_arguments
from npulint.model.values.context import Context
from npulint.model.values.cursors import AssignmentSite, CallSite, Expr, Scope, module_scopes

Place = Literal["path", "edge", "unknown"]
Before = Literal["model", "given", "unknown", ""]
"""The origin of a value; empty if it is computed from other values, which determine it."""

_STEPS = 400  # maximum places per answer
_DEPTH = 6  # operations between a count of hits and the comparison
_MODEL = lazy_compile(
    r"^(?:tensorflow\.)?keras\.(?:layers\.\w+|Model|Sequential|models\.\w+)\(\)|^(?:tensorlayer|tflearn)\.layers\.|"
    r"^tensorflow\.(?:layers\.(?!flatten)|contrib\.(?:layers|slim|seq2seq)\.(?!flatten|arg_scope|one_hot)|"
    r"matmul$|tensordot$|einsum$|nn\.(?:conv|depthwise|separable_conv|atrous_conv|xw_plus|bias_add|batch_norm|fused_batch|"
    r"(?:bidirectional_)?(?:dynamic|static)_rnn|static_bi|raw_rnn|nce_loss|sampled_softmax|l2_loss|\w*cross_entropy|"
    r"ctc_loss|embedding_lookup))|^tensorflow\.(?:keras\.)?layers\.\w+\(\)\.\w+$"
)
_TRAINED = lazy_compile(
    r"^tensorflow\.(?:losses\.|gradients$|keras\.losses\.|contrib\.layers\.optimize_loss)|\.(?:minimize|compute_gradients|"
    r"optimize_loss|create_train_op|GradientTape\(\)\.gradient)$"
)
_VARIABLE = lazy_compile(r"^tensorflow\.(?:get_variable|Variable|trainable_variables|contrib\.\w+\.model_variable)$")
_SHOWN = lazy_compile(
    r"^tensorflow\.(?:contrib\.)?(?:summary|metrics|logging|saved_model)\.|^tensorflow\.(?:contrib\.metrics|train\.Logging|"
    r"train\.Summary|print$|keras\.metrics)|[.)]run$|^print$|\.(?:eval|numpy|add_summary|info|debug|write|export)$|"
    r"^(?:numpy|logging|os|json|time)\."
)
_MEASURED = lazy_compile(
    r"^tensorflow\.(?:contrib\.)?(?:summary|metrics)\.|^tensorflow\.(?:contrib\.metrics|keras\.metrics)"
)
_HITS = frozenset(
    """equal not_equal greater greater_equal less less_equal logical_and logical_or logical_not logical_xor argmax
    argmin arg_max arg_min in_top_k""".split()
)
_COMPARISONS = frozenset(("==", "!=", "<", "<=", ">", ">="))
_INPUT_NAME = lazy_compile(
    r"^tensorflow\.(?:placeholder|constant|data\.|random|truncated_normal|range$|zeros$|ones$|fill$|linspace$|shape$|size$|"
    r"rank$|train\.(?!\w*Optimizer)|io\.|parse_|decode_|read_file|image\.decode|keras\.(?:Input$|layers\.Input$)|sparse_placeholder|"
    r"eye$|one_hot$|sequence_mask$|contrib\.training\.|python_io\.|queue|feature_column|global_|string)|"
    r"\.(?:get_next|dequeue\w*|make_\w+_iterator|read)$|^(?:numpy|math|random|os)\.|^(?:len|int|float|str|range)$"
)
_CALLED = ("call", "__call__")
_PYTHON = ("py_func", "py_function", "numpy_function")
_HELD = frozenset(("append", "extend", "insert", "add"))
_PASSING = frozenset("list tuple zip enumerate reversed sorted dict sum max min set map".split())
_FEATURES = frozenset(("features", "labels", "mode", "params"))


class Placement:
    """The placement of the calls of one project."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._uses: dict[str, Uses] = {}

    def place(self, call: CallSite) -> Place:
        """``path``: between layers and what trains them; ``edge``: only inputs before it, or only logged or fetched
        after it; else ``unknown``."""
        before = self._origin(call)
        if before == "given":
            return "edge"
        after = _Forward(self, call).end()
        if after == "shown":
            return "edge"
        return "path" if (before, after) == ("model", "model") else "unknown"

    def feeds_model(self, call: CallSite) -> bool:
        """Whether layers, losses or optimizers certainly use the result of a call."""
        return _Forward(self, call).end() == "model"

    def measures(self, call: CallSite) -> bool:
        """Whether an operation is part of a metric: its result is only shown, and a function for metrics or summaries
        takes it, or it counts hits (``tf.cast(tf.equal(…), …)``)."""
        forward = _Forward(self, call)
        if forward.end() != "shown" or not forward.takers:
            return False
        return any(map(_MEASURED.search, forward.takers)) or _counts_hits(call)

    def uses(self, scope: Scope) -> Uses:
        """The uses in the module of a scope, collected once."""
        uses = self._uses.get(scope.path)
        if uses is None:
            uses = self._uses[scope.path] = Uses(scope.at(0))
        return uses

    def _origin(self, call: CallSite) -> Before:
        """The origin of the operands of a call: ``model`` if layers or variables are among them, ``given`` if all are
        fed, read or constant, else ``unknown``."""
        queue = call.arguments
        if call.name.endswith(_PYTHON):
            handed = call.argument("inp", 1)
            queue = [] if handed is None else [handed]
        seen: set[object] = set()
        sure = True
        while queue and len(seen) < _STEPS:
            value = queue.pop()
            for part, _ in leaves(value.value):
                leaf = value.sibling(part)
                mark = leaf.call or leaf
                if mark not in seen:
                    seen.add(mark)
                    answer, more = self._before(leaf)
                    if answer == "model":
                        return "model"
                    sure = sure and answer != "unknown"
                    queue += more
        return "given" if sure and not queue else "unknown"

    def _before(self, leaf: Expr) -> tuple[Before, list[Expr]]:
        """The origin of a name or result: an answer, or the values to examine next."""
        call = leaf.call
        if call is None:
            return ("given", []) if leaf.function is not None else self._before_name(leaf)
        name = call.name
        if _VARIABLE.search(name) or _MODEL.search(name):
            return "model", []
        if _INPUT_NAME.search(name):
            return "given", []
        target = self.target(call)
        if target is not None:
            returns = target.returns if target.kind != "class" else []
            return "" if returns else "unknown", returns
        if name.startswith("tensorflow.") or name in _PASSING:
            on = [call.receiver] if call.written and "()" in name and call.receiver is not None else []
            return "", call.arguments + on
        return "unknown", []

    def _before_name(self, read: Expr) -> tuple[Before, list[Expr]]:
        assigned = [assignment.value for assignment in read.assignments]
        function = read.passed_to
        if function is not None:
            passed = function.passed(read.written)
            if not passed and not assigned:
                return self._before_callback(function, read.written)
            return "", assigned + [value for _, value in passed if value is not None]
        if assigned:
            return "", assigned
        head = read.written.rpartition(".")[0]
        if head and read.sibling(Ref(head)).assignments:
            return "", [read.sibling(Ref(head))]
        meaning = read.name
        return ("given" if meaning.startswith(("tensorflow.", "numpy.")) or ":" in meaning else "unknown"), []

    def _before_callback(self, function: Scope, name: str) -> tuple[Before, list[Expr]]:
        """The origin of a parameter of a function that the project does not call: the arguments passed with the
        callback, else decided by its name."""
        more = [value for taker in self.takers(function) for value in taker.arguments]
        position = function.parameters.index(name) - 1
        arguments = [call.argument(name, position) for call in self.callers(function)]  # of instances
        more += [value for value in arguments if value is not None]
        if more:
            return "", more
        return ("given" if name in _FEATURES else "unknown"), []

    def target(self, call: CallSite) -> Scope | None:
        """The project's function or class that a call runs; for the call of an instance its method ``call``."""
        scope = call.target
        if scope is None or scope.kind != "class" or not call.name.endswith("()"):
            return scope
        inner = [method for name in _CALLED if (method := scope.definition(name)) is not None]
        return max(inner, key=lambda method: method.block, default=None)

    def callers(self, function: Scope) -> list[CallSite]:
        """The project's calls of one of its functions; of ``call`` also the calls of instances."""
        owner, _, last = function.name.rpartition(".")
        return [*function.callers, *(self._instance_calls.get(f"{owner}()", ()) if last in _CALLED else ())]

    @cached_property
    def _instance_calls(self) -> dict[str, list[CallSite]]:
        """The calls of instances of the project's classes, by class."""
        calls: dict[str, list[CallSite]] = {}
        for module in module_scopes(self._context):
            for call in module.all_calls:
                if ":" in call.name and call.name.endswith("()"):
                    calls.setdefault(call.name, []).append(call)
        return calls

    def takers(self, function: Scope) -> list[CallSite]:
        """The TensorFlow calls that take a function as an argument: ``map_fn``, ``cond`` and the like."""
        module_uses = self.uses(function)
        uses = list(module_uses.of_functions.get(function.block, ()))
        name = function.record.name.rpartition(".")[2]
        if name and function.parent is not None and function.parent.kind != "class":
            uses += module_uses.of_names.get(name, ())
        calls = [use.call for use in uses if isinstance(use, Passed) and use.slot != -1]
        return [call for call in calls if call.name.startswith("tensorflow.")]


class _Forward:
    """Follows one result to its uses. `takers` are the functions that show it."""

    def __init__(self, placement: Placement, call: CallSite) -> None:
        self._placement = placement
        self._queue: list[AnyUse] = []
        self._seen: set[object] = set()
        self._sure = True
        self.takers: set[str] = set()
        self._follow_result(call, None)

    def end(self) -> Literal["model", "shown", "unknown"]:
        """``model`` if layers or losses use it, ``shown`` if it is only fetched, logged or unused, else ``unknown``."""
        while self._queue and len(self._seen) < _STEPS:
            use = self._queue.pop()
            if use.place not in self._seen:
                self._seen.add(use.place)
                if isinstance(use, Passed) and _trains(use):
                    return "model"
                self._follow(use)
        return "shown" if self._sure and not self._queue else "unknown"

    def _follow(self, use: AnyUse) -> None:
        if isinstance(use, Passed):
            self._follow_call(use)
        elif isinstance(use, Returned):
            self._follow_returned(use)
        else:
            self._follow_assignment(use)

    def _follow_result(self, call: CallSite, element: int | None) -> None:
        for use in self._placement.uses(call.scope).of_results.get(call.index, ()):
            if element is None or use.element is None or use.element == element:
                self._queue.append(use)

    def _follow_call(self, use: Passed) -> None:
        call, name = use.call, use.call.name
        target = self._placement.target(call)
        if target is not None:
            self._follow_parameter(target, use)
        elif name.endswith("EstimatorSpec") or _SHOWN.search(name):
            self.takers.add("tensorflow.metrics." if use.slot == "eval_metric_ops" else name)
        elif name.startswith("tensorflow.") or name in _PASSING:
            self._follow_result(call, None)
        elif name.rpartition(".")[2] in _HELD and use.slot != -1:
            if call.written:
                self._follow_holder(call.callee.sibling(Ref(call.written.rpartition(".")[0])))
        else:
            self._sure = False

    def _follow_parameter(self, target: Scope, use: Passed) -> None:
        """Continues at the parameter of the project's function that receives it."""
        function = target.called_block
        name = "" if function is None else _parameter(function, use)
        if function is None or name not in function.parameters:
            self._sure = False
            return
        for there in self._placement.uses(function).of_names.get(name, ()):
            if there.read.sibling(Ref(name)).passed_to is function:
                self._queue.append(there)

    def _follow_assignment(self, use: Assigned) -> None:
        assignment = use.assignment
        name = assignment.target.partition("[")[0]
        if name != assignment.target:
            self._follow_holder(assignment.value.sibling(Ref(name)))
        else:
            self._follow_name(assignment)

    def _follow_holder(self, holder: Expr) -> None:
        """Continues at the uses of the list or dict that contains it."""
        assignments = holder.assignments
        self._sure = self._sure and bool(assignments)
        for assignment in assignments:
            self._follow_name(assignment)

    def _follow_name(self, assignment: AssignmentSite) -> None:
        name = assignment.target
        places = [(name, use) for use in self._placement.uses(assignment.scope).of_names.get(name, ())]
        if "." in name:
            places += self._elsewhere(assignment)
        for written, use in places:
            assignments = use.read.sibling(Ref(written)).assignments
            if any(site.record is assignment.record for site in assignments):
                self._queue.append(use)
            elif not assignments:  # of an object that may be the same
                self._sure = False

    def _elsewhere(self, assignment: AssignmentSite) -> list[tuple[str, AnyUse]]:
        """The uses of an attribute through other objects: ``model.loss`` for ``self.loss``."""
        name, here = assignment.target, assignment.scope
        last = name.rpartition(".")[2]
        elsewhere = [
            (use.read.written, use)
            for module in module_scopes(here.context)
            for use in self._placement.uses(module).by_last.get(last, ())
            if module.module is not here.module or use.read.written != name
        ]
        self._sure = self._sure and bool(elsewhere or self._placement.uses(here).of_names.get(name))
        return elsewhere

    def _follow_returned(self, use: Returned) -> None:
        if use.function is None:
            return
        callers, takers = self._placement.callers(use.function), self._placement.takers(use.function)
        self._sure = self._sure and bool(callers or takers)
        for call in callers:
            self._follow_result(call, use.slot if isinstance(use.slot, int) else None)
        for call in takers:
            self._follow_result(call, None)


def _counts_hits(call: CallSite) -> bool:
    """Whether an operation takes a comparison, directly or by other operations."""
    for _ in range(_DEPTH):
        value = call.args[0] if call.args else next(iter(call.keywords.values()), None)
        if value is None:
            return False
        if value.operator in _COMPARISONS:
            return True
        sites = value.sites
        if not sites or not all(site.name.startswith("tensorflow.") for site in sites):
            return False
        if all(site.last in _HITS for site in sites):
            return True
        call = sites[0]
    return False


def _trains(use: Passed) -> bool:
    """Whether the call is a layer, a loss or an optimizer."""
    name = use.call.name
    if name.endswith("EstimatorSpec"):
        return use.slot in ("loss", "train_op", 2, 3)
    return bool(_MODEL.search(name) or _TRAINED.search(name))


def _parameter(function: Scope, use: Passed) -> str:
    """The parameter of a function that receives the argument; empty if there is none."""
    if isinstance(use.slot, str):
        return use.slot
    call, names = use.call, function.parameters
    position = use.slot + implicit_arguments(function, call.module, call.index)
    return names[position] if 0 <= position < len(names) else ""
