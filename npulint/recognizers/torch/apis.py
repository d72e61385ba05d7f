"""Operators without NPU kernel or that the documentation lists as unsupported, and slow forms of calls."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal, cast

from npulint.data.torch_api import TorchApi, added, find, kernel, known_last_segments, refused, support
from npulint.facts.attributes import attribute
from npulint.facts.code import Ref
from npulint.facts.kinds import fact_kind
from npulint.facts.model import Span
from npulint.model.running.call_graph import member_names
from npulint.model.running.code_facts import CallFact, PlaceFact
from npulint.model.values.cursors import CallSite, Expr, Scope
from npulint.model.values.walker import walker
from npulint.recognizers.registry import recognizes, recognizes_in_modules
from npulint.recognizers.torch.receiver_types import makers
from npulint.recognizers.torch.tensors import on_host

_SCATTERS = frozenset(("torch.scatter", "torch.Tensor.scatter", "torch.Tensor.scatter_"))
_GATHERS = frozenset(("torch.gather", "torch.Tensor.gather"))
_REPEATING = frozenset(("expand", "expand_as", "repeat", "tile", "broadcast_to"))
_DISTRIBUTIONS = "torch.distributions."
_FALLS_BACK = ("cpu", "backward_cpu", "none")
Support = Literal["no", "partial", "yes", "unknown"]
Kernel = Literal["npu", "cpu", "backward_cpu", "no_gradient", "none", "host", "unknown"]
Group = Literal[
    "sparse",
    "sparse_coo",
    "sparse_product",
    "quantized",
    "linalg",
    "random",
    "embedding_bag",
    "recurrent",
    "strided",
    "tensordot",
    "complex",
    "gather",
]


class _RecordedApi:
    """The recorded data of a PyTorch interface."""

    if TYPE_CHECKING:
        _api: TorchApi

        @property
        def scope(self) -> Scope: ...

    @attribute
    def support(self) -> Support:
        """Whether the documentation lists it as supported for the project's release of PyTorch."""
        return cast("Support", support(self._api, self.scope.context.torch))

    @attribute
    def kernel(self) -> Kernel:
        """What computes it: the NPU, the CPU (after a copy), nothing (an error) or the host (it is not an operator);
        no_gradient if the kernel has no gradient."""
        return cast("Kernel", kernel(self._api, self.scope.context.torch))

    @attribute
    def versions_no(self) -> str:
        """The releases whose documentation lists it as unsupported (``2.1-2.6, 2.8``); ``-`` for none."""
        return refused(self._api) or "-"

    @attribute
    def added(self) -> str:
        """The first release in which it runs on the NPU or is listed as supported; empty if there is none."""
        return added(self._api)

    @attribute
    def ops(self) -> str:
        """The operators that the CPU computes, separated by commas."""
        return self._api.ops.replace(" ", ", ")

    @attribute
    def instead(self) -> str:
        """What to write instead; empty if there is no simple substitute."""
        return self._api.instead

    @attribute
    def group(self) -> Group:
        """The group of interfaces that it belongs to; empty for most."""
        return cast("Group", self._api.group)


@fact_kind("torch_api")
class TorchApiCall(CallFact, _RecordedApi):
    """A function, class or method of PyTorch that the NPU does not fully support is called. The name is its public
    spelling."""

    _api: TorchApi

    @attribute
    def what(self) -> Literal["function", "method", "class"]:
        """What is called."""
        if self.name.startswith("torch.Tensor."):
            return "method"
        return "class" if self.name.rpartition(".")[2][:1].isupper() else "function"

    @attribute
    def along(self) -> Literal["repeated", "other"] | None:
        """For gather: whether its index repeats a single column along the others."""
        index = _index(self.call, self.name) if self.name in _GATHERS else None
        return None if index is None else "repeated" if _is_repeated(index) else "other"

    @attribute
    def host(self) -> bool | None:
        """For products of sparse matrices: whether an argument may have been copied to the host before."""
        return any(on_host(value) for value in self.call.args) if self.group == "sparse_product" else None


@fact_kind("torch_api")
class TorchApiMention(PlaceFact, _RecordedApi):
    """A class or function of PyTorch that the NPU does not fully support is named without being called: as the base of
    a class, or passed on (`what`). The name is its public spelling."""

    _api: TorchApi
    what: Literal["base", "mention"]


# -- calls -------------------------------------------------------------------------------------------


