"""Which unmatched steps of a program do not count as a difference, and why."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from npulint.commands.compare.side import Side
from npulint.commands.training_config.program import TrainingConfig
from npulint.commands.training_config.steps.model import MODULE, CodeStep, Home, home_of
from npulint.commands.training_config.steps.purposes import METRIC
from npulint.core.lazy_regex import lazy_compile
from npulint.model.running.code_places import returned_values
from npulint.model.values.cursors import CallSite, Scope
from npulint.recognizers.tensorflow.host import measures

# Steps for distributed training that do not count as a difference when only one program has them.

_CONDITIONS = frozenset(("==", "!=", "<", ">", "<=", ">=", "in", "not in", "and", "or", "not", "if"))
_PREFIX = r"^(?:HCCL_|OMPI_COMM_WORLD_|PMI_|MPI_|SLURM_|CM_|ASCEND_|NPU_)?"
SIZES = lazy_compile(_PREFIX + r"(?:RANK_SIZE|WORLD_SIZE|WORKER_SIZE|SIZE|NTASKS|DEVICE_NUM|RANK_NUM)$")
PLACES = lazy_compile(_PREFIX + r"(?:RANK_ID|RANK|LOCAL_RANK|LOCAL_RANK_ID|PROCID|LOCALID|DEVICE_ID|DEVICE_INDEX)$")
"""Variables of the environment in which launchers pass the number of processes, and that of one of them."""
_BROADCAST = "horovod.broadcast"
_BROADCASTING = "NPUEstimator"  # adds a broadcast hook to every distributed training


def is_insignificant(step: CodeStep, own: TrainingConfig, other: TrainingConfig) -> bool:
    """Whether a step does not count as a difference: a rank or world size used only in conditions (the guarded code is
    compared itself), or that the other program reads from the environment, or a broadcast of initial weights that the
    other program's Estimator performs."""
    if step.part == "ranks":
        if _is_read(step, other):
            return True
        asked = own.context.memoize(("asked", step.scope.path), lambda: frozenset(_in_conditions(step.scope)))
        return step.site is not None and step.site in asked
    return step.name == _BROADCAST and any(
        candidate.recipe is not None and candidate.recipe.name.endswith(_BROADCASTING)
        for steps in other.homes.values()
        for candidate in steps
    )


def _is_read(step: CodeStep, other: TrainingConfig) -> bool:
    """Whether a step asks for a number of devices or a rank that the other program reads from variables of launchers.
    What is done with it is compared itself."""
    neutral = "" if step.recipe is None else step.recipe.neutral
    name = SIZES if neutral == "ranks" else PLACES if neutral == "rank" else None
    return name is not None and any(map(name.search, other.program.index.names("environment_read")))


def _in_conditions(module: Scope) -> Iterator[CallSite]:
    """The calls of a module whose results are compared in conditions."""
    waiting = [(module.at(block).test, True) for block in range(len(module.module.blocks))]
    waiting += [(value, False) for value in (*(bind.value for bind in module.assignments), *returned_values(module))]
    waiting += [(value, False) for site in module.all_calls for value in site.arguments]
    while waiting:
        value, asked = waiting.pop()
        if value.call is not None and asked:
            yield value.call
        first = asked or (value.operator in _CONDITIONS and value.operator != "if")
        for at, part in enumerate(value.operands()):
            waiting.append((part, first or (at == 0 and value.operator in _CONDITIONS)))
        waiting += [(item, asked) for item in (*value.items, *(inner for _, inner in value.entries))]


# Seeds that training frameworks set on their own.

_ARGUMENTS = """TrainingArguments Seq2SeqTrainingArguments SentenceTransformerTrainingArguments SFTConfig DPOConfig
PPOConfig GRPOConfig KTOConfig ORPOConfig RewardConfig""".split()
_SEEDS = {
    f"{library}.{name}": 42 for library in ("transformers", "trl", "sentence_transformers") for name in _ARGUMENTS
}
"""The seed that a trainer sets by default, by the class of its arguments."""


def repeats_framework(step: CodeStep, other: TrainingConfig) -> bool:
    """Whether a step sets the seed that the trainer of the other program sets by default."""
    if step.part != "seed" or not step.arguments:
        return False
    wanted = {
        _SEEDS[all_step.name] for all_step in other.all_steps() if all_step.name in _SEEDS and not _has_seed(all_step)
    }
    values = step.arguments[0].expr.known
    return bool(wanted) and values.exact and set(values.values) == wanted


