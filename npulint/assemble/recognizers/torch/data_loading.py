"""What a data loader feeds: training or evaluation, by its names; which part of the data; its data set."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from npulint.assemble.context import Context
from npulint.assemble.flow import Site, argument
from npulint.assemble.module import Module
from npulint.facts.code import Call, CallResult, Const, Op, Ref, SequenceDisplay, Table, Value
from npulint.lazy_regex import lazy_compile

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
_DEPTH = 5


def said(text: str) -> str:
    """``train`` or ``evaluate`` when the words of a name say one of the two, else an empty text."""
    words = [word.lower() for word in _TOKEN.findall(text)]
    train = any(_TRAIN.search(word) for word in words)
    evaluate = any(_EVALUATE.search(word) for word in words)
    return "" if train == evaluate else "train" if train else "evaluate"


def purpose(context: Context, module: Module, index: int, dataset: Value | None, shuffles: bool) -> str:
    """What the loader that call `index` makes is for: train, evaluate or unknown. The nearest name that tells
    it decides: of the variable, of the data set, of a condition, of the function; then who shuffles trains."""
    call = module.code.calls[index]
    target = context.memoize(("bound", module.path), lambda: _bound(module)).get(index, "")
    answer = said(target) or _of_dataset(context, module, call, dataset) or _of_conditions(module, call.block)
    if answer:
        return answer
    function, *around = reversed(module.qualname(call.block).split("."))
    answer = said(function)
    if answer:
        return answer
    if _made_to_evaluate(context, module, call):
        return "unknown"
    for part in around:
        answer = said(part)
        if answer:
            return answer
    if shuffles:
        return "unknown" if _only_read(context, module, call, target) else "train"
    return "evaluate" if said(module.path.rpartition("/")[2].removesuffix(".py")) == "evaluate" else "unknown"


def _only_read(context: Context, module: Module, call: Call, target: str) -> bool:
    """Whether the function that makes a loader goes through it itself, and never to train."""
    function = module.function_of(call.block)
    loops = [
        block
        for block, record in enumerate(module.blocks)
        if record.kind == "loop" and module.function_of(block) == function and target in _iterated(module, record.test)
    ]
    return bool(target and loops) and not any((module.path, loop) in context.training.loops for loop in loops)


def _made_to_evaluate(context: Context, module: Module, call: Call) -> bool:
    """Whether somebody calls the function that makes a loader to evaluate with it, as the names there tell."""
    function = module.function_of(call.block)
    for home, index in context.flow.callers(module, function) if function >= 0 else ():
        caller = home.code.calls[index]
        values = (*caller.args, *(value for _, value in caller.keywords))
        given = [v.name if isinstance(v, Ref) else v.value if isinstance(v, Const) else "" for v in values]
        bound = context.memoize(("bound", home.path), partial(_bound, home)).get(index, "")
        if any(isinstance(one, str) and said(one) == "evaluate" for one in (bound, *given)):
            return True
        if any(said(key) == "train" and value == Const(False) for key, value in caller.keywords):
            return True
    return False


def _iterated(module: Module, value: Value) -> list[str]:
    """What a loop goes through: a name, or the arguments of ``enumerate``, ``tqdm`` and the like."""
    values = module.code.calls[value.call].args if isinstance(value, CallResult) else (value,)
    return [one.name for one in values if isinstance(one, Ref)]


def _bound(module: Module) -> dict[int, str]:
    """Call -> what its result is assigned to, also as an element of a display."""
    found: dict[int, str] = {}
    for bind in module.code.assignments:
        for call, target in _results(bind.value, bind.target, 0):
            found.setdefault(call, target)
    return found


def _results(value: Value, target: str, depth: int) -> Iterator[tuple[int, str]]:
    if isinstance(value, CallResult):
        yield value.call, target
    elif depth < _DEPTH and isinstance(value, Table):
        for key, inner in zip(value.keys, value.values, strict=True):
            yield from _results(inner, f"{target}[{key.value if isinstance(key, Const) else '*'}]", depth + 1)
    elif depth < _DEPTH and isinstance(value, SequenceDisplay | Op):
        for inner in value.items if isinstance(value, SequenceDisplay) else value.operands:
            yield from _results(inner, target, depth + 1)


def _of_dataset(context: Context, module: Module, call: Call, dataset: Value | None) -> str:
    if dataset is None:
        return ""
    answer = said(dataset.name) if isinstance(dataset, Ref) else ""
    if answer:
        return answer
    answers = {_of_split(context, *site) for site in context.flow.sites(module, dataset, call.block, call.line)}
    return answers.pop() if len(answers) == 1 else ""


def _of_split(context: Context, home: Module, index: int) -> str:
    """What the arguments of a data set say: ``train=False``, ``split="val"``, a folder of that name."""
    call = home.code.calls[index]
    for key, value in call.keywords:
        if _SPLIT.match(key):
            known = context.known(home, value, call).single
            if isinstance(known, bool):
                return (said(key) or "train") if known else "evaluate" if said(key) == "train" else "train"
            if isinstance(known, str) and said(known):
                return said(known)
    texts = [a.value for a in call.args if isinstance(a, Const) and isinstance(a.value, str)]
    names = [a.name for a in call.args if isinstance(a, Ref)]
    return next((said(text) for text in (*texts, *names) if said(text)), said(home.callee_name(index)))


def _of_conditions(module: Module, block: int) -> str:
    """``if training:``, ``if phase == "train":`` and their else branches."""
    for inner in module.ancestors(block):
        record = module.blocks[inner]
        if record.kind not in ("if", "else"):
            continue
        answer = _of_test(record.test)
        if answer:
            return answer if record.kind == "if" else "train" if answer == "evaluate" else "evaluate"
    return ""


def _of_test(test: Value) -> str:
    if isinstance(test, Ref):
        return said(test.name.rpartition(".")[2])
    if isinstance(test, Op) and test.op == "==":
        texts = [v.value for v in test.operands if isinstance(v, Const) and isinstance(v.value, str)]
        return said(texts[0]) if len(texts) == 1 else ""
    return ""


def sharing(context: Context, module: Module, value: Value, call: Call, depth: int = 0) -> str:
    """What a sampler is: distributed (each rank has its part), other, none or unknown."""
    sites = context.flow.sites(module, value, call.block, call.line)
    words = {_sampler(context, *site, depth) for site in sites}
    if "distributed" in words or (isinstance(value, Ref) and _SHARING.search(value.name)):
        return "distributed"
    if "unknown" in words:
        return "unknown"
    if words:
        return "other"
    known = context.known(module, value, call)
    return "none" if known.exact and known.values == (None,) else "unknown"


def _sampler(context: Context, home: Module, index: int, depth: int) -> str:
    name = context.names.of_call(home, index)
    if _SHARING.search(name.rpartition(".")[2].rpartition(":")[2]) or _shares(context, name):
        return "distributed"
    call = home.code.calls[index]
    given = [*call.args, *(v for _, v in call.keywords)]
    if any(isinstance(v, Ref) and v.name.rpartition(".")[2] in _RANKED for v in given):
        return "distributed"
    if depth < _DEPTH and given:  # BatchSampler(sampler, …) and the like
        inner = argument(call, "sampler", 0)
        if inner is not None and sharing(context, home, inner, call, depth + 1) == "distributed":
            return "distributed"
    return "other" if name.startswith("torch.") or context.names.function(name) is not None else "unknown"


def _shares(context: Context, name: str) -> bool:
    """Whether an own sampler class is derived from a distributed one, or asks for its rank."""
    target = context.names.function(name)
    if target is None or target[0].blocks[target[1]].kind != "class":
        return False
    home, block = target
    if any(_SHARING.search(base.rpartition(".")[2]) for base in bases(context, home, block)):
        return True
    maker = home.definition(block, "__init__")
    return maker >= 0 and not _RANKED.isdisjoint(home.blocks[maker].params)


def bases(context: Context, home: Module, block: int, depth: int = 0) -> list[str]:
    """The canonical names of a class's bases, those of its own bases included."""
    record = home.blocks[block]
    found = [context.names.of_value(home, base, record.parent, record.line) for base in record.bases]
    for name in list(found) if depth < _DEPTH else ():
        target = context.names.function(name)
        if target is not None:
            found += bases(context, *target, depth + 1)
    return found


