"""What a change of the named files causes in the rest of their project: a finding there belongs to whoever made the
change, and to nobody who reads the named files alone."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence

from npulint.cache import open_cache
from npulint.catalogue.check import Catalogue
from npulint.discover.files import DiscoverOptions
from npulint.discover.ignore import Excludes
from npulint.discover.kinds import PASSING, SourceFile, kinds_of
from npulint.discover.revision import AUTO, Revision, UnknownRevisionError
from npulint.errors import ConfigError
from npulint.postprocess.record import RawResults
from npulint.postprocess.scope import FindingKey, finding_key, finding_keys
from npulint.project_runner import Evaluator
from npulint.settings import Settings
from npulint.texts import say

Projects = Mapping[str, Sequence[SourceFile]]


def findings_caused_by_change(
    projects: Projects, outcomes: Sequence[RawResults], silent: frozenset[str], catalogue: Catalogue, settings: Settings
) -> frozenset[FindingKey]:
    """The findings in `silent` files that are not there when the named ones are as in the revision of the settings.
    Raises `ConfigError` for a revision that git does not know."""
    there = {finding_key(one) for outcome in outcomes for one in outcome.findings if one.path in silent}
    if not there:
        return frozenset()
    try:
        revision = Revision(settings.consequences_since)
        paths = {path for _, path, _ in there}
        affected = {root: files for root, files in projects.items() if any(file.path in paths for file in files)}
        before = _before(affected, silent, revision, settings.discovery())
    except UnknownRevisionError as error:
        if settings.consequences_since == AUTO:
            return frozenset()
        word = settings.consequences_since
        raise ConfigError([say(settings.language(), "unknown.revision", word=word)]) from error
    old: set[FindingKey] = set()
    evaluator = Evaluator(catalogue, settings, open_cache(settings.cache))
    for root, (files, given) in before.items():
        for one in evaluator.project(root, files, given).findings:
            old |= finding_keys(one)
    compared = {file.path for root in before for file in projects[root]}
    return frozenset(one for one in there - old if one[1] in compared)


def _before(
    projects: Projects, silent: frozenset[str], revision: Revision, options: DiscoverOptions
) -> dict[str, tuple[list[SourceFile], dict[str, bytes]]]:
    """The projects as they were: their files, and the bytes of those that were named. A project that the revision knows
    nothing of (it lies in a repository of its own) cannot be compared."""
    known = revision.files(list(projects))
    projects = {root: files for root, files in projects.items() if any(file.location in known for file in files)}
    now = {file.location for files in projects.values() for file in files}
    gone = _gone((path for path in known if path not in now), options)
    wanted: dict[str, str] = {}
    for root, files in projects.items():
        wanted.update((path, root) for path in gone if _within(path, root))
        wanted.update((file.location, root) for file in files if file.path not in silent and file.location in known)
    bytes_of = dict(zip(wanted, revision.contents([known[path] for path in wanted]), strict=True))
    return {root: _project(root, files, silent, bytes_of, wanted) for root, files in projects.items()}


def _project(
    root: str,
    files: Sequence[SourceFile],
    silent: frozenset[str],
    bytes_of: Mapping[str, bytes],
    wanted: Mapping[str, str],
) -> tuple[list[SourceFile], dict[str, bytes]]:
    kept = [file for file in files if file.path in silent or file.location in bytes_of]
    given = {file.path: bytes_of[file.location] for file in kept if file.location in bytes_of}
    have = {file.location for file in files}
    for location in (path for path, home in wanted.items() if home == root and path not in have):
        path = location.replace(os.sep, "/")
        given[path] = bytes_of[location]
        kept += [SourceFile(path, kind, location, root, len(given[path])) for kind in kinds_of(os.path.basename(path))]
    return sorted(kept, key=lambda file: (file.path, file.kind)), given


def _within(path: str, root: str) -> bool:
    return root == "." or path.startswith(root.replace("/", os.sep) + os.sep)


def _gone(paths: Iterable[str], options: DiscoverOptions) -> list[str]:
    """Those of `paths` that are no more, and that took part in the judgement while they were."""
    excludes = Excludes((*options.exclude, *options.extend_exclude), options.base)
    kinds = ((path, kinds_of(os.path.basename(path))) for path in paths)
    read = [path for path, of in kinds if of and of not in PASSING and not os.path.lexists(path)]
    return [path for path in read if not excludes.within(path)]
