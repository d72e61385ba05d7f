"""Facts about environment variables that a project sets, in Python code, shell scripts or Dockerfiles."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from npulint.data.environment import (
    ALLOCATOR,
    AllocatorProblem,
    Variable,
    VariableRule,
    VariableStatus,
    allocator_problem,
    nearest,
    variable,
)
from npulint.facts.attributes import Flag, attribute, flag
from npulint.facts.kinds import fact_kind
from npulint.facts.model import Fact, Span
from npulint.facts.values import PossibleValues
from npulint.model.programs.environment import NO_SCRIPTS, Scripts
from npulint.read.launcher_facts import NONE, VariableRecord, Via

_ALLOCATORS = (ALLOCATOR, "PYTORCH_CUDA_ALLOC_CONF")
_TIMEOUTS = ("HCCL_EVENT_TIMEOUT", "HCCL_EXEC_TIMEOUT")  # the first must be longer


class EnvironmentVariable(Fact, dict=True):
    """A variable of the environment is set; the name is the variable."""

    if TYPE_CHECKING:

        @property
        def value(self) -> PossibleValues | str | None: ...
        @property
        def _scripts(self) -> Scripts: ...

    @property
    def text(self) -> str | None:
        """The only possible value; None if it is not certain."""
        value = self.value.single if isinstance(self.value, PossibleValues) else self.value
        return value if isinstance(value, str) else None

    @property
    def is_conditional(self) -> bool:
        """Whether it is set under some condition only."""
        return False

    @property
    def is_default(self) -> bool:
        """Whether it is only set if it has no value yet."""
        return False

    @property
    def is_used(self) -> bool:
        """Whether the script that sets it also uses it."""
        return False

    def is_in_time(self, variable: Variable) -> bool:
        """Whether it is set before it is read."""
        return True

    @cached_property
    def _known(self) -> Variable | None:
        return variable(self.name)

    # -- what the table says -----------------------------------------------------------------------

    @attribute
    def known(self) -> bool:
        """Whether it is in npulint's table."""
        return self._known is not None

    @attribute
    def status(self) -> VariableStatus | Literal["unknown"]:
        """The status of the variable: active, for debugging, deprecated, obsolete (read by nothing), CUDA's, or
        unknown."""
        return "unknown" if self._known is None else self._known.status

    @attribute
    def instead(self) -> str:
        """The variable that replaces it, or ``-``."""
        return NONE if self._known is None else self._known.instead or NONE

    @attribute
    def nearest(self) -> str:
        """The variable that an unknown name is probably a misspelling of, or ``-``."""
        return nearest(self.name) or NONE

    @attribute
    def refused(self) -> bool | None:
        """Whether a wrong value aborts the run."""
        return None if self._known is None else self._known.refused

    @attribute
    def allowed(self) -> str | None:
        """The legal values, or ``-``."""
        return None if self._known is None else self._known.allowed()

    @attribute
    def likely(self) -> str | None:
        """The only legal value that a wrong value probably stands for, or ``-``."""
        return None if self._known is None else self._known.likely(self.text or "") or NONE

    @attribute
    def value_ok(self) -> Flag | None:
        """Whether the reader of the variable accepts the value."""
        return None if self._known is None else self._all_values(self._known.accepts)

    @attribute
    def left_on(self) -> Flag | None:
        """Whether the value turns debugging on."""
        return None if self._known is None else self._all_values(self._known.is_left_on)

    def _all_values(self, test: Callable[[str], bool]) -> Flag:
        """``yes`` if all possible values pass the test, ``no`` if none does."""
        value = PossibleValues((self.value,), True) if isinstance(self.value, str) else self.value
        if value is None or not value.exact or not value.values:
            return "unknown"
        answers = {test(text) if isinstance(text, str) else None for text in value.values}
        return flag(answers.pop() if len(answers) == 1 else None)

    @attribute
    def in_time(self) -> bool | None:
        """Whether it is set before it is read: some are read when Python or a framework starts."""
        return None if self._known is None else not self._known.read or self.is_in_time(self._known)

    @attribute
    def problem(self) -> AllocatorProblem | None:
        """The error in a configuration of the allocator: exclusive (keys), unknown-key, bad-value or none."""
        return allocator_problem(self.text or "")[0] if self.name in _ALLOCATORS else None

    @attribute
    def detail(self) -> str | None:
        """The wrong keys of a configuration of the allocator, or ``-``."""
        return allocator_problem(self.text or "")[1] or NONE if self.name in _ALLOCATORS else None

    # -- what the project says ---------------------------------------------------------------------

    @attribute
    def own(self) -> bool:
        """Whether the project itself reads it."""
        return self.is_used or self.name in self._scripts.reads

    @attribute
    def along(self) -> str:
        """The other variables that are certainly set in the same place, separated by spaces."""
        return " ".join(name for name in self._scripts.certainly_set(self.path) if name != self.name)

    @attribute
    def beside(self) -> str:
        """``key=value`` of the other variables that have a single certain value in the same place."""
        values = self._scripts.certain_values(self.path)
        return " ".join(f"{key}={value}" for key, value in values.items() if key != self.name)

    def _rules(self, rules: tuple[VariableRule, ...]) -> list[VariableRule]:
        """The rules that hold for its value."""
        return [rule for rule in rules if self.text and rule.when in ("*", self.text)]

    @attribute
    def clash(self) -> str | None:
        """The other variable, with its value, that conflicts with it, or ``-``."""
        if self._known is None:
            return None
        others = self._scripts.certain_values(self.path)
        for rule in self._rules(self._known.excludes):
            if rule.met(others.get(rule.name)):
                return f"{rule.name}={others[rule.name]}"
        if self.name == _TIMEOUTS[0]:
            event, running = self.text or "", others.get(_TIMEOUTS[1], "")
            if event.isdigit() and running.isdigit() and 0 < int(event) <= int(running):
                return f"{_TIMEOUTS[1]}={running}"
        return NONE

    @attribute
    def lacks(self) -> str | None:
        """The other variable, with its value, that it needs to have an effect, or ``-``. A variable that is set
        anywhere in the project, even to an unknown value, is not reported."""
        if self._known is None:
            return None
        for rule in self._rules(self._known.needs):
            others = self._scripts.setting(rule.name)
            if not any(other.text is None or rule.met(other.text) for other in others):
                return rule.text()
        return NONE


