"""Evaluates expressions under one start of a program, with the provenance of their values.

`npulint.assemble.flow` merges all starts of a script; here one start is followed, conditions are evaluated where its
options decide them, and every value keeps the places through which it came."""

from __future__ import annotations

from npulint.assemble.bindings import Bindings, Bound, may_be_passed, taker
from npulint.assemble.context import Context
from npulint.assemble.launches.options import Option
from npulint.assemble.launches.project_launches import Launch
from npulint.assemble.module import Module
from npulint.facts.code import CallResult, Const, Op, Ref, Scalar, SequenceDisplay, Table, Value
from npulint.facts.model import Span
from npulint.facts.recipe import Station, Traced
from npulint.lazy_regex import lazy_compile
from npulint.training_config.provenance.assignments import Assignments
from npulint.training_config.provenance.conditions import Conditions
from npulint.training_config.provenance.holders import Holders
from npulint.training_config.provenance.launch_values import Start, defined
from npulint.training_config.provenance.leaves import Configs
from npulint.training_config.provenance.options import OptionValues
from npulint.training_config.provenance.parameters import Parameters
from npulint.training_config.provenance.passing import Passed
from npulint.training_config.provenance.place import At
from npulint.training_config.provenance.plain import CUT, UNKNOWN, Found, ValuePairs, computed, joined, literal
from npulint.training_config.provenance.results import Results
from npulint.training_config.provenance.written import written

_DEPTH = 40
_STEPS = 1500  # expressions visited per query
_CONSTANTS = ("tensorflow.", "torch.", "numpy.", "torch_npu.", "npu_bridge.", "npu_device.", "apex.", "keras.", "cv2.")
_NUMBERS = {
    "math.pi": 3.141592653589793,
    "numpy.pi": 3.141592653589793,
    "math.e": 2.718281828459045,
    "numpy.e": 2.718281828459045,
    "math.inf": float("inf"),
    "numpy.inf": float("inf"),
}
_NONE = Const(None)
_SEGMENT = lazy_compile(r"[^.\[\]'\"]+")


