"""Writes the generated part of docs/facts.md: the kinds of facts, with their attributes.

    python -m scripts.fact_pages

A test holds the page against the classes. Texts are the docstrings of classes, attributes and fields.
"""

from __future__ import annotations

import ast
import inspect
import sys
from collections.abc import Iterator
from functools import cache
from itertools import groupby, pairwise
from pathlib import Path

from npulint.facts.attributes import attribute
from npulint.facts.kinds import FACT_CLASSES
from npulint.facts.model import Fact
from npulint.graphs.facts.graph_fact import GraphFact
from npulint.judge.catalogue.vocabulary.kinds import attributes_of, fact_kinds
from npulint.model.running.code_facts import CodeFact

PAGE = Path(__file__).parent.parent / "docs" / "facts.md"
BEGIN, END = "<!-- facts: generated -->", "<!-- /facts -->"
_AREAS = {
    "read": "Scripts, dependencies, operator lists, CUDA sources",
    "model": "Programs, starts and their options, environment",
    "python": "Any Python code",
    "tensorflow": "TensorFlow",
    "torch": "PyTorch",
    "graphs": "Graphs",
    "training_config": "Comparisons of training configurations",
    "compare": "Differences between two programs",
    "runs": "Runs",
    "machine": "Machines",
}
"""The packages that declare kinds, in the order of the page."""
_AREA_OF = {
    "machine": "machine",
    "runs": "runs",
    "graphs": "graphs",  # which has a package for TensorFlow
    "python": "python",
    "tensorflow": "tensorflow",
    "torch": "torch",
    "read": "read",
    "model": "model",
    "recognizers": "model",
    "training_config": "training_config",
    "compare": "compare",
    "comparison": "compare",
}
"""By packages, the most telling first: the areas of the kinds that they declare."""
_COMMON: dict[str, type[Fact]] = {"Every fact from Python code": CodeFact, "Every fact about a graph": GraphFact}


def generated() -> str:
    """The kinds of all areas as Markdown."""
    known = fact_kinds()
    order = [*_AREAS]
    named = sorted(([order.index(part) for part in _areas(classes)], kind) for kind, classes in FACT_CLASSES.items())
    lines: list[str] = []
    for heading, base in _COMMON.items():
        lines += [f"### {heading}", "", *_attributes(base, frozenset()), ""]
    for areas, kinds in groupby(named, key=lambda one: one[0]):
        lines += [f"### {' and '.join(_AREAS[order[part]] for part in areas)}", ""]
        for _, kind in kinds:
            lines += [f"#### `{kind}`", *_kind(FACT_CLASSES[kind], known[kind].names), ""]
    return "\n".join(lines[:-1])


def _areas(classes: list[type[Fact]]) -> list[str]:
    """The areas that the classes of a kind come from."""
    modules = [cls.__module__.split(".")[:-1] for cls in classes]
    found = {next(area for package, area in _AREA_OF.items() if package in parts) for parts in modules}
    return sorted(found, key=[*_AREAS].index)


def _kind(classes: list[type[Fact]], names: frozenset[str]) -> Iterator[str]:
    written: set[str] = set()
    for cls in sorted(classes, key=lambda one: one.__name__):
        common = next((base.attribute_names() for base in _COMMON.values() if issubclass(cls, base)), frozenset[str]())
        text = _paragraph(inspect.getdoc(cls) or "")
        arguments = " Checks can also use its arguments." if cls.is_call else ""
        yield from ("", f"{text}{arguments}")
        rows = [row for row in _attributes(cls, common) if row not in written]
        written.update(rows)
        yield from ("", *rows) if rows else ()
    if names:
        yield from ("", f"Names: {', '.join(sorted(names))}.")


def _attributes(cls: type[Fact], without: frozenset[str]) -> Iterator[str]:
    for name, words in attributes_of(cls).items():
        if name not in without:
            values = f" ({', '.join(sorted(word or 'empty' for word in words))})" if words else ""
            text = _paragraph(_text(cls, name))
            yield f"* `{name}`{values}{': ' if text else ''}{text[:1].lower() + text[1:]}".rstrip(".")


def _text(cls: type[Fact], name: str) -> str:
    member = getattr(cls, name)
    if isinstance(member, attribute):
        return inspect.cleandoc(member.__doc__ or "")
    return next((texts[name] for base in cls.__mro__ if name in (texts := _field_texts(base))), "")


@cache
def _field_texts(cls: type) -> dict[str, str]:
    """The text that stands below each field of a class."""
    if not cls.__module__.startswith("npulint"):
        return {}
    tree = ast.parse(inspect.cleandoc(f"\n{inspect.getsource(cls)}"))
    body = next(node.body for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
    found = {}
    for field, text in pairwise(body):
        if isinstance(field, ast.AnnAssign) and isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant):
            found[ast.unparse(field.target)] = str(text.value.value)
    return found


def _paragraph(text: str) -> str:
    return " ".join(text.replace("``", "`").split())


def page(text: str) -> str:
    """The page with its generated part made anew."""
    before, rest = text.split(BEGIN)
    return f"{before}{BEGIN}\n\n{generated()}\n\n{END}{rest.split(END)[1]}"


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    sys.exit(0)
