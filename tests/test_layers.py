"""The direction of imports: each stage of the pipeline knows only the ones before it."""

from __future__ import annotations

import ast
import functools
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent / "npulint"

# From the bottom up. What stands in one line may know each other, but not in a circle.
LAYERS = (
    (
        "npulint",
        "integrations",
        "atomic_files",
        "budget",
        "cache_folder",
        "cancellation",
        "digest",
        "errors",
        "lazy_regex",
        "links",
        "similar",
        "suggest",
        "progress",
        "texts",
        "whole_files",
    ),
    ("values",),
    ("facts", "data", "run_summary", "step_summary", "run_comparison"),
    ("findings",),
    ("discover", "read", "cache", "source_lines", "settings", "baseline"),
    ("assemble", "running"),
    ("training_config",),
    ("compare",),
    ("catalogue",),
    ("evaluate",),
    ("postprocess", "result_cache", "fix", "effort"),
    ("report",),
    ("isolation", "project_runner", "project_results", "temp_project", "compare_inputs", "compare_states"),
    ("processes",),
    ("workers",),
    ("change_impact", "compare_command", "compare_change", "compare_runs"),
    (
        "pipeline",
        "session",
        "option_parsing",
        "options",
        "config",
        "config_files",
        "config_schema",
        "configured_paths",
        "fix_command",
        "port",
    ),
    ("doctor",),
    ("cli", "survey", "live", "server", "fakes", "api", "linter_findings"),
    ("pylint_plugin", "flake8_plugin"),
    ("__main__",),
)
RANK = {name: rank for rank, layer in enumerate(LAYERS) for name in layer}
CATALOGUE_MAY_KNOW = {
    *("npulint", "digest", "errors", "lazy_regex", "links", "suggest", "texts", "facts", "findings"),
    *("atomic_files", "cache_folder"),  # of the compiled catalogue
}


def package_of(module: str) -> str:
    """The part of npulint that a dotted module name belongs to; ``npulint`` is the root itself."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else "npulint"


def module_name(path: Path) -> str:
    return ".".join(("npulint", *path.relative_to(ROOT).with_suffix("").parts)).removesuffix(".__init__")


@functools.cache
def imported(path: Path) -> set[tuple[str, int]]:
    """(module, line) of every import of npulint in a file, wherever it stands, relative ones resolved."""
    package = module_name(path).split(".")
    if path.name != "__init__.py":
        package = package[:-1]
    found: set[tuple[str, int]] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {(alias.name, node.lineno) for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            names = [f"{module}.{alias.name}" for alias in node.names] if module == "npulint" else [module]
            found |= {(_existing(name), node.lineno) for name in names}
    return {(module, line) for module, line in found if module.split(".")[0] == "npulint"}


def _existing(module: str) -> str:
    """``npulint.__version__`` is a name of the root, ``npulint.texts`` a module."""
    parts = module.split(".")
    if parts[0] != "npulint" or len(parts) != 2:
        return module
    below = ROOT / parts[1]
    return module if below.is_dir() or below.with_suffix(".py").exists() else "npulint"


FILES = sorted(ROOT.rglob("*.py"))


@functools.cache
def edges() -> list[tuple[str, str, str]]:
    """(part, part that it imports, where) of every import."""
    return [
        (package_of(module_name(path)), package_of(module), f"{path.relative_to(ROOT.parent)}:{line} imports {module}")
        for path in FILES
        for module, line in sorted(imported(path))
    ]


def test_imports_are_seen() -> None:
    assert ("catalogue", "findings") in {(source, target) for source, target, _ in edges()}
    assert len(edges()) > 50


@pytest.mark.parametrize("package", sorted({package_of(module_name(path)) for path in FILES}))
def test_every_part_has_its_layer(package: str) -> None:
    assert package in RANK, f"give npulint.{package} a place in LAYERS"


def test_imports_run_downwards() -> None:
    upwards = [text for source, target, text in edges() if RANK.get(target, 99) > RANK.get(source, 99)]
    assert upwards == []


def test_the_parts_know_each_other_in_no_circle() -> None:
    graph: dict[str, set[str]] = {}
    for source, target, _ in edges():
        if source != target:
            graph.setdefault(source, set()).add(target)
    assert len(list(TopologicalSorter(graph).static_order())) >= len(graph)


def test_the_catalogue_knows_only_facts_and_findings() -> None:
    strangers = [
        t for source, target, t in edges() if source == "catalogue" and target not in CATALOGUE_MAY_KNOW | {source}
    ]
    assert strangers == []


def test_no_modules_import_each_other_in_a_circle() -> None:
    files = [path for path in FILES if path.name != "__init__.py"]
    names = {module_name(path) for path in files}
    graph = {module_name(path): {module for module, _ in imported(path)} & names for path in files}
    assert len(list(TopologicalSorter(graph).static_order())) == len(names)
