"""What a data loader is for, by its names: training or evaluation, part of the data, dataset."""

from __future__ import annotations

from typing import Literal

from npulint.core.lazy_regex import lazy_compile
from npulint.model.running.training import training_of
from npulint.model.values.context import Context, once_per_file
from npulint.model.values.cursors import CallSite, Expr, Scope, scope_named
from npulint.model.values.walker import walker

Purpose = Literal["train", "evaluate", "unknown"]
Sharing = Literal["distributed", "other", "none", "unknown"]
DatasetForm = Literal["iterable", "map", "memory", "unknown"]

_TOKEN = lazy_compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_TRAIN = lazy_compile(r"^(?:pre|re)?train|^trn$|^finetun|^fit$")
_EVALUATE = lazy_compile(
    r"^(?:val(?!ue)|eval|test|dev(?:set|data|$)|infer|predict|pred$|query|queries|gallery|demo|probe|calib|holdout|submi|export)"
)
_SPLIT = lazy_compile(
    r"^(?:is_?)?(?:train|training|test|val|eval)$|^(?:split|subset|mode|phase|stage|image_set|set|usage|part)$"
)
_SHARING = lazy_compile(r"Distributed|^RASampler|^RepeatAug|^Dist[A-Z]|DistSampler")
_RANKED = frozenset(("num_replicas", "world_size", "rank", "local_rank", "num_shards", "shard_id", "num_gpus"))
_ITERATED = ("IterableDataset", "WebDataset", "DataPipeline")


# -- training or evaluation -------------------------------------------------------------------------


def named_purpose(text: str) -> Literal["train", "evaluate", ""]:
    """``train`` or ``evaluate`` if a word of the name says so, else empty."""
    words = [word.lower() for word in _TOKEN.findall(text)]
    train = any(_TRAIN.search(word) for word in words)
    evaluate = any(_EVALUATE.search(word) for word in words)
    return "" if train == evaluate else "train" if train else "evaluate"


def purpose(loader: CallSite, dataset: Expr | None, shuffles: bool) -> Purpose:
    """The purpose of the loader created by a call. The nearest indicative name decides: the variable, the dataset, a
    condition, the function; without one, shuffling indicates training."""
    target = _assigned_results(loader.scope).get(loader.index, "")
    answer = named_purpose(target) or _of_dataset(dataset) or _of_conditions(loader.scope)
    function, *around = reversed(loader.scope.qualname.split("."))
    answer = answer or named_purpose(function)
    if answer:
        return answer
    callers = purposes_of_callers(loader)
    if "evaluate" in callers:
        return "train" if shuffles and "train" in callers else "unknown"
    answer = next((named for part in around if (named := named_purpose(part))), "")
    if answer:
        return answer
    if shuffles:
        return "unknown" if _is_only_read(loader, target) else "train"
    file = loader.path.rpartition("/")[2].removesuffix(".py")
    return "evaluate" if named_purpose(file) == "evaluate" else "unknown"


def _is_only_read(loader: CallSite, target: str) -> bool:
    """Whether the function that creates a loader iterates over it itself, and never to train."""
    routine = loader.scope.routine
    own = [loop for loop in loader.scope.blocks_of("loop") if target and loop.routine is routine]
    loops = [loop for loop in own if target in _iterated(loop.test)]
    return bool(loops) and training_of(loader.context).loops.isdisjoint(loops)


def _iterated(value: Expr) -> list[str]:
    """The names that a loop iterates over, directly or through ``enumerate``, ``tqdm`` and the like."""
    return [expr.written for expr in ([value] if value.call is None else value.call.args)]


def purposes_of_callers(loader: CallSite) -> set[str]:
    """What the callers of the function that creates a loader say about its purpose."""
    function = loader.scope.function
    return {_purpose_of_caller(caller) for caller in (() if function is None else function.callers)}


def _purpose_of_caller(caller: CallSite) -> Literal["train", "evaluate", ""]:
    """What a call of a function that creates a loader says about its purpose, by its names and its file."""
    target = _assigned_results(caller.scope).get(caller.index, "")
    names = [target, *(value.written or value.text for value in caller.arguments)]
    if any(named_purpose(name) == "evaluate" for name in names):
        return "evaluate"
    if any(named_purpose(key) == "train" and value.literal == 0 for key, value in caller.keywords.items()):
        return "evaluate"
    file = caller.path.rpartition("/")[2].removesuffix(".py")
    return "train" if named_purpose(file) == "train" or named_purpose(target) == "train" else ""


@once_per_file
def _assigned_results(module: Scope) -> dict[int, str]:
    """The targets that the results of calls are assigned to, also as elements of a display, by index of the call."""
    results: dict[int, str] = {}
    for assignment in module.assignments:
        for index, target in _results(assignment.value, assignment.target):
            results.setdefault(index, target)
    return results


@walker(depth=6, otherwise=list)
def _results(value: Expr, target: str) -> list[tuple[int, str]]:
    """The call results in an assigned expression, each with the target of that part."""
    if value.call is not None:
        return [(value.call.index, target)]
    parts = [(part, target) for part in (*value.items, *value.operands())]
    for key, part in value.entries:
        parts.append((part, f"{target}[{key.literal if key is not None and key.is_literal else '*'}]"))
    return [result for part, inner in parts for result in _results(part, inner)]


def _of_dataset(dataset: Expr | None) -> Literal["train", "evaluate", ""]:
    """The purpose according to what made a dataset; where that says nothing, to its name."""
    if dataset is None:
        return ""
    answers = {_of_split(made) for made in dataset.sites} - {""}
    if answers:
        return answers.pop() if len(answers) == 1 else ""
    return named_purpose(dataset.written)


