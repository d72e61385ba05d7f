"""The lines of the program that build an operator which a run names: by its scope, by its type, or by its period."""

from __future__ import annotations

from collections.abc import Sequence

from npulint.data.op_apis import apis_of, plain
from npulint.facts.model import Fact, Span
from npulint.facts.values import PossibleValues
from npulint.model.code.origin import Origin
from npulint.model.values.context import Context
from npulint.recognizers.programs import Program
from npulint.recognizers.related_programs import tables_of
from npulint.runs.facts.names import Named, Names
from npulint.runs.facts.operators import operators, type_of
from npulint.runs.facts.periods import periodic
from npulint.runs.read.series.stalls import PeriodicStall

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
        named = [one for kind, node in about if node for one in self._named(node, self.calls(kind), dumped)]
        if named and len(about) == 1 and not _only_scope(named, about[0][1], calls):
            return tuple(Origin(one.path, one.span, "scope", one.text) for one in named)
        lines = {(call.path, call.span.line): call for call in reversed(calls)}
        told = [lines[line] for line in sorted(lines)] if len(lines) <= _MOST else []
        found = {(one.path, one.span.line): Origin(one.path, one.span, "scope", one.text) for one in named}
        for one in told:
            found.setdefault((one.path, one.span.line), Origin(one.path, one.span, "call", one.name))
        return tuple(found.values())

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
    return len(lines) <= _SURE and all(one.text != own and (one.path, one.span.line) not in lines for one in named)


def _lasts(setting: Fact, period: int) -> bool:
    """Whether an option says that the host comes in, or that something is saved, every `period` steps."""
    value = setting.get("value")
    return setting.name in _INTERVALS and isinstance(value, PossibleValues) and period in value.values


def _builds(call: Fact) -> bool:
    """Whether a call builds something of the step: it is none of the input pipeline, of a test, of what never runs."""
    never = {"in_input": "yes", "in_test": "yes", "active": "no"}
    return all(call.get(attribute) != answer for attribute, answer in never.items())
