"""The graphs of a run as the reports tell them."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from typing import Any

import msgspec

from npulint.findings import GraphSummary, RunResult
from npulint.report.document.model import Note, Place, Table
from npulint.report.terminal import Paint, escape_control_chars, leading, wrap
from npulint.report.view import ReportView
from npulint.texts import count, say

_SHOWN = 8  # of the text report
_FRAMEWORKS = {"tensorflow": "TensorFlow", "torch": "PyTorch"}


def kind(graph: GraphSummary, lang: str) -> str:
    """What the graph is: its form, what made it, and whether it trains."""
    framework = " ".join(filter(None, (_FRAMEWORKS.get(graph.framework, graph.framework), graph.version)))
    trains = say(lang, "graphs.trains" if graph.trains else "graphs.infers")
    return say(lang, "list.and").join((say(lang, f"graphs.form.{graph.form}"), framework, trains))


def size(graph: GraphSummary, lang: str) -> str:
    """How much of it there is."""
    parts = [count(lang, "graphs.nodes", graph.nodes)]
    if graph.functions:
        parts.append(count(lang, "graphs.functions", graph.functions))
    return say(lang, "list.and").join(parts)


def placed(graph: GraphSummary, lang: str) -> str:
    """Where its operators run, as far as that was judged; nothing where it was not."""
    parts = [count(lang, f"graphs.{word}", number) for word, number in graph.counts.items()]
    if graph.clusters > 1:
        parts.append(count(lang, "graphs.clusters", graph.clusters))
    if graph.left:
        parts.append(count(lang, "graphs.left", graph.left))
    if graph.framework == "torch" and graph.release and parts:
        assumed = say(lang, "aside", text=say(lang, "target.assumed")) if graph.assumed else ""
        parts.append(say(lang, "graphs.release", release=graph.release) + assumed)
    told = say(lang, "list.and").join(parts)
    return say(lang, "graphs.step", text=told) if told and graph.framework == "tensorflow" else told


class Alike(msgspec.Struct, frozen=True):
    """A graph, and how many others of its folder have the same figures: the checkpoints of one training."""

    graph: GraphSummary
    more: int

    def note(self, lang: str) -> str:
        """How many there are, in words; nothing where there is none."""
        return count(lang, "graphs.alike", self.more) if self.more else ""


def alike(graphs: Sequence[GraphSummary]) -> list[Alike]:
    """The graphs, of those that look the same the first."""
    groups: dict[tuple[object, ...], list[GraphSummary]] = {}
    for one in graphs:
        figures = (one.nodes, one.functions, one.trains, one.clusters, one.left, *sorted(one.counts.items()))
        groups.setdefault((posixpath.dirname(one.path), one.framework, *figures), []).append(one)
    return [Alike(group[0], len(group) - 1) for group in groups.values()]


def table(graphs: Sequence[GraphSummary], lang: str) -> Table:
    """What each graph is, and where it runs."""
    heads = [say(lang, f"graphs.html.{word}") for word in ("place", "what", "size", "runs")]
    rows = [
        (
            (Place(one.graph.path), Note(one.note(lang))),
            kind(one.graph, lang),
            size(one.graph, lang),
            placed(one.graph, lang),
        )
        for one in alike(graphs)
    ]
    return Table(say(lang, "graphs.title"), heads, rows, more="graphs.more")


def block(result: RunResult, view: ReportView) -> list[str]:
    """The lines of the text report: for each graph what it is, and where it runs."""
    if not result.graphs:
        return []
    lang = view.lang
    lines = [Paint(view.color)("bold", say(lang, "graphs.title"))]
    found = alike(result.graphs)
    for one in found[:_SHOWN]:
        graph, note = one.graph, one.note(lang)
        about = say(lang, "list.and").join((kind(graph, lang), size(graph, lang)))
        lines.append(f"  {leading(graph.path)}{say(lang, 'aside', text=note) if note else ''}")
        lines += [f"    {line}" for told in (about, placed(graph, lang)) for line in _wrapped(told, view)]
    if len(found) > _SHOWN:
        lines.append(f"  {count(lang, 'graphs.more', len(found) - _SHOWN)}")
    return lines


def _wrapped(text: str, view: ReportView) -> Sequence[str]:
    return wrap(escape_control_chars(text), max(20, view.width - 4) if view.width else 0) if text else ()


def graph_record(graph: GraphSummary) -> dict[str, Any]:
    """One graph. `operators` is the list that it was held against: the path of an installation's own, else nothing."""
    told: dict[str, Any] = {
        "path": graph.path,
        "form": graph.form,
        "framework": graph.framework,
        "version": graph.version,
        "trains": graph.trains,
        "nodes": graph.nodes,
        "functions": graph.functions,
        "counts": dict(graph.counts),
        "release": graph.release,
        "assumed": graph.assumed,
    }
    if graph.framework == "tensorflow":
        told |= {"clusters": graph.clusters, "left_on_host": graph.left, "operators": graph.listed}
    return told
