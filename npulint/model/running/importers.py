"""Where the modules of a project are imported."""

from __future__ import annotations

import posixpath
from collections import defaultdict
from collections.abc import Iterator, Mapping

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
            targets = {target.path for target in loaded} - {module.path}
            packages = {package for path in targets for package in _packages(path, module.path)}
            for path in sorted(targets | packages.intersection(project.modules)):
                places[path].append(place)
    return places


def _packages(path: str, importer: str) -> Iterator[str]:
    """The files of the packages around a module, but for those around its importer, which have been executed before."""
    folder = posixpath.dirname(path)
    while folder and not importer.startswith(f"{folder}/"):
        yield f"{folder}/__init__.py"
        folder = posixpath.dirname(folder)
