"""Links between files of different kinds: mixed-precision lists and the settings that name them."""

from __future__ import annotations

import posixpath

from npulint.assemble.adapter import Declared, describe_options
from npulint.assemble.environment import describe_environment
from npulint.assemble.index import FactTable
from npulint.assemble.iteration_sinking import describe_sinking
from npulint.assemble.launches.launch_options import relate_settings
from npulint.assemble.option_rules import option_conflicts
from npulint.assemble.project import Project
from npulint.data.ops import known_op, near_op
from npulint.facts.model import Fact
from npulint.facts.values import PossibleValues

_PRECISION = ("precision_mode", "precision_mode_v2")
_MIXED = frozenset(
    """allow_mix_precision allow_mix_precision_fp16 allow_mix_precision_bf16
    mixed_float16 mixed_bfloat16 mixed_hif8""".split()
)
_FILE_OPTIONS = frozenset(("modify_mixlist", "customize_dtypes", "fusion_switch_file", "op_debug_config"))


def complete(tables: dict[str, FactTable], project: Project, declared: Declared) -> None:
    """Add to settings that name a file whether it exists (`file`: yes/no/unknown), to mixed-precision
    entries whether the operator is known and, if not, the `nearest` known one, and to what stands on one
    custom optimizer what else is set there (`options`, `host`, `mixed`); add facts about settings that do not
    go together."""
    settings = [f for part in tables.values() for f in part.get("setting", ())]
    optimizers = [f for part in tables.values() for f in part.get("npu_optimizer", ())]
    for conflict in option_conflicts(describe_options(settings, optimizers, declared)):
        tables[conflict.path].setdefault("option_conflict", []).append(conflict)
    describe_environment(tables.values(), project)
    relate_settings([f for part in tables.values() for f in part.get("launch_option", ())], settings)
    describe_sinking(settings, tables.values())
    paths = {f.path for f in project.files}
    names = {posixpath.basename(p) for p in paths}
    for fact in settings:
        if fact.name in _FILE_OPTIONS:
            fact.attrs["file"] = _exists(fact.get("value"), fact.path, paths, names, project.root)
    _lists(settings, project)
    _entries(settings, optimizers)
    for file in project.files:
        for fact in file.facts:
            if fact.kind == "mixlist_entry":
                known = known_op(fact.name)
                fact.attrs["known"] = "yes" if known else "no"
                fact.attrs["nearest"] = "" if known else near_op(fact.name) or ""


def _lists(settings: list[Fact], project: Project) -> None:
    """Add to lists whether the project uses them (`used`): yes for the only one that its settings can name, several
    where they name more than one."""
    lists = [fact for file in project.files for fact in file.facts if fact.kind == "mixlist_file"]
    if not lists:
        return
    named: set[str] = set()
    for fact in settings:
        if fact.name != "modify_mixlist":
            continue
        value = fact.get("value")
        if isinstance(value, PossibleValues) and isinstance(value.single, str) and not value.symbol:
            base = posixpath.basename(value.single)
            named.update(one.path for one in lists if posixpath.basename(one.path) == base)
        else:
            named.update(one.path for one in lists)
    for one in lists:
        one.attrs["used"] = "no" if one.path not in named else "yes" if len(named) == 1 else "several"


def _entries(settings: list[Fact], optimizers: list[Fact]) -> None:
    """Custom optimizers get the keys that are set on them, and whether they leave the graph on the host
    (`host`: yes/no); settings of a list, whether a mixed mode is chosen on the same one (`mixed`:
    yes/no/unset/unknown). TensorFlow 2 has one set of options."""
    groups: dict[str, list[Fact]] = {}
    for fact in settings:
        if fact.get("via") in ("session_key", "run_config", "npu_options"):
            groups.setdefault("" if fact.get("via") == "npu_options" else fact.get("entry") or "?", []).append(fact)
    loose = any(f.name in _PRECISION for f in groups.get("?", ()))
    for fact in optimizers:
        keys = {f.name for f in groups.get(fact.get("entry"), ())} | ({f.name for f in groups.get("?", ())})
        fact.attrs["options"] = " ".join(sorted(keys))
        fact.attrs["host"] = "yes" if _on_host(groups.get(fact.get("entry"), [])) else "no"
    for entry, facts in groups.items():
        modes = [f for f in facts if f.name in _PRECISION]
        answer = "unknown" if entry == "?" or (loose and not modes) else _mixed(modes)
        for fact in facts:
            if fact.name == "modify_mixlist":
                fact.attrs["mixed"] = answer


def _on_host(facts: list[Fact]) -> bool:
    values = [fact.get("value") for fact in facts if fact.name == "use_off_line"]
    return bool(values) and all(isinstance(v, PossibleValues) and v.single is False and not v.symbol for v in values)


def _mixed(modes: list[Fact]) -> str:
    values = [fact.get("value") for fact in modes]
    if not values:
        return "unset"
    if any(not isinstance(v, PossibleValues) or not v.exact or not v.values for v in values):
        return "unknown"
    return "yes" if any(str(x) in _MIXED for v in values for x in v.values) else "no"


def _exists(value: object, path: str, paths: set[str], names: set[str], root: str) -> str:
    """A relative path that no folder of the project holds does not resolve; others are unknown."""
    if not isinstance(value, PossibleValues) or not isinstance(value.single, str) or value.symbol:
        return "unknown"
    named = value.single
    if not named.endswith(".json") or posixpath.isabs(named):
        return "unknown"
    return "yes" if posixpath.basename(named) in names else "no"