def _has_seed(step: CodeStep) -> bool:
    return step.is_open or any(argument.name == "seed" for argument in step.arguments)


_SIGNIFICANT_KINDS = (
    "call",
    "own",
    "switch",
    "slice",
)  # other literals are not: the step that uses one is compared
_CALCULATED = ("arithmetic", "loss", "schedule", "learning_rate")
_ARRAYS = ("numpy.", "ndarray.", "?.")  # in evaluations these count hits; in input code they prepare data
_DEVICE_SEEDS = frozenset(("cuda.manual_seed", "cuda.manual_seed_all", "npu.manual_seed", "npu.manual_seed_all"))
_IDENTITIES = frozenset(("identity", "identitylayer"))
_CASTS = frozenset(("tensorflow.cast", "tensorflow.saturate_cast"))
_ONCE = frozenset(("update", "loss_scale", "autocast", "checkpoint", "frozen", "determinism"))
_WITH_MORE = frozenset(
    "sampler reduction ranks shard drop_remainder precision_mode autocast loss_scale half_cast".split()
)
"""Parts that count even if the compared starts cannot reach them: starts for more devices do."""
_SHAPING = frozenset(
    """reshape cast transpose squeeze expand_dims constant concat stack unstack identity split slice strided_slice tile
    shape size rank zeros ones zeros_like ones_like fill range convert_to_tensor to_float to_int32 to_int64 placeholder
    view permute unsqueeze flatten contiguous expand expand_as type type_as float long int half to chunk cat arange
    tensor from_numpy numpy detach item clone t repeat eye linspace full full_like new_zeros new_ones view_as
    reshape_as narrow select placeholder_with_default get_shape set_shape group no_op print
    Print variable_scope name_scope""".split()
)


def is_significant(step: CodeStep, side: Side) -> bool:
    """Whether an unmatched step counts as a difference."""
    if step.kind == "expression":
        calculated = step.part in _CALCULATED and side.knows(step.home) and side.running.may(step)
        return calculated and not _is_alternative(step, side)
    if step.kind not in _SIGNIFICANT_KINDS or not step.counts:
        return False
    return not any(applies(step, side) for applies in _REASONS)


def is_of_metric(step: CodeStep) -> bool:
    """Whether a cast is part of a metric, so that its precision changes nothing that is trained."""
    site = step.site
    return site is not None and site.name in _CASTS and measures(site)


def branches(step: CodeStep, *kinds: str) -> list[Scope]:
    """The conditional branches (and blocks of further `kinds`) around a step, within its function."""
    return [
        ancestor
        for ancestor in step.scope.ancestors
        if ancestor.block > step.home[1] and ancestor.kind in ("if", "else", *kinds)
    ]


def _passes_through(step: CodeStep, side: Side) -> bool:
    """It returns what it is given."""
    return step.kind == "call" and step.shown.rpartition(".")[2].removesuffix("()").lower() in _IDENTITIES


def _measures(step: CodeStep, side: Side) -> bool:
    """It computes a metric of model quality."""
    return step.part == "operation" and (step.evaluates or bool(METRIC.search(step.function.lower())))


def _counts_hits(step: CodeStep, side: Side) -> bool:
    """It processes arrays in an evaluation."""
    return step.evaluates and step.recipe is not None and step.recipe.host and step.name.startswith(_ARRAYS)


def _seeds_device(step: CodeStep, side: Side) -> bool:
    """The counterpart of the function seeds the devices with a different call."""
    return step.shown in _DEVICE_SEEDS and any(opposite.shown in _DEVICE_SEEDS for opposite in side.opposite(step))


def _seeds_as_framework(step: CodeStep, side: Side) -> bool:
    """The trainer of the other program sets the same seed by default."""
    return repeats_framework(step, side.other)


def _shapes(step: CodeStep, side: Side) -> bool:
    """It reshapes numbers, or opens a name scope."""
    shaping = step.shown.rpartition(".")[2] in _SHAPING
    if step.part == "initialisation":
        return shaping and not step.arguments
    return shaping and step.part == "operation" and step.kind == "call"


def _casts_otherwise(step: CodeStep, side: Side) -> bool:
    """It is a cast, but not between float16 and float32, or only in a metric."""
    if step.part != "half_cast" or step.kind != "call":
        return False
    if is_of_metric(step):
        return True
    types = [argument.expr.written for argument in step.arguments if argument.expr.written]
    last = step.shown.rpartition(".")[2]
    return last not in ("half", "float", "bfloat16") and not any("16" in name or "half" in name for name in types)