def ancestry(context: Context, name: str) -> list[str]:
    """The canonical names of what an own class is derived from; empty for anything else."""
    target = context.names.function(name)
    if target is None or target[0].blocks[target[1]].kind != "class":
        return []
    return context.memoize(("ancestry", name), lambda: bases(context, *target))


def dataset_word(context: Context, sites: list[Site]) -> str:
    """``iterable`` if a data set has no index, ``map`` if it surely has one, ``memory`` if all its samples lie ready
    in tensors, else ``unknown``."""
    words = set()
    for home, index in sites:
        name = context.names.of_call(home, index)
        target = context.names.function(name)
        if target is not None and target[0].blocks[target[1]].kind == "class":
            names = bases(context, *target)
            indexed = target[0].definition(target[1], "__getitem__") >= 0
            iterated = target[0].definition(target[1], "__iter__") >= 0
            iterable = any(n.rpartition(".")[2] in _ITERATED for n in names) or (iterated and not indexed)
            words.add("iterable" if iterable else "map")
        else:
            last = name.rpartition(".")[2]
            words.add("iterable" if last in _ITERATED else "memory" if last == "TensorDataset" else "unknown")
    return words.pop() if len(words) == 1 else "iterable" if "iterable" in words else "unknown"


def knows_rank(sites: list[Site]) -> bool:
    """Whether a data set is made with a rank: then it may share the samples out itself."""
    for home, index in sites:
        call = home.code.calls[index]
        names = {key for key, _ in call.keywords}
        names.update(
            v.name.rpartition(".")[2] for v in (*call.args, *(v for _, v in call.keywords)) if isinstance(v, Ref)
        )
        if not _RANKED.isdisjoint(names):
            return True
    return False


def moves_items(context: Context, sites: list[Site], collate: list[tuple[Module, int]]) -> bool:
    """Whether a data set's items, or the function that collates them, are put on a device in the loader."""
    places = list(collate)
    for home, index in sites:
        target = context.names.function(context.names.of_call(home, index))
        if target is not None and target[0].blocks[target[1]].kind == "class":
            inner = (target[0].definition(target[1], method) for method in ("__getitem__", "__iter__"))
            places += [(target[0], block) for block in inner if block >= 0]
    return any(_moves(context, home, index) for home, block in places for index in home.calls_in.get(block, ()))


def _moves(context: Context, home: Module, index: int) -> bool:
    written = home.callee_name(index)
    call = home.code.calls[index]
    if written in ("npu", "cuda"):
        return "." in (call.callee.name if isinstance(call.callee, Ref) else ".")
    if written != "to":
        return False
    value = argument(call, "device", 0)
    known = context.known(home, value, call).single if value is not None else None
    return isinstance(known, str) and known.startswith(("npu", "cuda"))
