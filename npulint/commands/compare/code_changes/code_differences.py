"""The differences of two programs that no step describes: every statement that the programs run was compared."""

from __future__ import annotations

import ast
import posixpath
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from npulint.commands.compare.code_changes.change_kinds import (
    begins_count,
    chain,
    defines_option,
    is_path,
    is_unread,
    merged,
    moves,
    name_other_splits,
    names_constant,
    own_callee,
    texts,
)
from npulint.commands.compare.code_changes.evaluation import Evaluation
from npulint.commands.compare.code_changes.extracted import with_extracted
from npulint.commands.compare.code_changes.feeding import Feeds, is_aside, is_aside_call
from npulint.commands.compare.code_changes.found_changes import Change, Compared, FunctionPair
from npulint.commands.compare.code_changes.shared_names import NamesOfCounterparts, OwnNames
from npulint.commands.compare.code_changes.statements import Code, Statement
from npulint.commands.compare.code_changes.told_rows import ToldRows
from npulint.commands.compare.code_changes.trees import CALL, CONST, TEXT, Tree
from npulint.commands.compare.code_changes.units import Units
from npulint.commands.compare.side import Side
from npulint.commands.training_config.execution import ProgramSources
from npulint.commands.training_config.steps.model import MODULE, Home, evaluates
from npulint.commands.training_config.tracer import Tracer
from npulint.facts.comparison.difference import Difference, SideValue, of_both, of_one
from npulint.facts.model import Span

_MANY: Final = 6  # changes of one function and part; so many are a rewritten function
_OTHER_ITEMS: Final = frozenset(("schedule", "learning_rate", "transform", "dataset"))
"""Parts under which a calculation is told that feeds them."""
_COMPARED_ALONE: Final = frozenset(
    "precision_mode mix_list iterations_per_loop determinism ranks half_cast autocast".split()
)
"""Parts whose settings are compared by what they do, with whatever code they are made."""
_MOST: Final = 400  # statements of a function that are compared


