"""Operator lists that were used for graphs."""

from __future__ import annotations

from collections.abc import Iterable

from npulint.core.texts import known, say
from npulint.facts.model import Problem
from npulint.judge.findings import GraphSummary


def lists_used(graphs: Iterable[GraphSummary], lang: str) -> str:
    """The operator lists used for TensorFlow graphs, without duplicates."""
    lists = {_list_name(graph, lang) for graph in graphs if graph.framework == "tensorflow"}
    return say(lang, "list.and").join(sorted(lists))


def _list_name(graph: GraphSummary, lang: str) -> str:
    if not graph.listed:
        key = "graphs.list.recorded.of" if graph.release else "graphs.list.recorded"
        return say(lang, key, release=graph.release)
    if not graph.release:
        return graph.listed
    return graph.listed + say(lang, "aside", text=f"CANN {graph.release}")


def unusable(lists: Iterable[Problem], lang: str) -> list[str]:
    """A notice for every operator list that could not be read."""
    problems = {problem.path: problem for problem in lists}
    return [_notice(problems[path], lang) for path in sorted(problems)]


def _notice(problem: Problem, lang: str) -> str:
    key = f"short.{problem.reason}"
    detail = say(lang, key if known(key) else "short.other")
    return say(lang, "graphs.list.unusable", path=problem.path, detail=detail)