@recognizes(matching=lambda name: name.rpartition(".")[2] in known_last_segments() and find(name) is not None)
def called_apis(call: CallSite) -> list[TorchApiCall]:
    """Calls of recorded interfaces, unless the arguments select another operator."""
    recorded = find(call.name)
    if recorded is None:
        return []
    spelling, api = recorded
    if call.name.startswith("?") and call.last in member_names(call.context):  # an object of the project may have it
        return []
    if call.last == "to_dense" and not _is_of_sparse(call):
        return []
    if spelling == "torch.Tensor.share_memory_":  # on host tensors it moves host memory
        return []
    if spelling in _SCATTERS and call.argument("reduce") is None:
        return []
    if spelling in _GATHERS and _index(call, spelling) is None:
        return []
    if spelling.startswith(_DISTRIBUTIONS) and _takes_numbers(call):
        return []
    fact = TorchApiCall(call, spelling, api)
    tensor = call.args[0] if call.record.args else call.receiver
    source = "" if tensor is None else tensor.name
    if fact.kernel in _FALLS_BACK and ".cpu()" in source:  # already copied to the host
        return []
    return [] if fact.kernel == "no_gradient" and ".detach()" in source else [fact]


def _is_of_sparse(conversion: CallSite) -> bool:
    """Whether what is made dense was made sparse, as far as the code shows it: of a dense tensor it does nothing."""
    source = conversion.receiver
    return source is not None and any("sparse" in maker.name for maker in (*makers(source), *source.sites))


def _takes_numbers(distribution: CallSite) -> bool:
    """Whether the parameters of a distribution are numbers of Python: it draws on the host then, and copies nothing."""
    valueses = [value.known for value in distribution.arguments]
    return bool(valueses) and all(
        values.exact and values.values and all(map(_is_number, values.values)) for values in valueses
    )


def _is_number(value: object) -> bool:
    return isinstance(value, int | float)


def _index(gather: CallSite, spelling: str) -> Expr | None:
    return gather.argument("index", 1 if spelling.startswith("torch.Tensor.") else 2)


@walker(depth=8, otherwise=bool)
def _is_repeated(index: Expr) -> bool:
    """Whether an index certainly repeats a single column along the others."""
    if index.call is not None:
        return index.call.last in _REPEATING
    if index.written and "." not in index.written:
        assigned = index.scope.namespace.assigned(index.written)
        return bool(assigned) and all(_is_repeated(value) for value in assigned)
    branches = index.operands("if")[1:]
    return bool(branches) and all(_is_repeated(value) for value in branches)


# -- names that are not called -----------------------------------------------------------------------


@recognizes_in_modules
def apis_as_bases(module: Scope) -> Iterator[TorchApiMention]:
    """Recorded classes that other classes derive from."""
    segments = known_last_segments()
    for index, record in enumerate(module.module.blocks):
        for base in module.at(index).bases if record.bases else ():
            if base.written.rpartition(".")[2] in segments:
                yield from _mention(base, Span.at(record.line), "base")


@recognizes_in_modules
def mentioned_apis(module: Scope) -> Iterator[TorchApiMention]:
    """Recorded names in tables or arguments."""
    segments = known_last_segments()
    uses = [name_use for name_use in module.module.code.name_uses if name_use.name.rpartition(".")[2] in segments]
    elsewhere = _found_elsewhere(module, {name_use.name.rpartition(".")[2] for name_use in uses}) if uses else set()
    for use in uses:
        if (use.name, use.line) not in elsewhere:
            span = Span.of(use)
            yield from _mention(module.at(use.block).expr(Ref(use.name), use.line), span, "mention")


def _mention(written: Expr, span: Span, what: Literal["base", "mention"]) -> list[TorchApiMention]:
    name = written.name
    recorded = find(name) if name.startswith("torch.") else None
    if recorded is None or recorded[0] in _SCATTERS:
        return []
    return [TorchApiMention(written.scope, span, recorded[0], recorded[1], what)]


def _found_elsewhere(module: Scope, lasts: set[str]) -> set[tuple[str, int]]:
    """Names by line that another fact reports (calls, base classes, imports under another name) or that only select a
    type; for calls only those that end with one of the segments `lasts`."""
    elsewhere = {(assignment.value.written, assignment.line) for assignment in module.assignments}
    elsewhere.update((call.written, call.line) for call in module.calls_named(*lasts))
    blocks = [module.at(index) for index, record in enumerate(module.module.blocks) if record.bases]
    elsewhere.update((base.written, base.line) for block in blocks for base in block.bases)
    for call in module.calls_named("isinstance", "issubclass"):
        names = {part.written for value in call.args[1:] for part in (value, *value.items)}
        elsewhere.update((name, line) for name in names for line in range(call.line, call.span.end_line + 1))
    return elsewhere
