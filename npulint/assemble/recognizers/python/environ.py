"""Environment variables that Python code reads and sets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from npulint.assemble.code_facts import CallFact, PlaceFact
from npulint.assemble.cursors import CallSite, Expr, Scope
from npulint.assemble.recognizers.registry import recognizes, recognizes_in_modules
from npulint.facts.code import Const, Op, Ref
from npulint.facts.kinds import fact_kind
from npulint.facts.model import Fact, Span
from npulint.facts.walk import nested


@fact_kind("environment_read")
class EnvironmentReadByCall(CallFact):
    """A variable is read by ``os.getenv`` or ``os.environ.get``; the name is the variable."""


@fact_kind("environment_read")
class EnvironmentRead(PlaceFact):
    """A variable is read by ``os.environ[...]``, or looked for with ``in os.environ``; the name is the variable."""


@recognizes("os.getenv", "os.environ.get")
def reads_by_call(call: CallSite) -> Iterable[Fact]:
    """The variables that are read by a function."""
    variable = call.args[0].single if call.args else None
    return [EnvironmentReadByCall(call, variable)] if isinstance(variable, str) else []


@recognizes_in_modules
def reads(module: Scope) -> Iterator[Fact]:
    """The variables that a module looks up in ``os.environ``."""
    if any(use.name.endswith("environ") for use in module.module.code.name_uses):
        for expression in module.expressions:
            for holder, key in _lookups(expression):
                if expression.sibling(Ref(holder)).name == "os.environ":
                    yield EnvironmentRead(expression.scope, Span(expression.line, 1, expression.line, 1), key)


def _lookups(expression: Expr) -> Iterator[tuple[str, str]]:
    """The names that texts are looked up in, with these texts."""
    for part in nested(expression.value):
        if isinstance(part, Op) and len(part.operands) == 2 and part.op in ("[]", "in", "not in"):
            holder, key = part.operands if part.op == "[]" else part.operands[::-1]
            if isinstance(holder, Ref) and isinstance(key, Const) and isinstance(key.value, str):
                yield holder.name, key.value
