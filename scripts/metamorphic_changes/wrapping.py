"""Statements inside of a statement that only runs them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from scripts.metamorphic_changes.moving import replaced_lines
from scripts.metamorphic_changes.regions import Region, regions
from scripts.metamorphic_changes.scopes import finds_names_by_text, names_of, other_bindings, top_line
from scripts.metamorphic_changes.source import Edit, Program, Source, Variant


def wrapped_in_if(program: Program) -> Iterator[Variant]:
    """Statements are below ``if True:``."""
    for region in _all_regions(program):
        yield _wrapped(region, "if True:")


def wrapped_in_try(program: Program) -> Iterator[Variant]:
    """Statements are in a ``try`` whose ``finally`` does nothing."""
    for region in _all_regions(program):
        margin = region.source.margin(region.lines[0])
        yield _wrapped(region, "try:", f"{margin}finally:\n{margin}    pass\n")


def wrapped_in_with(program: Program) -> Iterator[Variant]:
    """Statements are below ``with contextlib.nullcontext():``."""
    for source in program.sources.values():
        edits, top = _import_of_contextlib(source), top_line(source)
        if edits is None or finds_names_by_text(source):
            continue
        for region in regions(source):
            if region.lines[0] >= top:
                yield _wrapped(region, "with contextlib.nullcontext():", "", *edits)


def _all_regions(program: Program) -> Iterator[Region]:
    for source in program.sources.values():
        yield from regions(source)


def _wrapped(region: Region, head: str, tail: str = "", *edits: Edit) -> Variant:
    source, (first, last) = region.source, region.lines
    text = f"{source.margin(first)}{head}\n{source.indented(first, last)}\n{tail}"
    return Variant(region.location, (*edits, replaced_lines(source, first, last, text)))


def _import_of_contextlib(source: Source) -> tuple[Edit, ...] | None:
    """The edit that imports the module, none if it is imported first of all; None if the name means something else."""
    if names_of(source, "contextlib") or "contextlib" in other_bindings(source.tree):
        first = next((node for node in source.tree.body if isinstance(node, ast.Import)), None)
        is_first = first is not None and any(alias.name == "contextlib" and not alias.asname for alias in first.names)
        return () if is_first and list(other_bindings(source.tree)).count("contextlib") == 1 else None
    return (source.insert(top_line(source), "import contextlib\n"),)
