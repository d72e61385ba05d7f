"""Checkpoints: how often a Saver saves."""

from __future__ import annotations

from npulint.assemble.code_facts import CallFact
from npulint.assemble.cursors import CallSite, Scope
from npulint.assemble.recognizers.registry import recognizes
from npulint.assemble.recognizers.tensorflow.runs import fetched_names, is_session_run, runs_each_round
from npulint.facts.attributes import attribute
from npulint.facts.kinds import fact_kind
from npulint.lazy_regex import lazy_compile

_SAVER = lazy_compile(r"(?:^|[._?])_?saver\w*$")
_TRAINS = lazy_compile(r"train|optim|minimi|apply|(?:^|[._])(?:step|opt|update|solver)(?:_?op)?$")
_EPOCH = lazy_compile(r"epoch")


@fact_kind("checkpoint")
class Checkpoint(CallFact):
    """A Saver saves the variables of a session; the name is always ``tensorflow.train.Saver().save``."""

    @attribute
    def each_step(self) -> bool:
        """Whether it happens in every iteration of a loop that trains one step per iteration."""
        loop = self.scope.loop
        if loop is None or self.scope.is_conditional or not _trains(self.scope) or loop.holds_loop:
            return False
        names = [part.written for part in loop.test.mentioned]
        targets = [one.target for one in loop.assignments if one.scope is loop and one.line == loop.record.line]
        return not any(_EPOCH.search(name.lower()) for name in (*names, *targets))


@recognizes(matching=lambda name: name.rpartition(".")[2] == "save")
def checkpoints(call: CallSite) -> list[Checkpoint]:
    """A fact for each call of a method named save, of any object."""
    owner = call.name.rpartition(".")[0]
    is_saver = owner == "tensorflow.train.Saver()" or (_SAVER.search(owner.lower()) and len(call.args) > 1)
    return [Checkpoint(call, "tensorflow.train.Saver().save")] if is_saver else []


def _trains(scope: Scope) -> bool:
    """Whether every iteration of the loop around a block runs a train step."""
    fetched = [name for run in runs_each_round(scope) if is_session_run(run.name) for name in fetched_names(run)]
    return any(_TRAINS.search(name.lower()) for name in fetched)
