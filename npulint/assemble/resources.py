"""Links between files of different kinds: mixed-precision lists and the settings that name them."""

from __future__ import annotations

import posixpath

from npulint.assemble.context import Context
from npulint.assemble.project import Project
from npulint.data.ops import known_op, near_op
from npulint.facts.model import Fact
from npulint.facts.values import Known

_FILE_OPTIONS = frozenset(("modify_mixlist", "customize_dtypes", "fusion_switch_file", "op_debug_config"))


def complete(context: Context, facts: dict[str, list[Fact]], project: Project) -> None:
    """Add to settings that name a file whether it exists (`file`: yes/no/unknown), to mixed-precision
    entries whether the operator is known and, if not, the `nearest` known one."""
    paths = {f.path for f in project.files}
    names = {posixpath.basename(p) for p in paths}
    for found in facts.values():
        for fact in found:
            if fact.kind == "setting" and fact.name in _FILE_OPTIONS:
                fact.attrs["file"] = _exists(fact.get("value"), fact.path, paths, names, project.root)
    for file in project.files:
        for fact in file.facts:
            if fact.kind == "mixlist_entry":
                known = known_op(fact.name)
                fact.attrs["known"] = "yes" if known else "no"
                fact.attrs["nearest"] = "" if known else near_op(fact.name) or ""


def _exists(value: object, path: str, paths: set[str], names: set[str], root: str) -> str:
    """A relative path that no folder of the project holds does not resolve; others are unknown."""
    if not isinstance(value, Known) or not isinstance(value.single, str) or value.symbol:
        return "unknown"
    named = value.single
    if not named.endswith(".json") or posixpath.isabs(named):
        return "unknown"
    return "yes" if posixpath.basename(named) in names else "no"
