"""The call graph of a project: what the code of each function leads to, surely or under conditions.

Surely: through calls that nothing may keep from running. Under conditions: also through calls that depend on options,
and functions that are stored and looked up. Classes count by rapid type analysis: a method runs if an instance of its
class is made and something that runs calls a method of this name on an object whose class is not known better.
`npulint.model.code.reached` says what a program might run by names alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.code import CallResult, Import, Ref, names_in
from npulint.model.code.reached import CALLED_BY_FRAMEWORKS, IMPORTED, STARTED, Place, home
from npulint.model.running.guards import active, surely_runs
from npulint.model.running.npu_server import npu_server
from npulint.model.running.remote import is_of_ray
from npulint.model.values.choices import choices
from npulint.model.values.context import Context, once
from npulint.model.values.cursors import CallSite, Expr, Scope, scope_at

_HOOKS = CALLED_BY_FRAMEWORKS | frozenset(
    """__exit__ __len__ __post_init__ compute_loss create_optimizer create_scheduler create_optimizer_and_scheduler
    get_train_dataloader on_train_start on_train_batch_start setup_model""".split()
)
"""Methods that Python and frameworks call of an instance by themselves."""
_PLAIN_BASES = frozenset(("object", "abc.ABC", "typing.Generic", "typing.Protocol"))  # of no framework

_REGISTERING = lazy_compile(r"(?i)(?:^|[._:?])(?:register|configurable|registry)")
_KEEPING = frozenset("append appendleft add insert setdefault update set_defaults".split())
"""Methods of containers and parsers that keep what they are handed."""
_PASSED = (Ref, CallResult)  # arguments that may be functions
_BASES = 16  # of one class that are looked at
RUNNERS = frozenset(("tensorflow.app.run", "absl.app.run", "tensorflow.compat.v2.app.run", "fire.Fire"))
"""Functions that start a script: they call the function that they are given."""

_STARTERS = {"automain": "sacred.Experiment().automain", "start": "begin.start"}

_KNOWN_ROOTS = frozenset("torch torch_npu tensorflow numpy os sys logging json math random time re shutil".split())

_ANY = 99  # arguments: how many are given is not known
_Called = tuple[str, int]  # a name of a method, and how many arguments a call of it gives


class _Edges(NamedTuple):
    """What the code of one place leads to: places, classes of which it makes instances, methods by name that it calls
    on objects of unknown classes, functions and classes of which it looks up one (`chosen`)."""

    places: set[Place]
    classes: set[Place]
    methods: set[_Called]
    chosen: set[frozenset[Place]]

    @classmethod
    def none(cls) -> _Edges:
        return cls(set(), set(), set(), set())


class CallGraph:
    """The edges of a project's call graph, each worked out once; `surely`: only those that nothing may prevent."""

    def __init__(self, context: Context, surely: bool) -> None:
        self._context = context
        self._surely = surely
        self._edges: dict[Place, _Edges] = {}
        self._values: dict[str, dict[int, list[Expr]]] = {}
        self._of_frameworks: dict[Place, bool] = {}
        self._methods_of: dict[Place, list[tuple[str, Place]]] = {}
        self._by_home: dict[str, dict[int, dict[Scope, list[CallSite]]]] = {}

    def of(self, place: Place) -> _Edges:
        """The edges of one place, worked out on first use."""
        edges = self._edges.get(place)
        if edges is None:
            edges = self._edges[place] = _Edges.none()
            path, where = place
            module = scope_at(self._context, self._context.project.modules[path], 0)
            for scope, calls in self._calls(module).get(where, {}).items():
                self._follow_all(scope, calls, edges)
            for value in () if self._surely else self._kept(module).get(where, ()):
                if ":" in value.name and self._runs(value.scope, value.line):
                    self._pass(value, edges)
            if not self._surely and where == IMPORTED:
                self._add_registered(module, edges)
                if module.module.code.light:
                    self._use_imports(module, edges)
            for function in started_functions(module) if where == STARTED else ():
                self._enter(function, edges)
            if where > 0:
                self._decorated(module.at(where), edges)
            for record in module.module.code.imports if where in (IMPORTED, STARTED) else ():
                around = module.at(record.block)
                if home(module.module, record.block) == where and self._runs(around, record.line):
                    edges.places.update(self._imported(module, record))
        return edges

    def of_entry(self, entry: str) -> _Edges:
        """The edges of the entry script. Where its functions were not read, it runs what it imports."""
        edges = self.of((entry, IMPORTED))
        module = self._context.project.modules[entry]
        if self._surely and module.code.light:
            edges = _Edges(set(edges.places), set(edges.classes), edges.methods, edges.chosen)
            self._use_imports(scope_at(self._context, module, 0), edges)
        return edges

    def _use_imports(self, module: Scope, edges: _Edges) -> None:
        for record in module.module.code.imports:
            if record.name not in ("", "*"):
                self._pass(module.at(record.block).named(record.alias, record.line), edges)
        if not self._surely:  # what it calls of their instances, and of modules that it imports, is unknown
            for record in module.module.code.imports:
                for target in self._context.project.imported(module.module, record):
                    if target.name.rpartition(".")[2] == (record.name or record.module).rpartition(".")[2]:
                        self._enter_all(scope_at(self._context, target, 0), edges)
            edges.places.update(method for cls in edges.classes for _, method in self.methods(cls))

    def _enter_all(self, module: Scope, edges: _Edges) -> None:
        for block in module.blocks_of("function", "class"):
            if block.parent is not None and block.parent.kind == "module":
                self._enter(block, edges)

    def _add_registered(self, module: Scope, edges: _Edges) -> None:
        """What a decorator keeps, so that something else may call it: one that registers by a name, or a method of an
        object of the module, such as an application whose commands these are (``@app.command()``)."""
        for block in module.blocks_of("function", "class"):
            outermost = block.parent is not None and block.parent.kind == "module"
            if outermost and any(map(_keeps, block.decorators)):
                self._enter(block, edges)

    def _calls(self, module: Scope) -> dict[int, dict[Scope, list[CallSite]]]:
        calls = self._by_home.get(module.path)
        if calls is None:
            calls = self._by_home[module.path] = {}
            for call in module.all_calls:
                of_home = calls.setdefault(home(module.module, call.scope.block), {})
                of_home.setdefault(call.scope, []).append(call)
        return calls

    def _follow_all(self, scope: Scope, calls: list[CallSite], edges: _Edges) -> None:
        """Add where the calls of a block lead to, but for those after an exit that is taken on an NPU server. Whether
        the block runs is asked last: most lead nowhere."""
        of_block = _Edges.none()
        server = npu_server(self._context)
        for call in calls:
            if not server.is_dead(scope, call.line):
                self._follow(call, of_block)
        names = member_names(self._context)
        of_block.methods.difference_update([method for method in of_block.methods if method[0] not in names])
        is_contained = (
            of_block.places <= edges.places and of_block.classes <= edges.classes and of_block.methods <= edges.methods
        )
        if not (is_contained and of_block.chosen <= edges.chosen) and self._runs(scope):
            edges.places.update(of_block.places)
            edges.classes.update(of_block.classes)
            edges.methods.update(of_block.methods)
            edges.chosen.update(of_block.chosen)

    def _kept(self, module: Scope) -> dict[int, list[Expr]]:
        """The names in what is assigned and returned, by the function where that stands."""
        by_home = self._values.get(module.path)
        if by_home is None:
            by_home = self._values[module.path] = {}
            code = module.module.code
            kept = [(assignment.value, assignment.block, assignment.line) for assignment in code.assignments]
            kept += [(return_record.value, return_record.block, return_record.line) for return_record in code.returns]
            for value, block, line in kept:
                names = names_in((value,))
                if names:
                    written = [module.at(block).expr(name, line) for name in names]
                    by_home.setdefault(home(module.module, block), []).extend(written)
        return by_home

    def _runs(self, scope: Scope, line: int = 0) -> bool:
        """Whether a block runs (`line`: what stands there in it)."""
        if line and npu_server(self._context).is_dead(scope, line):
            return False
        return (not self._surely or surely_runs(scope)) and active(scope) != "no"

    def _imported(self, module: Scope, record: Import) -> Iterator[Place]:
        for target in self._context.project.imported(module.module, record):
            yield target.path, IMPORTED

    def _follow(self, call: CallSite, edges: _Edges) -> None:
        target = call.target
        if target is None and call.name in RUNNERS and not call.arguments:
            target = call.scope.at(0).definition("main")  # which it looks for by itself
        if target is None and call.name == f"super().{call.last}":
            target = self._inherited(call)
        looked_up = self._looked_up(call) if target is None and _is_computed(call.name) else frozenset()
        if target is not None:
            self._enter(target, edges)
        elif looked_up and self._surely:
            edges.chosen.add(looked_up)
        else:
            self._enter_places(looked_up, edges)
            self._add_method(call, edges)
        given = (*call.record.args, *(value for _, value in call.record.keywords))
        passed = [value for value in given if isinstance(value, _PASSED)]
        if passed and not (self._surely and _only_keeps(call, target)):
            for value in passed:
                self._pass(call.expr(value), edges)
        if target is None and "." in call.written and (not self._surely or is_of_ray(call)):  # ``actor.fit.remote()``
            holder = call.written.rpartition(".")[0]
            self._pass(call.scope.named(holder, call.line), edges)
            owner, _, method = holder.rpartition(".")
            if owner:
                edges.methods.add((method, _ANY))

    def _add_method(self, call: CallSite, edges: _Edges) -> None:
        """The method that a call of something unknown may be of."""
        if not call.last or call.name.partition(".")[0] in _KNOWN_ROOTS:
            return
        if call.receiver is not None and not _is_of_library(call):
            edges.methods.add((call.last, _given(call)))
        elif call.name.endswith("()"):
            edges.methods.add(("__call__", _given(call)))

    def _looked_up(self, call: CallSite) -> frozenset[Place]:
        """The functions and classes of the project that a call may be of, as one of them is looked up."""
        definitions = (self._context.names.function(name) for name in choices(call.callee))
        return frozenset([(definition[0].path, definition[1]) for definition in definitions if definition is not None])

    def is_class(self, place: Place) -> bool:
        """Whether a place is a class."""
        return self._context.project.modules[place[0]].blocks[place[1]].kind == "class"

    def _pass(self, argument: Expr, edges: _Edges) -> None:
        """A function or class that is handed to a call will be called by it, also one that a function has made."""
        name = argument.name
        definition = self._context.names.function(name.removesuffix("()")) if ":" in name else None
        if definition is None:
            return
        target = scope_at(self._context, *definition)
        if name.endswith("()"):
            self._enter_returned(target, edges)
        else:
            self._enter(target, edges)

    def _enter_returned(self, target: Scope, edges: _Edges) -> None:
        """The functions that a function returns will be called."""
        for expr in target.returns:
            made = self._context.names.function(expr.name) if ":" in expr.name else None
            if made is not None:
                self._enter(scope_at(self._context, *made), edges)

    def _decorated(self, function: Scope, edges: _Edges) -> None:
        """Where a function is called, what its decorators have made of it is called."""
        for decorator in function.decorators:
            name = decorator.name.removesuffix("()")
            definition = self._context.names.function(name) if ":" in name else None
            if definition is not None:
                target = scope_at(self._context, *definition)
                self._enter(target, edges)
                self._enter_returned(target, edges)

    def _enter_places(self, places: Iterable[Place], edges: _Edges) -> None:
        for path, block in places:
            self._enter(scope_at(self._context, self._context.project.modules[path], block), edges)

    def _enter(self, target: Scope, edges: _Edges) -> None:
        place = (target.path, target.block)
        edges.places.add(place)
        if target.kind == "class":
            edges.classes.add(place)

    def methods(self, place: Place) -> list[tuple[str, Place]]:
        """The methods of a class with their names; those of its bases in the project where it has none of that name."""
        methods = self._methods_of.get(place)
        if methods is None:
            methods = self._methods_of[place] = []
            queue, names = [scope_at(self._context, self._context.project.modules[place[0]], place[1])], set[str]()
            for scope in queue:
                for name in scope.module.names.get(scope.block, {}):
                    method = None if name in names else scope.definition(name)
                    if method is not None:
                        names.add(name)
                        methods.append((name, (method.path, method.block)))
                if len(queue) < _BASES:
                    queue += [base for expr in scope.bases if (base := self._own_class(expr)) is not None]
        return methods

    def is_hook(self, place: Place, name: str) -> bool:
        """Whether Python calls a method of a class by itself, or a framework may: one of its own class is a stranger to
        frameworks unless it derives from theirs, or a decorator hands it to one."""
        return name in _HOOKS and (name.startswith("__") or self._is_of_framework(place))

    def _is_of_framework(self, place: Place) -> bool:
        answer = self._of_frameworks.get(place)
        if answer is None:
            scope = scope_at(self._context, self._context.project.modules[place[0]], place[1])
            queue, answer = [scope], bool(scope.decorators)
            for derived in queue:
                for expr in () if answer or len(queue) > _BASES else derived.bases:
                    base = self._own_class(expr)
                    answer = answer or (base is None and expr.name.partition("[")[0] not in _PLAIN_BASES)
                    queue += [] if base is None else [base]
            self._of_frameworks[place] = answer
        return answer

    def needed(self, method: Place) -> int:
        """How many arguments a call of a method must give, besides the object."""
        record = self._context.project.modules[method[0]].blocks[method[1]]
        needed = [
            param for param in record.params[: len(record.params) - len(record.defaults)] if not param.startswith("*")
        ]
        return max(0, len(needed) - 1)

    def _inherited(self, call: CallSite) -> Scope | None:
        """The method that ``super().method()`` calls, of the first base in the project that has one of that name."""
        queue = [scope for scope in call.scope.ancestors if scope.kind == "class"][:1]
        for scope in queue:
            bases = [base for expr in scope.bases if (base := self._own_class(expr)) is not None]
            for base in bases:
                method = base.definition(call.last)
                if method is not None:
                    return method
            if len(queue) < _BASES:
                queue += bases
        return None

    def _own_class(self, base: Expr) -> Scope | None:
        definition = self._context.names.function(base.name)
        return None if definition is None else scope_at(self._context, *definition)


