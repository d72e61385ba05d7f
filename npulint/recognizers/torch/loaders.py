"""Data loaders of PyTorch: their purpose and their arguments."""

from __future__ import annotations

from functools import cached_property
from typing import Literal

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.attributes import attribute, flag
from npulint.facts.kinds import fact_kind
from npulint.facts.values import NOTHING, PossibleValues, merge, truth
from npulint.model.running.code_facts import CallFact
from npulint.model.running.code_places import item_assignments
from npulint.model.running.conditions import words_around
from npulint.model.values.cursors import CallSite, Expr
from npulint.model.values.walker import walker
from npulint.recognizers.registry import recognizes
from npulint.recognizers.torch.data_loading import (
    DatasetForm,
    Purpose,
    Sharing,
    ancestry,
    dataset_form,
    knows_rank,
    moves_items,
    purpose,
    purposes_of_callers,
    sharing,
)
from npulint.recognizers.torch.scaling import ArgumentFlag

# The arguments of a data loader call, including ``**options``.

_PARAMETERS = "dataset batch_size shuffle sampler batch_sampler num_workers collate_fn pin_memory drop_last".split()
_POSITIONS = {name: position for position, name in enumerate(_PARAMETERS)}


class LoaderArguments:
    """The arguments of a call that creates a loader. With `hidden` the loader's class may set those that the call does
    not."""

    def __init__(self, call: CallSite, hidden: bool) -> None:
        self.call, self.hidden = call, hidden

    def value(self, name: str) -> Expr | None:
        """The argument for a parameter in the call itself."""
        return self.call.argument(name, _POSITIONS.get(name, -1))

    def values(self, name: str) -> list[Expr]:
        """The possible arguments for a parameter, also by ``**options``."""
        value = self.value(name)
        return self._spread[0].get(name, []) if value is None else [value]

    def known(self, name: str) -> PossibleValues | None:
        """The possible values of a parameter; None if it is certainly not passed."""
        values = self.values(name)
        if values:
            return merge([value.known for value in values])
        starred = any(value.operator == "star" for value in self.call.args)
        return NOTHING if starred or not self._spread[1] or self.hidden else None

    @cached_property
    def _spread(self) -> tuple[dict[str, list[Expr]], bool]:
        """The keyword arguments in ``**options``, and whether all of them are known."""
        table: dict[str, list[Expr]] = {}
        is_complete = True
        for key, value in self.call.record.keywords:
            if key == "**":
                entries = _entries(self.call.expr(value))
                is_complete = is_complete and entries is not None
                for name, inner in entries or ():
                    table.setdefault(name, []).append(inner)
        return table, is_complete


@walker(depth=12, otherwise=lambda: None)
def _entries(value: Expr) -> list[tuple[str, Expr]] | None:
    """The keys and values of a mapping that is unpacked into a call; None if some may be unknown."""
    entries: list[tuple[str, Expr]] = []
    displays, made = value.displays, value.sites
    for display in displays:
        if not display.is_dict or any(key is None or not key.is_literal for key, _ in display.entries):
            return None
        entries += [(str(key.literal), inner) for key, inner in display.entries if key is not None]
    for call in made:
        if call.name != "dict" or call.args or call.has_keyword("**"):
            return None
        entries += call.keywords.items()
    added = _added(value) if displays or made else None
    return None if added is None else entries + added


def _added(mapping: Expr) -> list[tuple[str, Expr]] | None:
    """What is added to a mapping after its creation: ``kw["a"] = 1``, ``kw.update(…)``; None if some may be unknown."""
    added = [(key, assignment.value) for key, assignment in item_assignments(mapping)]
    if any(key == "*" for key, _ in added):
        return None
    for call in mapping.scope.calls_named("update") if mapping.written else ():
        if call.written == f"{mapping.written}.update":
            added += call.keywords.items()
            for argument in call.args:
                more = _entries(argument)
                if more is None:
                    return None
                added += more
    return added


LOADER = "torch.utils.data.DataLoader"
_OWN = lazy_compile(r":(?:\w+\.)*[A-Z]\w*$")
_ENDLESS = 100_000_000  # samples of one round, more than a run draws
_MANY = 64  # workers of one process that take the CPU from the thread that launches operators


