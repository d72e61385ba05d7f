"""Facts that a program makes one of: whether each choice that it may take leads to one like it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set

from npulint.facts.model import Fact
from npulint.model.code.index import FactTable
from npulint.model.code.reached import Place
from npulint.model.programs.entry_scripts import place_of
from npulint.model.running.code_facts import CodeFact
from npulint.model.running.guards import alternatives, surely_runs

_KINDS = frozenset(("session", "estimator", "optimizer"))  # a program makes one or the other


class Alternatives:
    """The facts of a project, by file, that may stand for each other."""

    def __init__(self, facts: Mapping[str, FactTable]) -> None:
        self._facts = facts

    def are_everywhere(self, fact: CodeFact) -> bool:
        """Whether a fact is in a branch that may not run, but each other branch has one of its kind that is like it."""
        if fact.kind not in _KINDS:
            return False
        scopes = [other.scope for other in self._like(fact, fact.path)]
        branches = alternatives(fact.scope)
        return bool(branches) and all(
            any(other in scope.ancestors for other in others for scope in scopes) for _, others in branches
        )

    def are_in_every_choice(self, fact: CodeFact, choices: list[list[Set[Place]]]) -> bool:
        """Whether one of several looked up classes or functions leads to a fact, and each other one to one like it."""
        place = place_of(fact)
        return any(
            any(place in branch for branch in branches) and all(self._lead_from(branch, fact) for branch in branches)
            for branches in (choices if fact.kind in _KINDS else ())
        )

    def _lead_from(self, branch: Set[Place], fact: CodeFact) -> bool:
        alike = (other for path in {path for path, _ in branch} for other in self._like(fact, path))
        return any(place_of(other) in branch and surely_runs(other.run_by) for other in alike)

    def _like(self, fact: CodeFact, path: str) -> Iterator[CodeFact]:
        """The facts of a file that are of the same kind, and for the NPU if it is."""
        candidates: Iterator[Fact] = iter(self._facts[path].get(fact.kind, ()))
        return (
            candidate
            for candidate in candidates
            if isinstance(candidate, CodeFact) and candidate.get("npu") == fact.get("npu")
        )