def _is_of_library(call: CallSite) -> bool:
    """Whether a call is one of a function of a module from outside, no method of an object: ``gradio.update(…)``."""
    if not call.name.replace(".", "").isidentifier():
        return False
    head = call.written.partition(".")[0]
    return any(
        (import_record.alias or import_record.module).partition(".")[0] == head and not import_record.name
        for import_record in call.module.code.imports
    )


def _given(call: CallSite) -> int:
    """How many arguments a call gives, as far as they are written one by one."""
    return _ANY if call.starred else len(call.args) + len(call.record.keywords)


def _is_computed(name: str) -> bool:
    """Whether what a call calls is computed, and no method of a known library."""
    return (name.startswith("?") or "(" in name or "[" in name) and name.partition(".")[0] not in _KNOWN_ROOTS


@once
def member_names(context: Context) -> frozenset[str]:
    """The names that the project's classes define: a call of a method of another name leads to none of its own."""
    modules = context.project.modules.values()
    defined = (
        names for module in modules for block, names in module.names.items() if module.blocks[block].kind == "class"
    )
    return frozenset().union(*defined)


@once
def sure_calls(context: Context) -> CallGraph:
    """The sure edges of a project's call graph."""
    return CallGraph(context, surely=True)


@once
def possible_calls(context: Context) -> CallGraph:
    """All edges of a project's call graph."""
    return CallGraph(context, surely=False)


