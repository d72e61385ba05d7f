"""The lines of the program that build an operator which a run names: by its scope, by its type, or by its period."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import pairwise

import msgspec

from npulint.core.lazy_regex import lazy_compile
from npulint.data.op_apis import apis_of, plain
from npulint.facts.code import Call, CallResult, Const, Op, Ref, Value
from npulint.facts.model import Fact, Span
from npulint.facts.values import PossibleValues
from npulint.model.code.module import Module
from npulint.model.code.origin import Origin
from npulint.model.values.context import Context
from npulint.model.values.cursors import expr_at
from npulint.recognizers.programs import Program
from npulint.recognizers.related_programs import tables_of
from npulint.runs.facts.operators import operators, type_of
from npulint.runs.read.series.stalls import PeriodicStall

# Which lines of the code give a node of a TensorFlow graph its name: scopes and names that are written there.

_FEW = 3  # lines up to which a place is sure enough to be named
_LONG = 500  # characters of a node's name; fused ones have thousands
_SCOPES = frozenset(("name_scope", "variable_scope", "VariableScope", "variable_op_scope", "op_scope"))
_KEYWORDS = frozenset(("name", "scope", "name_or_scope"))
_TEXT = lazy_compile(r"[A-Za-z][\w.-]*(?:/[\w.-]+)*/?")
_NUMBER = lazy_compile(r"_\d+$")
_GRADIENT = lazy_compile(r"gradients?(?:_\d+)?$")
_WRAPPED = lazy_compile(r"^update_|_grad$")
_STEPS = frozenset(("minimize", "compute_gradients", "apply_gradients", "create_train_op"))
_LEAST = 3  # letters of the written part of a computed name


class Named(msgspec.Struct, frozen=True):
    """A line that names nodes: the call there, and the `text` that it gives them."""

    path: str
    span: Span
    text: str


class _Name(msgspec.Struct, frozen=True, eq=False):
    """A name that a call gives: what is written before and behind the part that is computed (None: nothing is)."""

    module: Module
    index: int
    before: str
    behind: str | None = None

    def fits(self, segment: str) -> bool:
        """Whether a segment of a node's name may be this one."""
        plain = _NUMBER.sub("", segment)
        if self.behind is None:
            return self.before in (segment, plain)
        enough = len(segment) > len(self.before) + len(self.behind)
        return enough and segment.startswith(self.before) and segment.endswith(self.behind)


