"""What profilers note about the run: environment variables, profiling level, parallel groups, cores of the device.

Sources: `profiler_info*.json` and `profiler_metadata.json` of torch_npu, `info.json*` of a PROF folder.
"""

from __future__ import annotations

import json
from typing import BinaryIO

from npulint.facts.model import Fact, GenericFact, Span
from npulint.lazy_regex import lazy_compile
from npulint.read.artifacts.json_objects import parsed
from npulint.read.artifacts.quantities import number
from npulint.read.artifacts.rows import Seen

LIMIT = 16 << 20
"""Bytes that such a file may have; real ones have some kilobytes."""

_TEXT = 200
_WORD = lazy_compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")


class _Places:
    """Where keys stand in a JSON text."""

    def __init__(self, text: str) -> None:
        self._text = text

    def line(self, key: str) -> int:
        at = self._text.find(json.dumps(key))
        return self._text.count("\n", 0, at) + 1 if at >= 0 else 1


def read_document(stream: BinaryIO) -> tuple[dict[str, object], str]:
    """The JSON object in a file of at most `LIMIT` bytes, and its text. Raises `ValueError`."""
    data = stream.read(LIMIT + 1)
    if len(data) > LIMIT:
        raise ValueError("larger than such files are")
    text, document = parsed(data)
    return document, text


def read(stream: BinaryIO, path: str, seen: Seen) -> list[Fact]:
    """The facts of one of these files, whichever it is. Raises `ValueError` for what is no JSON object."""
    document, text = read_document(stream)
    seen.rows = 1
    places = _Places(text)
    facts = _variables(document, path, places) + _groups(document, path, places)
    return facts + _profile(document, path, places) + _devices(document, path, places)


def _fact(kind: str, name: str, path: str, line: int, attrs: dict[str, object]) -> Fact:
    return GenericFact(kind, name, path, Span.at(line), {key: value for key, value in attrs.items() if value != ""})


def _variables(document: dict[str, object], path: str, places: _Places) -> list[Fact]:
    """One fact for each environment variable that is set to something."""
    facts = []
    for name, value in _table(document, "ENV_VARIABLES").items():
        text = _plain(value)
        if not text or _WORD.fullmatch(name) is None:
            continue
        figure = number(value)
        attrs: dict[str, object] = {"value": text, "number": "" if figure is None else figure}
        facts.append(_fact("run_environment", name, path, places.line(name), attrs))
    return facts


def _groups(document: dict[str, object], path: str, places: _Places) -> list[Fact]:
    """How the model is spread over ranks, if the launcher told."""
    given = _table(document, "distributed_args")
    figures = {key: value for key, value in given.items() if number(value) is not None and key.endswith("_size")}
    if not figures:
        return []
    attrs: dict[str, object] = {
        key: given.get(f"{key}_parallel_size", "")
        for key in ("tensor_model", "pipeline_model", "data", "context", "expert_model")
        if number(given.get(f"{key}_parallel_size")) is not None
    }
    attrs["world"] = _figure(given.get("world_size"))
    return [_fact("run_parallel", "groups", path, places.line("distributed_args"), attrs)]


def _profile(document: dict[str, object], path: str, places: _Places) -> list[Fact]:
    """How the profile was taken (torch_npu)."""
    config = _table(document, "config")
    if not config:
        return []
    common, extra = _table(config, "common_config"), _table(config, "experimental_config")
    schedule = {key.lstrip("_"): value for key, value in _table(common, "schedule").items()}
    level = _plain(extra.get("_profiler_level")).replace("ProfilerLevel.", "")
    attrs: dict[str, object] = {
        "level": level.lower().replace("_", ""),
        "metrics": _plain(extra.get("_aic_metrics")),
        "export": _plain(extra.get("_export_type")),
        "stacks": _flag(common.get("with_stack")),
        "shapes": _flag(common.get("record_shapes")),
        "memory": _flag(common.get("profile_memory")),
        "steps": _figure(schedule.get("active")),
        "skipped": _figure(schedule.get("skip_first")),
        "warmup": _figure(schedule.get("warmup")),
        "wait": _figure(schedule.get("wait")),
        "rank": _figure(document.get("rank_id")),
    }
    return [_fact("run_profile", "torch_npu", path, places.line("_profiler_level"), attrs)]


def _devices(document: dict[str, object], path: str, places: _Places) -> list[Fact]:
    """Cores and frequencies of each device (PROF folder)."""
    devices = document.get("DeviceInfo")
    facts = []
    for device in devices[:1024] if isinstance(devices, list) else ():
        if not isinstance(device, dict):
            continue
        attrs: dict[str, object] = {
            "cores": _figure(device.get("ai_core_num")),
            "vector_cores": _figure(device.get("aiv_num")),
            "cpu_cores": _figure(device.get("ai_cpu_core_num")),
            "frequency": _figure(device.get("aic_frequency")),
        }
        facts.append(_fact("run_device", _plain(device.get("id")) or "0", path, places.line("DeviceInfo"), attrs))
    return facts


def _table(document: dict[str, object], key: str) -> dict[str, object]:
    value = document.get(key)
    return value if isinstance(value, dict) else {}


def _plain(value: object) -> str:
    """A scalar as a short text without what would disturb a terminal."""
    if value is None or isinstance(value, (dict, list)):
        return ""
    return "".join(char for char in str(value)[:_TEXT] if char.isprintable())


def _figure(value: object) -> object:
    figure = number(value)
    if figure is None:
        return ""
    return int(figure) if figure.is_integer() else figure


def _flag(value: object) -> str:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else "unknown"
