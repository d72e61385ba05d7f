"""The graphs section of reports."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from typing import Any

import msgspec

from npulint.core.texts import count, say
from npulint.judge.findings import GraphSummary, RunResult
from npulint.report.document.model import Note, PlaceCell, Table
from npulint.report.terminal import Paint, escape_control_chars, leading, wrap
from npulint.report.view import ReportView, fields_of

_SHOWN = 8  # of the text report
_FRAMEWORKS = {"tensorflow": "TensorFlow", "torch": "PyTorch"}
_RELEASES = {"torch": "graphs.release", "onnx": "graphs.release.onnx"}


def kind(graph: GraphSummary, lang: str) -> str:
    """The graph's form, origin, and whether it trains."""
    if graph.framework == "onnx":
        parts = [say(lang, "graphs.form.onnx"), say(lang, "graphs.opset", opset=graph.opset)]
        return say(lang, "list.and").join(
            parts + ([say(lang, "graphs.by", name=graph.version)] if graph.version else [])
        )
    framework = " ".join(filter(None, (_FRAMEWORKS.get(graph.framework, graph.framework), graph.version)))
    trains = say(lang, "graphs.trains" if graph.trains else "graphs.infers")
    return say(lang, "list.and").join((say(lang, f"graphs.form.{graph.form}"), framework, trains))


def size(graph: GraphSummary, lang: str) -> str:
    """The size of the graph in words."""
    parts = [count(lang, "graphs.nodes", graph.nodes)]
    if graph.functions:
        parts.append(count(lang, "graphs.functions", graph.functions))
    return say(lang, "list.and").join(parts)


def placed(graph: GraphSummary, lang: str) -> str:
    """Where its operators run; empty if not evaluated."""
    parts = [count(lang, f"graphs.{word}", number) for word, number in graph.counts.items()]
    if graph.clusters > 1:
        parts.append(count(lang, "graphs.clusters", graph.clusters))
    if graph.left:
        parts.append(count(lang, "graphs.left", graph.left))
    if graph.framework in _RELEASES and graph.release and parts:
        assumed = say(lang, "aside", text=say(lang, "target.assumed")) if graph.assumed else ""
        parts.append(say(lang, _RELEASES[graph.framework], release=graph.release) + assumed)
    sentence = say(lang, "list.and").join(parts)
    return say(lang, "graphs.step", text=sentence) if sentence and graph.framework == "tensorflow" else sentence


class EqualGraphs(msgspec.Struct, frozen=True):
    """A graph and the number of graphs in its folder with the same figures (checkpoints of one training)."""

    graph: GraphSummary
    more: int

    def note(self, lang: str) -> str:
        """The number of equal graphs in words; empty for none."""
        return count(lang, "graphs.identical", self.more) if self.more else ""


def equal_graphs(graphs: Sequence[GraphSummary]) -> list[EqualGraphs]:
    """The first of each set of equal graphs."""
    groups: dict[tuple[object, ...], list[GraphSummary]] = {}
    for graph in graphs:
        figures = (
            graph.nodes,
            graph.functions,
            graph.trains,
            graph.clusters,
            graph.left,
            *sorted(graph.counts.items()),
        )
        groups.setdefault((posixpath.dirname(graph.path), graph.framework, *figures), []).append(graph)
    return [EqualGraphs(group[0], len(group) - 1) for group in groups.values()]


def table(graphs: Sequence[GraphSummary], lang: str) -> Table:
    """One row per graph: kind, size and placement."""
    heads = [say(lang, f"graphs.html.{word}") for word in ("place", "what", "size", "runs")]
    rows = [
        (
            (PlaceCell(equal_graph.graph.path), Note(equal_graph.note(lang))),
            kind(equal_graph.graph, lang),
            size(equal_graph.graph, lang),
            placed(equal_graph.graph, lang),
        )
        for equal_graph in equal_graphs(graphs)
    ]
    return Table(say(lang, "graphs.title"), heads, rows, more="graphs.more")


def block(result: RunResult, view: ReportView) -> list[str]:
    """The lines of the text report: kind, size and placement per graph."""
    if not result.graphs:
        return []
    lang = view.lang
    lines = [Paint(view.color)("bold", say(lang, "graphs.title"))]
    equal_graphses = equal_graphs(result.graphs)
    for equal_graphse in equal_graphses[:_SHOWN]:
        graph, note = equal_graphse.graph, equal_graphse.note(lang)
        about = say(lang, "list.and").join((kind(graph, lang), size(graph, lang)))
        lines.append(f"  {leading(graph.path)}{say(lang, 'aside', text=note) if note else ''}")
        lines += [f"    {line}" for text in (about, placed(graph, lang)) for line in _wrapped(text, view)]
    if len(equal_graphses) > _SHOWN:
        lines.append(f"  {count(lang, 'graphs.more', len(equal_graphses) - _SHOWN)}")
    return lines


def _wrapped(text: str, view: ReportView) -> Sequence[str]:
    return wrap(escape_control_chars(text), max(20, view.width - 4) if view.width else 0) if text else ()


def graph_record(graph: GraphSummary) -> dict[str, Any]:
    """A graph as a JSON object. `operators` is the path of the operator list of an installation, else None."""
    record = fields_of(graph, "path form framework version trains nodes functions counts release assumed")
    if graph.framework == "tensorflow":
        record |= {"clusters": graph.clusters, "left_on_host": graph.left, "operators": graph.listed}
    return record | ({"opset": graph.opset} if graph.framework == "onnx" else {})