def _is_of_adapter(step: CodeStep, side: Side) -> bool:
    """It identifies devices in the adapter's way, or in that of the other library."""
    if step.part not in ("reduction", "ranks"):
        return False
    return (step.recipe is not None and step.recipe.adapter) or is_insignificant(step, side.config, side.other)


def _is_handed_over(step: CodeStep, side: Side) -> bool:
    """The counterpart of the function passes on or returns the called function itself: ``map(f)`` equals ``map(lambda
    x: f(x))``."""
    other = side.counterpart(step.home) if step.kind == "own" else None
    if other is None:
        return False
    scope = side.other.scope(other)
    names = {step.shown, step.site.last if step.site is not None else ""}
    passed = (value for site in scope.all_calls if home_of(site.scope) == other for value in site.args)
    returned = (value for value in returned_values(scope) if home_of(value.scope) == other)
    return any(value.written.rpartition(".")[2] in names for value in (*passed, *returned) if value.written)


def _is_body(step: CodeStep, side: Side) -> bool:
    """It calls a function whose code is module-level code in the other program."""
    other = side.counterpart(step.target) if step.target is not None else None
    return step.kind == "own" and other is not None and other[1] == MODULE and step.is_global


def _is_branch(step: CodeStep, side: Side) -> bool:
    """The counterpart of the function does the same elsewhere: in the other branch of a condition or, if the step
    occurs once in its function, anywhere."""
    steps = side.opposite(step)
    if step.part == "reduction":
        return any(opposite.part == step.part for opposite in steps)
    if not branches(step, "try", "except") and step.part not in _ONCE:
        return False
    return any(opposite.kind == step.kind and _as_written(opposite) == _as_written(step) for opposite in steps)


def _as_written(step: CodeStep) -> object:
    """A comparable form of a step as written: callee, receiver, names and constants of the arguments."""
    if step.site is None:
        return step.name
    by_name = step.site.written if step.site.written and step.name.startswith("?") else step.name
    return by_name, tuple(value.value if value.is_literal or value.written else None for value in step.site.arguments)


def _is_unresolved(step: CodeStep, side: Side) -> bool:
    """The counterpart of the function has more unresolved calls of that name."""
    other = side.counterpart(step.home)
    if other is None or step.site is None:
        return False
    return _unknown(side.other, other, step.site.last) > _unknown(side.config, step.home, step.site.last)


def _unknown(config: TrainingConfig, place: Home, name: str) -> int:
    """The number of calls by a name in a function that are not steps."""
    calls = {step.site for step in config.homes.get(place, ())}
    sites = (site for site in config.scope(place).calls_named(name) if site not in calls)
    return sum(home_of(site.scope) == place for site in sites)


def _is_alternative(step: CodeStep, side: Side) -> bool:
    """The opposite branch does the same, and so does the counterpart of the function."""
    if not any(_does_same(opposite, step) for opposite in side.opposite(step)):
        return False
    around = branches(step)
    return any(
        _does_same(home, step) and any(_are_opposite(a, b) for a in around for b in branches(home))
        for home in side.config.homes[step.home]
    )


def _does_same(step: CodeStep, other: CodeStep) -> bool:
    same = step.name == other.name or (step.kind == "own" and step.shown == other.shown)
    return step.kind == other.kind and step.part == other.part and same


def _are_opposite(scope: Scope, other: Scope) -> bool:
    first, second = scope.record, other.record
    return first.kind != second.kind and first.parent == second.parent and first.test == second.test


def _never_runs(step: CodeStep, side: Side) -> bool:
    """No compared start reaches it, and it is not meant for other starts."""
    resumes = step.part == "checkpoint" and side.change == "removed" and side.knows(step.home)
    return not (resumes or step.part in _WITH_MORE or side.running.may(step))


_REASONS: tuple[Callable[[CodeStep, Side], bool], ...] = (
    _passes_through,
    _measures,
    _counts_hits,
    _seeds_device,
    _seeds_as_framework,
    _shapes,
    _casts_otherwise,
    _is_of_adapter,
    _is_handed_over,
    _is_body,
    _is_branch,
    _is_unresolved,
    _is_alternative,
    _never_runs,
)
"""Any one is sufficient; the cheap ones come first."""