@fact_kind("loader")
class DataLoader(CallFact):
    """A data loader is created; the name is ``torch.utils.data.DataLoader``, also for derived classes."""

    @cached_property
    def _arguments(self) -> LoaderArguments:
        own = self.call.name != LOADER
        return LoaderArguments(self.call, hidden=own and not _passes_on(self.call))

    @cached_property
    def _dataset(self) -> list[CallSite]:
        """The calls that create its dataset."""
        value = self._arguments.value("dataset")
        return [] if value is None else value.sites

    @cached_property
    def _is_endless(self) -> bool:
        value = self._arguments.value("sampler")
        return any(map(_is_endless, [] if value is None else value.sites))

    def _flag(self, name: str) -> ArgumentFlag:
        values = self._arguments.known(name)
        if values is None:
            return "missing"
        return flag(None if values.symbol else truth(values))

    @attribute
    def callee(self) -> str:
        """The canonical name of the called class."""
        return self.call.name

    @attribute
    def purpose(self) -> Purpose:
        """Its purpose: train or evaluate."""
        return purpose(self.call, self._arguments.value("dataset"), self.shuffle == "yes")

    @attribute
    def drop_last(self) -> Literal[ArgumentFlag, "full"]:
        """Whether an incomplete last batch is dropped; ``full``: there is none, or a batch sampler decides."""
        if self._is_endless:
            return "full"
        batches = self._arguments.known("batch_sampler")
        if self._arguments.values("batch_sampler") and batches is not None and batches.values != (None,):
            return "full"
        size = self._arguments.known("batch_size")
        if size is None:
            return "full" if not self._arguments.hidden else "unknown"
        if size.exact and not size.symbol and size.values and set(size.values) <= {None, 1}:
            return "full"
        return self._flag("drop_last")

    @attribute
    def by_mode(self) -> bool:
        """Whether a comparison decides if it shuffles (``shuffle=(mode == "train")``): it also evaluates."""
        return any(value.operands("==", "!=", "in", "not in") for value in self._arguments.values("shuffle"))

    @attribute
    def shuffle(self) -> ArgumentFlag:
        """Whether it shuffles without a sampler."""
        return self._flag("shuffle")

    @attribute
    def pin_memory(self) -> ArgumentFlag:
        """Whether host memory is pinned."""
        return self._flag("pin_memory")

    @attribute
    def persistent(self) -> ArgumentFlag:
        """Whether workers persist between epochs."""
        return self._flag("persistent_workers")

    @attribute
    def workers(self) -> Literal["missing", "none", "some", "many", "unknown"]:
        """The number of worker processes: missing (the default is none), none (0), some, or so many that they take the
        CPU from the thread that launches operators."""
        values = self._arguments.known("num_workers")
        if values is None:
            return "missing"
        counts = [value for value in values.values if isinstance(value, int) and not isinstance(value, bool)]
        if values.symbol or not values.exact or not counts or len(counts) != len(values.values):
            return "unknown"
        if max(counts) == 0:
            return "none"
        return "many" if min(counts) >= _MANY else "some" if min(counts) > 0 else "unknown"

    @attribute
    def sampler(self) -> Sharing:
        """The sampler: distributed (each rank has its part), another one, or none."""
        arguments = self._arguments
        words = {sharing(value) for name in ("sampler", "batch_sampler") for value in arguments.values(name)}
        if not words:
            return (
                "none" if arguments.known("sampler") is None and arguments.known("batch_sampler") is None else "unknown"
            )
        ranked: tuple[Sharing, ...] = ("distributed", "unknown", "other", "none")
        return next(word for word in ranked if word in words)

    @attribute
    def sampled(self) -> Literal["always", "sometimes", "no", "unknown"]:
        """Whether it has a sampler: always, sometimes (or None), or no."""
        value = self._arguments.value("sampler")
        if value is None:
            return "no" if self._arguments.known("sampler") is None else "unknown"
        values = value.known
        if not value.sites:
            return "no" if values.exact and values.values == (None,) else "unknown"
        return "sometimes" if None in values.values else "always"

    @attribute
    def endless(self) -> bool:
        """Whether its sampler draws so many samples, with replacement, that training ends before its round does."""
        return self._is_endless

    @attribute
    def evaluates_too(self) -> bool:
        """Whether callers of the function that creates it evaluate with it."""
        return "evaluate" in purposes_of_callers(self.call)

    @attribute
    def dataset(self) -> DatasetForm:
        """The kind of its dataset: iterable (without an index), map (with one), or memory (all samples are in
        tensors)."""
        words = words_around(self.call.scope)
        return "iterable" if any("IterableDataset" in word for word in words) else dataset_form(self._dataset)

    @attribute
    def sharded(self) -> bool:
        """Whether the dataset itself gets a rank."""
        return knows_rank(self._dataset)

    @attribute
    def device_items(self) -> bool:
        """Whether items are moved to a device in the loader."""
        collate = self._arguments.value("collate_fn")
        return moves_items(self._dataset, [] if collate is None else collate.functions)


def _is_endless(sampler: CallSite) -> bool:
    """``RandomSampler(rows, replacement=True, num_samples=int(1e10))``"""
    count = sampler.argument("num_samples", 2)
    if sampler.last != "RandomSampler" or count is None:
        return False
    number = count.call.args[0] if count.call is not None and count.call.name == "int" and count.call.args else count
    drawn = number.single
    return isinstance(drawn, int | float) and drawn >= _ENDLESS


def _passes_on(call: CallSite) -> bool:
    """Whether a project loader class passes all its arguments to the base class."""
    owner = call.target
    if owner is None:
        return False
    maker = owner.definition("__init__")
    return maker is None or any(name.startswith("*") for name in maker.parameters)


@recognizes(matching=lambda name: name == LOADER or (":" in name and _OWN.search(name) is not None))
def loaders(call: CallSite) -> list[DataLoader]:
    """Calls of the loader and of project classes derived from it."""
    return [DataLoader(call, LOADER)] if call.name == LOADER or LOADER in ancestry(call.context, call.name) else []