class CodeComparer:
    """Compares the code of two programs, whose tracers follow the compared start."""

    def __init__(
        self, sides: tuple[Side, Side], tracers: tuple[Tracer, Tracer], sources: tuple[ProgramSources, ProgramSources]
    ) -> None:
        self._removed, self._added = sides
        configs = sides[0].config, sides[1].config
        self._units = (
            Units(configs[0], sources[0], NamesOfCounterparts(self._removed)),
            Units(configs[1], sources[1], OwnNames()),
        )
        self._feeds = Feeds(self._units[0]), Feeds(self._units[1])
        frameworks = [config.program.fact.framework for config in configs]
        self._evaluations = (
            Evaluation(tracers[0], sources[0], frameworks[0]),
            Evaluation(tracers[1], sources[1], frameworks[1]),
        )

    def differences(self, rows: Sequence[Difference]) -> list[Difference]:
        """The rows, with those that are certain by the code marked so, and with what no row tells."""
        told = ToldRows([self._with_part(row) for row in rows])
        more: list[Difference] = []
        for home, other, compared in self._without_moved_calls():
            told.drop_equal(home[0], other[0], compared)
            if compared.changes:
                more += self._rows([each for each in compared.changes if self._is_new(each, told)])
        return [*told.rows, *more]

    def _without_moved_calls(self) -> list[tuple[Home, Home, Compared]]:
        """What was found in all functions, without calls of project functions that only moved to another function."""
        pairs = ((home, other, self._compared(home, other)) for home, other in self._pairs())
        found = [(home, other, compared) for home, other, compared in pairs if compared is not None]
        changes = [change for _, _, compared in found for change in compared.changes]
        gone = {own_callee(change.left) for change in changes if change.right is None}
        moved = gone & {own_callee(change.right) for change in changes if change.left is None} - {None}
        if not moved:
            return found
        return [
            (
                home,
                other,
                msgspec.structs.replace(compared, changes=[c for c in compared.changes if not moves(c, moved)]),
            )
            for home, other, compared in found
        ]

    def _is_new(self, change: Change, told: ToldRows) -> bool:
        """Whether a change is one of the training that no row tells, and no step."""
        neutral = self._is_neutral(change) or self._never_runs(change)
        return not neutral and not told.covers(change) and not self._is_step(change)

    def _never_runs(self, change: Change) -> bool:
        """Whether no compared start reaches a statement that only one side has."""
        if change.left is not None and change.right is not None:
            return False
        at = 0 if change.left is not None else 1
        home, statement, _ = self._side(change, at)
        if statement is None:
            return False
        heads = [change.codes[at].statements[number] for number in statement.opened]
        running = (self._removed, self._added)[at].running
        lines = [head.lines[0] for head in (*heads, statement) if head.kind == "if"]
        return not all(running.may_branch(home[0], line) for line in lines)

    def _pairs(self) -> Iterator[tuple[Home, Home]]:
        """The functions that both programs have and at least one may run, where their texts differ."""
        ours, theirs = self._units
        others = set(theirs.homes())
        for home in ours.homes():
            other = self._removed.counterpart(home)
            if other is None or other not in others or ours.text(home) == theirs.text(other):
                continue
            yield home, other

    def _compared(self, home: Home, other: Home) -> Compared | None:
        codes = self._code(0, home), self._code(1, other)
        if codes[0] is None or codes[1] is None or max(len(each.statements) for each in codes if each) > _MOST:
            return None
        modules = [
            units.config.context.project.modules[each[0]]
            for units, each in zip(self._units, (home, other), strict=True)
        ]
        pair = FunctionPair(home, other, (codes[0], codes[1]), (modules[0], modules[1]), self._evaluations)
        try:
            return pair.compared()
        except RecursionError:
            return None

    def _code(self, at: int, home: Home) -> Code | None:
        """The statements of a function, with those of functions of its file that only its side has."""
        units, side = self._units[at], (self._removed, self._added)[at]
        code = units.code(home)

        def alone(call: Tree) -> Code | None:
            step = units.step(home, call)
            target = step.target if step is not None else None
            if target is None or target[0] != home[0] or target == home or side.knows(target):
                return None
            return units.code(target) if units.config.scope(target).kind == "function" else None

        return None if code is None else with_extracted(code, alone)

    def _with_part(self, row: Difference) -> Difference:
        """A row of a calculation under the part that the function feeds in which it stands."""
        if row.part != "operation" or row.adapter:
            return row
        for side, units, feeds in zip((row.migrated, row.reference), self._units[::-1], self._feeds[::-1], strict=True):
            home = units.home_at(side.path, side.span.line) if side is not None else None
            part = feeds.of_line(home, side.span.line) if home is not None and side is not None else ""
            if part in _OTHER_ITEMS:
                return msgspec.structs.replace(row, part=part)
        return row

    # -- rows

    def _rows(self, changes: Sequence[Change]) -> Iterator[Difference]:
        """The differences that changes of one function are; many of one part are one."""
        by_part: dict[str, list[Change]] = defaultdict(list)
        for change in changes:
            part = self._part(change)
            if part and part not in _COMPARED_ALONE:
                by_part[part].append(change)
        for part, group in by_part.items():
            rows = merged(group)
            if len(rows) >= _MANY:
                yield self._row(part, rows[0], False, len(rows))
            else:
                yield from (self._row(part, change, change.certain, 1) for change in rows)

    def _part(self, change: Change) -> str:
        """The part of the training config that a change feeds."""
        if name_other_splits(change):
            return "split"
        for at in (1, 0):
            home, statement, tree = self._side(change, at)
            if statement is not None:
                part = self._feeds[at].part(home, change.codes[at], statement, tree or statement.tree)
                if part:
                    return part
        return ""

    @staticmethod
    def _side(change: Change, at: int) -> tuple[Home, Statement | None, Tree | None]:
        if at == 0:
            return change.home, change.left, change.left_tree
        return change.other, change.right, change.right_tree

    def _is_neutral(self, change: Change) -> bool:
        """Whether a change only says where data are, or belongs to the adapter."""
        trees = [tree for tree in (change.left_tree, change.right_tree) if tree is not None]
        if all(tree.kind in (CONST, TEXT) for tree in trees) and any(map(is_path, trees)):
            return not name_other_splits(change)
        if is_unread(change) or begins_count(change) or defines_option(change) or names_constant(change):
            return True
        if any(map(is_aside, trees)):
            return True
        if any(is_aside_call(around) for at in (0, 1) for around in self._path(change, at)):
            return True
        if any(self._is_adapters(change, at) or self._is_made_aside(change, at) for at in (0, 1)):
            return True
        return self._is_argument_of_step(change)

    def _is_argument_of_step(self, change: Change) -> bool:
        """Whether a change is an argument that only one side hands to a known call: which of these matter, and what a
        call does without them, is known of the call."""
        if change.left is None or change.right is None or None not in (change.left_tree, change.right_tree):
            return False
        at = 0 if change.right_tree is None else 1
        around = self._path(change, at)[-2:-1]
        return any(tree.kind == CALL and self._is_call_step(at, self._side(change, at)[0], tree) for tree in around)

    def _path(self, change: Change, at: int) -> Sequence[Tree]:
        """The trees around the differing part of a side."""
        _, statement, tree = self._side(change, at)
        return statement.tree.path_to(tree) if statement is not None and tree is not None else ()

    def _is_adapters(self, change: Change, at: int) -> bool:
        """Whether the differing part of a side calls what the NPU adapter has in place of something else."""
        home, _, tree = self._side(change, at)
        steps = (self._units[at].step(home, each) for each in tree.walk()) if tree is not None else ()
        return any(step is not None and step.recipe is not None and step.recipe.adapter for step in steps)

    def _is_made_aside(self, change: Change, at: int) -> bool:
        """Whether the differing part of a side is a variable of something that only measures, shows, saves or runs."""
        _, _, tree = self._side(change, at)
        made = change.codes[at].assigned.get(tree.label) if tree is not None and tree.is_name else None
        return made is not None and is_aside(change.codes[at].statements[made].tree)

    def _is_step(self, change: Change) -> bool:
        """Whether a change is of calls that are compared as steps."""
        if change.left is None or change.right is None:
            at = 0 if change.left is not None else 1
            return self._has_step(change, at)
        steps = [self._step(change, at) for at in (0, 1)]
        trees = change.left_tree, change.right_tree
        return any(steps) and all(step or tree is None for step, tree in zip(steps, trees, strict=True))

    def _has_step(self, change: Change, at: int) -> bool:
        """Whether a statement that only one side has makes a known call, or decides between two ways to make it."""
        home, statement, _ = self._side(change, at)
        if statement is None:
            return False
        if statement.kind in ("set", "do", "with"):
            steps = (self._units[at].step(home, tree) for tree in statement.tree.walk())
            return any(step is not None and step.kind == "call" and step.counts for step in steps)
        return statement.kind == "if" and self._feeds[at].decides_between(home, change.codes[at], statement)

    def _step(self, change: Change, at: int) -> bool:
        """Whether the differing part of a side is a known call."""
        home, statement, tree = self._side(change, at)
        if statement is None or tree is None:
            return False
        if tree.kind in ("set", "return", "with") and tree.parts:
            tree = tree.parts[-1]
        inner = tree.parts if tree.kind == "display" and tree.parts else (tree,)
        return all(any(self._is_call_step(at, home, call) for call in chain(each)) for each in inner)

    def _is_call_step(self, at: int, home: Home, tree: Tree) -> bool:
        step = self._units[at].step(home, tree)
        return step is not None and step.kind == "call"

    def _row(self, part: str, change: Change, certain: bool, count: int) -> Difference:
        left = self._value(change, 0)
        right = self._value(change, 1)
        what = self._what(change)
        others = {"certain": certain, "count": count, "function": "", "evaluates": self._evaluates(change)}
        if left is not None and right is not None:
            if left.text == right.text:
                left, right = (side.shown_as(self._statement_text(change, at)) for at, side in enumerate((left, right)))
            return of_both(part, False, what, "", left, right, **others)
        value = left or right
        assert value is not None
        return of_one(part, "removed" if right is None else "added", what, "", value, near=self._near(change), **others)

    def _evaluates(self, change: Change) -> bool:
        """Whether the code only evaluates, or what it calls does."""
        for at in (0, 1):
            home, statement, tree = self._side(change, at)
            for around in statement.tree.path_to(tree) if statement is not None and tree is not None else ():
                step = self._units[at].step(home, around)
                target = step.target if step is not None else None
                if target is not None and evaluates(self._units[at].config.scope(target)):
                    return True
        return all(
            evaluates(units.config.scope(home))
            for units, home in zip(self._units, (change.home, change.other), strict=True)
        )

    def _value(self, change: Change, at: int) -> SideValue | None:
        """The differing code of one side."""
        home, statement, tree = self._side(change, at)
        if statement is None or tree is None:
            return None
        node = tree.node if isinstance(tree.node, ast.expr) else None
        if node is None or tree is statement.tree:
            return SideValue(statement.text, home[0], statement.span)
        text = texts(change)[at]
        end = node.end_lineno or node.lineno
        span = Span(node.lineno, node.col_offset + 1, end, (node.end_col_offset or node.col_offset) + 1)
        return SideValue(text, home[0], span)

    @staticmethod
    def _statement_text(change: Change, at: int) -> str:
        statement = (change.left, change.right)[at]
        return "" if statement is None else statement.text

    def _near(self, change: Change) -> SideValue | None:
        """Where the side that lacks the code would have it: at the statement, or where its function begins."""
        lacking = 1 if change.right_tree is None else 0
        home, statement, _ = self._side(change, lacking)
        if statement is not None:
            return SideValue("", home[0], statement.span)
        there = change.left if lacking else change.right
        code, own = change.codes[lacking], change.codes[1 - lacking]
        before = [each.shape for each in own.statements[: own.statements.index(there)]] if there is not None else []
        known = [each for each in code.statements if each.shape in set(before)]
        if known:
            return SideValue("", home[0], known[-1].span)
        scope = self._units[lacking].config.scope(home)
        return SideValue("", home[0], Span.at(max(1, scope.record.line)))

    def _what(self, change: Change) -> str:
        """What the code belongs to: the known call around it, the function, the variable, or the file."""
        for at in (1, 0):
            home, statement, tree = self._side(change, at)
            if statement is None or tree is None:
                continue
            for around in reversed(statement.tree.path_to(tree)):
                step = self._units[at].step(home, around)
                if step is not None and around.kind == CALL:
                    return step.shown
        home = change.other
        scope = self._units[1].config.scope(home)
        statement = change.right or change.left
        targets = statement.targets if statement is not None else ()
        if home[1] != MODULE:
            return scope.record.name or "lambda"
        return str(targets[0][1]) if targets else posixpath.basename(home[0])