class Tracer:
    """Evaluates expressions under one start of the script at `entry` (default: the started script)."""

    def __init__(
        self, context: Context, launch: Launch | None = None, configs: Configs | None = None, entry: str = ""
    ) -> None:
        self.context = context
        self.names = context.names
        self.start = Start(context, launch, entry)
        self.passed = Passed(context, self.start.modules)
        self.bindings = Bindings(context.names)
        self._configs = configs.under(self.start.entry, launch) if configs is not None else None
        self.conditions = Conditions(self)
        self.assignments = Assignments(self)
        self.parameters = Parameters(self)
        self._options = OptionValues(self)
        self._holders = Holders(self)
        self._results = Results(self)
        self._memo: dict[object, Found] = {}
        self._busy: set[object] = set()
        self._steps = 0

    # -- questions

    def trace(
        self, module: Module, value: Value, block: int, line: int, span: Span | None = None, name: str = ""
    ) -> Traced:
        """The value of the expression `value` at `line` in `block`. `span` and `name` are those of a literal, where
        known."""
        found = self._asked(value, At(module, block, line))
        if not found.values:
            return found.traced()
        return found.written(Station(module.path, span or Span.at(line), name)).traced()

    def runs(self, module: Module, block: int) -> bool | None:
        """Whether the conditions around `block` within its function hold in this start; None when undetermined."""
        self._begin()
        try:
            return self.conditions.hold(At(module, block, module.blocks[block].line), block)
        except RecursionError:
            return None

    def option(self, option: Option) -> Traced:
        """The value of an option in this start."""
        self._begin()
        try:
            found = self._options.of(option, At(option.module, option.call.block, option.call.line))
        except RecursionError:
            found = CUT
        return found.written(defined(option)).traced()

    def _begin(self) -> None:
        self._steps = 0
        self._busy.clear()
        self._holders.forget()

    def _asked(self, value: Value, at: At) -> Found:
        self._begin()
        try:
            return self.found(value, at)
        except RecursionError:
            return CUT

    # -- expressions

    def found(self, value: Value, at: At) -> Found:
        """The possible plain values of an expression at a place."""
        if isinstance(value, Const):
            return literal(value.value)
        self._steps += 1
        if at.depth > _DEPTH or self._steps > _STEPS:
            return CUT
        if isinstance(value, Ref):
            place = Station(at.module.path, Span.at(at.line), value.name)
            found = self._name(value.name, at)
            return found.through(place) if found.stations else found
        if isinstance(value, CallResult):
            return self._results.of(value.call, at.deeper())
        if isinstance(value, Op):
            return self._operation(value, at.deeper())
        if isinstance(value, SequenceDisplay):
            return self._items(value, at.deeper())
        return self._table(value, at.deeper()) if isinstance(value, Table) else UNKNOWN

    def _items(self, value: SequenceDisplay, at: At) -> Found:
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
                if not isinstance(single, ValuePairs):
                    return _unknown(parts)
                entries += single
            elif isinstance(label := name.single, str | int | float | None):
                entries.append((label, single))
        return _whole(parts, ValuePairs.of(entries))

    def _operation(self, value: Op, at: At) -> Found:
        if value.op == "[]":
            return self._element(value, at)
        if value.op == "." and isinstance(value.operands[1], Const):
            return self.member(value.operands[0], str(value.operands[1].value), at) or UNKNOWN
        if value.op == "if":
            return self._choice(value, at)
        if value.op == "each":
            return self._results.each(value.operands[0], at)
        if value.op in ("is", "is not") and value.operands[1] == _NONE and self._is_made(value.operands[0], at):
            return literal(value.op == "is not")
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

    def _is_made(self, value: Value, at: At) -> bool:
        """Whether a value is an object created by a framework class, hence not None."""
        found = self.found(value, at)
        if found.values or found.cut:
            return False
        made = self.names.of_value(at.module, value, at.block, at.line)
        name, brackets, _ = made.rpartition("()")
        return bool(brackets) and made.startswith(_CONSTANTS) and name.rpartition(".")[2][:1].isupper()

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
        place = Station(at.module.path, Span.at(at.line), written(value))
        found = self.member(holder, index, at)
        if found is None:
            whole = self.found(holder, at)
            single = whole.single
            if isinstance(single, tuple) and not isinstance(single, ValuePairs) and isinstance(index, int):
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
        parts, sure = self.assignments.of(binds, at)
        may_be_given = function >= 0 and (not binds or may_be_passed(module, function, at.block, binds))
        if may_be_given and not sure:
            parts.append(self.parameters.of(name, function, at))
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
        option = None if own else self._options.named(head, last, at, binds)
        if option is not None:  # assignments further down have not run yet
            binds = [b for b in binds if not self._comes_later(b, at)]
        parts, sure = self.assignments.of(binds, at)
        if parts and (sure or own):
            found = joined(parts)
            return found.doubted() if own and self.assignments.elsewhere(module, name) else found
        configured = self._configured(name, at, surely=True)
        passed = self._options.passed(last, module) if option is not None else []
        if configured is not None:
            return joined([*parts, configured, *passed])
        if option is not None:
            return joined([*parts, option])
        more = self.member(Ref(head), last, at) if not own else None
        if more is not None:
            return joined([*parts, more]) if parts else more
        if parts:
            return joined(parts).doubted()
        return self._configured(name, at) or self._constant(name, at)

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
        """The value of a name in the configuration files that the program loads."""
        if self._configs is None:
            return None
        if surely:
            leaves = self._configs.decided(at.module, tuple(_SEGMENT.findall(name)), at.block, at.line)
        else:
            leaves = self._configs.lookup(at.module, name, at.block, at.line)
        parts = [Found((leaf.value,), True, (Station(leaf.path, leaf.span, ".".join(leaf.key)),)) for leaf in leaves]
        return joined(parts) if parts else None

    # -- objects and the environment

    def variable(self, name: str) -> Found | None:
        """The value of an environment variable; None if the start does not set it."""
        return self.start.variable(name)

    def member(self, holder: Value, key: str | int, at: At) -> Found | None:
        """The value of an attribute or item of an object; None if nothing assigns it."""
        found = self._holders.member(holder, key, at.deeper())
        if found is None and isinstance(key, str):
            name = written(holder)
            if isinstance(holder, Ref):
                found = self._options.named(holder.name, key, at)
            if found is None and name and self._configs is not None:
                found = self._configured(f"{name}.{key}", at)
        return found


def _identity(at: At) -> object:
    return tuple([(frame.passing.home.path, frame.passing.number) for frame in at.frames]), at.bound


def _unknown(parts: list[Found]) -> Found:
    """The value of a display that is only partly known."""
    return Found((), False, (), any(part.cut for part in parts))


def _whole(parts: list[Found], value: object) -> Found:
    stations = tuple(dict.fromkeys(station for part in parts for station in part.stations))
    return Found((value,), True, stations, any(part.cut for part in parts))


def _first(parts: list[Found], stop: bool) -> Found:
    """The first deciding operand of ``or`` (`stop`: true) or ``and``, else the last."""
    possible: list[Found] = []
    for part in parts[:-1]:
        answer = part.truth
        if answer is stop:
            return joined([*possible, part])
        if answer is None:
            possible.append(part.doubted())
    return joined([*possible, parts[-1]])
