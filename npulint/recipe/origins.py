"""Origins: what an expression is under one start of a program, and the way on which the value comes to it.

`npulint.assemble.flow` merges all ways in which a script may be started; here one of them is followed, conditions are
decided where its options decide them, and every value keeps the places that it came by.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Protocol

from npulint.assemble.bindings import Bindings, Bound, may_be_passed, taker
from npulint.assemble.context import Context
from npulint.assemble.module import Module
from npulint.assemble.reached import Reached
from npulint.assemble.reached import home as home_of
from npulint.assemble.starts.launches import Launch
from npulint.assemble.starts.options import HOLDERS, Option
from npulint.facts.code import Bind, Const, Items, Op, Ref, Result, Scalar, Table, Value
from npulint.facts.model import Span
from npulint.facts.recipe import Station, Traced
from npulint.later import regex
from npulint.recipe import passing
from npulint.recipe.given import Start, default_of, defined
from npulint.recipe.holders import Holders
from npulint.recipe.passing import Passed, Passing
from npulint.recipe.place import At
from npulint.recipe.plain import CUT, UNKNOWN, Found, Pairs, computed, joined, literal
from npulint.recipe.results import Results
from npulint.recipe.written import written

_DEPTH = 20
_STEPS = 1500  # expressions that one question may look at
_CALLERS = 64
_PARSED = regex(r"parse_(?:known_)?(?:intermixed_)?args(?:_into_dataclasses)?\(\)|(?:^|\.)FLAGS$")
_PARAMETERS = frozenset(("hparams", "hps", "params"))
_CONSTANTS = ("tensorflow.", "torch.", "numpy.", "torch_npu.", "npu_bridge.", "npu_device.", "apex.", "keras.", "cv2.")
_NUMBERS = {
    "math.pi": 3.141592653589793,
    "numpy.pi": 3.141592653589793,
    "math.e": 2.718281828459045,
    "numpy.e": 2.718281828459045,
    "math.inf": float("inf"),
    "numpy.inf": float("inf"),
}
_SEGMENT = regex(r"[^.\[\]'\"]+")
_BOUNDARIES = frozenset(("function", "lambda", "class", "module"))


class Leaf(Protocol):
    """A value in a configuration file: its place, its keys and the plain value."""

    @property
    def path(self) -> str:
        """The file."""

    @property
    def span(self) -> Span:
        """Where the value stands there."""

    @property
    def key(self) -> tuple[str, ...]:
        """The keys that lead to it."""

    @property
    def value(self) -> object:
        """The plain value."""


class Configs(Protocol):
    """What tells of the configuration files that a program loads (`npulint.recipe.configs`)."""

    def lookup(self, module: Module, name: str, block: int = -1, line: int = 0) -> Sequence[Leaf]:
        """The values in these files that a dotted name, as written at a place, means or may well mean."""

    def decided(self, module: Module, parts: tuple[str, ...], block: int = -1, line: int = 0) -> Sequence[Leaf]:
        """Those that it surely means, whatever the code assigns besides."""


class Tracer:
    """Follows values under one start of the script at `entry` (without one: of the started script)."""

    def __init__(
        self, context: Context, launch: Launch | None = None, configs: Configs | None = None, entry: str = ""
    ) -> None:
        self.context = context
        self.names = context.names
        self.start = Start(context, launch, entry)
        self.passed = Passed(context.flow, self.start.modules)
        self.bindings = Bindings(context.names)
        self._configs = configs
        self._holders = Holders(self)
        self._results = Results(self)
        self._memo: dict[object, Found] = {}
        self._busy: set[object] = set()
        self._steps = 0

    # -- questions

    def trace(self, module: Module, value: Value, block: int, line: int, span: Span | None = None) -> Traced:
        """What `value` is at `line` in `block`. `span` is the place of what is traced where it is better known."""
        found = self._asked(value, At(module, block, line))
        if not found.values:
            return found.traced()
        return found.written(Station(module.path, span or Span(line, 1, line, 1), "")).traced()

    def runs(self, module: Module, block: int) -> bool | None:
        """Whether the conditions around `block` within its function let it run in this start; None when that
        depends."""
        self._steps = 0
        try:
            return self._runs(At(module, block, module.blocks[block].line), block, frozenset())
        except RecursionError:
            return None

    def option(self, option: Option) -> Traced:
        """The value of an option in this start."""
        self._steps = 0
        try:
            found = self._option_value(option, At(option.module, option.call.block, option.call.line))
        except RecursionError:
            found = CUT
        return found.written(defined(option)).traced()

    def _asked(self, value: Value, at: At) -> Found:
        self._steps = 0
        try:
            return self.found(value, at)
        except RecursionError:
            self._busy.clear()
            return CUT

    # -- expressions

    def found(self, value: Value, at: At) -> Found:
        """The plain values that an expression may have at a place."""
        if isinstance(value, Const):
            return literal(value.value)
        self._steps += 1
        if at.depth > _DEPTH or self._steps > _STEPS:
            return CUT
        if isinstance(value, Ref):
            place = Station(at.module.path, Span(at.line, 1, at.line, 1), value.name)
            found = self._name(value.name, at)
            return found.through(place) if found.stations else found
        if isinstance(value, Result):
            return self._results.of(value.call, at.deeper())
        if isinstance(value, Op):
            return self._operation(value, at.deeper())
        if isinstance(value, Items):
            return self._items(value, at.deeper())
        return self._table(value, at.deeper()) if isinstance(value, Table) else UNKNOWN

    def _items(self, value: Items, at: At) -> Found:
        parts: list[Found] = []
        whole: list[object] = []
        for item in value.items:
            spread = isinstance(item, Op) and item.op == "star"
            part = self.found(item.operands[0] if isinstance(item, Op) and spread else item, at)
            parts.append(part)
            single = part.single
            whole += single if spread and isinstance(single, tuple) else [single]
            if spread and not isinstance(single, tuple):
                return _unknown(parts)
        return _whole(parts, tuple(whole)) if all(part.known for part in parts) else _unknown(parts)

    def _table(self, value: Table, at: At) -> Found:
        parts: list[Found] = []
        entries: list[tuple[Scalar, object]] = []
        for key, entry in zip(value.keys, value.values, strict=True):
            name = self.found(key, at) if key is not None else None
            part = self.found(entry, at)
            parts.append(part)
            single = part.single
            if not part.known or (name is not None and not name.known):
                return _unknown(parts)
            if name is None:
                if not isinstance(single, Pairs):
                    return _unknown(parts)
                entries += single
            elif isinstance(label := name.single, str | int | float | None):
                entries.append((label, single))
        return _whole(parts, Pairs.of(entries))

    def _operation(self, value: Op, at: At) -> Found:
        if value.op == "[]":
            return self._element(value, at)
        if value.op == "." and isinstance(value.operands[1], Const):
            return self.member(value.operands[0], str(value.operands[1].value), at) or UNKNOWN
        if value.op == "if":
            return self._choice(value, at)
        if value.op == "each":
            return self._results.each(value.operands[0], at)
        parts = [self.found(operand, at) for operand in value.operands]
        if value.op in ("or", "and"):
            return _first(parts, value.op == "or")
        if value.op == "neg":
            return computed("-", [literal(0), *parts])
        if value.op == "+" and len(parts) == 2 and all(isinstance(part.single, tuple) for part in parts):
            left, right = parts[0].single, parts[1].single
            assert isinstance(left, tuple) and isinstance(right, tuple)
            return _whole(parts, left + right)
        return computed(value.op, parts)

    def _choice(self, value: Op, at: At) -> Found:
        answer = self.found(value.operands[0], at).truth
        if answer is not None:
            return self.found(value.operands[1 if answer else 2], at)
        return joined([self.found(operand, at) for operand in value.operands[1:]])

    def _element(self, value: Op, at: At) -> Found:
        holder, key = value.operands
        index = self.found(key, at).single
        name = self.names.of_value(at.module, holder, at.block, at.line)
        if name == "os.environ" and isinstance(index, str):
            return self.variable(index) or UNKNOWN
        if not isinstance(index, str | int):
            return UNKNOWN
        place = Station(at.module.path, Span(at.line, 1, at.line, 1), written(value))
        found = self.member(holder, index, at)
        if found is None:
            whole = self.found(holder, at)
            single = whole.single
            if isinstance(single, tuple) and not isinstance(single, Pairs) and isinstance(index, int):
                inside = -len(single) <= index < len(single)
                found = Found((single[index],), True, whole.stations) if inside else None
        return found.through(place) if found is not None and found.stations else found or UNKNOWN

    # -- names

    def _name(self, name: str, at: At) -> Found:
        key = (at.module.path, name, at.block, at.line, _identity(at))
        known = self._memo.get(key)
        if known is not None:
            return known
        if key in self._busy:
            return CUT
        self._busy.add(key)
        found = self._dotted(name, at.deeper()) if "." in name else self._plain(name, at.deeper())
        self._busy.discard(key)
        if not found.cut:
            self._memo[key] = found
        return found

    def _plain(self, name: str, at: At) -> Found:
        if name == "__name__" and self.start.entry:
            return literal("__main__" if at.module.path == self.start.entry else at.module.name)
        for variable, value in at.bound:
            if variable == name:
                return literal(value)
        module = at.module
        binds = self.bindings.of(module, name, at.block, at.line)
        function = taker(module, name, at.block)
        parts, sure = self._assigned(binds, at)
        if function >= 0 and (not binds or may_be_passed(module, function, at.block, binds)):
            if not sure:
                parts.append(self._parameter(name, function, at))
        if parts:
            return joined(parts)
        if binds:
            return UNKNOWN
        return self._configured(name, at) or self._constant(name, at)

    def _dotted(self, name: str, at: At) -> Found:
        head, _, last = name.rpartition(".")
        module = at.module
        binds = self.bindings.of(module, name, at.block, at.line)
        own = module.owner_of_self(head, at.block) >= 0
        option = None if own else self._option(head, last, at, binds)
        if option is not None:  # what stands further down has not been assigned yet
            binds = [b for b in binds if not self._comes_later(b, at)]
        parts, sure = self._assigned(binds, at)
        if parts and (sure or own):
            found = joined(parts)
            return found.doubted() if own and self._set_elsewhere(module, name) else found
        configured = self._configured(name, at, surely=True)
        if configured is not None:
            return joined([*parts, configured, *self._by_launcher(last, at, option)])
        if option is not None:
            return joined([*parts, option])
        more = self.member(Ref(head), last, at) if not own else None
        if more is not None:
            return joined([*parts, more]) if parts else more
        if parts:
            return joined(parts).doubted()
        return self._configured(name, at) or self._constant(name, at)

    def _by_launcher(self, name: str, at: At, option: Found | None) -> list[Found]:
        """What a launcher passes for an option that a configuration file sets as well."""
        passed = [self.start.passed(one) for one in self.start.options(name, at.module)] if option is not None else []
        return [one for one in passed if one is not None]

    def _comes_later(self, bound: Bound, at: At) -> bool:
        home, bind = bound
        same = home is at.module and home.function_of(bind.block) == home.function_of(at.block)
        return same and bind.line >= at.line and home.loop_of(at.block) < 0

    def _constant(self, name: str, at: At) -> Found:
        meaning = self.names.of_name(at.module, name, at.block, at.line)
        if meaning in _NUMBERS:
            return literal(_NUMBERS[meaning])
        return literal(meaning) if meaning.startswith(_CONSTANTS) and "()" not in meaning else UNKNOWN

    def _configured(self, name: str, at: At, surely: bool = False) -> Found | None:
        """What the configuration files that the program loads say of a name."""
        if self._configs is None:
            return None
        if surely:
            leaves = self._configs.decided(at.module, tuple(_SEGMENT.findall(name)), at.block, at.line)
        else:
            leaves = self._configs.lookup(at.module, name, at.block, at.line)
        parts = [
            Found((leaf.value,), True, (Station(leaf.path, leaf.span, ".".join(leaf.key)),)) for leaf in leaves
        ]
        return joined(parts) if parts else None

    # -- assignments

    def assigned(self, binds: list[Bound], at: At) -> tuple[list[Found], bool]:
        """What the assignments of a name may have given it, and whether one of them surely has."""
        return self._assigned(binds, at)

    def _assigned(self, binds: list[Bound], at: At) -> tuple[list[Found], bool]:
        groups: dict[tuple[str, int], list[Bound]] = defaultdict(list)
        for home, bind in binds:
            groups[home.path, home.function_of(bind.block)].append((home, bind))
        around = at.module.ancestors(at.block)
        found = []
        for (path, function), group in groups.items():
            parts, sure = self._in_order(group, at)
            within = function < 0 or (path == at.module.path and function in around)
            found.append((parts, sure and within))
        if len(found) > 1:  # a None is only a place to be filled in
            found = [one for one in found if not all(part.values == (None,) for part in one[0])] or found
        return [part for parts, _ in found for part in parts], len(found) == 1 and found[0][1]

    def _in_order(self, group: list[Bound], at: At) -> tuple[list[Found], bool]:
        """The assignments in one function, the nearest first, down to one that surely runs."""
        home = group[0][0]
        same = home is at.module and home.function_of(group[0][1].block) == home.function_of(at.block)
        around = frozenset(at.module.ancestors(at.block)) if home is at.module else frozenset()
        parts: list[Found] = []
        for _, bind in group:
            runs = self._runs(at, bind.block, around, home)
            if runs is False:
                continue
            parts.append(self._bound(home, bind, at))
            if runs and (not same or bind.line < at.line):
                return parts, True
        return parts, False

    def _bound(self, home: Module, bind: Bind, at: At) -> Found:
        station = Station(home.path, Span(bind.line, bind.column, bind.end_line, bind.end_column), bind.target)
        inner = at.moved(home, bind.block, bind.line)
        found = self.found(bind.value, inner)
        return found.written(station) if found.values else found

    def _runs(self, at: At, block: int, around: frozenset[int], home: Module | None = None) -> bool | None:
        """Whether the conditions around `block`, but not those around the place itself, let it run."""
        module = home or at.module
        answer: bool | None = True
        for inner in module.ancestors(block):
            record = module.blocks[inner]
            if inner in around or record.kind in _BOUNDARIES:
                break
            if record.kind in ("if", "else"):
                held = self.found(record.test, at.moved(module, record.parent, record.line)).truth
                if held is not None and held != (record.kind == "if"):
                    return False
                answer = answer if held is not None else None
            elif record.kind in ("loop", "except"):
                answer = None
        return answer

    def runs_at(self, at: At, block: int) -> bool | None:
        """Whether the conditions around `block` in its function let it run, as seen from a place in that function."""
        return self._runs(at, block, frozenset())

    def _set_elsewhere(self, module: Module, name: str) -> bool:
        """Whether the program assigns an attribute of this name to some other object than an option's holder."""
        others = self._attributes.get(name.rpartition(".")[2], frozenset())
        return bool(others - {(module.path, name)})

    @cached_property
    def _attributes(self) -> dict[str, set[tuple[str, str]]]:
        found: dict[str, set[tuple[str, str]]] = defaultdict(set)
        for path in self.start.modules:
            module = self.context.project.modules[path]
            for target, binds in module.dotted.items():
                head, _, last = target.rpartition(".")
                if head and not HOLDERS.search(head) and "[" not in last:
                    root = head.partition(".")[0]
                    if any(module.owner_of_self(root, b.block) < 0 for b in binds):
                        found[last].add((path, target))
        return found

    # -- parameters

    def _parameter(self, name: str, function: int, at: At) -> Found:
        """A parameter has the values that the program's calls pass, else its default."""
        module = at.module
        if name not in module.blocks[function].params:
            return UNKNOWN  # *args and **kwargs
        if not at.frames and at.depth == 0:
            at = at.deeper()
        followed = at.caller(function)
        if followed is not None:
            return self._argument(name, function, followed[0], followed[1], at)
        parts = [self._argument(name, function, one, place, at) for one, place in self.callers(module, function, at)]
        if parts:
            return joined(parts) if len(parts) <= _CALLERS else joined(parts[:_CALLERS]).doubted()
        return self._default(name, function, at).doubted()

    def callers(self, module: Module, function: int, at: At) -> Iterator[tuple[Passing, At]]:
        """The calls of a function that may run in this start, and where they stand."""
        for one in self.passed.of(module, function)[: _CALLERS + 1]:
            place = At(one.home, one.call.block, one.call.line, at.depth + 1)
            if not self._is_reached(one.home, one.call.block):
                continue
            if self._runs(place, one.call.block, frozenset()) is not False:
                yield one, place

    def _is_reached(self, module: Module, block: int) -> bool:
        """Whether the program may come to a block at all."""
        running = self._running
        return running is None or (module.path, home_of(module, block)) in running

    @cached_property
    def _running(self) -> set[tuple[str, int]] | None:
        entry = self.start.entry
        if entry not in self.context.project.modules:
            return None
        reached = self.context.once(Reached, lambda: Reached(self.context.project))
        return reached.all_of(sorted(self.start.modules), entry)

    def _argument(self, name: str, function: int, given: Passing, place: At, at: At) -> Found:
        position = at.module.blocks[function].params.index(name)
        value = given.argument(name, position)
        if value is None:
            return self._left_out(name, position, function, given, place, at)
        call = given.call
        found = self.found(value, place)
        span = Span(call.line, call.column, call.end_line, call.end_column)
        return found.written(Station(given.home.path, span, name)) if found.values else found

    def _left_out(self, name: str, position: int, function: int, given: Passing, place: At, at: At) -> Found:
        """What a parameter has that a call does not name: perhaps something of ``**settings``, else its default."""
        spread = [value for key, value in given.keywords if key == "**"]
        for value in spread:
            found = self.member(value, name, place)
            if found is not None:
                return found
        default = self._default(name, function, at)
        return default.doubted() if spread or given.open(position) else default

    def _default(self, name: str, function: int, at: At) -> Found:
        module = at.module
        value = passing.default_of(module, function, name)
        if value is None:
            return UNKNOWN
        record = module.blocks[function]
        found = self.found(value, at.moved(module, max(0, record.parent), record.line))
        place = Station(module.path, Span(record.line, 1, record.line, 1), name)
        return found.written(place) if found.values else found

    # -- options and the environment

    def _option(self, head: str, last: str, at: At, binds: list[Bound] = []) -> Found | None:
        """The value of ``args.last``; None where that is no option of the program."""
        if last not in self.context.options.table or any(home is not at.module for home, _ in binds):
            return None
        if not HOLDERS.search(head) and not _PARSED.search(self.names.of_name(at.module, head, at.block, at.line)):
            return None
        options = self.start.options(last, at.module)
        ours = head.rpartition(".")[2] in _PARAMETERS
        options = [one for one in options if (one.kind == "parameter") == ours] or options
        parts = [self._option_value(option, at) for option in options]
        return joined(parts) if parts else None

    def _option_value(self, option: Option, at: At) -> Found:
        passed = self.start.passed(option)
        if passed is not None:
            return passed
        call = option.call
        replaced = [self.found(value, place) for value, place in self._defaults(option, at)]
        if replaced:
            found = joined(replaced)
        else:
            found = self.found(option.value, at.moved(option.module, call.block, call.line))
        found = default_of(option, found)
        return found.through(defined(option)) if found.values else found

    def _defaults(self, option: Option, at: At) -> Iterator[tuple[Value, At]]:
        """The defaults that other code gives an option: ``FLAGS.set_default("lr", 0.1)``, ``set_defaults(lr=0.1)``."""
        for home, index in self._defaulting.get(option.name, ()):
            call = home.code.calls[index]
            place = at.moved(home, call.block, call.line)
            if self._runs(place, call.block, frozenset()) is not False:
                value = dict(call.keywords).get(option.name) or (call.args[1] if len(call.args) > 1 else None)
                if value is not None:
                    yield value, place

    @cached_property
    def _defaulting(self) -> dict[str, list[tuple[Module, int]]]:
        """The calls that set defaults, by the names of the options."""
        found: dict[str, list[tuple[Module, int]]] = defaultdict(list)
        for path in sorted(self.start.modules):
            module = self.context.project.modules[path]
            for index in module.calls_of("set_default", "set_defaults"):
                call = module.code.calls[index]
                first = call.args[0] if call.args else None
                names = [key for key, _ in call.keywords if module.written(index) == "set_defaults"]
                if isinstance(first, Const) and isinstance(first.value, str):
                    names.append(first.value)
                for name in names:
                    found[name].append((module, index))
        return found

    def variable(self, name: str) -> Found | None:
        """The value of a variable of the environment; None where the start does not set it."""
        return self.start.variable(name)

    def member(self, holder: Value, key: str | int, at: At) -> Found | None:
        """The value of an attribute or item of an object; None where nothing tells of one."""
        found = self._holders.member(holder, key, at.deeper())
        if found is None and isinstance(key, str):
            name = written(holder)
            if isinstance(holder, Ref):
                found = self._option(holder.name, key, at)
            if found is None and name and self._configs is not None:
                found = self._configured(f"{name}.{key}", at)
        return found


def _identity(at: At) -> object:
    return tuple([(frame.passing.home.path, frame.passing.index) for frame in at.frames]), at.bound


def _unknown(parts: list[Found]) -> Found:
    """A display of which not everything is known."""
    return Found((), False, (), any(part.cut for part in parts))


def _whole(parts: list[Found], value: object) -> Found:
    stations = tuple(dict.fromkeys(station for part in parts for station in part.stations))
    return Found((value,), True, stations, any(part.cut for part in parts))


def _first(parts: list[Found], stop: bool) -> Found:
    """The first operand of ``or`` (`stop`: true) or ``and`` that decides, else the last."""
    possible: list[Found] = []
    for part in parts[:-1]:
        answer = part.truth
        if answer is stop:
            return joined([*possible, part])
        if answer is None:
            possible.append(part.doubted())
    return joined([*possible, parts[-1]])
