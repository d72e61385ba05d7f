"""The input pipeline: its stages, and the lookup tables and variables that it uses."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Literal

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.attributes import Flag, attribute
from npulint.facts.kinds import fact_kind
from npulint.model.running.code_facts import CallFact
from npulint.model.running.input_reachability import is_stage, looks_like_dataset, pipeline_of
from npulint.model.running.surroundings import surroundings_of
from npulint.model.values.context import Context, once
from npulint.model.values.cursors import AssignmentSite, CallSite, Expr, Scope, module_scopes
from npulint.model.values.script_role import Purpose, purpose
from npulint.model.values.walker import walker
from npulint.recognizers.registry import recognizes
from npulint.recognizers.tensorflow.endless import condition_at, endless
from npulint.recognizers.tensorflow.stages import Elements, ShardOrder, elements, heavy, shuffled

# What runs an input pipeline: training, evaluation, prediction or export, by the calls that get its functions and
# data sets.

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
    jobs = set(users.of_call.get(stage, ()))
    for around in stage.scope.ancestors:
        if around.kind in ("function", "lambda"):
            jobs |= users.of_function.get(around, set())
    return " ".join(sorted(jobs)) or "unknown"


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


_STAGES = frozenset(
    "map batch padded_batch map_and_batch shard shuffle repeat prefetch interleave flat_map filter cache take skip "
    "shuffle_and_repeat from_generator batch_and_drop_remainder parallel_interleave make_one_shot_iterator "
    "make_initializable_iterator".split()
)
_PADDED = "padded_batch"
_ONLY_DATASETS = frozenset(
    ("prefetch", "make_one_shot_iterator", "make_initializable_iterator", "interleave", "flat_map", _PADDED)
)
_CHAINED = 24  # maximum stages of a chain
_FOLLOWING = 8  # maximum stages evaluated to recognise a dataset
# Stage -> position of drop_remainder.
_BATCHES = {"batch": 1, "padded_batch": 3, "map_and_batch": 3}
_TABLE = lazy_compile(
    r"^tensorflow\.(?:contrib\.lookup|lookup(?:\.experimental)?)\.(?:HashTable|MutableHashTable|MutableDenseHashTable|"
    r"index_table_from_\w+|index_to_string_table_from_\w+|StaticHashTable|StaticVocabularyTable|DenseHashTable|IdTableWithHashBuckets)$"
)
_VARIABLES = (
    "tensorflow.Variable",
    "tensorflow.get_variable",
    "tensorflow.contrib.framework.model_variable",
    "tensorflow.contrib.slim.model_variable",
)
InInput = Literal["yes", "maybe", "no"]


@fact_kind("input_stage")
class InputStage(CallFact):
    """A stage of an input pipeline of tf.data; the name is the method (``map``, ``batch``, ``shard`` …)."""

    @attribute
    def callee(self) -> str:
        """The canonical name of what is called."""
        return self.call.name

    @attribute
    def purpose(self) -> Purpose:
        """The role of the code around it, by the names of its function, class and file."""
        return purpose(self.scope)

    @attribute
    def held(self) -> str:
        """The names of the dataset in the code: where its chain of stages begins, and where it is stored."""
        first = _first_of_chain(self.call)
        names = [first.written.rpartition(".")[0]] if first.written else []
        for stage in (self.call, *islice(_stages_after(self.call), _CHAINED)):
            names += [assignment.target for assignment in stage.assignments]
        return " ".join(names) or "-"

    @attribute
    def certain(self) -> bool:
        """Whether it is certainly a stage: a method of TensorFlow, ``padded_batch``, with an argument that only methods
        of datasets have, or followed by such a method."""
        named = self.call.name.startswith("tensorflow.") or self.call.has_keyword("drop_remainder")
        return named or _is_of_dataset(self.call)

    @attribute
    def drop_remainder(self) -> Literal["yes", "no", "variable", "unknown", "missing"]:
        """Whether a batching stage drops an incomplete last batch; variable if that is computed."""
        if self.name not in _BATCHES:
            return "yes" if self.name == "batch_and_drop_remainder" else "missing"
        values = self.call.argument_value("drop_remainder", _BATCHES[self.name])
        if values is None:
            return "unknown" if self.call.has_unknown_options else "missing"
        if values.symbol or not isinstance(values.single, bool):
            return "variable"
        return "yes" if values.single else "no"

    @attribute
    def repeats(self) -> bool:
        """Whether the dataset is certainly repeated indefinitely before it, on every way to it."""
        return endless(self.call) == "yes"

    @attribute
    def repeated_if(self) -> str | None:
        """The condition, as code for its place, under which the dataset is repeated indefinitely before it, and only
        then; none if there is no such condition."""
        condition = endless(self.call)
        return None if isinstance(condition, str) else condition_at(self.call, condition) or None

    @attribute
    def jobs(self) -> str:
        """What runs it, separated by spaces: train, evaluate, predict, export; unknown if no such call is seen to get
        it, or the function around it."""
        return jobs_of(self.call)

    @attribute
    def shard_by(self) -> str:
        """The canonical name of what gives ``shard`` its index, ``$DEVICE_ID`` for an environment variable; empty for
        other stages."""
        value = self.call.argument("index", 1) if self.name == "shard" else None
        if value is None:
            return ""
        symbol = value.known.symbol
        return symbol if symbol.startswith("$") else value.name

    @attribute
    def shuffled(self) -> ShardOrder:
        """What shuffled the elements before ``shard`` in an order that differs between processes: list_files or shuffle
        without a seed, or the listing of a folder."""
        return shuffled(self.call) if self.name == "shard" else "no"

    @attribute
    def elements(self) -> Elements:
        """What ``shuffle`` gets: names (or other listed values), records of files, or decoded images and the like."""
        return elements(self.call) if self.name == "shuffle" else "unknown"

    @attribute
    def heavy(self) -> Flag:
        """Whether the function passed to ``map`` decodes, parses or transforms images."""
        return heavy(self.call) if self.name == "map" else "unknown"


@recognizes(matching=lambda name: name.rpartition(".")[2] in _STAGES)
def input_stages(call: CallSite) -> Iterator[InputStage]:
    """Stages of tf.data, and methods of unknown objects that look like stages."""
    name = call.name
    if is_stage(name) or _may_be_stage(call, name):
        yield InputStage(call, name.rpartition(".")[2])


@recognizes(matching=lambda name: bool(_TABLE.match(name)))
@fact_kind("lookup_table")
class LookupTable(CallFact):
    """A lookup table is created; the name is its canonical constructor. Its `in_input` is also yes if the input
    pipeline looks something up in it."""

    @attribute
    def in_input(self) -> InInput:
        """Whether the input pipeline uses this table; maybe if it uses an unknown table."""
        if surroundings_of(self.scope).in_input == "yes":
            return "yes"
        calls, unsure = _tables_of_pipeline(self.call.context)
        return "yes" if self.call in calls else "maybe" if unsure else "no"


@recognizes(*_VARIABLES)
@fact_kind("variable")
class Variable(CallFact):
    """A variable is created; the name is its canonical constructor. Its `in_input` is also yes if the input pipeline
    reads it from an enclosing scope."""

    @attribute
    def in_input(self) -> InInput:
        """Whether a function of the input pipeline creates this variable, or reads it from an enclosing scope."""
        here = surroundings_of(self.scope).in_input
        pipeline = pipeline_of(self.call.context)
        readers = pipeline.readers(self.scope)
        if here != "yes" and pipeline.captures(self.call):
            return "yes"
        if here == "yes" or not readers:
            return here
        for kept in self.call.assignments:
            if any(_is_seen(kept, reader) for reader in readers.get(kept.target, ())):
                return "yes"
        return here


def _may_be_stage(call: CallSite, name: str) -> bool:
    """Whether a method of an unknown object is a stage, by the receiver's name or by the next method of the chain."""
    if name.startswith("?"):
        return looks_like_dataset(name.rpartition(".")[0]) or _is_of_dataset(call) or _is_after_stage(call)
    return ":" in name and call.target is None and (_is_of_dataset(call) or _is_after_stage(call))


