"""Run metadata from profilers: environment variables, profiling level, cores of the device.

Sources: `profiler_info*.json` and `profiler_metadata.json` of torch_npu, `info.json*` of a PROF folder."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import BinaryIO

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.kinds import fact_kind
from npulint.facts.model import Fact, FileFact, Span
from npulint.runs.read.json_objects import parsed
from npulint.runs.read.quantities import number
from npulint.runs.read.rows import Seen

LIMIT = 16 << 20
"""Maximum bytes of such a file; real ones have some kilobytes."""

_TEXT = 200
_WORD = lazy_compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")


@fact_kind("run_environment")
class ProfiledVariable(FileFact):
    """An environment variable that the profiler found set; the name is the variable."""

    value: str
    number: float | None
    """Its value, if it is a number."""


@fact_kind("run_profile")
class ProfileOptions(FileFact):
    """How a profile was taken; the name is torch_npu."""

    level: str | None
    """levelnone, level0, level1 or level2."""
    steps: float | None
    skipped: float | None
    """Steps before those, as the next two."""
    warmup: float | None
    wait: float | None
    rank: int | None


@fact_kind("run_device")
class ProfiledDevice(FileFact):
    """A device that was profiled; the name is its number."""

    cores: float | None
    vector_cores: float | None


class _Places:
    """Finds the lines of keys in a JSON text."""

    def __init__(self, text: str) -> None:
        self._text = text

    def at(self, key: str) -> Span:
        at = self._text.find(json.dumps(key))
        return Span.at(self._text.count("\n", 0, at) + 1 if at >= 0 else 1)


def read_document(stream: BinaryIO) -> tuple[dict[str, object], str]:
    """The JSON object in a file of at most `LIMIT` bytes, and its text. Raises `ValueError`."""
    data = stream.read(LIMIT + 1)
    if len(data) > LIMIT:
        raise ValueError("larger than such files are")
    text, document = parsed(data)
    return document, text


def read(stream: BinaryIO, path: str, seen: Seen) -> list[Fact]:
    """The facts of one of these files. Raises `ValueError` if it is no JSON object."""
    document, text = read_document(stream)
    seen.rows = 1
    places = _Places(text)
    return [
        *_variables(document, path, places),
        *_profile(document, path, places),
        *_devices(document, path, places),
    ]


def _variables(document: dict[str, object], path: str, places: _Places) -> Iterator[Fact]:
    """A fact for each environment variable with a value."""
    for name, value in _table(document, "ENV_VARIABLES").items():
        text = _plain(value)
        if text and _WORD.fullmatch(name) is not None:
            yield ProfiledVariable(name, path, places.at(name), text, number(value))


def _profile(document: dict[str, object], path: str, places: _Places) -> Iterator[Fact]:
    """The options of the profile (torch_npu)."""
    config = _table(document, "config")
    if not config:
        return
    common, extra = _table(config, "common_config"), _table(config, "experimental_config")
    schedule = {key.lstrip("_"): value for key, value in _table(common, "schedule").items()}
    level = _plain(extra.get("_profiler_level")).replace("ProfilerLevel.", "")
    rank = _figure(document.get("rank_id"))
    yield ProfileOptions(
        "torch_npu",
        path,
        places.at("_profiler_level"),
        level=level.lower().replace("_", "") or None,
        steps=_figure(schedule.get("active")),
        skipped=_figure(schedule.get("skip_first")),
        warmup=_figure(schedule.get("warmup")),
        wait=_figure(schedule.get("wait")),
        rank=rank if isinstance(rank, int) else None,
    )


def _devices(document: dict[str, object], path: str, places: _Places) -> Iterator[Fact]:
    """The cores of each device (PROF folder)."""
    devices = document.get("DeviceInfo")
    for device in devices[:1024] if isinstance(devices, list) else ():
        if isinstance(device, dict):
            cores = _figure(device.get("ai_core_num")), _figure(device.get("aiv_num"))
            yield ProfiledDevice(_plain(device.get("id")) or "0", path, places.at("DeviceInfo"), *cores)


def _table(document: dict[str, object], key: str) -> dict[str, object]:
    value = document.get(key)
    return value if isinstance(value, dict) else {}


def _plain(value: object) -> str:
    """A scalar as a short text without control characters."""
    if value is None or isinstance(value, (dict, list)):
        return ""
    return "".join(char for char in str(value)[:_TEXT] if char.isprintable())


def _figure(value: object) -> int | float | None:
    figure = number(value)
    return int(figure) if figure is not None and figure.is_integer() else figure
