"""Executes a program abstractly: every branch that may be taken, in one pass, on values that may not be known."""

from __future__ import annotations

import ast
import builtins
import contextlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple, NoReturn, TypeVar

from npulint.model.abstract_values.heap import Heap, Key
from npulint.model.abstract_values.objects import HAPPENED, Items, Mark
from npulint.model.abstract_values.store import Cell, Layer, Region
from npulint.model.abstract_values.value import UNKNOWN, Const, Obj, Value, const, joined, unknown
from npulint.model.execution.probes import Probes, Watched
from npulint.model.execution.record_types import Record
from npulint.model.execution.scopes import MODULE, Scope
from npulint.model.execution.sources import Sources

T = TypeVar("T")


class Dead(Exception):
    """No execution goes on from here: it has returned, raised, or left a loop, and that state is kept elsewhere."""


class Exhausted(Exception):
    """The limit of work for one start is reached; what was not seen until then is not known."""


class Unbounded(Exception):
    """A function calls itself more often than is followed; the program is executed again with that in mind."""

    def __init__(self, node: ast.AST) -> None:
        super().__init__()
        self.node = node


class Outcome(NamedTuple):
    """A state in which a function returned, or an exception was raised, and its value."""

    layer: Layer
    value: Value


class Loop:
    """The states in which the iterations of a loop end early."""

    __slots__ = ("breaks", "continues")

    def __init__(self) -> None:
        self.breaks: list[Layer] = []
        self.continues: list[Layer] = []


class Guard:
    """A part of the program that catches exceptions: what was raised there, and what may be raised at any time (names
    of classes; ``""`` for any)."""

    __slots__ = ("possible", "raised", "region")

    def __init__(self, region: Region) -> None:
        self.region = region
        self.raised: list[Outcome] = []
        self.possible: set[str] = set()


class Arguments:
    """The arguments of a call. `rest` is what further positional ones may be, `options` what further keywords may be
    (None: there are none)."""

    __slots__ = ("keywords", "options", "positional", "rest")

    def __init__(
        self,
        positional: Sequence[Value] = (),
        keywords: dict[str, Value] | None = None,
        rest: Value | None = None,
        options: Value | None = None,
    ) -> None:
        self.positional = list(positional)
        self.keywords = keywords or {}
        self.rest, self.options = rest, options

    @property
    def is_exact(self) -> bool:
        """Whether it is known how many there are."""
        return self.rest is None and self.options is None

    def all(self) -> list[Value]:
        """All values that are given."""
        more = [value for value in (self.rest, self.options) if value is not None]
        return [*self.positional, *self.keywords.values(), *more]

    def with_first(self, value: Value) -> Arguments:
        """The arguments after one more."""
        return Arguments([value, *self.positional], self.keywords, self.rest, self.options)

    def get(self, position: int, name: str = "") -> Value | None:
        """The argument at a position or of a name; None if it is not given."""
        if position < len(self.positional):
            return self.positional[position]
        return self.keywords.get(name) if name else None


class Frame:
    """A scope that is being executed. `outer` is the scope around it in the text, `owner` the class whose method it is
    of, `consume` takes what a generator yields."""

    __slots__ = (
        "consume",
        "function",
        "is_captured",
        "locals",
        "loops",
        "module",
        "node",
        "outer",
        "owner",
        "returns",
        "scope",
    )

    def __init__(self, module: Obj, scope: Scope, names: Obj, outer: Frame | None, node: ast.AST | None = None) -> None:
        self.module, self.scope, self.locals, self.outer, self.node = module, scope, names, outer, node
        self.is_captured = False  # whether a function or generator may still read its names when it has ended
        self.owner: Obj | None = None if outer is None else outer.owner
        self.function: Obj | None = None
        self.returns: list[Outcome] = []
        self.loops: list[Loop] = []
        self.consume: Callable[[Value], Value] | None = None

    def capture(self) -> None:
        """Note that a function, class or generator may read its names, and those of the scopes around it, later on."""
        frame: Frame | None = self
        while frame is not None and not frame.is_captured:
            frame.is_captured = True
            frame = frame.outer


MOST_STEPS = 150_000
_CELLS_PER_STEP = 4  # that are joined in the time of a step
_AT_EXIT: Final = "<atexit>"
_END_PROGRAMS: Final = ("click.", "typer.", "absl.app.")
"""Libraries that call the function of a command and end the program themselves, with status 0."""
_MOST_OUTCOMES = 12  # states with exceptions that one part of the program keeps apart
MOST_CALLS = 40  # functions within one another
SAME_CALLS = 14  # calls of one function within one another


