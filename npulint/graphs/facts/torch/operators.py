"""Facts ``torch_op``: how the NPU runs each operator of a PyTorch graph, one fact per line of code that calls it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from typing import Literal

import msgspec

from npulint.core.lazy_regex import lazy_compile
from npulint.data.aten import FALLS, Verdict, VerdictWord, instead, nearest, verdict
from npulint.facts.attributes import attribute
from npulint.facts.graph import Node
from npulint.facts.kinds import fact_kind
from npulint.facts.model import Fact
from npulint.graphs.facts.graph_fact import GraphFact, Place
from npulint.graphs.facts.torch.view import Phase, TorchGraphView, base_of, node_set, overload_of, phase_of

_FOREIGN = lazy_compile(
    r"^aten\.(?:_?cudnn_|_?miopen_|_?mkldnn_|_lstm_mps|lstm_mps|_?mps_|_triton_|_cslt_|_flash_attention|"
    r"_efficient_attention|_scaled_dot_product_(?:cudnn|efficient|flash|attention_math_for)|_thnn_fused|"
    r"_use_(?:cudnn|miopen)|_fused_dropout|_weight_int4pack|_fill_mem_eff)"
)
_SPARSE = "sparse"
# decomposed: one of the operators checks the layout
_OF_SPARSE = lazy_compile(r"^aten\.(?:_sparse_(?:addmm|mm|sum|softmax|log_softmax)|smm|sspaddmm|to_dense)$")
_DENSE = frozenset(("npu", "npu_out", "cpu", "cpu_out", "error"))  # verdicts that do not check the layout
_NO_GRADIENT = "no_gradient"
_CUTS = frozenset(("aten.detach", "aten.detach_", "aten.data"))
_RENAMED = {"aten.linalg_inv": "aten.inverse"}
_SCATTERS = ("aten.scatter", "aten.scatter_")
_OLD_DECISIVE = ("before_a2", "acl_path")
_Cause = Literal["none", "foreign", "sparse", "chip", "-"]
_Inside = Literal["yes", "no", "chip"]


class JudgedOperator(msgspec.Struct, frozen=True):
    """A node with its verdict. `cause` of an error: none (no kernel), foreign (an operator of another device), sparse
    or chip. `computed` are the CPU operators that it decomposes into in the forward pass, `backward` those of its
    gradient; `lost`: the kernel returns no gradient for an input that may need one."""

    node: Node
    place: Place
    verdict: Verdict
    word: VerdictWord
    cause: _Cause
    computed: tuple[str, ...]
    backward: tuple[str, ...]
    lost: bool


@fact_kind("torch_op")
class TorchOperator(GraphFact, eq=False, dict=True):
    """An operator of PyTorch, one fact for each verdict, phase and place; the name is the operator without its overload
    (`aten.add`)."""

    _judged: JudgedOperator
    _operators: Operators

    @attribute
    def op(self) -> str:
        """The operator with its overload."""
        return self._judged.node.op

    @attribute
    def overload(self) -> str:
        """The overload; empty if the graph does not record it."""
        return overload_of(self.op)

    @attribute
    def verdict(self) -> VerdictWord:
        """How the NPU runs it: with a kernel (npu), with the kernel of its out variant (npu_out), decomposed into other
        operators (decomposes, generic), on the CPU (cpu) or with its out variant there (cpu_out), with an error
        (error), with kernels of its own library (custom), or unknown."""
        return self._judged.word

    @attribute
    def cause(self) -> _Cause:
        """Why it fails: no device has a kernel (none), it is an operator of another device (foreign), a tensor is
        sparse, or the chip cannot run the kernel (chip); - if it does not fail."""
        return self._judged.cause

    @attribute
    def via(self) -> str:
        """The name under which the fallback reports it."""
        return self._judged.verdict.via

    @attribute
    def reaches(self) -> str:
        """The CPU operators that it decomposes into, separated by spaces."""
        return "" if self._judged.word in FALLS else " ".join(self._judged.computed)

    @attribute
    def backward(self) -> str:
        """The CPU operators of its gradient, separated by spaces."""
        return " ".join(self._judged.backward)

    @attribute
    def computed(self) -> str:
        """The operators that the CPU computes for it, for a sentence."""
        inner = (_plain(self.op),) if self.inside == "yes" else ()
        return ", ".join(f"`{operator}`" for operator in self._judged.computed or self._judged.backward or inner)

    @attribute
    def inside(self) -> _Inside:
        """Whether the NPU kernel falls back to the CPU internally; chip: that depends on a chip that is not
        declared."""
        return _inside(self._judged.verdict, self._judged.node, self._operators.view.target.soc)

    @attribute
    def lost(self) -> bool:
        """Whether the kernel returns no gradient for an input that may need one."""
        return self._judged.lost

    @attribute
    def needs(self) -> str:
        """The package that provides a kernel."""
        return self._judged.verdict.needs

    @attribute
    def instead(self) -> str:
        """What to write instead; empty if nothing is known."""
        return _instead(self.name, self._judged)

    @attribute
    def phase(self) -> Phase:
        """The phase of the step that it belongs to."""
        return phase_of(self._judged.node)

    @attribute
    def release(self) -> str:
        """The release of PyTorch that it was judged for."""
        return self._operators.release

    @attribute
    def assumed(self) -> bool:
        """Whether the release of PyTorch is assumed, because none is declared."""
        return not self._operators.view.target.torch

    @attribute
    def certain(self) -> bool:
        """Whether all overloads that may be meant have the same verdict, and their kernels are recorded for the
        release."""
        op_verdict = self._judged.verdict
        return op_verdict.certain and (op_verdict.exact or bool(op_verdict.kernels))

    @attribute
    def echo(self) -> bool:
        """Whether it belongs to the gradient of an operator at the same place that also runs on the CPU."""
        return self._operators.echoes(self._judged)


class Operators:
    """All operators of a graph, judged for the release and the chip of the target."""

    def __init__(self, view: TorchGraphView) -> None:
        self.view = view
        self.release = ".".join(map(str, nearest(view.target.torch)))

    @cached_property
    def judged(self) -> list[JudgedOperator]:
        """The verdict of each node."""
        return [self._judged(node, layouts) for node, layouts in self._with_layouts()]

    def _with_layouts(self) -> Iterator[tuple[Node, frozenset[str]]]:
        """The nodes with the sparse layouts of their inputs and outputs."""
        nothing: frozenset[str] = frozenset()
        for body in self.view.graph.bodies:
            layouts_of = {node.name: node.attrs["layouts"] for node in body.nodes if "layouts" in node.attrs}
            for node in self.view.of(body):
                if not layouts_of:
                    yield node, nothing
                    continue
                names = [node.name, *(text.partition(":")[0] for text in node.inputs)]
                yield node, frozenset(word for name in names for word in layouts_of.get(name, ()))

    def _judged(self, node: Node, layouts: frozenset[str]) -> JudgedOperator:
        view = self.view
        op_verdict = verdict(_meant(node), view.target.torch, view.target.soc)
        word, cause = self._word(node, op_verdict, layouts)
        holds = not op_verdict.when or _holds(op_verdict.when, node)
        computed: tuple[str, ...] = op_verdict.reaches if holds else ()
        if word in FALLS:
            computed = (op_verdict.via or _plain(node.op),)
        after = () if view.has_backward or node.phase not in ("", "forward") or not holds else op_verdict.backward
        lost = _NO_GRADIENT in op_verdict.notes and node.phase in ("", "forward") and id(node) not in self._detached
        return JudgedOperator(node, view.place(node), op_verdict, word, cause, computed, after, lost)

    @cached_property
    def _detached(self) -> frozenset[int]:
        """The nodes whose inputs are all detached from the gradient."""
        detached: set[int] = set()
        for body in self.view.graph.bodies:
            cut = {node.name for node in body.nodes if base_of(node.op) in _CUTS}
            takes = ((node, [text.partition(":")[0] for text in node.inputs]) for node in body.nodes if cut)
            detached.update(id(node) for node, names in takes if names and cut.issuperset(names))
        return frozenset(detached)

    def _word(self, node: Node, op_verdict: Verdict, layouts: frozenset[str]) -> tuple[VerdictWord, _Cause]:
        """The verdict for this node, and the cause if it is an error."""
        if op_verdict.needs and op_verdict.needs in self._imported:
            return "npu", "-"
        sparse = any(_SPARSE in layout for layout in layouts)
        if (
            sparse
            and _SPARSE not in op_verdict.kernels
            and (op_verdict.word in _DENSE or _OF_SPARSE.match(base_of(node.op)))
        ):
            return "error", "sparse"
        if op_verdict.word != "error":
            return op_verdict.word, "-"
        foreign = _FOREIGN.search(node.op) is not None
        return "error", "chip" if op_verdict.kernels else "foreign" if foreign else "none"

    @cached_property
    def _imported(self) -> frozenset[str]:
        """The packages that the project's code imports."""
        modules = self.view.context.project.modules.values()
        return frozenset(
            import_record.module.partition(".")[0] for module in modules for import_record in module.code.imports
        )

    def facts(self) -> list[TorchOperator]:
        """One fact ``torch_op`` per operator, verdict, phase and place."""
        groups: dict[tuple[object, ...], list[JudgedOperator]] = {}
        for judged_operator in self.judged:
            key = (
                judged_operator.place,
                judged_operator.node.op,
                judged_operator.node.phase,
                judged_operator.word,
                judged_operator.cause,
                judged_operator.computed,
                judged_operator.backward,
                judged_operator.lost,
            )
            groups.setdefault(key, []).append(judged_operator)
        return [
            TorchOperator(
                node_set([judged.node for judged in group], group[0].place), base_of(group[0].node.op), group[0], self
            )
            for group in groups.values()
        ]

    def echoes(self, judged_operator: JudgedOperator) -> bool:
        """Whether a backward operator belongs to a forward operator at the same place that also runs on the CPU."""
        return (
            judged_operator.node.phase == "backward"
            and (judged_operator.place, base_of(judged_operator.node.op)) in self._gradients
        )

    @cached_property
    def _gradients(self) -> frozenset[tuple[Place, str]]:
        """For each place the gradient operators of forward operators that run on the CPU."""
        return frozenset(
            (judged_operator.place, base_of(f"aten.{name}"))
            for judged_operator in self.judged
            if judged_operator.computed and judged_operator.node.phase != "backward"
            for name in judged_operator.verdict.backward
        )

    def fallen(self) -> frozenset[Place]:
        """The places where an operator runs on the CPU."""
        return frozenset(judged_operator.place for judged_operator in self.judged if judged_operator.computed)

    def counts(self) -> dict[str, int]:
        """The number of nodes by verdict."""
        counts = dict.fromkeys(("npu", "decomposes", "cpu", "error", "custom", "unknown"), 0)
        for judged_operator in self.judged:
            word = {"npu_out": "npu", "generic": "decomposes", "cpu_out": "cpu"}.get(
                judged_operator.word, judged_operator.word
            )
            counts["cpu" if judged_operator.computed else word] += 1
        return counts