def started_functions(module: Scope) -> list[Scope]:
    """The functions of a module that their decorators call where it is started as a script (``@ex.automain``)."""
    return [
        function
        for function in module.blocks_of("function")
        if any(decorator.name == _STARTERS.get(_last(decorator)) for decorator in function.decorators)
    ]


def _only_keeps(call: CallSite, target: Scope | None) -> bool:
    """Whether a call keeps the functions that it is handed, for something else to call: one that registers by its name,
    or a function of the project that puts its parameters away."""
    if target is None:
        return call.last in _KEEPING or _REGISTERING.search(call.name) is not None
    return target.kind == "function" and not _uses_parameters(target)


@once
def _uses_parameters(function: Scope) -> bool:
    """Whether a function, or one in it, calls one of its parameters, hands one on or gives one back."""
    params = {name.lstrip("*") for name in function.record.params}
    inner = [function]
    for scope in inner:
        inner += scope.functions
        used = [expr.value for expr in scope.returns]
        for call in scope.calls:
            used.append(call.record.callee)
            used += [] if call.last in _KEEPING else [expr.value for expr in call.arguments]
        if any(name.name.partition(".")[0] in params for name in names_in(used)):
            return True
    return False


def _last(decorator: Expr) -> str:
    return decorator.written.rpartition(".")[2]


def _keeps(decorator: Expr) -> bool:
    """Whether a decorator may keep what it is handed."""
    if _REGISTERING.search(decorator.name):
        return True
    written = decorator.written if decorator.call is None else decorator.call.written
    root, dot, _ = written.partition(".")
    return bool(dot) and bool(decorator.scope.named(root, decorator.line).assignments)
