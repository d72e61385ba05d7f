"""The closed set of fix verbs with their arguments (documented in docs/writing-checks.md)."""

from __future__ import annotations

import msgspec


class Verb(msgspec.Struct, frozen=True):
    """`words` are required arguments, the first is what a plain text sets; `optional` ones may be omitted. `choices`
    are the arguments with a closed set of values."""

    words: tuple[str, ...]
    optional: tuple[str, ...] = ()
    choices: dict[str, tuple[str, ...]] = {}


VERBS: dict[str, Verb] = {
    "rename": Verb(("to",)),
    "rename_part": Verb(("part", "to")),
    "retext": Verb(("part", "to"), ("in",)),
    "argument": Verb(("name",), ("position", "value", "missing", "to")),
    "drop": Verb(("name",), ("position", "if"), {"if": ("unread",)}),
    "wrap": Verb(("with",)),
    "replace": Verb(("with",), ("of", "members"), {"of": ("arithmetic", "conjunction", "condition")}),
    "value": Verb(("with",)),
    "body": Verb(("return",)),
    "delete": Verb(("what",), ("name", "if"), {"what": ("statement", "name", "line", "block"), "if": ("unread",)}),
    "insert": Verb(("text", "where"), ("around",), {"where": ("before", "after", "past", "end", "instead", "imports")}),
    "import": Verb(("what",), ("after", "place"), {"place": ("first",)}),
    "export": Verb(("what",), (), {"what": ("variable",)}),
    "mixlist": Verb(("operator",), ("list",), {"list": ("black-list", "white-list")}),
    "ranks": Verb(("backend",), (), {"backend": ("hccl",)}),
    "rank_processes": Verb(("by",), (), {"by": ("loop",)}),
    "sibling": Verb(("text",), ("part", "behind", "processes"), {"processes": ("loop",)}),
    "mixed_precision": Verb(("type",), ("callers", "holder"), {"type": ("float16", "bfloat16")}),
    "line_ends": Verb(("what",), (), {"what": ("lf",)}),
}

PLACEHOLDERS = frozenset(("old", "complement", "callee", "receiver", "arguments"))
"""What a template may name after ``$`` besides ``$arg(name|position)`` and ``$module(dotted.name)``."""
