"""Writes the files of a fix result, and says what of it really happened."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

import msgspec

from npulint.core.atomic_files import sweep
from npulint.fix.write import UnwrittenError, write_together
from npulint.judge.findings import RunResult
from npulint.judge.fix_results import FileChange, Fixed, FixResult, Refusal

_TOGETHER = 200  # files; each needs two descriptors, and systems permit about a thousand


def write_all(fixes: FixResult) -> dict[str, Refusal]:
    """Write the files; those that one fix changes all or none, unless there are hundreds. Returns the refusals of the
    files that stay as they were, by path."""
    failed: dict[str, OSError] = {}
    for group in _groups(fixes.files, fixes.fixed):
        for some in [group] if len(group) <= _TOGETHER else [[file_change] for file_change in group]:
            failed |= write_together(some)
    return {path: _refusal(path, failed[path]) for path in sorted(failed)}


def as_written(fixes: FixResult, refused: Mapping[str, Refusal], result: RunResult) -> FixResult:
    """The fix result if some files were `refused`; `result` is that of a run over the files as they are now."""
    stayed: list[Refusal] = []
    fixed: list[Fixed] = []
    for fix in fixes.fixed:
        reason = refused.get(fix.path) or next((refused[path] for path in fix.paths if path in refused), None)
        if reason is None:
            fixed.append(fix)
        else:
            others = () if reason.path == fix.path else (reason.path,)
            stayed.append(Refusal(fix.code, fix.name, fix.path, fix.line, reason.reason, reason.detail, others))
    files = [file for file in fixes.files if file.path not in refused]
    both = sorted(
        {*fixes.refused, *stayed}, key=lambda refusal: (refusal.path, refusal.line, refusal.code, refusal.reason)
    )
    return msgspec.structs.replace(fixes, files=files, fixed=fixed, refused=both, result=result)


def remove_left_over(folders: Iterable[str]) -> list[tuple[str, str]]:
    """Remove the temporary files of killed runs. Returns the files that such a run may have left incomplete, each with
    the copy of its previous content."""
    return [(_in(folder, file), _in(folder, copy)) for folder in folders for file, copy in sweep(folder)]


def _in(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder else name


def _refusal(path: str, error: OSError) -> Refusal:
    if isinstance(error, UnwrittenError):
        return Refusal("", "", path, 0, error.reason, error.detail)
    return Refusal("", "", path, 0, "unwritable", error.strerror or str(error))


def _groups(files: Sequence[FileChange], fixed: Sequence[Fixed]) -> list[list[FileChange]]:
    """The files, those of one fix together."""
    leader = {file_change.path: file_change.path for file_change in files}

    def find(path: str) -> str:
        while leader[path] != path:
            path = leader[path]
        return path

    for fix in fixed:
        for one, other in pairwise(path for path in fix.paths if path in leader):
            leader[find(other)] = find(one)
    groups: dict[str, list[FileChange]] = {}
    for file in sorted(files, key=lambda file: not file.new):
        groups.setdefault(find(file.path), []).append(file)
    return list(groups.values())