class Names:
    """All names that calls of a project give, in the files of `paths` (None: in all)."""

    def __init__(self, context: Context, paths: Collection[str] | None = None) -> None:
        self._context = context
        self._exact: dict[str, list[_Name]] = {}
        self._computed: list[_Name] = []
        self._scopes: dict[tuple[str, int], list[_Name]] = {}
        self._whole: set[tuple[str, int]] = set()  # calls that open a scope around the step: it tells nothing
        modules = context.project.modules
        for path in sorted(modules if paths is None else modules.keys() & paths):
            self._read(context.project.modules[path])

    def of_dumped(self, node: str, calls: Sequence[Fact]) -> list[Named]:
        """The same of a node whose name a dump has written without slashes: a name that is written within a scope."""
        parts = node[:_LONG].split("_")
        for place in range(1, len(parts)):
            fitting = self._fitting("_".join(parts[place:]))
            inner = [name for name in fitting if self._around(name) and self._lies_in(name, parts[:place])]
            lines = {(line.path, line.span.line): line for name in inner for line in self._lines(name, calls)}
            if 0 < len(lines) <= _FEW:
                return [lines[key] for key in sorted(lines)]
        return []

    def of_node(self, node: str, calls: Sequence[Fact]) -> list[Named]:
        """The lines that name a node, by the innermost of its scopes that few lines have; of a scope those of the
        `calls` in it that build such an operator, if there are few."""
        segments = _segments(node)
        for place in range(len(segments) - 1, -1, -1):
            fitting = [name for name in self._fitting(segments[place]) if self._lies_in(name, segments[:place])]
            built = [name for name in fitting if any(_fits_call(name, call) for call in calls)]
            lines = {
                (line.path, line.span.line): line for name in built or fitting for line in self._lines(name, calls)
            }
            if 0 < len(lines) <= _FEW:
                return [lines[key] for key in sorted(lines)]
        return []

    def _fitting(self, segment: str) -> list[_Name]:
        plain = _NUMBER.sub("", segment)
        exact = [*self._exact.get(segment, ()), *(self._exact.get(plain, ()) if plain != segment else ())]
        fitting = exact or [name for name in self._computed if name.fits(segment)]
        return [name for name in fitting if (name.module.path, name.index) not in self._whole]

    def _lies_in(self, call_name: _Name, outer: Sequence[str]) -> bool:
        """Whether the scopes around the call are among the outer ones of the node."""
        return all(any(name.fits(part) for name in scope for part in outer) for scope in self._around(call_name))

    def _around(self, name: _Name) -> list[list[_Name]]:
        """The names that the scopes around a call may have, of those scopes of which they are known."""
        call = name.module.code.calls[name.index]
        scopes = (self._scopes.get((name.module.path, block)) for block in name.module.ancestors(call.block))
        return [scope for scope in scopes if scope is not None and scope[0].index != name.index]

    def _lines(self, name: _Name, calls: Sequence[Fact]) -> Iterator[Named]:
        """The line of a name; of a scope better those of the calls in it."""
        call = name.module.code.calls[name.index]
        text = name.before if name.behind is None else f"{name.before}…{name.behind}"
        blocks = {block for (path, block), scope in self._scopes.items() if path == name.module.path and name in scope}
        inner = [fact for fact in calls if fact.path == name.module.path and not blocks.isdisjoint(_around(fact))]
        if blocks and 0 < len({fact.span.line for fact in inner}) <= _FEW:
            yield from (Named(fact.path, fact.span, text) for fact in inner)
        else:
            yield Named(name.module.path, Span.of(call), text)

    def _read(self, module: Module) -> None:
        names: dict[int, list[_Name]] = {}
        for index, call in enumerate(module.code.calls):
            for name in self._given(module, index, call):
                names.setdefault(index, []).append(name)
                if name.behind is None:
                    self._exact.setdefault(name.before, []).append(name)
                else:
                    self._computed.append(name)
        for block, record in enumerate(module.blocks):
            if record.kind == "with" and isinstance(record.test, CallResult) and record.test.call in names:
                self._scopes[module.path, block] = names[record.test.call]
        for index, call in enumerate(module.code.calls):
            if module.callee_name(index) in _STEPS:
                around = (self._scopes.get((module.path, block), ()) for block in module.ancestors(call.block))
                self._whole.update((module.path, name.index) for scope in around for name in scope)

    def _given(self, module: Module, index: int, call: Call) -> Iterator[_Name]:
        values = [value for key, value in call.keywords if key in _KEYWORDS]
        if module.callee_name(index) in _SCOPES:
            values += call.args[:1]
        elif not values and ":" in self._context.names.of_call(module, index):
            values += [
                argument for argument in call.args if isinstance(argument, Const) and isinstance(argument.value, str)
            ]
        for value in values[:2]:
            yield from self._texts(module, index, call, value)

    def _texts(self, module: Module, index: int, call: Call, value: Value) -> Iterator[_Name]:
        values = expr_at(self._context, module, value, call.block, call.line).known
        texts = {text for text in values.values if isinstance(text, str) and _TEXT.fullmatch(text)}
        yield from (_Name(module, index, text.rstrip("/").rpartition("/")[2]) for text in sorted(texts))
        if not texts and isinstance(value, Op):
            yield from _computed(module, index, value)


def _computed(module: Module, index: int, value: Op) -> Iterator[_Name]:
    """The name that ``"block%d" % i``, ``"block" + str(i)`` or an f-string gives, by its written ends."""
    parts = list(value.operands)
    if value.op == "%" and isinstance(parts[0], Const):
        text = str(parts[0].value)
        before, behind = text.partition("%")[0], text.rpartition("%")[2].lstrip("-0123456789.")[1:]
    elif value.op in ("+", "join") and len(parts) > 1:
        before, behind = (
            str(constant.value) if isinstance(constant, Const) else "" for constant in (parts[0], parts[-1])
        )
    else:
        return
    outer, slash, last = behind.rstrip("/").rpartition("/")
    before = before.rpartition("/")[2]
    if slash and last:
        yield _Name(module, index, last)
    elif not outer and len(before) + len(last) >= _LEAST:
        yield _Name(module, index, before, last)


