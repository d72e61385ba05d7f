"""Sources of nondeterminism between runs of one program: random numbers, their seeds, and unordered results."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal

from npulint.commands.training_config.steps.model import evaluates
from npulint.core.lazy_regex import lazy_compile
from npulint.facts.kinds import fact_kind
from npulint.facts.model import Fact
from npulint.model.running.code_facts import CallFact
from npulint.model.values.context import Context
from npulint.model.values.cursors import CallSite, Expr, Scope, module_scopes, scope_at

_ALL = "python numpy torch tensorflow"
_HELPERS = frozenset(
    "seed_everything seed_all seed_all_rng set_seed set_random_seed set_global_seed setup_seed fix_seed".split()
)
_SEEDING = {"transformers.TrainingArguments": _ALL, "transformers.Seq2SeqTrainingArguments": _ALL}
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
_SEEDED = {
    "random.seed": "python",
    "numpy.random.seed": "numpy",
    "random.Random": "python",
    "numpy.random.RandomState": "numpy",
    "numpy.random.default_rng": "numpy",
    **_SEEDING,
}
"""The generators that a call seeds, by its name."""
_OF_FRAMEWORKS = {
    "torch": frozenset(("manual_seed", "manual_seed_all", "set_rng_state")),
    "tensorflow": frozenset(("set_random_seed", "set_seed")),
}


@fact_kind("randomness")
class Randomness(CallFact):
    """A result differs between runs: something draws from a shared generator, seeds one, or has an order that nothing
    fixes. The name is the canonical name of the call."""

    what: Literal["draw", "seed", "order"]
    source: str
    """The generators concerned, separated by spaces, or what gives the order."""
    seeded: Literal["constant", "time", "nothing", "unknown", "-"]
    """What the generators are seeded from."""


_Attributes = tuple[Literal["draw", "seed", "order"], str, Literal["constant", "time", "nothing", "unknown", "-"]]


def random_facts(context: Context, paths: Iterable[str]) -> list[Fact]:
    """The `randomness` facts of the modules at `paths`."""
    modules = context.project.modules
    scopes = [scope_at(context, modules[path], 0) for path in paths if path in modules]
    return [fact for scope in scopes for fact in _of_module(scope)]


def _of_module(module: Scope) -> Iterator[Fact]:
    for site, name in zip(module.all_calls, module.call_names, strict=True):
        attributes = _seed(site, name) or _draw(name) or _order(site, name)
        if attributes is not None:
            yield Randomness(site, name, *attributes)


def _seed(site: CallSite, name: str) -> _Attributes | None:
    """The generators that a seeding call seeds, and from what."""
    source = _seeded_by(name)
    if not source:
        return None
    named = [site.expr(value) for key, value in site.record.keywords if "seed" in key or key in ("x", "a")]
    values = [*site.args, *named]
    if name in _SEEDING:
        return "seed", source, "unknown" if values else "constant"
    return "seed", source, _from(values)


def _seeded_by(name: str) -> str:
    """The generators that a call of this name seeds."""
    root, last = name.partition(".")[0], name.rpartition(".")[2]
    if name in _SEEDED:
        return _SEEDED[name]
    if ":" in name or name.startswith("?"):
        return ""
    if root in _OF_FRAMEWORKS:
        own = "python numpy tensorflow" if root == "tensorflow" and ".utils." in name else root
        return own if last in _OF_FRAMEWORKS[root] else ""
    return _ALL if last in _HELPERS and root != name else ""


def _from(values: list[Expr]) -> Literal["constant", "time", "nothing", "unknown"]:
    """The source of a seed: a constant, the time, nothing (entropy of the operating system), or unknown."""
    if not values or (len(values) == 1 and values[0].is_literal and values[0].literal is None):
        return "nothing"
    possible = values[0].known
    if possible.exact and possible.values and None not in possible.values:
        return "constant"
    return "time" if _is_of_clock(values[0]) else "unknown"


def _is_of_clock(value: Expr) -> bool:
    """Whether the time or entropy of the operating system is part of a value."""
    scope, line = value.scope, value.line
    queue, seen = [value], 0
    while queue and seen < _STEPS:
        seen += 1
        expr = queue.pop()
        if expr.call is not None and expr.call.name in _CLOCKS:
            return True
        queue += expr.parts
        binds = scope.namespace.assigned(expr.written) if expr.written else ()
        queue += [bind for bind in binds if bind.line < line]
    return False


def _draw(name: str) -> _Attributes | None:
    """The attributes of a call that draws from a global generator."""
    root, _, last = name.rpartition(".")
    source = {"random": "python", "numpy.random": "numpy"}.get(root)
    return None if source is None or last in _NO_DRAW or not last[:1].islower() else ("draw", source, "-")


def _order(site: CallSite, name: str) -> _Attributes | None:
    """The attributes of a call with an unordered result (set, directory listing, hash), where the order matters."""
    if name in _LISTINGS or name in _PATHS:
        source = "" if _is_within(site, *_NO_ORDER) or _follows_sorting(site) or _is_of_results(site) else "listing"
    elif name in ("set", "frozenset"):
        source = "set" if _is_taken_over(site) and not _is_within(site, *_NO_ORDER) else ""
    else:
        source = "hash" if name == "hash" and _hashes_text(site) else ""
    return ("order", source, "-") if source else None


def _is_within(site: CallSite, *lasts: str) -> bool:
    """Whether a call is written within another one by one of these names."""
    inner = site.span
    for call in site.scope.calls_named(*lasts):
        outer = call.span
        starts = (outer.line, outer.column) <= (inner.line, inner.column)
        if call is not site and starts and (inner.end_line, inner.end_column) <= (outer.end_line, outer.end_column):
            return True
    return False


def _follows_sorting(site: CallSite) -> bool:
    """Whether the enclosing function sorts anything, or all its callers by name do."""
    function = site.scope.function
    if _sorts(site.scope, {function}):
        return True
    name = function.record.name.rpartition(".")[2] if function is not None else ""
    modules = module_scopes(site.context) if name else ()
    return any(_sorts(module, {call.scope.function for call in module.calls_named(name)}) for module in modules)


def _sorts(module: Scope, functions: set[Scope | None]) -> bool:
    """Whether one of these functions of a module sorts something."""
    return bool(functions) and any(call.scope.function in functions for call in module.calls_named(*_SORTS))


def _is_of_results(site: CallSite) -> bool:
    """Whether the call is about files that a run wrote, or not for training, judging by names around it."""
    words = [site.scope.qualname]
    if _NO_TRAINING.search(words[0]) or evaluates(site.scope):
        return True
    function = site.scope.function
    queue = [value for call in (function.calls if function is not None else [site]) for value in call.args]
    while queue and len(words) < _STEPS:
        expr = queue.pop()
        if expr.is_literal or expr.written:
            words.append(str(expr.literal) if expr.is_literal else expr.written)
        queue += expr.call.args if expr.call is not None else expr.operands()
    return _KEPT_FILES.search(" ".join(words)) is not None


def _is_taken_over(site: CallSite) -> bool:
    """Whether the order of the set that the call creates becomes that of a list or of a loop."""
    made = site.result.value
    module = site.scope
    if any(loop.test.value == made for loop in module.blocks_of("loop")):
        return True
    return any(made in call.record.args for call in module.calls_named(*_ORDERED))


def _hashes_text(site: CallSite) -> bool:
    """Whether a text is hashed (hashes of numbers are the same in every run) and the result is used as a number, not as
    part of a name."""
    if not site.record.args or _is_within(site, "str", "format", "repr", "hex"):
        return False
    hashed = site.args[0]
    named = bool(hashed.written and _TEXT.search(hashed.written))
    made = hashed.call is not None and hashed.call.last in _TEXTS
    return named or made or any(isinstance(value, str) for value in hashed.known.values)
