"""Findings in files that were not named, if the change of the named files since a git revision caused them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence

from npulint.commands.check.project_results import Evaluator
from npulint.core.cache import open_cache
from npulint.core.errors import ConfigError
from npulint.core.texts import say
from npulint.discover.files import DiscoverOptions
from npulint.discover.ignore import Excludes
from npulint.discover.kinds import PASSING, SourceFile, kinds_of
from npulint.discover.revision import AUTO, MissingObjectsError, Revision, UnknownRevisionError
from npulint.judge.catalogue.check import Catalogue
from npulint.judge.postprocess.record import FindingKey, RawResults, covered_keys, finding_keys
from npulint.judge.settings import Settings

Projects = Mapping[str, Sequence[SourceFile]]


def findings_caused_by_change(
    projects: Projects,
    outcomes: Sequence[RawResults],
    context: frozenset[str],
    catalogue: Catalogue,
    settings: Settings,
) -> frozenset[FindingKey]:
    """Keys of the findings in `context` files that do not occur when the named files have the content of
    ``settings.consequences_since``. Raises `ConfigError` for an unknown or incomplete revision."""
    there = {
        key
        for outcome in outcomes
        for finding in outcome.findings
        for key in covered_keys(finding)
        if key[1] in context
    }
    if not there:
        return frozenset()
    try:
        revision = Revision(settings.consequences_since)
        paths = {path for _, path, _ in there}
        affected = {root: files for root, files in projects.items() if any(file.path in paths for file in files)}
        before = _before(affected, context, revision, settings.discovery())
    except (UnknownRevisionError, MissingObjectsError) as error:
        word = settings.consequences_since
        if word == AUTO:
            return frozenset()
        text = "incomplete.revision" if isinstance(error, MissingObjectsError) else "unknown.revision"
        raise ConfigError([say(settings.language(), text, word=word)]) from error
    old: set[FindingKey] = set()
    evaluator = Evaluator(catalogue, settings, open_cache(settings.cache))
    for root, (files, data) in before.items():
        for finding in evaluator.project(root, files, data).findings:
            old |= finding_keys(finding)
    compared = {file.path for root in before for file in projects[root]}
    return frozenset(key for key in there - old if key[1] in compared)


def _before(
    projects: Projects, context: frozenset[str], revision: Revision, options: DiscoverOptions
) -> dict[str, tuple[list[SourceFile], dict[str, bytes]]]:
    """Per project its files at the revision, and the content of those that were named, by path. Projects in other git
    repositories are omitted, since they cannot be compared."""
    revision_files = revision.files(list(projects))
    projects = {
        root: files for root, files in projects.items() if any(file.location in revision_files for file in files)
    }
    now = {file.location for files in projects.values() for file in files}
    gone = _gone((path for path in revision_files if path not in now), options)
    roots: dict[str, str] = {}
    for root, files in projects.items():
        roots.update((path, root) for path in gone if _within(path, root))
        roots.update(
            (file.location, root) for file in files if file.path not in context and file.location in revision_files
        )
    bytes_of = dict(zip(roots, revision.contents([revision_files[path] for path in roots]), strict=True))
    return {root: _project(root, files, context, bytes_of, roots) for root, files in projects.items()}


def _project(
    root: str,
    files: Sequence[SourceFile],
    context: frozenset[str],
    bytes_of: Mapping[str, bytes],
    roots: Mapping[str, str],
) -> tuple[list[SourceFile], dict[str, bytes]]:
    kept = [file for file in files if file.path in context or file.location in bytes_of]
    data = {file.path: bytes_of[file.location] for file in kept if file.location in bytes_of}
    have = {file.location for file in files}
    for location in (path for path, home in roots.items() if home == root and path not in have):
        path = location.replace(os.sep, "/")
        data[path] = bytes_of[location]
        kept += [SourceFile(path, kind, location, root, len(data[path])) for kind in kinds_of(path)]
    return sorted(kept, key=lambda file: (file.path, file.kind)), data


def _within(path: str, root: str) -> bool:
    return root == "." or path.startswith(root.replace("/", os.sep) + os.sep)


def _gone(paths: Iterable[str], options: DiscoverOptions) -> list[str]:
    """Those of `paths` that were deleted since the revision and that a run would have read."""
    excludes = Excludes((*options.exclude, *options.extend_exclude), options.base)
    kinds = ((path, kinds_of(path)) for path in paths)
    read = [path for path, of in kinds if of and of not in PASSING and not os.path.lexists(path)]
    return [path for path in read if not excludes.within(path)]