class Kind(NamedTuple):
    """What can be done with the objects of one kind; None: what it gives is not known."""

    iterate: Callable[..., None] | None = None
    item: Callable[..., Value] | None = None
    store_item: Callable[..., None] | None = None
    contains: Callable[..., Value] | None = None
    copy_into: Callable[..., None] | None = None
    attribute: Callable[..., Value] | None = None
    set_attribute: Callable[..., None] | None = None
    call: Callable[..., Value] | None = None
    enter: Callable[..., None] | None = None


NO_KIND: Final = Kind()


class Machine(ABC):
    """The execution of one start of a program. The modules beside this one do the parts of it and ask one another
    through this class."""

    def __init__(self, sources: Sources, environment: dict[str, str], working_folder: str) -> None:
        self.sources = sources
        self.environment = environment
        self.working_folder = working_folder
        self.read_texts: dict[str, str] = {}  # the paths of files that the program has read, by their content
        self.modules: dict[tuple[str, str], Obj] = {}
        self.scopes: dict[ast.AST, Scope] = {}
        self.records: dict[Obj, Record] = {}
        self.enums: dict[Obj, tuple[str, dict[str, Value]]] = {}
        self.annotations: dict[Obj, list[tuple[str, str]]] = {}
        self.handled: list[Value] = []  # the exceptions whose handlers are being executed
        self.repetitions = 0  # the loops of unknown length before, within the same one
        self.kinds: dict[str, Kind] = {}
        self.heap = Heap()
        self.store = self.heap.store
        self.marks = Obj("marks", -1)
        self.guards: list[Guard] = []
        self.calls: list[Obj] = []
        # how the program may end: the probes that were surely reached, and whether with status 0
        self.ends: list[tuple[frozenset[tuple[str, int]], bool]] = []
        self.probes = Probes()
        self.literals: dict[ast.Constant, Value] = {}
        self.watched: frozenset[ast.expr] = frozenset()  # expressions of which the values are noted
        self.steps, self.most_steps = 0, MOST_STEPS
        self.open_classes: set[Obj] = set()  # those of which Python makes more than is modelled
        self.compared_by_fields: set[Obj] = set()  # dataclasses with a generated ``__eq__``
        self.made_by_metaclass: set[Obj] = set()
        self.abstract_methods: set[Obj] = set()
        self.abstract_classes: set[Obj] = set()  # those with ABCMeta
        self.slots: dict[Obj, frozenset[str]] = {}  # the names in ``__slots__`` of classes
        self.called_back: dict[Obj, Sequence[Cell]] = {}  # functions that unknown code may call, with what they write
        self.recursive: frozenset[ast.AST] = frozenset()  # functions that call themselves more often than is followed
        self.may_not_return = False  # a function may call itself for ever
        self.lost = False  # code of the project may have run that was not followed
        top = Obj("module", self.store.new_serial(), "<none>")
        self.frame = Frame(top, MODULE, top, None)

    def mangled(self, name: str) -> str:
        """The name that a private name (``__x``) has within a class."""
        owner = self.frame.owner
        is_private = name.startswith("__") and not name.endswith("__")
        return f"_{owner.name.lstrip('_')}{name}" if is_private and owner is not None else name

    # -- control flow

    def branch(self, works: Sequence[Callable[[], T]]) -> list[T]:
        """What each work gives, in a state of its own from here; goes on where those that do not end meet. Raises
        `Dead` where none goes on."""
        if len(works) == 1:
            return [works[0]()]
        base = self.store.fork()
        ends: list[Layer] = []
        results: list[T] = []
        for number, work in enumerate(works):
            if number:
                self.store.other_branch(base)
            try:
                results.append(work())
                ends.append(self.store.layer)
            except Dead:
                pass
        if not ends:
            base.pins -= 1
            raise Dead
        self.store.meet(base, ends)
        return results

    def maybe(self, work: Callable[[], object]) -> None:
        """Do what runs in some executions only."""
        self.branch([work, _nothing])

    def value_of_branches(self, works: Sequence[Callable[[], Value]]) -> Value:
        """What one of the works gives."""
        return joined(self.branch(works))

    def step(self) -> None:
        """Count a unit of work. Raises `Exhausted` at the limit."""
        self.steps += 1
        if self.steps + self.store.work // _CELLS_PER_STEP > self.most_steps:
            raise Exhausted

    # -- exceptions

    def throw(self, error: Value) -> NoReturn:
        """Raise an exception."""
        if not self.guards:
            self.end(self._is_normal(error))
            raise Dead
        guard = self.guards[-1]
        names = _class_names(error) if len(guard.raised) >= _MOST_OUTCOMES else None
        if names:
            guard.possible.update(names)
        else:
            guard.raised.append(Outcome(self.store.captured(), error))
        raise Dead

    def throw_new(self, name: str, *args: object) -> NoReturn:
        """Raise an exception of Python itself; its message is not that of Python word by word."""
        error = self.exception(name, [const(argument) for argument in args])
        made = error.single
        assert isinstance(made, Obj)
        self.heap.put(made, "args", UNKNOWN)
        self.throw(error)

    def exception(self, name: str, args: Sequence[Value] = ()) -> Value:
        """A new exception of Python itself."""
        kind = getattr(builtins, name, None)  # some have two names
        symbol = f"builtins.{kind.__name__}" if isinstance(kind, type) else name
        made = self.heap.make("instance", cls=self.heap.symbol(symbol))
        self.heap.fill(made, [("args", self.heap.sequence("tuple", args))])
        return Value((made,))

    def may_throw(self, *names: str) -> None:
        """Note that an exception of these classes, or any without names, may be raised here."""
        if self.guards:
            self.guards[-1].possible.update(names or ("",))

    def register_exit(self, call: Value) -> None:
        """Let something be called when the program ends."""
        content = self.heap.items_of_key(self.marks, _AT_EXIT) if self._has_exits() else Items(())
        kept = Items(None, content.any_item.joined(call)) if content.items is None else Items((*content.items, call))
        self.store.write(self.marks, _AT_EXIT, kept)

    def _has_exits(self) -> bool:
        return self.store.read(self.marks, _AT_EXIT) is not None

    def call_exits(self) -> None:
        """Call what was registered for the end of the program, the last first."""
        if not self._has_exits():
            return
        content = self.heap.items_of_key(self.marks, _AT_EXIT)
        if content.items is None:
            raise Exhausted
        self.store.write(self.marks, _AT_EXIT, Items(()))
        for call in reversed(content.items):
            with contextlib.suppress(Dead):
                self.call(call, Arguments())

    def end(self, is_normal: bool, at_once: bool = False) -> None:
        """Let the program end in the current state, `at_once`: without what was registered for the end."""
        if not at_once:
            self.call_exits()
        reached = set()
        for probe in self.probes.visited:
            mark = self.store.read(self.marks, probe)
            if isinstance(mark, Mark) and not mark.maybe:
                reached.add(probe)
        self.ends.append((frozenset(reached), is_normal))

    def ends_normally(self, outcome: Outcome) -> bool:
        """Whether an exception is one that ends the program with status 0, where nothing catches it."""
        return not outcome.value.is_open and self._is_normal(outcome.value)

    def _is_normal(self, error: Value) -> bool:
        for alternative in error.alternatives:
            exit_class = self.heap.symbol("builtins.SystemExit")
            if (
                isinstance(alternative, Obj)
                and alternative.cls is not None
                and self.is_subclass(alternative.cls, exit_class)
            ):
                args = self.heap.get(alternative, "args").single
                items = self.heap.items_of(args).items if isinstance(args, Obj) else None
                code = items[0].single if items else Const(None)
                if not isinstance(code, Const) or code.value in (None, 0):
                    return True
        return error.is_open

    # -- unknown code

    def forget_all(self) -> None:
        """Let code of the project that is not followed do anything."""
        self.lost = True
        self.store.forget()

    def unseen(self, name: str, values: Sequence[Value]) -> Value:
        """What code gives that is not seen: it may change what it is given, call what it finds there, and raise."""
        self.may_throw()
        if name.startswith(_END_PROGRAMS):
            self.end(True)
        for function in self.heap.escape(values):
            self.call_back(function)
        return unknown(name)

    @abstractmethod
    def call_back(self, function: Obj) -> None:
        """Let unknown code call a function of the program, at any time from here on."""

    def observe(self, node: Watched, value: Value) -> None:
        """Note the value of an expression or field that is watched."""
        self.probes.observe(node, self.heap, value)

    # -- marks

    def visit(self, place: tuple[str, int]) -> None:
        """Note that a probe is reached."""
        self.probes.visited.add(place)
        self.store.write(self.marks, place, HAPPENED)

    def surely_runs(self, probe: tuple[str, int]) -> bool:
        """Whether a probe is reached in every execution that ends with status 0; in every one, if none does."""
        normal = [reached for reached, is_normal in self.ends if is_normal]
        ends = normal or [reached for reached, _ in self.ends]
        return bool(ends) and not self.may_not_return and all(probe in reached for reached in ends)

    # -- what the modules beside this one do

    @abstractmethod
    def evaluate(self, node: ast.expr) -> Value:
        """The value of an expression."""

    @abstractmethod
    def execute(self, body: Sequence[ast.stmt]) -> None:
        """Execute statements."""

    @abstractmethod
    def call(self, callee: Value, arguments: Arguments, site: ast.AST | None = None) -> Value:
        """What a call gives."""

    @abstractmethod
    def iterate(self, source: Value, consume: Callable[[Value], object]) -> None:
        """Hand over the items of an iterable."""

    @abstractmethod
    def await_value(self, value: Value) -> Value:
        """What ``await value`` gives."""

    @abstractmethod
    def attribute(self, holder: Value, name: str) -> Value:
        """The value of ``holder.name``."""

    @abstractmethod
    def augmented(self, op: ast.operator, left: Value, right: Value, site: ast.AST) -> Value:
        """The value of ``left op= right``."""

    @abstractmethod
    def run_generator_expression(self, frame: Frame) -> None:
        """Execute a generator expression."""

    @abstractmethod
    def instantiate(self, cls: Obj, arguments: Arguments, site: ast.AST | None) -> Value:
        """What a call of a class gives."""

    @abstractmethod
    def new_instance(self, cls: Obj, arguments: Arguments, site: ast.AST | None) -> Obj:
        """A new instance."""

    @abstractmethod
    def value_of_key(self, key: Key) -> Value:
        """The value that a key is."""

    @abstractmethod
    def outcome(self, value: Value) -> Outcome:
        """The current state with a value."""

    @property
    @abstractmethod
    def path(self) -> str:
        """The file of the code that is executed."""

    @abstractmethod
    def cell_of_name(self, name: str) -> tuple[Obj, object, Value] | None:
        """The cell that a name is read from."""

    @abstractmethod
    def reveal(self, place: tuple[str, int], value: Value) -> None:
        """Note the value of a probe."""

    @abstractmethod
    def endless(self) -> None:
        """Note that the program may go on here for ever."""

    @abstractmethod
    def exit_at_once(self, code: Value) -> None:
        """End the program without cleaning up."""

    @abstractmethod
    def mro(self, cls: Obj) -> tuple[Obj, ...]:
        """A class and its bases in the order in which attributes are looked up."""

    @abstractmethod
    def class_attribute(self, instance: Obj, name: str) -> Value | None:
        """A special method that the program defines for an instance, bound to it; None if it does not."""

    @abstractmethod
    def extends_unseen(self, instance: Obj) -> bool:
        """Whether an instance may have attributes that are not seen."""

    @abstractmethod
    def class_extends_unseen(self, cls: Obj) -> bool:
        """Whether a class may have attributes that are not seen."""

    @abstractmethod
    def unseen_base(self, instance: Obj) -> str:
        """The name of the first base of an instance's class that is not seen."""

    @abstractmethod
    def is_unseen(self, name: str) -> bool:
        """Whether the attributes of a library's class are not known."""

    @abstractmethod
    def is_subclass(self, cls: Obj | None, kind: Obj) -> bool | None:
        """Whether a class extends another; None if that is not known."""

    @abstractmethod
    def is_instance(self, alternative: Const | Obj, kind: Obj) -> bool | None:
        """Whether an alternative is an instance of a class; None if that is not known."""

    @abstractmethod
    def type_of(self, alternative: Const | Obj) -> Obj:
        """The class of an alternative."""

    @abstractmethod
    def is_frozen(self, instance: Obj, name: str) -> bool:
        """Whether an attribute of an instance cannot be set."""

    @abstractmethod
    def enum_members(self, cls: Obj) -> list[Value]:
        """The members of an enumeration."""

    @abstractmethod
    def class_member(self, cls: Obj, name: str) -> Value | None:
        """What Python generates for a class; None for other names."""

    @abstractmethod
    def instance_member(self, instance: Obj, name: str) -> Value | None:
        """What Python generates for an instance; None for other names."""

    @abstractmethod
    def is_exception_class(self, cls: Obj) -> bool:
        """Whether a class is one of exceptions."""

    @abstractmethod
    def super_member(self, proxy: Obj, name: str) -> Value | None:
        """What ``super().name`` is of built-in classes."""

    @abstractmethod
    def class_setter(self, cls: Obj, name: str, value: Value) -> bool:
        """Whether setting an attribute of a class was done otherwise."""

    @abstractmethod
    def namespace(self, owner: Obj) -> Obj:
        """The dict of the attributes of an object."""

    @abstractmethod
    def plain_text(self, instance: Obj) -> str | None:
        """Whether the text of an instance is that of the constant that it is."""

    @abstractmethod
    def number_or_text(self, alternative: Const | Obj) -> Const | Obj:
        """The constant that an instance of a class extending a number or text counts as; others as they are."""

    @abstractmethod
    def own_methods(self, instance: Obj) -> list[Value]:
        """The methods that the program defines for an instance which is given to unseen code."""

    @abstractmethod
    def searches_elsewhere(self) -> bool:
        """Whether modules may also be found in folders that are not known."""

    @abstractmethod
    def search_path(self) -> list[str]:
        """The folders that modules are found in, below the project's root."""

    @abstractmethod
    def file_text(self, path: str) -> Value:
        """The value of ``__file__``."""

    @abstractmethod
    def submodule(self, module: Obj, name: str) -> Value | None:
        """A submodule that was imported; attributes of packages are set when it is."""

    @abstractmethod
    def replaced_module(self, dotted: str) -> Value | None:
        """A module that the program has put into ``sys.modules``."""

    @abstractmethod
    def import_module(self, name: str) -> Value:
        """What ``importlib.import_module(name)`` gives."""

    @abstractmethod
    def reload_module(self, module: Obj) -> None:
        """Execute a module again."""

    @abstractmethod
    def is_missing(self, name: str) -> bool:
        """Whether a library is surely not installed."""

    @abstractmethod
    def is_installed(self, name: str) -> bool:
        """Whether a library is surely installed."""

    @abstractmethod
    def star_of_library(self, name: str) -> None:
        """``from library import *`` binds names that are not known."""

    @abstractmethod
    def library_attribute(self, name: str, member: str) -> Value:
        """What a module or class of a library has by a name."""

    @abstractmethod
    def library_member(self, cls: str, name: str) -> Value:
        """What a library's class has by a name, where that is known."""

    @abstractmethod
    def is_function_symbol(self, name: str) -> bool:
        """Whether a symbol is a method of a built-in class, which is bound to an instance."""

    @abstractmethod
    def has_method(self, type_name: str, name: str) -> bool:
        """Whether a built-in type has a method."""

    @abstractmethod
    def call_library(self, name: str, arguments: Arguments, site: ast.AST | None) -> Value:
        """What a function or class of a library gives."""

    @abstractmethod
    def call_library_values(self, name: str, values: Sequence[Value]) -> Value:
        """What a function of a library gives for these arguments."""

    @abstractmethod
    def call_built_in(self, name: str, receiver: Value, arguments: Arguments, site: ast.AST | None) -> Value:
        """What a method of a built-in type gives."""

    @abstractmethod
    def call_unseen_instance(self, instance: Obj, arguments: Arguments) -> Value:
        """What an instance gives when it is called whose class extends one of a library (``forward`` of a module)."""

    @abstractmethod
    def option_names(self, parser: Obj) -> list[str]:
        """The names that a parser may set, where its options are not known."""

    @abstractmethod
    def parse_yaml(self, text: str) -> tuple[object] | None:
        """The plain value of a YAML text; None if it cannot be read."""


def _class_names(error: Value) -> list[str]:
    """The names of the classes of an exception if all are Python's own."""
    classes = [
        alternative.cls
        for alternative in error.alternatives
        if isinstance(alternative, Obj) and alternative.cls is not None
    ]
    names = [cls.name for cls in classes if cls.name.startswith("builtins.")]
    is_plain = len(names) == len(error.alternatives) and not error.is_open
    return [name.removeprefix("builtins.") for name in names] if is_plain else []


def _nothing() -> None:
    return None
