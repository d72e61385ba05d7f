"""The values of a program's command line options in one start."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cached_property

from npulint.assemble.bindings import Bound, taker
from npulint.assemble.launches.options import HOLDERS, Option
from npulint.assemble.module import Module
from npulint.facts.code import Const, Ref, Value
from npulint.lazy_regex import lazy_compile
from npulint.training_config.provenance.following import Following
from npulint.training_config.provenance.launch_values import default_of, defined
from npulint.training_config.provenance.place import At
from npulint.training_config.provenance.plain import Found, joined

_PARSED = lazy_compile(r"parse_(?:known_)?(?:intermixed_)?args(?:_into_dataclasses)?\(\)|(?:^|\.)FLAGS$")
_CALLS = 3  # calls through which parsed options are passed on
_CALLERS = 4  # callers of a function that are visited
_PARAMETERS = frozenset(("hparams", "hps", "params"))


class OptionValues:
    """Evaluates options."""

    def __init__(self, tracer: Following) -> None:
        self._tracer = tracer

    def named(self, head: str, last: str, at: At, binds: Sequence[Bound] = ()) -> Found | None:
        """The value of ``args.last``; None if that is no option of the program."""
        if last not in self._tracer.context.options.table or any(home is not at.module for home, _ in binds):
            return None
        if not self._holds(head, at):
            return None
        options = self._tracer.start.options(last, at.module)
        ours = head.rpartition(".")[2] in _PARAMETERS
        options = [one for one in options if (one.kind == "parameter") == ours] or options
        parts = [self.of(option, at) for option in options]
        return joined(parts) if parts else None

    def _holds(self, name: str, at: At, depth: int = 0) -> bool:
        """Whether a name refers to the parsed options; also a parameter that receives them."""
        if HOLDERS.search(name) or _PARSED.search(self._tracer.names.of_name(at.module, name, at.block, at.line)):
            return True
        function = taker(at.module, name, at.block) if depth < _CALLS else -1
        if function < 0:
            return False
        position = at.module.blocks[function].params.index(name)
        for one in self._tracer.passed.of(at.module, function)[:_CALLERS]:
            argument = one.argument(name, position)
            place = At(one.home, one.call.block, one.call.line)
            if isinstance(argument, Ref) and self._holds(argument.name, place, depth + 1):
                return True
        return False

    def of(self, option: Option, at: At) -> Found:
        """The value that the launcher passes for an option, else its default."""
        passed = self._tracer.start.passed(option)
        if passed is not None:
            return passed
        call = option.call
        replaced = [self._tracer.found(value, place) for value, place in self._defaults(option, at)]
        if replaced:
            found = joined(replaced)
        else:
            found = self._tracer.found(option.value, at.moved(option.module, call.block, call.line))
        found = default_of(option, found)
        return found.through(defined(option)) if found.values else found

    def _defaults(self, option: Option, at: At) -> Iterator[tuple[Value, At]]:
        """Defaults set by other code: ``FLAGS.set_default("lr", 0.1)``, ``set_defaults(lr=0.1)``."""
        for home, index in self._defaulting.get(option.name, ()):
            call = home.code.calls[index]
            place = at.moved(home, call.block, call.line)
            if self._tracer.conditions.hold(place, call.block) is not False:
                value = dict(call.keywords).get(option.name) or (call.args[1] if len(call.args) > 1 else None)
                if value is not None:
                    yield value, place

    @cached_property
    def _defaulting(self) -> dict[str, list[tuple[Module, int]]]:
        """The calls that set defaults, by option name."""
        found: dict[str, list[tuple[Module, int]]] = defaultdict(list)
        for path in sorted(self._tracer.start.modules):
            module = self._tracer.context.project.modules[path]
            for index in module.calls_of("set_default", "set_defaults"):
                call = module.code.calls[index]
                first = call.args[0] if call.args else None
                names = [key for key, _ in call.keywords if module.callee_name(index) == "set_defaults"]
                if isinstance(first, Const) and isinstance(first.value, str):
                    names.append(first.value)
                for name in names:
                    found[name].append((module, index))
        return found

    def passed(self, name: str, module: Module) -> list[Found]:
        """The values that the launcher passes for the options of that name."""
        start = self._tracer.start
        return [found for option in start.options(name, module) if (found := start.passed(option)) is not None]
