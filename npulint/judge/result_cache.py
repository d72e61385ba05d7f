"""The cache of a run: facts by file content, raw results of a project by the content of all its files."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING

import msgspec

from npulint import __version__
from npulint.core.budget import GENEROUS, REASONS, Budget
from npulint.core.cache import Cache, key
from npulint.core.progress import Advance, no_progress
from npulint.facts.model import FileFacts, decode, encode
from npulint.judge.settings import Settings
from npulint.read.files import LoadedFile, read

if TYPE_CHECKING:
    from npulint.read.supported_ops import OperatorLists


@cache
def engine_version() -> str:
    """The version of the code in cache keys: the release, and the newest modification time of npulint's modules."""
    newest = 0
    folders = [os.path.dirname(os.path.dirname(os.path.abspath(__file__)))]
    while folders:
        with os.scandir(folders.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
                elif entry.name.endswith((".py", ".json")):
                    newest = max(newest, entry.stat().st_mtime_ns)
    return f"{__version__}-{newest}"


def fingerprint(loaded: Sequence[LoadedFile], root: str, catalogue: str, settings: Settings) -> bytes:
    """The cache key of a project's results: path and content of every file, the catalogue, and the settings that affect
    evaluation."""
    parts: list[bytes | str] = [
        engine_version(),
        root,
        catalogue,
        settings.language(),
        repr(sorted(settings.target.items())),
        settings.torch_port,
        _tree(root, settings),
    ]
    if listed_ops(loaded):
        parts.append(configured_op_list(settings).digest)
    for item in loaded:
        parts += [item.file.path, item.file.kind, item.data if item.problem is None else item.problem.reason]
    return key(*parts)


def _tree(root: str, settings: Settings) -> str:
    """The folder that decides the roles of files (see `npulint.recognizers.file_role`): it is the same for a run over a
    project and one over a file of it, such as in a hook."""
    around = settings.tree_around(root)
    top = root if around is None else around
    return "" if top == "." else top.rstrip("/")


def listed_ops(files: Iterable[LoadedFile | FileFacts]) -> bool:
    """Whether the list of supported operators matters to these files: one of them is a TensorFlow graph."""
    return any(file.graph is not None and file.graph.framework == "tensorflow" for file in files)


def configured_op_list(settings: Settings) -> OperatorLists:
    """The supported operators from the lists or operator packages that the settings name."""
    from npulint.read.supported_ops import listed  # most projects have no graph

    return listed(settings.supported_ops, settings.supported_ops_within)


def cached_facts(
    loaded: Sequence[LoadedFile], store: Cache, advance: Advance = no_progress, budget: Budget = GENEROUS
) -> list[FileFacts]:
    """The facts of files, from the cache where it has them; facts that are read are stored. Graphs are not cached: they
    are large, and loading them is reading them; so it is of data files."""
    keys = [
        b"" if item.file.kind == "data" else key(engine_version(), item.file.path, item.file.kind, item.data)
        for item in loaded
    ]
    cached = store.get_many(list(filter(None, keys)))
    files: list[FileFacts] = []
    fresh: dict[bytes, bytes] = {}
    for item, name in zip(loaded, keys, strict=True):
        facts = _decoded(cached.get(name))
        if facts is None:
            facts = read(item, budget=budget)
            if name and item.problem is None and item.graph is None and item.facts is None and not ran_out([facts]):
                fresh[name] = encode(facts)
        files.append(facts)
        advance(1)
    store.put_many(fresh)
    return files


def ran_out(files: Iterable[FileFacts]) -> bool:
    """Whether a limit on time or memory was exceeded: another run may have more of it."""
    return any(problem.reason in REASONS for file in files for problem in file.problems)


def _decoded(data: bytes | None) -> FileFacts | None:
    if data is None:
        return None
    try:
        return decode(data)
    except (msgspec.MsgspecError, RecursionError):
        return None
