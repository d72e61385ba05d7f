"""Recursion over cursors: its limits, and which answers are kept."""

from __future__ import annotations

from typing import NamedTuple

import pytest

from npulint.model.code.project import Project
from npulint.model.values.context import Context
from npulint.model.values.walker import memoized, walker


class Node(NamedTuple):
    """A cursor of a graph: its name, and where it leads."""

    context: Context
    graph: tuple[tuple[str, str], ...]
    name: str

    @property
    def following(self) -> list[Node]:
        return [self._replace(name=target) for source, target in self.graph if source == self.name]


@pytest.fixture
def context() -> Context:
    return Context(Project(".", []))


def graph(context: Context, *edges: str) -> Node:
    """The node ``a`` of a graph of edges such as ``ab``."""
    return Node(context, tuple((edge[0], edge[1]) for edge in edges), "a")


ASKED: list[str] = []


@pytest.fixture(autouse=True)
def _nothing_asked() -> None:
    ASKED.clear()


@walker(depth=4, otherwise=set, kept=True)
def names(node: Node) -> set[str]:
    ASKED.append(node.name)
    return {node.name}.union(*map(names, node.following))


@walker(depth=4, otherwise=set)
def fresh(node: Node) -> set[str]:
    ASKED.append(node.name)
    return {node.name}.union(*map(fresh, node.following))


@memoized(meanwhile=frozenset)
def once(node: Node) -> frozenset[str]:
    ASKED.append(node.name)
    return frozenset({node.name}.union(*map(once, node.following)))


def test_a_whole_answer_is_kept(context: Context) -> None:
    node = graph(context, "ab", "bc")
    assert names(node) == names(node) == {"a", "b", "c"}
    assert ASKED == ["a", "b", "c"]
    assert names(node._replace(name="b")) == {"b", "c"}
    assert ASKED == ["a", "b", "c"]


def test_without_being_told_so_nothing_is_kept(context: Context) -> None:
    node = graph(context, "ab")
    assert fresh(node) == fresh(node)
    assert ASKED == ["a", "b"] * 2


def test_an_answer_that_the_depth_cuts_is_not_kept(context: Context) -> None:
    node = graph(context, "ab", "bc", "cd", "de", "ef")
    assert names(node) == {"a", "b", "c", "d"}
    assert names(node._replace(name="c")) == {"c", "d", "e", "f"}


def test_an_answer_that_a_circle_cuts_is_not_kept(context: Context) -> None:
    node = graph(context, "ab", "ba", "ac")
    assert names(node) == {"a", "b", "c"}
    assert names(node._replace(name="b")) == {"a", "b", "c"}


def test_what_needs_an_unfinished_answer_is_not_kept(context: Context) -> None:
    @walker(depth=4, otherwise=set, kept=True)
    def through(node: Node) -> frozenset[str]:
        return once(node)

    @memoized(meanwhile=frozenset)
    def outer(node: Node) -> frozenset[str]:
        found = through_outer(node)
        return found | {node.name}

    @walker(depth=4, otherwise=set, kept=True)
    def through_outer(node: Node) -> frozenset[str]:
        return outer(node)

    node = graph(context, "ab", "ba")
    assert outer(node) == {"a"}
    assert through_outer(node) == {"a"}
    assert through(node) == {"a", "b"}


def test_in_a_situation_nothing_is_kept(context: Context) -> None:
    node = graph(context, "ab")
    context.assumed = {("train.py", 0): None}
    assert names(node) == names(node) == {"a", "b"}
    assert ASKED == ["a", "b"] * 2
    context.assumed = {}
    assert names(node) == {"a", "b"}
    assert ASKED == ["a", "b"] * 3


def test_another_project_has_its_own_answers(context: Context) -> None:
    node = graph(context, "ab")
    assert names(node) == {"a", "b"}
    assert names(node._replace(context=Context(Project(".", [])), graph=())) == {"a"}


def test_what_a_circle_cuts_does_not_depend_on_what_was_asked_first(context: Context) -> None:
    node = graph(context, "ab", "ba", "bc")
    assert once(node) == once(node._replace(name="b")) == {"a", "b", "c"}
    assert ASKED == ["a", "b", "c", "b"]


def test_what_a_cut_answer_is_made_of_is_cut_as_well(context: Context) -> None:
    node = graph(context, "ab", "ba", "ac", "cb")
    once(node)
    assert once(node._replace(name="c")) == {"a", "b", "c"}


@memoized(meanwhile=bool)
def reaches_z(node: Node) -> bool:
    ASKED.append(node.name)
    return node.name == "z" or bool(sum(map(reaches_z, node.following)))


def test_what_a_circle_was_assumed_to_be_and_is_holds_for_all_of_it(context: Context) -> None:
    node = graph(context, "ab", "bc", "cd", "db", "cb")
    assert not reaches_z(node)
    assert not any(reaches_z(node._replace(name=name)) for name in "bcd")
    assert ASKED == ["a", "b", "c", "d"]


def test_what_a_circle_was_wrongly_assumed_to_be_is_asked_again(context: Context) -> None:
    node = graph(context, "ab", "bc", "cb", "bz")
    assert reaches_z(node)
    assert all(reaches_z(node._replace(name=name)) for name in "bc")
    assert ASKED == ["a", "b", "c", "z", "c"]


def test_nodes_that_all_lead_to_each_other_are_asked_about_once(context: Context) -> None:
    letters = "abcdefghijkl"
    node = graph(context, *(first + second for first in letters for second in letters if first != second))
    assert not any(reaches_z(node._replace(name=name)) for name in letters)
    assert len(ASKED) == len(letters)


@walker(depth=90, otherwise=bool, kept=True)
def walks_to_z(node: Node) -> bool:
    ASKED.append(node.name)
    return node.name == "z" or bool(sum(map(walks_to_z, node.following)))


def test_a_walk_of_nodes_that_all_lead_to_each_other_does_not_take_all_paths(context: Context) -> None:
    letters = "abcdefghijkl"
    node = graph(context, *(first + second for first in letters for second in letters if first != second), "lz")
    assert all(walks_to_z(node._replace(name=name)) for name in letters)
    assert len(ASKED) <= 3 * len(letters) ** 2