def _of_split(made: CallSite) -> Literal["train", "evaluate", ""]:
    """The purpose according to the arguments of a dataset: ``train=False``, ``split="val"``, a folder of that name."""
    for key, value in made.keywords.items():
        given = value.single if _SPLIT.match(key) else None
        if isinstance(given, bool):
            if not given:
                return "evaluate" if named_purpose(key) == "train" else "train"
            return named_purpose(key) or "train"
        if isinstance(given, str) and named_purpose(given):
            return named_purpose(given)
    texts = [part.text for value in made.arguments for part in value.mentioned]  # os.path.join(root, "val")
    names = [*texts, *(value.written for value in made.args)]
    return next((named for name in names if (named := named_purpose(name))), named_purpose(made.last))


def _of_conditions(scope: Scope) -> Literal["train", "evaluate", ""]:
    """The purpose according to ``if training:``, ``if phase == "train":`` and their else branches."""
    for around in scope.ancestors:
        answer = _of_test(around.test) if around.kind in ("if", "else") else ""
        if answer:
            return answer if around.kind == "if" else "train" if answer == "evaluate" else "evaluate"
    return ""


def _of_test(test: Expr) -> Literal["train", "evaluate", ""]:
    if test.written:
        return named_purpose(test.written.rpartition(".")[2])
    texts = [operand.text for operand in test.operands("==") if isinstance(operand.literal, str)]
    return named_purpose(texts[0]) if len(texts) == 1 else ""


# -- samplers ---------------------------------------------------------------------------------------


@walker(depth=6, otherwise=lambda: "unknown")
def sharing(sampler: Expr) -> Sharing:
    """The kind of a sampler: distributed (each rank has its part), other, none or unknown."""
    words = {_sharing_of(made) for made in sampler.sites}
    if "distributed" in words or _SHARING.search(sampler.written):
        return "distributed"
    if words:
        return "unknown" if "unknown" in words else "other"
    values = sampler.known
    return "none" if values.exact and values.values == (None,) else "unknown"


def _sharing_of(made: CallSite) -> Sharing:
    name = made.name
    if _SHARING.search(name.rpartition(".")[2].rpartition(":")[2]) or _shares(made.target):
        return "distributed"
    if any(value.written.rpartition(".")[2] in _RANKED for value in made.arguments):
        return "distributed"
    inner = made.argument("sampler", 0)  # BatchSampler(sampler, …) and the like
    if inner is not None and sharing(inner) == "distributed":
        return "distributed"
    return "other" if name.startswith("torch.") or made.target is not None else "unknown"


def _shares(owner: Scope | None) -> bool:
    """Whether a project sampler class derives from a distributed one, or uses its rank."""
    if owner is None or owner.kind != "class":
        return False
    if any(_SHARING.search(base.rpartition(".")[2]) for base in bases(owner)):
        return True
    maker = owner.definition("__init__")
    return maker is not None and not _RANKED.isdisjoint(maker.parameters)


# -- data sets --------------------------------------------------------------------------------------


@walker(depth=6, otherwise=list)
def bases(owner: Scope) -> list[str]:
    """The canonical names of a class's direct and indirect bases."""
    names = [base.name for base in owner.bases]
    own = [target for name in names if (target := scope_named(owner.context, name)) is not None]
    return names + [name for target in own for name in bases(target)]


def ancestry(context: Context, name: str) -> list[str]:
    """The canonical names of the bases of a project class; empty for anything else."""
    owner = scope_named(context, name)
    if owner is None or owner.kind != "class":
        return []
    return context.memoize(("ancestry", name), lambda: bases(owner))


def dataset_form(constructors: list[CallSite]) -> DatasetForm:
    """``iterable`` if a dataset has no index, ``map`` if it certainly has one, ``memory`` if all samples are in
    tensors."""
    words = {_form(made) for made in constructors}
    return words.pop() if len(words) == 1 else "iterable" if "iterable" in words else "unknown"


def _form(made: CallSite) -> DatasetForm:
    owner = made.target
    if owner is None or owner.kind != "class":
        last = made.name.rpartition(".")[2]
        return "iterable" if last in _ITERATED else "memory" if last == "TensorDataset" else "unknown"
    if any(base.rpartition(".")[2] in _ITERATED for base in bases(owner)):
        return "iterable"
    has_index = owner.definition("__getitem__") is not None
    return "iterable" if owner.definition("__iter__") is not None and not has_index else "map"


def knows_rank(constructors: list[CallSite]) -> bool:
    """Whether a dataset is created with a rank, so that it may split the samples itself."""
    names = {value.written.rpartition(".")[2] for made in constructors for value in made.arguments}
    names.update(key for made in constructors for key in made.keywords)
    return not _RANKED.isdisjoint(names)


def moves_items(constructors: list[CallSite], collate: list[Scope]) -> bool:
    """Whether a dataset's items, or the collate function, move tensors to a device in the loader."""
    owners = [made.target for made in constructors]
    classes = [owner for owner in owners if owner is not None and owner.kind == "class"]
    methods = [owner.definition(method) for owner in classes for method in ("__getitem__", "__iter__")]
    functions = [*collate, *(method for method in methods if method is not None)]
    return any(_moves(call) for function in functions for call in function.calls)


def _moves(call: CallSite) -> bool:
    if call.last in ("npu", "cuda"):
        return call.receiver is not None
    device = call.argument("device", 0) if call.last == "to" else None
    text = None if device is None else device.single
    return isinstance(text, str) and text.startswith(("npu", "cuda"))