def _segments(node: str) -> list[str]:
    """The scopes of a node and its own name, the outermost first. What the device has fused bears the names of its
    parts one behind the other: the first part is taken. Gradients bear the name of what they are the gradient of."""
    node = node[:_LONG].partition(":")[0]
    first, slash, _ = node.partition("/")
    again = node.find(first + slash, len(first)) if slash and first else -1
    parts = [part for part in (node[:again] if again > 0 else node).split("/") if part]
    while parts and _GRADIENT.match(parts[0]):
        del parts[0]
    return [part for part, after in pairwise([*map(_bare, parts), ""]) if part != after]


def _bare(part: str) -> str:
    """A part of a name without what gradients and updates add to it."""
    plain = _NUMBER.sub("", part)
    return _WRAPPED.sub("", plain) if _WRAPPED.search(plain) else part


def _fits_call(name: _Name, call: Fact) -> bool:
    place = name.module.code.calls[name.index]
    return call.path == name.module.path and (call.span.line, call.span.column) == (place.line, place.column)


def _around(fact: Fact) -> Sequence[int]:
    """The blocks around a call."""
    place = fact.scope
    return () if place is None else place.module.ancestors(place.block)


# What the code of a project does every so many steps.

_INTERVAL = lazy_compile(r"(?:^|_)(?:steps?|secs|every|freq(?:uency)?|interval|iter(?:ation)?s?|period|loop)(?:_|$)")
_MOST_PERIODS = 6  # places: where more things happen that often, nobody knows which it was
_DEPTH = 12


def periodic(context: Context, period: int, paths: Collection[str] | None = None) -> list[tuple[str, Span]]:
    """The conditions of the project, in the files of `paths` (None: in all), that hold every `period` steps
    (``step % 50 == 0``), and the calls that are told such an interval (``save_summary_steps=50``); nothing if there are
    many."""
    tested: list[tuple[str, Span]] = []
    told: list[tuple[str, Span]] = []
    modules = context.project.modules
    for path in sorted(modules if paths is None else modules.keys() & paths):
        module = modules[path]
        tested += [(path, Span.at(line)) for line in _tests(context, module, period)]
        told += [(path, span) for span in _intervals(context, module, period)]
    places = list(dict.fromkeys([*tested, *told]))
    return next((some for some in (places, tested) if len(some) <= _MOST_PERIODS), [])


def _tests(context: Context, module: Module, period: int) -> Iterator[int]:
    for block in module.blocks:
        if block.kind == "if":
            for value in _remainders(block.test):
                values = expr_at(context, module, value, block.parent, block.line).known
                if _is(period, values.values or _configured(context, value)):
                    yield block.line


def _is(period: int, values: Iterable[object]) -> bool:
    return any(value == period and not isinstance(value, bool) for value in values)


def _configured(context: Context, value: Value) -> list[object]:
    """What the project's configuration, a module that fills an object of settings, gives ``cfg.TRAIN.SAVE_STEPS``."""
    if not isinstance(value, Ref) or "." not in value.name:
        return []
    inner = value.name.partition(".")[2]
    modules = context.project.modules.values()
    binds = (bind for module in modules for bind in module.code.assignments if bind.target.partition(".")[2] == inner)
    return [bind.value.value for bind in binds if isinstance(bind.value, Const)]


def _remainders(test: Value) -> Iterator[Value]:
    """The divisors of all remainders in a condition."""
    rest = [(test, 0)]
    while rest:
        value, depth = rest.pop()
        if isinstance(value, Op) and value.op == "%" and len(value.operands) == 2:
            yield value.operands[1]
        if isinstance(value, Op) and depth < _DEPTH:
            rest += [(part, depth + 1) for part in value.operands]


def _intervals(context: Context, module: Module, period: int) -> Iterator[Span]:
    for call in module.code.calls:
        for key, value in call.keywords:
            if _INTERVAL.search(key) and _is(
                period, expr_at(context, module, value, call.block, call.line).known.values
            ):
                yield Span.of(call)
                break


_INTERVALS = frozenset("iterations_per_loop save_checkpoints_steps save_summary_steps log_step_count_steps".split())
_MOST = 12  # lines that call an interface: where it is called everywhere, they tell nothing
_SURE = 3  # lines that build an operator: so few are told beside its scope


