"""The tables behind `npulint.data.recipe`.

Rows are in ``recipe_*.csv``; parameters are those of a row, else recorded ones from ``signatures_*.json`` (name →
parameters as in a ``def``, with ``...`` for a default that is not plain). The columns of a row:

``pattern``     a canonical name; ``*`` matches any name, ``**`` any dotted one (in aliases: any text), ``{a,b}`` one of
                several texts. ``?.name`` is a method of an unknown object, or of the result of a framework function
                without a row of its own. A row without wildcards wins, else that with the longest plain prefix.
``part``        one of the parts in `npulint.facts.recipe.ITEMS`; ``-`` if such calls do not affect numbers; ``=`` for
                an alias of the name in `same_as`, which has its own row.
``same_as``     the canonical name under which the call is compared; empty for its own. ``*`` in it is the text that the
                braces, else the first wildcard, of the pattern matched; ``$`` is the last part of the name.
``neutral``     its framework-neutral name (``*`` as in `same_as`), then ``parameter=neutral parameter`` where these
                differ; a parameter may be an element (``betas[0]``), a value may be converted (``p=q:how``). The names
                are in ``recipe_neutral.txt``.
``signature``   the parameters; empty for the recorded ones of the name, else of `same_as`; ``=name`` for those of
                another name (``$`` as in `same_as`).
``ignored``     parameters that do not affect numbers, in addition to those that never do; ``*`` for all.
``roles``       ``parameter=part`` where the part is neither that of the call nor the usual one.
``renamed``     ``parameter=name`` for comparison, ``parameter=name:how`` if its value is converted first,
                ``parameter=:how`` to convert only.
``flags``       ``host`` (a call of an array or image library: it counts only in code that prepares data), ``adapter``
                (a replacement in the NPU adapter), ``through=parameter`` (the call returns this argument;
                ``through=self``: the object of the method).
"""

from __future__ import annotations

import ast
import csv
import io
import re
from collections.abc import Iterator
from functools import cache, lru_cache
from itertools import product
from typing import Any

import msgspec

from npulint.core.lazy_regex import lazy_compile
from npulint.data import table

Plain = str | int | float | bool | None | tuple["Plain", ...]

NOTHING = "-"
SPELLING = "="
RECORDED = ("tensorflow", "torch")  # tables with a file of signatures

_BRACES = lazy_compile(r"\{([^{}]*)\}")


class RecipeRow(msgspec.Struct, frozen=True):
    """A row of a table, as written."""

    pattern: str
    part: str
    same_as: str
    neutral: str
    signature: str
    ignored: str
    roles: str
    renamed: str
    flags: str


class Wild(msgspec.Struct, frozen=True):
    """A pattern with wildcards: the plain text before the first one, and the alternatives in braces."""

    start: str
    expression: re.Pattern[str]
    row: RecipeRow
    word: str


class Sheet:
    """The rows of one table: by exact name, and those with wildcards by length of the plain prefix. Wildcard rows are
    indexed by the last part of the name or, if that is not plain, the first."""

    def __init__(self, rows: list[RecipeRow]) -> None:
        self.rows = rows
        self.exact: dict[str, tuple[RecipeRow, str]] = {}
        wild: list[tuple[str, Wild]] = []
        for row in rows:
            for pattern, word in spelled_out(row.pattern):
                if "*" in pattern:
                    start = pattern[: pattern.index("*")]
                    wild.append((pattern, Wild(start, _expression(pattern, row.part == SPELLING), row, word)))
                else:
                    self.exact[pattern] = (row, word)
        self._tried: dict[str, list[tuple[int, Wild]]] = {}
        for rank, (pattern, wild_row) in enumerate(sorted(wild, key=lambda pair: -len(pair[1].start))):
            self._tried.setdefault(_key(pattern), []).append((rank, wild_row))

    def find(self, name: str) -> tuple[RecipeRow, str] | None:
        """The row for a name, and what ``*`` in it matched."""
        match = self.exact.get(name)
        if match is not None:
            return match
        before, _, last = name.rpartition(".")
        keys = (f".{last}", name.partition(".")[0], "")
        for _, wild in sorted(
            (ranked for key in keys for ranked in self._tried.get(key, ())), key=lambda pair: pair[0]
        ):
            if name.startswith(wild.start) and (matched := wild.expression.fullmatch(name)):
                return wild.row, wild.word or (matched[1] if matched.re.groups else "")
        if before and (name.startswith("?") or ")." in name or "]." in name):
            return self.exact.get(f"?.{last}")
        return None


