"""Data loaders of PyTorch: what they are for and what they are told."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

from npulint.assemble.context import Context
from npulint.assemble.flow import Site, argument
from npulint.assemble.module import Module
from npulint.assemble.recognizers.torch.data_loading import (
    ancestry,
    dataset_word,
    knows_rank,
    moves_items,
    purpose,
    sharing,
)
from npulint.facts.code import Const, Op, Ref, Table, Value
from npulint.facts.model import Fact
from npulint.facts.values import NOTHING, PossibleValues, merge, truth
from npulint.lazy_regex import lazy_compile

LOADER = "torch.utils.data.DataLoader"
_OWN = lazy_compile(r":(?:\w+\.)*[A-Z]\w*$")
_POSITIONS = {
    "dataset": 0,
    "batch_size": 1,
    "shuffle": 2,
    "sampler": 3,
    "batch_sampler": 4,
    "num_workers": 5,
    "collate_fn": 6,
    "pin_memory": 7,
    "drop_last": 8,
}
_MANY = 64  # workers of one process that take the CPU from the thread that launches operators


def matches(name: str) -> bool:
    """The loader and own classes, which may be derived from it."""
    return name == LOADER or bool(_OWN.search(name))


def facts_for_call(context: Context, module: Module, index: int, name: str) -> list[Fact]:
    """``loader`` facts; an own class counts when it is derived from the loader."""
    own = name != LOADER
    if own and LOADER not in ancestry(context, name):
        return []
    given = _Given(context, module, index, own and not _passes_on(context, name))
    words = ("drop_last", "shuffle", "sampler", "workers", "pin_memory", "persistent", "dataset")
    attrs: dict[str, Callable[[], str]] = {word: getattr(given, word) for word in words}
    return [
        context.call_fact(
            "loader",
            LOADER,
            module,
            index,
            callee=name,
            purpose=given.purpose,
            sampled=given.sampled,
            device_items=given.device_items,
            sharded=given.sharded,
            **attrs,
        )
    ]


def facts_for_module(context: Context, module: Module) -> list[Fact]:
    """None: all loaders are calls."""
    return []


def _passes_on(context: Context, name: str) -> bool:
    """Whether an own loader class hands all that it is given to the loader."""
    target = context.names.function(name)
    if target is None:
        return False
    maker = target[0].definition(target[1], "__init__")
    return maker < 0 or any(p.startswith("*") for p in target[0].blocks[maker].params)


class _Given:
    """What one call gives a loader. With `hidden` the class may set what the call does not."""

    def __init__(self, context: Context, module: Module, index: int, hidden: bool) -> None:
        self.context, self.module, self.index, self.hidden = context, module, index, hidden
        self.call = module.code.calls[index]

    def value(self, name: str) -> Value | None:
        """The expression given for a parameter in the call itself."""
        return argument(self.call, name, _POSITIONS.get(name, -1))

    def _is_given(self, name: str) -> bool:
        return self.value(name) is not None or name in self._spread[0]

    def known(self, name: str) -> PossibleValues | None:
        """The value given for a parameter; None when it is surely not given."""
        value = self.value(name)
        if value is not None:
            return self.context.known(self.module, value, self.call)
        table, whole = self._spread
        if name in table:
            return merge([self.context.known(self.module, v, self.call) for v in table[name]])
        starred = any(isinstance(a, Op) and a.op == "star" for a in self.call.args)
        return NOTHING if starred or not whole or self.hidden else None

    @cached_property
    def _spread(self) -> tuple[dict[str, list[Value]], bool]:
        """What ``**options`` give by keyword, and whether all of that is seen."""
        table: dict[str, list[Value]] = {}
        whole = True
        for key, value in self.call.keywords:
            if key == "**":
                found = _entries(self.context, self.module, value, self.call.block, self.call.line)
                whole = whole and found is not None
                for name, inner in found or ():
                    table.setdefault(name, []).append(inner)
        return table, whole

    def _flag(self, name: str) -> str:
        """``yes``, ``no``, ``missing``, or ``unknown`` also for what an option decides."""
        known = self.known(name)
        if known is None:
            return "missing"
        answer = None if known.symbol else truth(known)
        return "unknown" if answer is None else "yes" if answer else "no"

    def drop_last(self) -> str:
        """Whether a smaller last batch is dropped; ``full``: there is none, or a batch sampler decides."""
        batches = self.known("batch_sampler")
        if self._is_given("batch_sampler") and batches is not None and batches.values != (None,):
            return "full"
        size = self.known("batch_size")
        if size is None:
            return "full" if not self.hidden else "unknown"
        if size.exact and not size.symbol and size.values and set(size.values) <= {None, 1}:
            return "full"
        return self._flag("drop_last")

    def shuffle(self) -> str:
        """Whether it shuffles by itself."""
        return self._flag("shuffle")

    def pin_memory(self) -> str:
        """Whether host memory is pinned."""
        return self._flag("pin_memory")

    def persistent(self) -> str:
        """Whether workers outlive an epoch."""
        return self._flag("persistent_workers")

    def workers(self) -> str:
        """``missing``, ``none`` (0), ``some``, ``many`` or ``unknown``."""
        known = self.known("num_workers")
        if known is None:
            return "missing"
        counts = [v for v in known.values if isinstance(v, int) and not isinstance(v, bool)]
        if known.symbol or not known.exact or not counts or len(counts) != len(known.values):
            return "unknown"
        if max(counts) == 0:
            return "none"
        return "many" if min(counts) >= _MANY else "some" if min(counts) > 0 else "unknown"

    def sampler(self) -> str:
        """``distributed``, ``other``, ``none`` or ``unknown``."""
        words: set[str] = set()
        for name in ("sampler", "batch_sampler"):
            value = self.value(name)
            values = [value] if value is not None else self._spread[0].get(name, [])
            words.update(sharing(self.context, self.module, v, self.call) for v in values)
        if not words:
            return "none" if self.known("sampler") is None and self.known("batch_sampler") is None else "unknown"
        return next(word for word in ("distributed", "unknown", "other", "none") if word in words)

    def sampled(self) -> str:
        """Whether a sampler is given: ``always``, ``sometimes`` (or None) or ``no``."""
        value = self.value("sampler")
        if value is None:
            return "no" if self.known("sampler") is None else "unknown"
        known = self.context.known(self.module, value, self.call)
        made = self.context.flow.sites(self.module, value, self.call.block, self.call.line)
        if not made:
            return "no" if known.exact and known.values == (None,) else "unknown"
        return "sometimes" if None in known.values else "always"

    @cached_property
    def _dataset(self) -> list[Site]:
        value = self.value("dataset")
        return [] if value is None else self.context.flow.sites(self.module, value, self.call.block, self.call.line)

    def dataset(self) -> str:
        """``iterable``, ``map``, ``memory`` or ``unknown``."""
        if any("IterableDataset" in word for word in self.context.guards.words(self.module, self.call.block)):
            return "iterable"
        return dataset_word(self.context, self._dataset)

    def sharded(self) -> str:
        """Whether the data set itself is told a rank."""
        return "yes" if knows_rank(self._dataset) else "no"

    def device_items(self) -> str:
        """Whether items are put on a device where they are read."""
        value = self.value("collate_fn")
        collate = (
            [] if value is None else self.context.flow.functions(self.module, value, self.call.block, self.call.line)
        )
        return "yes" if moves_items(self.context, self._dataset, collate) else "no"

    def purpose(self) -> str:
        """``train``, ``evaluate`` or ``unknown``."""
        return purpose(self.context, self.module, self.index, self.value("dataset"), self.shuffle() == "yes")


def _entries(context: Context, module: Module, value: Value, block: int, line: int) -> list[tuple[str, Value]] | None:
    """The keywords and values of a mapping that is spread into a call; None when some may not be seen."""
    found: list[tuple[str, Value]] = []
    seen = False
    for display in context.flow.displays(module, value, block, line):
        if not isinstance(display, Table):
            return None
        for key, inner in zip(display.keys, display.values, strict=True):
            if not isinstance(key, Const):
                return None
            found.append((str(key.value), inner))
        seen = True
    for home, index in context.flow.sites(module, value, block, line):
        made = home.code.calls[index]
        if context.names.of_call(home, index) != "dict" or made.args or any(k == "**" for k, _ in made.keywords):
            return None
        found += made.keywords
        seen = True
    if not seen:
        return None
    return found + written if (written := _written(context, module, value)) is not None else None


def _written(context: Context, module: Module, value: Value) -> list[tuple[str, Value]] | None:
    """What is added to a mapping after it was made: ``kw["a"] = 1``, ``kw.update(…)``."""
    if not isinstance(value, Ref):
        return []
    found: list[tuple[str, Value]] = []
    for target, binds in module.dotted.items():
        if target.startswith(f"{value.name}[") and target.endswith("]"):
            key = target[len(value.name) + 1 : -1]
            if key == "*":
                return None
            found += [(key, bind.value) for bind in binds]
    for index in module.calls_of("update"):
        call = module.code.calls[index]
        if call.callee == Ref(f"{value.name}.update"):
            found += call.keywords
            for given in call.args:
                more = _entries(context, module, given, call.block, call.line)
                if more is None:
                    return None
                found += more
    return found
