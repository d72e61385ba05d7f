"""Several exports of one profile in a folder: the newest set speaks, and its slices speak together.

The tools of profilers write the time of the export behind the names of their files (`op_summary_<14 digits>.csv`), and
cut tables of many kernels into slices (`op_summary_slice_<n>_<14 digits>.csv`).
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.model import Fact
from npulint.runs.facts.slices import merged
from npulint.runs.read.source_fact import RunSource

_NAME = lazy_compile(
    r"(?P<stem>[A-Za-z]\w{0,99}?)(?:_slice_(?P<slice>\d{1,6}))?_(?P<stamp>\d{14})(?P<end>\.\w{1,5}(?:\.gz)?)"
)
_FORMS = frozenset(
    """kernel_table op_statistic api_statistic step_trace aicpu fusion_op task_time l2_cache memory_record module_memory
    static_memory operator_memory trace communication database""".split()
)


class _Part(msgspec.Struct, frozen=True):
    """A file of an export: `group` is what all exports of the table have in common, `slice` empty for a whole one."""

    group: tuple[str, str, str]
    stamp: str
    slice: str


def newest(facts: Iterable[Fact]) -> list[Fact]:
    """The facts without those of older exports, of which only `run_source` stays (its note is "older"), and with the
    slices of a kernel table taken together."""
    facts = list(facts)
    forms = {fact.path: fact.name for fact in facts if isinstance(fact, RunSource)}
    parts = {path: part for path, form in forms.items() if form in _FORMS and (part := _part(path)) is not None}
    latest: dict[tuple[str, str, str], str] = {}
    for part in parts.values():
        latest[part.group] = max(part.stamp, latest.get(part.group, ""))
    older = {path for path, part in parts.items() if part.stamp != latest[part.group]}
    kept = [fact if fact.path not in older else _older(fact) for fact in facts]
    sliced: dict[tuple[str, str, str], set[str]] = {}
    for path, part in parts.items():
        if part.slice and path not in older and forms[path] == "kernel_table":
            sliced.setdefault(part.group, set()).add(path)
    return merged([fact for fact in kept if fact is not None], [found for _, found in sorted(sliced.items())])


def _part(path: str) -> _Part | None:
    folder, _, name = path.replace("\\", "/").rpartition("/")
    match = _NAME.fullmatch(name)
    if match is None:
        return None
    return _Part((folder, match["stem"], match["end"].removesuffix(".gz")), match["stamp"], match["slice"] or "")


def _older(fact: Fact) -> Fact | None:
    return msgspec.structs.replace(fact, note="older") if isinstance(fact, RunSource) else None
