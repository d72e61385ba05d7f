"""The classes of a project by name: which there are, and where something names them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from npulint.model.code.mentions import names_used
from npulint.model.values.context import Context, once
from npulint.model.values.cursors import Scope, scope_at
from npulint.model.values.script_role import is_test_file


@once
def class_names(context: Context) -> frozenset[str]:
    """The names of the project's classes, in lower case."""
    modules = context.project.modules.values()
    return frozenset(
        block.name.rpartition(".")[2].lower() for module in modules for block in module.blocks if block.kind == "class"
    )


@once
def class_users(context: Context) -> Mapping[str, list[Scope]]:
    """By the name of a class of the project the blocks outside of tests that name one like it."""
    users: dict[str, list[Scope]] = defaultdict(list)
    modules = context.project.modules.values()
    wanted = {block.name.rpartition(".")[2] for module in modules for block in module.blocks if block.kind == "class"}
    for module in modules:
        if is_test_file(module.path):
            continue
        for name, block in names_used(module):
            for part in wanted.intersection(name.split(".")):
                users[part].append(scope_at(context, module, block))
    return users
