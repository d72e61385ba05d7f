"""Files of checks: a single check, or a table of checks of one shape.

The key `shared` makes a file a table: it holds what the checks of the table have in common. Every other key is the name
of a row, a check without what it shares. A row is merged with the shared keys: where both have a mapping, key by key
and at every depth; anything else in the row replaces what is shared. Tables of log messages have rows as well.
"""

from __future__ import annotations

import msgspec

from npulint.core.errors import CatalogueProblem
from npulint.judge.catalogue.schema import Parsed, read_check
from npulint.judge.catalogue.yaml_tree import Fields, Mapping, TreeError, YamlNode, YamlScalar, load_tree

SHARED = "shared"
"""The key of what the rows of a table have in common."""
MAX_ROWS = 100  # every row is as large as what is shared


class Row(msgspec.Struct, frozen=True):
    """A row of a table: its name with its place, and its keys with those that it shares."""

    key: YamlScalar
    tree: YamlNode

    @property
    def name(self) -> str:
        """The name of the check."""
        return self.key.text

    @property
    def named_at(self) -> tuple[int, int]:
        """The line and column of the name."""
        return self.key.line, self.key.column


def parse_checks(data: bytes, path: str, family: str, name: str) -> tuple[Parsed, ...]:
    """The check of a file, or those of a table, in file order. `path` is only used in places of problems; the family,
    and the name of a single check, come from it. A problem of what several rows share is reported once."""
    try:
        tree = load_tree(data)
    except TreeError as error:
        return (Parsed(path, None, tuple(CatalogueProblem(path, *place) for place in error.places)),)
    if not _is_table(tree):
        return (read_check(tree, path, family, name),)
    fields = Fields(path)
    checks = [read_check(row.tree, path, family, row.name, row.named_at) for row in rows(fields, tree)]
    return (*_without_repetition(checks), *([Parsed(path, None, tuple(fields.problems))] if fields.problems else []))


def rows(fields: Fields, tree: YamlNode) -> list[Row]:
    """The rows of a table in file order; what is wrong with the table itself is recorded in `fields`."""
    entries = dict(fields.open_mapping(tree, "the table"))
    _, shared = entries.pop(SHARED, (None, None))
    if shared is not None and not isinstance(shared, Mapping):
        fields.problem(shared, f"{SHARED} must be a mapping")
        return []
    if shared is not None and not entries:
        fields.problem(tree, "the table has no rows")
    if shared is not None and len(entries) > MAX_ROWS:
        fields.problem(tree, f"the table has more than {MAX_ROWS} rows")
        return []
    return [
        Row(key, node if shared is None else _merged(shared, _at_its_name(key, node))) for key, node in entries.values()
    ]


def names_in(data: bytes, always: bool = False) -> tuple[str, ...]:
    """The names of the rows of a table, even if it has problems; none for the file of a single check, unless it is
    `always` a table."""
    if not always and SHARED.encode() not in data:
        return ()
    try:
        tree = load_tree(data)
    except TreeError:
        return ()
    if not isinstance(tree, Mapping) or not (always or _is_table(tree)):
        return ()
    return tuple(name for name in tree.entries if name != SHARED)


def _is_table(tree: YamlNode) -> bool:
    return isinstance(tree, Mapping) and SHARED in tree.entries


def _at_its_name(key: YamlScalar, node: YamlNode) -> YamlNode:
    """A row that is a mapping at the place of its name, where a key that it lacks is to be added."""
    return Mapping(node.entries, key.line, key.column) if isinstance(node, Mapping) else node


def _merged(shared: YamlNode, own: YamlNode) -> YamlNode:
    """What a row has, with what it shares. The nesting of both is limited by the reader of YAML."""
    if not isinstance(shared, Mapping) or not isinstance(own, Mapping):
        return own
    entries = dict(shared.entries)
    for name, (key, node) in own.entries.items():
        entries[name] = (key, _merged(entries[name][1], node) if name in entries else node)
    return Mapping(entries, own.line, own.column)


def _without_repetition(checks: list[Parsed]) -> list[Parsed]:
    """The checks; a problem that an earlier row reports at the same place is left out."""
    reported: set[CatalogueProblem] = set()
    remaining = []
    for parsed in checks:
        problems = tuple(problem for problem in parsed.problems if problem not in reported)
        remaining.append(msgspec.structs.replace(parsed, problems=problems))
        reported.update(problems)
    return remaining
