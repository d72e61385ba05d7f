"""What parts of compared trees are worth in the starts that are compared, and what callees take by default."""

from __future__ import annotations

import ast
import builtins

from npulint.commands.compare.code_changes.trees import CALL, CONST, RANKS, Tree
from npulint.commands.training_config.execution import ProgramSources
from npulint.commands.training_config.provenance.plain import ValuePairs, canonical
from npulint.commands.training_config.steps.model import Home
from npulint.commands.training_config.tracer import Tracer
from npulint.data.recipe import recipe_call
from npulint.facts.code import Value, nested, written_values
from npulint.facts.recipe import Traced
from npulint.model.code.module import Module
from npulint.model.values.cursors import assignment_at, expr_at, scope_at, scope_named

_Place = tuple[Value, int, int]


class Evaluation:
    """Evaluates trees of one side."""

    def __init__(self, tracer: Tracer, sources: ProgramSources, framework: str) -> None:
        self._tracer, self._sources, self._framework = tracer, sources, framework
        self._places: dict[str, dict[ast.AST, _Place]] = {}

    def value(self, tree: Tree, module: Module) -> Traced:
        """What a tree of a module is worth in this start."""
        if tree.kind == CONST and isinstance(tree.node, ast.Constant):
            return Traced(True, tree.node.value)
        if tree.is_number:
            return Traced(True, float(str(tree.label[2])))
        if tree.kind == RANKS or not isinstance(tree.node, ast.expr):
            return Traced()
        place = self._of(module).get(tree.node)
        if place is None:
            return Traced()
        value, block, line = place
        return self._tracer.trace(expr_at(self._tracer.context, module, value, block, line))

    def is_unread(self, tree: Tree, module: Module) -> bool:
        """Whether a literal is overwritten in this start before it is read."""
        place = self._of(module).get(tree.node) if tree.kind == CONST and tree.node is not None else None
        if place is None:
            return False
        value, block, line = place
        return self._tracer.is_unread(expr_at(self._tracer.context, module, value, block, line))

    def _of(self, module: Module) -> dict[ast.AST, _Place]:
        """Where the records of a module have the values of syntax nodes."""
        places = self._places.get(module.path)
        if places is None:
            nodes = self._sources.nodes(module)
            places = self._places[module.path] = {}
            for value, block, line in written_values(module.code):
                for part in nested(value):
                    node = nodes.get(id(part))
                    if node is not None:
                        places.setdefault(node, (part, block, line))
        return places

    def is_default(self, call: Tree, name: str, module: Module) -> bool | None:
        """Whether an argument of a call is what the callee takes if it is not given; None if that is not known."""
        argument = dict(zip(call.names, call.parts, strict=False))[name]
        given = self.value(argument, module)
        if call.kind != CALL or call.call < 0:
            return None
        canonical_name = self._tracer.context.names.of_call(module, call.call)
        recipe = recipe_call(canonical_name, self._framework)
        if recipe is not None:
            defaults = recipe.effective({})
            if name not in defaults:
                return None
            return canonical(given.value) == canonical(defaults[name]) if given.known else None
        if hasattr(builtins, canonical_name):
            return False
        scope = scope_named(self._tracer.context, canonical_name)
        function = scope.called_block if scope is not None else None
        default = function.default(name) if function is not None else None
        if default is None:
            return None if function is None else False
        usual = self._tracer.trace(default)
        return canonical(given.value) == canonical(usual.value) if given.known and usual.known else None

    def knows(self, call: Tree, name: str, module: Module) -> bool:
        """Whether the function that a call runs may have a parameter of this name. What is done with one that only the
        other program's function has is compared there."""
        names = self._tracer.context.names
        scope = scope_named(self._tracer.context, names.of_call(module, call.call)) if call.call >= 0 else None
        function = scope.called_block if scope is not None else None
        return function is None or name.isdigit() or name in function.parameters

    def field(self, home: Home, name: str) -> Traced | None:
        """The value that a field of a data class has in the instances that this start makes; None where that is not
        told."""
        scope = scope_at(self._tracer.context, self._tracer.context.project.modules[home[0]], home[1])
        records = [r for r in scope.module.code.assignments if r.block == scope.block and r.target == name]
        if len(records) != 1:
            return None
        return self._tracer.field(assignment_at(self._tracer.context, scope.module, records[0]))

    def made(self, call: Tree, module: Module) -> Home | None:
        """The class without a constructor of its own that a call makes an instance of; None for another call."""
        if call.call < 0:
            return None
        scope = scope_named(self._tracer.context, self._tracer.context.names.of_call(module, call.call))
        is_plain = scope is not None and scope.kind == "class" and scope.called_block is None
        return (scope.path, scope.block) if scope is not None and is_plain else None


def are_worth_the_same(first: Traced, second: Traced) -> bool | None:
    """Whether two values are the same; None if one is not known."""
    if not (first.known and second.known) or isinstance(first.value, ValuePairs) != isinstance(
        second.value, ValuePairs
    ):
        return None
    return canonical(first.value) == canonical(second.value)