def _key(pattern: str) -> str:
    """The index key of a wildcard pattern: its last part with the dot, else its first part, else empty."""
    end = pattern[pattern.rindex("*") + 1 :]
    if "." in end:
        return "." + end.rpartition(".")[2]
    return pattern.partition(".")[0] if "*" not in pattern.partition(".")[0] and "." in pattern else ""


class CallSignature(msgspec.Struct, frozen=True):
    """Parameter names in order, how many can be passed by position, the one that takes all others (``*args``), and
    plain defaults."""

    parameters: tuple[str, ...] = ()
    positional: int = 0
    rest: str = ""
    defaults: dict[str, Plain] = {}


def spelled_out(pattern: str) -> Iterator[tuple[str, str]]:
    """The expansions of a pattern with braces, each with the alternative chosen first."""
    parts = _BRACES.split(pattern)
    choices = [part.split(",") if at % 2 else [part] for at, part in enumerate(parts)]
    for chosen in product(*choices):
        yield "".join(chosen), chosen[1] if len(chosen) > 1 else ""


def _expression(pattern: str, anything: bool) -> re.Pattern[str]:
    text = re.escape(pattern).replace(r"\*\*", "(.*)" if anything else r"([^()\[\]]*)")
    return lazy_compile(text.replace(r"\*", r"([^.()\[\]]*)"))


@cache
def sheet(source: str) -> Sheet:
    """The table of a framework, or ``host``."""
    rows = csv.DictReader(io.StringIO(table(f"recipe_{source}.csv").decode()))
    return Sheet([RecipeRow(**{field: row.get(field) or "" for field in RecipeRow.__struct_fields__}) for row in rows])


@cache
def _signatures(source: str) -> dict[str, str]:
    if source not in RECORDED:
        return {}
    return msgspec.json.decode(table(f"signatures_{source}.json"), type=dict[str, str])


def signature_of(source: str, row: RecipeRow, name: str, same_as: str) -> CallSignature:
    """The parameters of a call of `name`, to which `row` belongs."""
    recorded = _signatures(source)
    if row.signature.startswith("="):
        return signature(recorded.get(row.signature[1:].replace("$", name.rpartition(".")[2]), ""))
    return signature(row.signature or recorded.get(name) or recorded.get(same_as, ""))


@lru_cache(maxsize=1 << 12)
def signature(text: str) -> CallSignature:
    """Parse parameters written as in a ``def``. Raises SyntaxError."""
    if not text:
        return CallSignature()
    function = ast.parse(f"def f({text}): 0").body[0]
    if not isinstance(function, ast.FunctionDef):
        raise SyntaxError(text)
    arguments = function.args
    by_place = [*arguments.posonlyargs, *arguments.args]
    pairs: list[tuple[ast.arg, ast.expr | None]] = []
    if arguments.defaults:
        pairs += zip(by_place[-len(arguments.defaults) :], arguments.defaults, strict=True)
    pairs += zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    values = {argument.arg: ast.literal_eval(default) for argument, default in pairs if default is not None}
    return CallSignature(
        tuple(argument.arg for argument in (*by_place, *arguments.kwonlyargs)),
        len(by_place),
        arguments.vararg.arg if arguments.vararg else "",
        {name: _frozen(value) for name, value in values.items() if value is not ...},
    )


def _frozen(value: Any) -> Plain:
    return tuple(map(_frozen, value)) if isinstance(value, (list, tuple)) else value
