"""All changes by their names."""

from __future__ import annotations

from collections.abc import Iterator

from scripts.metamorphic_changes.additions import dead_code, documented, smoke_test, unrelated_script
from scripts.metamorphic_changes.calls import keyword_arguments, reordered_keywords
from scripts.metamorphic_changes.expressions import inlined_variable, split_assignment
from scripts.metamorphic_changes.imports import imported_as_module, imported_by_name, reordered_imports
from scripts.metamorphic_changes.modules import moved_into_module, moved_into_package
from scripts.metamorphic_changes.moving import moved_into_function, moved_into_method
from scripts.metamorphic_changes.options import renamed_option
from scripts.metamorphic_changes.renaming import renamed_import, renamed_variable
from scripts.metamorphic_changes.source import Change, Program, Variant
from scripts.metamorphic_changes.wrapping import wrapped_in_if, wrapped_in_try, wrapped_in_with


def other_arguments(program: Program) -> Iterator[Variant]:
    """Arguments of a function of the project are passed by name, or in another order."""
    yield from keyword_arguments(program)
    yield from reordered_keywords(program)


CHANGES: dict[str, Change] = {
    change.__name__: change
    for change in (
        renamed_variable,
        renamed_import,
        renamed_option,
        moved_into_function,
        moved_into_method,
        moved_into_module,
        moved_into_package,
        split_assignment,
        inlined_variable,
        wrapped_in_if,
        wrapped_in_try,
        wrapped_in_with,
        reordered_imports,
        dead_code,
        smoke_test,
        unrelated_script,
        imported_by_name,
        imported_as_module,
        other_arguments,
        documented,
    )
}
"""The twenty changes. Each makes the variants of a program, one for each location."""