@walker(depth=6, otherwise=bool)
def _is_after_stage(call: CallSite) -> bool:
    """Whether a method is called on what a stage has made, also in another function."""
    made = [] if call.receiver is None else call.receiver.sites
    return any(is_stage(site.name) or (site.last in _STAGES and _may_be_stage(site, site.name)) for site in made)


def _stages_after(call: CallSite) -> Iterator[CallSite]:
    """The methods called on the result of a call, down the chain."""
    following = call.method
    while following is not None:
        yield following
        following = following.method


def _is_of_dataset(call: CallSite) -> bool:
    """Whether a method is ``padded_batch``, or one that only datasets have is called on the result, directly or further
    down the chain, or it is such a method that is called on the result of a stage."""
    following = islice(_stages_after(call), _FOLLOWING)
    if call.last == _PADDED or any(stage.last in _ONLY_DATASETS for stage in following):
        return True
    before = call.receiver.call if call.receiver is not None else None
    return call.last in _ONLY_DATASETS and before is not None and before.last in _STAGES


def _first_of_chain(call: CallSite) -> CallSite:
    """The first call of a method chain."""
    for _ in range(_CHAINED):
        before = call.receiver.call if call.receiver is not None else None
        if before is None:
            break
        call = before
    return call


def _is_seen(kept: AssignmentSite, reader: Scope) -> bool:
    """Whether code in a block reads the assigned value under its name."""
    if "." in kept.target:
        return kept.scope.owner is not None and kept.scope.owner is reader.owner
    return reader.is_inside(kept.scope.namespace)


@once
def _tables_of_pipeline(context: Context) -> tuple[set[CallSite], bool]:
    """The tables that the input pipeline uses, and whether it uses unknown tables."""
    calls: set[CallSite] = set()
    unsure = False
    for module in module_scopes(context):
        for call in module.all_calls:
            if call.name.endswith(".lookup") and surroundings_of(call.scope).in_input == "yes":
                made = call.receiver.sites if call.written and call.receiver is not None else []
                calls.update(made)
                unsure = unsure or not made
    return calls, unsure
