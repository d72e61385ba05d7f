"""Facts ``onnx_op``: whether ATC has a parser for each operator of a model."""

from __future__ import annotations

from functools import cached_property

from npulint.data.onnx import DOMAIN, OnnxFamily, OnnxVerdict, family, operator, verdict
from npulint.facts.attributes import attribute
from npulint.facts.graph import Node
from npulint.facts.kinds import fact_kind
from npulint.graphs.facts.graph_fact import GraphFact, Place
from npulint.graphs.facts.onnx.view import OnnxView, split

_OPEN = 900  # the end of a range without one


@fact_kind("onnx_op")
class OnnxOperatorFact(GraphFact, eq=False, dict=True, kw_only=True):
    """An operator of an ONNX model, one fact per place that creates it; the name is its type, with the domain
    (``com.microsoft::Attention``) unless it is the standard one."""

    verdict: OnnxVerdict
    """Whether ATC parses it: it has a parser (parser), only for other opsets (other_opset), or none for an operator of
    the standard (standard), of another runtime (foreign), of a private domain or name (private), or for a function that
    the model defines (function). Models of an opset that ATC does not parse are judged as if they had the nearest one
    that it parses."""
    domain: str
    """Its domain."""
    opset: int
    """The opset of its domain in this model; 0 if the model declares none."""
    family: OnnxFamily
    """What operators without a parser have in common: loop, quantised, text, signal, optional, newer (the standard has
    it in opsets only that ATC does not parse), onnxruntime, aten, or other."""
    parsers: str
    """The opsets that have a parser, for a sentence; empty if there is none."""
    since: int
    """The first opset that defines it; 0 if unknown."""

    @attribute
    def aicpu(self) -> bool:
        """Whether the AI CPU computes it."""
        onnx_operator = operator(*split(self.name))
        return self.verdict == "parser" and onnx_operator is not None and onnx_operator.aicpu


class Operators:
    """All operators of a model, judged for the CANN of the target."""

    def __init__(self, view: OnnxView) -> None:
        self._view = view

    @cached_property
    def judged(self) -> list[tuple[Node, OnnxVerdict]]:
        """The verdict of each node."""
        return [(node, self._verdict(node)) for node in self._view.all()]

    def _verdict(self, node: Node) -> OnnxVerdict:
        domain, name = split(node.op)
        if node.op in self._view.functions:
            return "function"
        if domain not in ("", DOMAIN):
            return verdict(domain, name, self._view.opset_of(domain))
        return verdict("", name, self._view.judged_opset)

    def facts(self) -> list[OnnxOperatorFact]:
        """One fact per operator and place."""
        groups: dict[tuple[str, OnnxVerdict, Place], list[Node]] = {}
        for node, word in self.judged:
            groups.setdefault((node.op, word, self._view.place(node)), []).append(node)
        return [self._fact(op, word, place, nodes) for (op, word, place), nodes in groups.items()]

    def _fact(self, op: str, word: OnnxVerdict, place: Place, nodes: list[Node]) -> OnnxOperatorFact:
        domain, name = split(op)
        onnx_operator = operator(domain, name)
        return OnnxOperatorFact(
            self._view.node_set(nodes, place),
            op,
            verdict=word,
            domain=domain or DOMAIN,
            opset=self._view.opset_of(domain),
            family=family(domain, name),
            parsers="" if onnx_operator is None else ", ".join(_range(*parser) for parser in onnx_operator.parsers),
            since=0 if onnx_operator is None else onnx_operator.since,
        )

    def counts(self) -> dict[str, int]:
        """The number of nodes by whether ATC parses them."""
        first, newest = self._view.parsed
        opset_parsed = first <= self._view.opset <= newest
        counts = dict.fromkeys(("parsed", "unparsed", "private"), 0)
        for node, word in self.judged:
            parsed = word == "parser" and (
                opset_parsed or split(node.op)[0] not in ("", DOMAIN) or node.op == "Constant"
            )
            counts["parsed" if parsed else "private" if word == "private" else "unparsed"] += 1
        return counts


def _range(first: int, last: int) -> str:
    return f"{first}" if first == last else f"{first}–{last}" if last < _OPEN else f"{first}+"