def operators_of(facts: Iterable[Fact]) -> Operators | None:
    """The operators of a graph, from its facts; None without any."""
    return next((fact._operators for fact in facts if isinstance(fact, TorchOperator)), None)


def _meant(node: Node) -> str:
    """The operator with the overload that the source means: scripts name no overloads, on which the arguments may
    depend. Where operators with two overloads are recorded under one name, the NPU has a kernel for the other one."""
    if node.op not in _SCATTERS:
        return _RENAMED.get(node.op, node.op)
    return f"{node.op}.{'reduce' if 'reduce' in node.attrs.get('arguments', {}) else 'src'}"


def _plain(op: str) -> str:
    """The operator name that the fallback reports."""
    return op.removeprefix("aten.").removesuffix(".default")


def _instead(name: str, judged: JudgedOperator) -> str:
    """What to write instead of the operator, or of the first operator that it decomposes into."""
    near = [name, *(f"aten.{operator}" for operator in (*judged.computed, *judged.backward))]
    return next((text for text in map(instead, near) if text), "")


def _holds(when: str, node: Node) -> bool:
    """Whether an argument certainly has the value on which the verdict depends."""
    name, _, expected = when.partition(" ")
    value = node.attrs.get("arguments", {}).get(name)
    if expected == "negative":
        return isinstance(value, int) and not isinstance(value, bool) and value < 0
    return value is True


def _inside(op_verdict: Verdict, node: Node, chip: str) -> _Inside:
    """Whether an NPU kernel falls back to the CPU internally: ``yes``, ``no``, or ``chip`` if it depends on a chip that
    is not declared."""
    if op_verdict.word not in ("npu", "npu_out"):
        return "no"
    arguments = node.attrs.get("arguments", {})
    correction = arguments.get("correction")
    float64 = "float64" in node.attrs.get("dtypes", ())
    if "always" in op_verdict.notes or (
        "correction" in op_verdict.notes and isinstance(correction, float) and correction % 1
    ):
        return "yes"
    if "float64" in op_verdict.notes and float64:
        return "yes"
    if any(word in op_verdict.notes for word in _OLD_DECISIVE):
        return "yes" if chip else "chip"
    return "no"
