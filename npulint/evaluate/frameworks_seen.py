"""Which frameworks the files of a project import, for reports on projects in which no training program is found."""

from __future__ import annotations

from collections.abc import Iterable

from npulint.facts.model import FileFacts
from npulint.findings import FrameworkUse

_SHOWN = ("tensorflow", "keras", "tf_slim", "npu_bridge", "npu_device", "torch", "torch_npu", "lightning")
_STARTING = {"pytorch_lightning": "lightning"}


def frameworks_seen(files: Iterable[FileFacts]) -> list[FrameworkUse]:
    """The frameworks and adapters that Python files import: for each the number of files and the first import."""
    places: dict[str, list[tuple[str, int]]] = {name: [] for name in _SHOWN}
    for file in files:
        found: dict[str, int] = {}
        for record in () if file.code is None else file.code.imports:
            root = (record.module or record.name).partition(".")[0] if not record.level else ""
            found.setdefault(_STARTING.get(root, root), record.line)
        for name, line in found.items():
            if name in places:
                places[name].append((file.path, line))
    return [FrameworkUse(name, len(found), *min(found)) for name, found in places.items() if found]


def joined(uses: Iterable[FrameworkUse]) -> list[FrameworkUse]:
    """What is seen in several projects as one."""
    found: dict[str, FrameworkUse] = {}
    for one in uses:
        other = found.get(one.framework)
        first = one if other is None else min(one, other, key=lambda use: (use.path, use.line))
        files = one.files + (0 if other is None else other.files)
        found[one.framework] = FrameworkUse(one.framework, files, first.path, first.line)
    return sorted(found.values(), key=lambda use: _SHOWN.index(use.framework))
