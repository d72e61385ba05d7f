"""Placement: does an operation stand in the middle of what TensorFlow trains, or at the edge of the graph?

Told by the data flow alone: forwards to layers, losses and gradients, backwards to layers and variables. What the
flow cannot follow remains unknown.
"""

from __future__ import annotations

from functools import cached_property

from npulint.assemble.bindings import may_be_passed, taker
from npulint.assemble.flow import Flow, Site, argument, initialiser
from npulint.assemble.module import Module
from npulint.assemble.uses import Key, Use, Uses, leaves
from npulint.facts.code import Assignment, Ref, Value
from npulint.lazy_regex import lazy_compile

Read = tuple[Module, Value, int, int]
"""A value with the place where it is read: module, block and line."""

_STEPS = 400  # places that one question looks at
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
_GIVEN = lazy_compile(
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
    """Answers about the calls of one project."""

    def __init__(self, flow: Flow) -> None:
        self._flow = flow
        self._names = flow.names
        self._uses: dict[str, Uses] = {}

    def place(self, module: Module, index: int) -> str:
        """``path``: between layers and what trains them; ``edge``: only inputs before it, or only shown or fetched
        after it; else ``unknown``."""
        before = self._origin(module, index)
        if before == "given":
            return "edge"
        after = _Forward(self, module, index).end()
        if after == "shown":
            return "edge"
        return "path" if (before, after) == ("model", "model") else "unknown"

    def uses(self, module: Module) -> Uses:
        """The uses of a module, collected once."""
        known = self._uses.get(module.path)
        if known is None:
            known = self._uses[module.path] = Uses(module)
        return known

    def _origin(self, module: Module, index: int) -> str:
        """What the operands of a call come from: ``model`` if layers or variables are among it, ``given`` if all of
        it is fed, read or constant, else ``unknown``."""
        call = module.code.calls[index]
        values = [*call.args, *(value for _, value in call.keywords)]
        if self._names.of_call(module, index).endswith(_PYTHON):
            values = [value for value in (argument(call, "inp", 1),) if value is not None]
        queue: list[Read] = [(module, v, call.block, call.line) for v in values]
        seen: set[object] = set()
        sure = True
        while queue and len(seen) < _STEPS:
            home, value, block, line = queue.pop()
            for key, _ in leaves(value):
                mark = (home.path, key, block if isinstance(key, str) else 0, line if isinstance(key, str) else 0)
                if mark not in seen:
                    seen.add(mark)
                    answer, more = self._before(home, key, block, line)
                    if answer == "model":
                        return "model"
                    sure = sure and answer != "unknown"
                    queue += more
        return "given" if sure and not queue else "unknown"

    def _before(self, home: Module, key: Key, block: int, line: int) -> tuple[str, list[Read]]:
        """Where a name or result comes from: an answer, or the values to look at next."""
        if isinstance(key, tuple):
            return "given", []
        if isinstance(key, str):
            return self._before_name(home, key, block, line)
        name, call = self._names.of_call(home, key), home.code.calls[key]
        if _VARIABLE.search(name) or _MODEL.search(name):
            return "model", []
        if _GIVEN.search(name):
            return "given", []
        target = self.target(name)
        if target is not None:
            inner = target[0]
            returns = inner.returns.get(target[1], ()) if inner.blocks[target[1]].kind != "class" else ()
            return "" if returns else "unknown", [(inner, r.value, r.block, r.line + 1) for r in returns]
        if name.startswith("tensorflow.") or name in _PASSING:
            values = [*call.args, *(value for _, value in call.keywords)]
            if isinstance(call.callee, Ref) and "()" in name:
                values.append(Ref(call.callee.name.rpartition(".")[0]))
            return "", [(home, value, call.block, call.line) for value in values]
        return "unknown", []

    def _before_callback(self, home: Module, function: int, name: str) -> tuple[str, list[Read]]:
        """Where a parameter comes from of a function that nobody calls: what it is handed with, else its name."""
        handed = [home.code.calls[index] for index in self.takers(home, function)]
        more = [(home, v, c.block, c.line) for c in handed for v in (*c.args, *(v for _, v in c.keywords))]
        place = home.blocks[function].params.index(name) - 1
        for caller, index in self.callers(home, function):  # of instances
            call = caller.code.calls[index]
            value = argument(call, name, place)
            more += [(caller, value, call.block, call.line)] if value is not None else []
        if more:
            return "", more
        return ("given" if name in _FEATURES else "unknown"), []

    def target(self, name: str) -> tuple[Module, int] | None:
        """The own function or class that a canonical callee is; of an instance that is called its ``call``."""
        found = self._names.function(name)
        if found is None or not name.endswith("()") or found[0].blocks[found[1]].kind != "class":
            return found
        inner = max(found[0].definition(found[1], one) for one in _CALLED)
        return (found[0], inner) if inner >= 0 else None

    def callers(self, module: Module, function: int) -> list[Site]:
        """The project's calls of an own function; of ``call`` also those of the instances."""
        found = self._flow.callers(module, function)
        owner, _, last = module.blocks[function].name.rpartition(".")
        return [*found, *self._instances.get(f"{module.name}:{owner}()", ())] if last in _CALLED else found

    @cached_property
    def _instances(self) -> dict[str, list[Site]]:
        """The calls of instances of the project's classes, by the class."""
        found: dict[str, list[Site]] = {}
        for module in self._names.project.modules.values():
            for index, name in enumerate(self._names.of_calls(module)):
                if ":" in name and name.endswith("()"):
                    found.setdefault(name, []).append((module, index))
        return found

    def takers(self, module: Module, function: int) -> list[int]:
        """The calls of TensorFlow that are given a function: ``map_fn``, ``cond`` and the like."""
        uses = list(self.uses(module).of.get((function,), ()))
        record = module.blocks[function]
        if record.name and module.blocks[record.parent].kind != "class":
            uses += self.uses(module).of.get(record.name.rpartition(".")[2], ())
        return [u.index for u in uses if u.kind == "call" and u.slot != -1 and self._is_framework(module, u.index)]

    def _is_framework(self, module: Module, index: int) -> bool:
        return self._names.of_call(module, index).startswith("tensorflow.")

    def _before_name(self, home: Module, name: str, block: int, line: int) -> tuple[str, list[Read]]:
        binds = self._flow.bindings(home, name, block, line)
        more = [(m, b.value, b.block, b.line) for m, b in binds]
        function = taker(home, name, block)
        if function >= 0 and may_be_passed(home, function, block, binds):
            passed = self._flow.passed(home, function, name)
            if not passed and not binds:
                return self._before_callback(home, function, name)
            for (caller, index), value in passed:
                call = caller.code.calls[index]
                if value is not None:
                    more.append((caller, value, call.block, call.line))
            return "", more
        if more:
            return "", more
        if "." in name and self._flow.bindings(home, name.rpartition(".")[0], block, line):
            return "", [(home, Ref(name.rpartition(".")[0]), block, line)]
        meaning = self._names.of_name(home, name, block, line)
        return ("given" if meaning.startswith(("tensorflow.", "numpy.")) or ":" in meaning else "unknown"), []


class _Forward:
    """Follows one result to what becomes of it."""

    def __init__(self, placement: Placement, module: Module, index: int) -> None:
        self._placement = placement
        self._flow = placement._flow
        self._names = placement._names
        self._queue: list[tuple[Module, Use]] = []
        self._seen: set[tuple[str, str, int, int | str]] = set()
        self._sure = True
        self._result(module, index, None)

    def end(self) -> str:
        """``model`` if layers or losses get it, ``shown`` if it is only fetched, written or not used at all, else
        ``unknown``."""
        while self._queue and len(self._seen) < _STEPS:
            module, use = self._queue.pop()
            mark = (module.path, use.kind, use.index, use.slot)
            if mark not in self._seen:
                self._seen.add(mark)
                if use.kind == "call" and self._trains(module, use):
                    return "model"
                if use.kind == "call":
                    self._called(module, use)
                elif use.kind == "bind":
                    self._bound(module, module.code.assignments[use.index])
                else:
                    self._returned(module, use)
        return "shown" if self._sure and not self._queue else "unknown"

    def _trains(self, module: Module, use: Use) -> bool:
        name = self._names.of_call(module, use.index)
        if name.endswith("EstimatorSpec"):
            return use.slot in ("loss", "train_op", 2, 3)
        return bool(_MODEL.search(name) or _TRAINED.search(name))

    def _result(self, module: Module, index: int, element: int | None) -> None:
        for use in self._placement.uses(module).of.get(index, ()):
            if element is None or use.element is None or use.element == element:
                self._queue.append((module, use))

    def _called(self, module: Module, use: Use) -> None:
        name = self._names.of_call(module, use.index)
        target = self._placement.target(name)
        if target is not None:
            self._passed(*target, module, use)
        elif name.endswith("EstimatorSpec") or _SHOWN.search(name):
            return
        elif name.startswith("tensorflow.") or name in _PASSING:
            self._result(module, use.index, None)
        elif name.rpartition(".")[2] in _HELD and use.slot != -1:
            callee = module.code.calls[use.index].callee
            if isinstance(callee, Ref):
                self._held(module, callee.name.rpartition(".")[0], use.block, use.line)
        else:
            self._sure = False

    def _passed(self, home: Module, block: int, module: Module, use: Use) -> None:
        """On into the parameter of an own function that takes it."""
        function = initialiser(home, block)
        params = home.blocks[function].params if function >= 0 else ()
        slot = use.slot
        if isinstance(slot, int) and function >= 0:
            slot += self._flow.shift(home, function, module, use.index)
        name = params[slot] if isinstance(slot, int) and 0 <= slot < len(params) else slot
        if not isinstance(name, str) or name not in params:
            self._sure = False
            return
        for there in self._placement.uses(home).of.get(name, ()):
            binds = self._flow.bindings(home, name, there.block, there.line)
            if taker(home, name, there.block) == function and may_be_passed(home, function, there.block, binds):
                self._queue.append((home, there))

    def _bound(self, module: Module, bind: Assignment) -> None:
        name = bind.target.partition("[")[0]
        if name != bind.target:
            self._held(module, name, bind.block, bind.line)
            return
        self._name(module, name, bind)

    def _held(self, module: Module, name: str, block: int, line: int) -> None:
        """On to where a list or dict that now holds it is used."""
        binds = self._flow.bindings(module, name, block, line)
        self._sure = self._sure and bool(binds)
        for home, bind in binds:
            self._name(home, bind.target, bind)

    def _name(self, module: Module, name: str, bind: Assignment) -> None:
        places = [(module, name, use) for use in self._placement.uses(module).of.get(name, ())]
        if "." in name:
            places += self._elsewhere(module, name)
        for home, written, use in places:
            binds = self._flow.bindings(home, written, use.block, use.line)
            if any(b is bind for _, b in binds):
                self._queue.append((home, use))
            elif not binds:  # of an object that may be this one
                self._sure = False

    def _elsewhere(self, module: Module, name: str) -> list[tuple[Module, str, Use]]:
        """The uses of an attribute by other names: ``model.loss`` for ``self.loss``."""
        last = name.rpartition(".")[2]
        found = [
            (home, written, use)
            for home in self._names.project.modules.values()
            for written, use in self._placement.uses(home).by_last.get(last, ())
            if home is not module or written != name
        ]
        self._sure = self._sure and bool(found or self._placement.uses(module).of.get(name))
        return found

    def _returned(self, module: Module, use: Use) -> None:
        function = module.function_of(module.code.returns[use.index].block)
        if function < 0:
            return
        callers = self._placement.callers(module, function)
        handed = self._placement.takers(module, function)
        self._sure = self._sure and bool(callers or handed)
        for home, index in callers:
            self._result(home, index, use.slot if isinstance(use.slot, int) else None)
        for index in handed:
            self._result(module, index, None)