@fact_kind("environment")
class ScriptVariable(EnvironmentVariable):
    """A shell script or a Dockerfile sets a variable of the environment; the name is the variable."""

    record: VariableRecord
    _scripts: Scripts = NO_SCRIPTS

    def complete(self, scripts: Scripts) -> None:
        """Stores the variables of the whole project, which are known only when all facts exist."""
        self._scripts = scripts

    @property
    def name(self) -> str:
        """The variable."""
        return self.record.name

    @property
    def path(self) -> str:
        """The path of the script."""
        return self.record.path

    @property
    def span(self) -> Span:
        """Where it is set."""
        return self.record.span

    @attribute
    def value(self) -> str | None:
        """The text that it is set to; None where it is computed."""
        return self.record.value

    @attribute
    def via(self) -> Via:
        """What sets it."""
        return self.record.via

    @attribute
    def guarded(self) -> bool:
        """Whether it is set under some condition only."""
        return self.record.guarded

    @property
    def is_conditional(self) -> bool:
        """See `EnvironmentVariable.is_conditional`."""
        return self.guarded

    @property
    def is_default(self) -> bool:
        """See `EnvironmentVariable.is_default`."""
        return self.record.default

    @property
    def is_used(self) -> bool:
        """See `EnvironmentVariable.is_used`."""
        return self.record.used


def typed(facts: list[Fact]) -> list[Fact]:
    """The facts of a file, those about environment variables as instances of their class."""
    return [ScriptVariable(fact) if isinstance(fact, VariableRecord) else fact for fact in facts]
