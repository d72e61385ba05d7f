"""What makes two runs of one program differ: random numbers, how their generators are seeded, and orders that nothing
fixes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from npulint.assemble.context import Context
from npulint.assemble.module import Module
from npulint.facts.code import Call, CallResult, Const, Op, Ref, SequenceDisplay, Value
from npulint.facts.model import Fact
from npulint.lazy_regex import lazy_compile
from npulint.training_config.steps.code_context import evaluates

_ALL = "python numpy torch tensorflow"
_HELPERS = frozenset(
    "seed_everything seed_all seed_all_rng set_seed set_random_seed set_global_seed setup_seed fix_seed".split()
)
_SEEDING = {"transformers.TrainingArguments": _ALL, "transformers.Seq2SeqTrainingArguments": _ALL}
_OWN = frozenset(("random.Random", "numpy.random.RandomState", "numpy.random.default_rng"))
_NO_DRAW = frozenset("seed getstate setstate get_state set_state default_rng".split())
_CLOCKS = frozenset(
    "time.time time.time_ns time.clock time.perf_counter time.monotonic os.urandom os.getpid uuid.uuid4 "
    "datetime.datetime.now datetime.datetime.utcnow secrets.randbits random.SystemRandom".split()
)
_LISTINGS = frozenset("os.listdir os.scandir os.walk glob.glob glob.iglob".split())
_PATHS = frozenset("pathlib.Path().glob pathlib.Path().rglob pathlib.Path().iterdir".split())
_SORTS = ("sort", "sorted", "natsorted", "argsort", "lexsort", "sort_values", "sort_index")
_NO_ORDER = (*_SORTS, "len", "set", "frozenset", "any", "all", "sum", "min", "max")  # what asks for none
_ORDERED = frozenset(("list", "tuple", "enumerate"))  # what takes over the order of a set
_KEPT_FILES = lazy_compile(r"(?i)ckpt|checkpoint|weight|log|snapshot|output|result|save|model")
_NO_TRAINING = lazy_compile(r"(?i)test|infer|predict|demo|export|convert|download|plot|draw|show")  # functions by name
_TEXT = lazy_compile(r"(?i)name|text|word|string|token|path|file|title|label|key|line|sentence|url|str(?:_|$)")
_TEXTS = frozenset("str join format lower upper strip encode read replace basename".split())
_STEPS = 40  # values looked at on the way of one seed


def random_facts(context: Context, paths: Iterable[str]) -> list[Fact]:
    """The facts of the kind ``randomness`` of the modules at `paths` (docs/writing-checks.md explains them)."""
    modules = context.project.modules
    return [fact for path in paths if path in modules for fact in _of_module(context, modules[path])]


def _of_module(context: Context, module: Module) -> Iterator[Fact]:
    sorting = _Sorting(context, module)
    for index, name in enumerate(context.names.of_calls(module)):
        told = _seed(context, module, index, name) or _draw(name) or _order(sorting, index, name)
        if told is not None:
            yield context.call_fact("randomness", name, module, index, **told)


def _seed(context: Context, module: Module, index: int, name: str) -> dict[str, str] | None:
    """What a call that seeds generators says: which (`source`) and from what (`seeded`)."""
    source = _seeded_by(name)
    if not source:
        return None
    call = module.code.calls[index]
    values = [*call.args, *(value for key, value in call.keywords if "seed" in key or key in ("x", "a"))]
    if name in _SEEDING:
        return {"what": "seed", "source": source, "seeded": "unknown" if values else "constant"}
    return {"what": "seed", "source": source, "seeded": _from(context, module, values, call)}


def _seeded_by(name: str) -> str:
    """The generators that a call of this name seeds."""
    if name in _OWN or name in ("random.seed", "numpy.random.seed"):
        return "python" if name.startswith("random.") else "numpy"
    if name in _SEEDING:
        return _SEEDING[name]
    root, last = name.partition(".")[0], name.rpartition(".")[2]
    if ":" in name or name.startswith("?"):
        return ""
    if root == "torch":
        return "torch" if last in ("manual_seed", "manual_seed_all", "set_rng_state") else ""
    if root == "tensorflow":
        own = "python numpy tensorflow" if ".utils." in name else "tensorflow"
        return own if last in ("set_random_seed", "set_seed") else ""
    return _ALL if last in _HELPERS and root != name else ""


def _from(context: Context, module: Module, values: list[Value], call: Call) -> str:
    """What a seed is made from: a constant, the time, nothing (the operating system's), or unknown."""
    if not values or values == [Const(None)]:
        return "nothing"
    known = context.known(module, values[0], call)
    if known.exact and known.values and None not in known.values:
        return "constant"
    return "time" if _of_clock(context, module, values[0], call) else "unknown"


def _of_clock(context: Context, module: Module, value: Value, call: Call) -> bool:
    """Whether a clock or the operating system's chance is part of a value."""
    queue, seen = [value], 0
    while queue and seen < _STEPS:
        seen += 1
        one = queue.pop()
        if isinstance(one, CallResult):
            if context.names.of_call(module, one.call) in _CLOCKS:
                return True
            called = module.code.calls[one.call]
            queue += [*called.args, called.callee]
        elif isinstance(one, Op | SequenceDisplay):
            queue += one.operands if isinstance(one, Op) else one.items
        elif isinstance(one, Ref):
            binds = module.names.get(module.scope[call.block], {}).get(one.name, ())
            queue += [bind.value for bind in binds if bind.line < call.line]
    return False


def _draw(name: str) -> dict[str, str] | None:
    """What a call says that draws from the generator all share."""
    root, _, last = name.rpartition(".")
    source = {"random": "python", "numpy.random": "numpy"}.get(root)
    if source is None or last in _NO_DRAW or not last[:1].islower():
        return None
    return {"what": "draw", "source": source, "seeded": "-"}


def _order(sorting: _Sorting, index: int, name: str) -> dict[str, str] | None:
    """What a call says whose result comes in an order that nothing fixes, where that order matters."""
    if name in _LISTINGS or name in _PATHS:
        fixed = sorting.around(index) or sorting.follows(index) or sorting.of_results(index)
        source = "" if fixed else "listing"
    elif name in ("set", "frozenset"):
        source = "set" if sorting.taken_over(index) and not sorting.around(index) else ""
    else:
        source = "hash" if name == "hash" and sorting.of_text(index) else ""
    return {"what": "order", "source": source, "seeded": "-"} if source else None


class _Sorting:
    """Where a module sorts, or asks only for what has no order."""

    def __init__(self, context: Context, module: Module) -> None:
        self.context, self.module = context, module
        self.calls = module.calls_of(*_NO_ORDER)
        self.functions = {module.function_of(module.code.calls[index].block) for index in module.calls_of(*_SORTS)}

    def around(self, index: int) -> bool:
        """Whether the call stands within one that sorts, or that asks for no order."""
        call = self.module.code.calls[index]
        return any(one != index and _within(call, self.module.code.calls[one]) for one in self.calls)

    def follows(self, index: int) -> bool:
        """Whether the function that the call stands in sorts anything, or all that call it by name do."""
        home = self.module.function_of(self.module.code.calls[index].block)
        if home in self.functions:
            return True
        name = self.module.blocks[home].name.rpartition(".")[2] if home > 0 else ""
        return bool(name) and any(_sorted_there(module, name) for module in self.context.project.modules.values())

    def of_results(self, index: int) -> bool:
        """Whether the call is about files that a run leaves behind, or for no training, as names around it say."""
        module, call = self.module, self.module.code.calls[index]
        home = module.function_of(call.block)
        words = [module.qualname(call.block)]
        if _NO_TRAINING.search(words[0]) or evaluates(module, call.block):
            return True
        beside = [module.code.calls[one].args for one in (module.calls_in.get(home, ()) if home > 0 else (index,))]
        queue: list[Value] = [value for values in beside for value in values]
        while queue and len(words) < _STEPS:
            one = queue.pop()
            if isinstance(one, Const | Ref):
                words.append(str(one.value if isinstance(one, Const) else one.name))
            elif isinstance(one, CallResult):
                queue += module.code.calls[one.call].args
            elif isinstance(one, Op):
                queue += one.operands
        return _KEPT_FILES.search(" ".join(words)) is not None

    def taken_over(self, index: int) -> bool:
        """Whether the order of the set that the call makes becomes that of a list or of a loop."""
        module, made = self.module, CallResult(index)
        if any(block.kind == "loop" and block.test == made for block in module.blocks):
            return True
        names = (module.callee_name(one) for one, call in enumerate(module.code.calls) if made in call.args)
        return any(name in _ORDERED for name in names)

    def of_text(self, index: int) -> bool:
        """Whether what is hashed is a text (a number's hash is the same in every run), and the hash stays a number: in
        a text it is part of a name."""
        call = self.module.code.calls[index]
        named = (self.module.code.calls[one] for one in self.module.calls_of("str", "format", "repr", "hex"))
        if not call.args or any(_within(call, one) for one in named):
            return False
        hashed = call.args[0]
        if isinstance(hashed, Ref) and _TEXT.search(hashed.name):
            return True
        if isinstance(hashed, CallResult) and self.module.callee_name(hashed.call) in _TEXTS:
            return True
        known = self.context.known(self.module, hashed, call)
        return any(isinstance(value, str) for value in known.values)


def _within(inner: Call, outer: Call) -> bool:
    starts = (outer.line, outer.column) <= (inner.line, inner.column)
    return starts and (inner.end_line, inner.end_column) <= (outer.end_line, outer.end_column)


def _sorted_there(module: Module, name: str) -> bool:
    """Whether a function that calls one of this name sorts something."""
    homes = {module.function_of(module.code.calls[index].block) for index in module.calls_of(name)}
    return bool(homes) and any(
        module.function_of(module.code.calls[i].block) in homes for i in module.calls_of(*_SORTS)
    )
