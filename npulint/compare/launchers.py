"""Compares what the launchers of both sides set in addition to script options: devices, determinism, hash seed."""

from __future__ import annotations

from collections.abc import Iterator

from npulint.assemble.context import Context
from npulint.assemble.launches.project_launches import Launch
from npulint.compare.difference import Difference, SideValue, of_both
from npulint.facts.model import Fact

_PARTS = {
    "WORLD_SIZE": "ranks",
    "RANK_SIZE": "ranks",
    "CM_WORKER_SIZE": "ranks",
    "PYTHONHASHSEED": "seed",
    "TF_DETERMINISTIC_OPS": "determinism",
    "TF_CUDNN_DETERMINISTIC": "determinism",
    "HCCL_DETERMINISTIC": "determinism",
    "CUBLAS_WORKSPACE_CONFIG": "determinism",
    "TF_ENABLE_AUTO_MIXED_PRECISION": "precision_mode",
    "NVIDIA_TF32_OVERRIDE": "precision_mode",
}


def of_launchers(
    reference: Context, first: Launch | None, migrated: Context, second: Launch | None
) -> Iterator[Difference]:
    """The differences between two launchers: environment variables that decide numbers, and process counts."""
    if first is None or second is None:
        return
    left, right = _variables(reference, first), _variables(migrated, second)
    for name in left.keys() & right.keys():
        sides = [SideValue(str(fact.get("value")), fact.path, fact.span) for fact in (left[name], right[name])]
        yield of_both(_PARTS[name], sides[0].text == sides[1].text, name, "", *sides, named=True)
    sizes = [SideValue(_size(launch), launch.fact.path, launch.fact.span) for launch in (first, second)]
    known = all(size.text for size in sizes)
    if known and not {"WORLD_SIZE", "RANK_SIZE"} & left.keys() & right.keys():
        yield of_both("ranks", sizes[0].text == sizes[1].text, "processes", "", *sizes)


def _variables(context: Context, launch: Launch) -> dict[str, Fact]:
    """The variables that the launcher sets to known values; the last value counts."""
    files = [file for file in context.project.files if file.path == launch.fact.path]
    found: dict[str, Fact] = {}
    for fact in (fact for file in files for fact in file.facts):
        if fact.kind == "environment" and fact.name in _PARTS and isinstance(fact.get("value"), str):
            found[fact.name] = fact
    return found


def _size(launch: Launch) -> str:
    return launch.fact.size if launch.fact.size.isdigit() else ""