class Origins:
    """The lines of the `programs` that may have run which facts about an operator or a period come from; worked out
    once, when a check of a run has spoken."""

    def __init__(self, context: Context, programs: Sequence[Program]) -> None:
        self._context = context
        self._tables = tables_of(programs)
        self._paths = {path for program in programs for path in program.paths}
        self._names: Names | None = None
        self._calls: dict[str, list[Fact]] | None = None
        self._known: dict[Fact, tuple[Origin, ...]] = {}

    def of(self, fact: Fact) -> tuple[Origin, ...]:
        """The lines that a fact comes from, the surest first: none where many would do, or for another fact."""
        if fact not in self._known:
            self._known[fact] = self._found(fact)
        return self._known[fact]

    def _found(self, fact: Fact) -> tuple[Origin, ...]:
        if isinstance(fact, PeriodicStall):
            return tuple(Origin(*place, "period", str(fact.period)) for place in self._repeated(fact.period))
        about = operators(fact)
        calls = [call for kind, _ in about for call in self.calls(kind)]
        dumped = fact.kind == "run_overflow"
        named = [
            named_line for kind, node in about if node for named_line in self._named(node, self.calls(kind), dumped)
        ]
        if named and len(about) == 1 and not _only_scope(named, about[0][1], calls):
            return tuple(Origin(named_line.path, named_line.span, "scope", named_line.text) for named_line in named)
        lines = {(call.path, call.span.line): call for call in reversed(calls)}
        told = [lines[line] for line in sorted(lines)] if len(lines) <= _MOST else []
        origins = {
            (named_line.path, named_line.span.line): Origin(named_line.path, named_line.span, "scope", named_line.text)
            for named_line in named
        }
        for call in told:
            origins.setdefault((call.path, call.span.line), Origin(call.path, call.span, "call", call.name))
        return tuple(origins.values())

    def calls(self, op: str) -> list[Fact]:
        """The calls outside the input pipeline of the interfaces that build an operator."""
        tensorflow, torch = apis_of(op)
        facts = [*self._calls_of("tensorflow", tensorflow), *self._calls_of("torch", torch)]
        return sorted({id(fact): fact for fact in facts}.values(), key=lambda fact: (fact.path, fact.span))

    def _calls_of(self, root: str, ends: tuple[str, ...]) -> list[Fact]:
        facts: list[Fact] = []
        for end in ends:
            wanted = [plain(part) for part in end.split(".")]
            for call in self._by_last().get(wanted[-1], ()):
                parts = [plain(part.removesuffix("()")) for part in call.name.split(".")]
                if parts[0].startswith(root) and parts[-len(wanted) :] == wanted and _builds(call):
                    facts.append(call)
        return facts

    def _by_last(self) -> dict[str, list[Fact]]:
        if self._calls is None:
            self._calls = {}
            for part in self._tables:
                for call in part.get("call", ()):
                    self._calls.setdefault(plain(call.name.rpartition(".")[2]), []).append(call)
        return self._calls

    def _named(self, node: str, calls: list[Fact], dumped: bool) -> list[Named]:
        if self._names is None:
            self._names = Names(self._context, self._paths)
        nameds = self._names.of_node(node, calls)
        return nameds if nameds or not dumped or "/" in node else self._names.of_dumped(node, calls)

    def _repeated(self, period: int) -> list[tuple[str, Span]]:
        options = [fact for part in self._tables for fact in part.get("setting", ()) if _lasts(fact, period)]
        return [*periodic(self._context, period, self._paths), *((option.path, option.span) for option in options)]


def _only_scope(named: Sequence[Named], node: str, calls: Sequence[Fact]) -> bool:
    """Whether what names a node is but a scope of it, and few lines build such an operator at all."""
    own = type_of(node)
    lines = {(call.path, call.span.line) for call in calls}
    return len(lines) <= _SURE and all(
        named_line.text != own and (named_line.path, named_line.span.line) not in lines for named_line in named
    )


def _lasts(setting: Fact, period: int) -> bool:
    """Whether an option says that the host comes in, or that something is saved, every `period` steps."""
    value = setting.get("value")
    return setting.name in _INTERVALS and isinstance(value, PossibleValues) and period in value.values


def _builds(call: Fact) -> bool:
    """Whether a call builds something of the step: it is none of the input pipeline, of a test, of what never runs."""
    never = {"in_input": "yes", "in_test": "yes", "active": "no"}
    return all(call.get(attribute) != answer for attribute, answer in never.items())
