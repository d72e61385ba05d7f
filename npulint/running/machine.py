"""Executes a program abstractly: every branch that may be taken, in one pass, on values that may not be known."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, NoReturn, TypeVar

from npulint.running.scopes import MODULE, Scope
from npulint.values.heap import Heap
from npulint.values.objects import HAPPENED, MAYBE, Mark, Obj
from npulint.values.store import Layer, Region
from npulint.values.value import ABSENT, NONE, UNKNOWN, Const, Value, const, joined, unknown

T = TypeVar("T")


class Dead(Exception):
    """No execution goes on from here: it has returned, raised, or left a loop, and that state is kept elsewhere."""


class Exhausted(Exception):
    """The limit of work for one start is reached; what was not seen until then is not known."""


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
        more = [one for one in (self.rest, self.options) if one is not None]
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

    __slots__ = ("consume", "function", "locals", "loops", "module", "node", "outer", "owner", "returns", "scope")

    def __init__(self, module: Obj, scope: Scope, names: Obj, outer: Frame | None, node: ast.AST | None = None) -> None:
        self.module, self.scope, self.locals, self.outer, self.node = module, scope, names, outer, node
        self.owner: Obj | None = None if outer is None else outer.owner
        self.function: Obj | None = None
        self.returns: list[Outcome] = []
        self.loops: list[Loop] = []
        self.consume: Callable[[Value], Value] | None = None


class Probes:
    """What the calls of ``reveal_value`` and ``reveal_runs`` saw."""

    def __init__(self) -> None:
        self.shown: dict[tuple[str, int], Any] = {}
        self.visited: set[tuple[str, int]] = set()


MOST_STEPS = 150_000
MOST_CALLS = 40  # functions within one another
SAME_CALLS = 14  # calls of one function within one another


class Machine:
    """The execution of one start. `evaluate`, `execute` and `call` are those of the modules beside this one."""

    def __init__(self) -> None:
        self.heap = Heap()
        self.store = self.heap.store
        self.marks = Obj("marks", -1)
        self.guards: list[Guard] = []
        self.calls: list[Obj] = []
        self.ends: list[tuple[Layer, bool]] = []  # how the program may end: the state, and whether with status 0
        self.probes = Probes()
        self.steps = 0
        self.called_back: set[Obj] = set()
        self.lost = False  # code of the project may have run that was not followed
        top = Obj("module", self.store.new_serial(), "<none>")
        self.frame = Frame(top, MODULE, top, None)

    # -- control flow

    def branch(self, works: Sequence[Callable[[], T]]) -> list[T]:
        """What each work gives, in a state of its own from here; goes on where those that do not end meet. Raises `Dead`
        where none goes on."""
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
        if self.steps > MOST_STEPS:
            raise Exhausted

    # -- exceptions

    def throw(self, error: Value) -> NoReturn:
        """Raise an exception."""
        outcome = Outcome(self.store.captured(), error)
        if self.guards:
            self.guards[-1].raised.append(outcome)
        else:
            self.end_with(outcome)
        raise Dead

    def throw_new(self, name: str, *args: object) -> NoReturn:
        """Raise an exception of Python itself with constant arguments."""
        self.throw(self.exception(name, [const(one) for one in args]))

    def exception(self, name: str, args: Sequence[Value] = ()) -> Value:
        """A new exception of Python itself."""
        made = self.heap.make("instance", cls=self.heap.symbol(f"builtins.{name}"))
        self.heap.fill(made, [("args", self.heap.sequence("tuple", args))])
        return Value((made,))

    def may_throw(self, *names: str) -> None:
        """Note that an exception of these classes, or any without names, may be raised here."""
        if self.guards:
            self.guards[-1].possible.update(names or ("",))

    def end_with(self, outcome: Outcome) -> None:
        """End the program with an exception that nothing catches."""
        self.ends.append((outcome.layer, self._is_normal(outcome.value)))

    def _is_normal(self, error: Value) -> bool:
        for one in error.alternatives:
            if isinstance(one, Obj) and one.cls is not None and one.cls.name == "builtins.SystemExit":
                args = self.heap.get(one, "args").single
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
        for function in self.heap.escape(values):
            self.call_back(function)
        return unknown(name)

    def call_back(self, function: Obj) -> None:
        """Let unknown code call a function of the program, at any time from here on."""
        raise NotImplementedError

    # -- marks

    def visit(self, place: tuple[str, int]) -> None:
        """Note that a probe is reached."""
        self.probes.visited.add(place)
        self.store.write(self.marks, place, HAPPENED)

    def visited(self, place: tuple[str, int], layers: Sequence[Layer]) -> Mark | None:
        """Whether a probe was reached in all of the states."""
        answer: Mark | None = HAPPENED
        for layer in layers:
            self.store.layer = layer
            content = self.store.read(self.marks, place)
            if not isinstance(content, Mark) or content.maybe:
                answer = MAYBE
        return answer


def _nothing() -> None:
    return None


__all__ = ["ABSENT", "NONE", "UNKNOWN", "Arguments", "Dead", "Exhausted", "Frame", "Guard", "Loop", "Machine", "Outcome"]
