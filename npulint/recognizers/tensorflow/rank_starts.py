"""Where collective communication starts, and whether the training runs before that function ends."""

from __future__ import annotations

from npulint.facts.attributes import attribute
from npulint.facts.kinds import fact_kind
from npulint.model.running.code_facts import CallFact
from npulint.model.values.cursors import CallSite, Scope
from npulint.recognizers.registry import recognizes
from npulint.recognizers.tensorflow.runs import is_session_run

_TRAINING = frozenset("fit fit_generator train_on_batch train train_and_evaluate".split())
_INITIALISER = "npu_bridge.npu_init.init_resource"


@fact_kind("rank_start")
class RankStart(CallFact):
    """Horovod or the NPU is initialised for collective communication; the name is the canonical function."""

    @attribute
    def trains(self) -> bool:
        """Whether the function that calls it, or the script at module level, also trains, before it ends."""
        own = self.scope.function or self.scope.at(0)
        later = [call for call in own.calls if call.line > self.call.line]
        return any(map(_trains, later)) or _reaches_training(own, [call.target for call in later])


@recognizes(matching=lambda name: name == _INITIALISER or (name.startswith("horovod.") and name.endswith(".init")))
def rank_starts(call: CallSite) -> list[RankStart]:
    """The calls that initialise communication."""
    return [RankStart(call, call.name)]


def _trains(call: CallSite) -> bool:
    return is_session_run(call.name) or (call.target is None and call.last in _TRAINING)


def _reaches_training(start: Scope, functions: list[Scope | None]) -> bool:
    """Whether one of these functions trains, or calls one that does."""
    queue, seen = [function for function in functions if function is not None], {start}
    while queue:
        current = queue.pop()
        if current in seen:
            continue
        seen.add(current)
        if any(map(_trains, current.calls)):
            return True
        queue += [call.target for call in current.calls if call.target is not None]
    return False
