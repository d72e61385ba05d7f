"""Where the modules of a project are imported."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from npulint.model.values.context import Context, once
from npulint.model.values.cursors import Scope, scope_at
from npulint.model.values.script_role import is_test_file


@once
def import_places(context: Context) -> Mapping[str, list[tuple[Scope, int]]]:
    """By the path of a module the blocks and lines whose imports execute it, also as a package around what they import;
    imports in files of tests are not listed."""
    places: dict[str, list[tuple[Scope, int]]] = defaultdict(list)
    project = context.project
    for module in project.modules.values():
        if is_test_file(module.path):
            continue
        for record in module.code.imports:
            loaded = project.imported(module, record)
            if not loaded:  # most imports are of other packages
                continue
            place = (scope_at(context, module, record.block), record.line)
            for path in sorted({target.path for target in loaded} - {module.path}):
                places[path].append(place)
    return places
