"""What runs an input pipeline: training, evaluation, prediction or export, by the calls that get its functions and data
sets."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from npulint.model.values.context import Context, once
from npulint.model.values.cursors import CallSite, Expr, Scope, module_scopes

_JOBS = {
    "train": "train",
    "fit": "train",
    "fit_generator": "train",
    "train_on_batch": "train",
    "TrainSpec": "train",
    "train_and_evaluate": "train evaluate",
    "evaluate": "evaluate",
    "evaluate_generator": "evaluate",
    "test_on_batch": "evaluate",
    "EvalSpec": "evaluate",
    "predict": "predict",
    "predict_on_batch": "predict",
    "predict_generator": "predict",
    "export_savedmodel": "export",
    "export_saved_model": "export",
}
_EVALUATED = ("validation_data",)  # of fit
_FOLLOWED = 400  # functions from one call


def jobs_of(stage: CallSite) -> str:
    """The jobs that run a stage, sorted and separated by spaces; ``unknown`` if no call is seen that gets what it makes
    or the function around it."""
    users = _users(stage.scope.context)
    found = set(users.of_call.get(stage, ()))
    for around in stage.scope.ancestors:
        if around.kind in ("function", "lambda"):
            found |= users.of_function.get(around, set())
    return " ".join(sorted(found)) or "unknown"


class _Users:
    """The jobs by the function, and by the call that makes a data set."""

    def __init__(self) -> None:
        self.of_function: dict[Scope, set[str]] = defaultdict(set)
        self.of_call: dict[CallSite, set[str]] = defaultdict(set)

    def add(self, values: Iterable[Expr], jobs: frozenset[str]) -> None:
        """Follow what a call of a job gets, through the functions that make it."""
        waiting: list[Scope] = []
        for value in values:
            waiting += value.functions
            for made in value.sites:
                waiting += self._made(made, jobs)
        seen: set[Scope] = set()
        while waiting and len(seen) < _FOLLOWED:
            function = waiting.pop()
            if function in seen or function.kind == "class":
                continue
            seen.add(function)
            self.of_function[function] |= jobs
            for call in function.calls:
                waiting += [] if call.target is None else [call.target]
                for argument in call.arguments:
                    waiting += argument.functions
            waiting += function.functions

    def _made(self, made: CallSite, jobs: frozenset[str]) -> list[Scope]:
        """The functions of a chain of stages that makes a data set, which belongs to these jobs."""
        functions: list[Scope] = []
        waiting = [made]
        while waiting:
            link = waiting.pop()
            if jobs <= self.of_call[link]:
                continue
            self.of_call[link] |= jobs
            functions += [] if link.target is None else [link.target]
            before = link.receiver
            if before is not None:
                waiting += before.sites if before.call is None else [before.call]
        return functions


@once
def _users(context: Context) -> _Users:
    users = _Users()
    for module in module_scopes(context):
        for call in module.calls_named(*_JOBS):
            evaluated = [value for key in _EVALUATED if (value := call.argument(key)) is not None]
            users.add(evaluated, frozenset(("evaluate",)))
            given = [
                argument for argument in call.arguments if all(argument.value is not other.value for other in evaluated)
            ]
            users.add(given, frozenset(_JOBS[call.last].split()))
    return users
