"""Sources of nondeterminism between runs of one program: random numbers, their seeds, and unordered results."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Literal

from npulint.assemble.code_facts import CallFact
from npulint.assemble.context import Context
from npulint.assemble.cursors import call_at, expr_at
from npulint.assemble.module import Module
from npulint.facts.code import Call, CallResult, Const, Op, Ref, SequenceDisplay, Value
from npulint.facts.kinds import fact_kind
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
_NO_ORDER = (*_SORTS, "len", "set", "frozenset", "any", "all", "sum", "min", "max")  # insensitive to order
_ORDERED = frozenset(("list", "tuple", "enumerate"))  # adopt the order of a set
_KEPT_FILES = lazy_compile(r"(?i)ckpt|checkpoint|weight|log|snapshot|output|result|save|model")
_NO_TRAINING = lazy_compile(r"(?i)test|infer|predict|demo|export|convert|download|plot|draw|show")  # names of functions
_TEXT = lazy_compile(r"(?i)name|text|word|string|token|path|file|title|label|key|line|sentence|url|str(?:_|$)")
_TEXTS = frozenset("str join format lower upper strip encode read replace basename".split())
_STEPS = 40  # values visited per seed


@fact_kind("randomness")
class Randomness(CallFact):
    """A result differs between runs: something draws from a shared generator, seeds one, or has an order that nothing
    fixes. The name is the canonical name of the call."""

    what: Literal["draw", "seed", "order"]
    source: str
    """The generators concerned, separated by spaces, or what gives the order."""
    seeded: Literal["constant", "time", "nothing", "unknown", "-"]
    """What the generators are seeded from."""


def random_facts(context: Context, paths: Iterable[str]) -> list[Fact]:
    """The `randomness` facts of the modules at `paths`."""
    modules = context.project.modules
    return [fact for path in paths if path in modules for fact in _of_module(context, modules[path])]


def _of_module(context: Context, module: Module) -> Iterator[Fact]:
    sorting = _Sorting(context, module)
    for index, name in enumerate(context.names.of_calls(module)):
        attributes = _seed(context, module, index, name) or _draw(name) or _order(sorting, index, name)
        if attributes is not None:
            yield Randomness(call_at(context, module, index), name, **attributes)


def _seed(context: Context, module: Module, index: int, name: str) -> dict[str, Any] | None:
    """The generators that a seeding call seeds (`source`) and from what (`seeded`)."""
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
    """The source of a seed: a constant, the time, nothing (entropy of the operating system), or unknown."""
    if not values or values == [Const(None)]:
        return "nothing"
    known = expr_at(context, module, values[0], call.block, call.line).known
    if known.exact and known.values and None not in known.values:
        return "constant"
    return "time" if _of_clock(context, module, values[0], call) else "unknown"


def _of_clock(context: Context, module: Module, value: Value, call: Call) -> bool:
    """Whether the time or entropy of the operating system is part of a value."""
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


def _draw(name: str) -> dict[str, Any] | None:
    """The attributes of a call that draws from a global generator."""
    root, _, last = name.rpartition(".")
    source = {"random": "python", "numpy.random": "numpy"}.get(root)
    if source is None or last in _NO_DRAW or not last[:1].islower():
        return None
    return {"what": "draw", "source": source, "seeded": "-"}


def _order(sorting: _Sorting, index: int, name: str) -> dict[str, Any] | None:
    """The attributes of a call with an unordered result (set, directory listing, hash), where the order matters."""
    if name in _LISTINGS or name in _PATHS:
        fixed = sorting.around(index) or sorting.follows(index) or sorting.of_results(index)
        source = "" if fixed else "listing"
    elif name in ("set", "frozenset"):
        source = "set" if sorting.taken_over(index) and not sorting.around(index) else ""
    else:
        source = "hash" if name == "hash" and sorting.of_text(index) else ""
    return {"what": "order", "source": source, "seeded": "-"} if source else None


class _Sorting:
    """Where a module sorts, or uses functions that are insensitive to order."""

    def __init__(self, context: Context, module: Module) -> None:
        self.context, self.module = context, module
        self.calls = module.calls_of(*_NO_ORDER)
        self.functions = {module.function_of(module.code.calls[index].block) for index in module.calls_of(*_SORTS)}

    def around(self, index: int) -> bool:
        """Whether a call is an argument of one that sorts or is insensitive to order."""
        call = self.module.code.calls[index]
        return any(one != index and _within(call, self.module.code.calls[one]) for one in self.calls)

    def follows(self, index: int) -> bool:
        """Whether the enclosing function sorts anything, or all its callers by name do."""
        home = self.module.function_of(self.module.code.calls[index].block)
        if home in self.functions:
            return True
        name = self.module.blocks[home].name.rpartition(".")[2] if home > 0 else ""
        return bool(name) and any(_sorted_there(module, name) for module in self.context.project.modules.values())

    def of_results(self, index: int) -> bool:
        """Whether the call is about files that a run wrote, or not for training, judging by names around it."""
        module, call = self.module, self.module.code.calls[index]
        home = module.function_of(call.block)
        words = [module.qualname(call.block)]
        if _NO_TRAINING.search(words[0]) or evaluates(module, call.block):
            return True
        args = [module.code.calls[one].args for one in (module.calls_in.get(home, ()) if home > 0 else (index,))]
        queue: list[Value] = [value for values in args for value in values]
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
        """Whether the order of the set that the call creates becomes that of a list or of a loop."""
        module, made = self.module, CallResult(index)
        if any(block.kind == "loop" and block.test == made for block in module.blocks):
            return True
        names = (module.callee_name(one) for one, call in enumerate(module.code.calls) if made in call.args)
        return any(name in _ORDERED for name in names)

    def of_text(self, index: int) -> bool:
        """Whether a text is hashed (hashes of numbers are the same in every run) and the result is used as a number,
        not as part of a name."""
        call = self.module.code.calls[index]
        named = (self.module.code.calls[one] for one in self.module.calls_of("str", "format", "repr", "hex"))
        if not call.args or any(_within(call, one) for one in named):
            return False
        hashed = call.args[0]
        if isinstance(hashed, Ref) and _TEXT.search(hashed.name):
            return True
        if isinstance(hashed, CallResult) and self.module.callee_name(hashed.call) in _TEXTS:
            return True
        known = expr_at(self.context, self.module, hashed, call.block, call.line).known
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
