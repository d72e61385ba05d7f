"""Writes changed files atomically: at any time a file has its old or its new content. Symbolic links are never
followed."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from itertools import pairwise

import msgspec

from npulint.core.atomic_files import Folder, name_of_copy, sweep, temporary
from npulint.core.whole_files import liken, overwrite
from npulint.judge.findings import RunResult
from npulint.judge.fix_results import FileChange, Fixed, FixResult, Refusal

_LIMIT = 40_000_000  # bytes; files of twice that size are never evaluated

Move = Callable[[], None]
"""Moves a staged file to its place. Raises `OSError`; then the file is unchanged."""


class UnwrittenError(OSError):
    """A file that was not written. `reason` is a text key below ``fix.refused.``: ``changed-meanwhile``, ``link`` (it
    is a symbolic link), ``folder-link`` (its folder leads out of the project), ``incomplete`` (it could not be
    restored from the copy named `detail`) or ``not-together`` (another file of the same fix was not written)."""

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.detail = detail


def write(change: FileChange) -> None:
    """Write one file if its content is still that of `change`, or it is new. Raises `OSError`; then the file is
    unchanged."""
    for error in write_together([change]).values():
        raise error


def write_together(changes: Sequence[FileChange]) -> dict[str, OSError]:
    """Write the files of one fix, all or none: new ones first, because others may name them. Returns the errors by
    path, empty on success."""
    ordered = sorted(changes, key=lambda file_change: not file_change.new)
    path = ""
    written: list[FileChange] = []
    try:
        with ExitStack() as staged:
            moves: list[Move | None] = []
            for change in ordered:
                path = change.path
                moves.append(_staged(change, staged))
            for change, move in zip(ordered, moves, strict=True):
                path = change.path
                if move is not None:
                    move()
                    written.append(change)
    except BaseException as error:
        for change in reversed(written):
            _undo(change)
        if not isinstance(error, OSError):
            raise
        return {
            path: error,
            **{file_change.path: UnwrittenError("not-together") for file_change in changes if file_change.path != path},
        }
    return {}


def _staged(change: FileChange, staged: ExitStack) -> Move | None:
    """Write the new content next to the file and return what moves it there; None if the file has it already."""
    location = change.location or change.path
    folder, name = staged.enter_context(_folder(change, location)), os.path.basename(location)
    if change.new:
        made = staged.enter_context(temporary(folder, name, change.after, _mode(change.after)))
        return partial(_create, change, folder, name, made)
    status = _unchanged(change, folder, name)
    if status is None:
        return None
    if not folder.writable(name):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), change.path)
    alike = partial(liken, folder, name, status)
    if status.st_nlink > 1:
        made = staged.enter_context(temporary(folder, name, change.before, prepare=alike))
        return partial(_in_place, change, folder, name, made, status)
    made = staged.enter_context(temporary(folder, name, change.after, prepare=alike))
    return partial(_replace, folder, name, made, status)


def _mode(data: bytes) -> int:
    """The mode of a new file, before the umask: scripts can be started."""
    return 0o777 if data.startswith(b"#!") else 0o666


@contextlib.contextmanager
def _folder(change: FileChange, location: str) -> Iterator[Folder]:
    """The folder of a file. Raises `UnwrittenError` if it leads out of the root."""
    path = os.path.dirname(location) or "."
    try:
        folder = Folder(path)
    except (FileNotFoundError, NotADirectoryError) as error:
        raise UnwrittenError("changed-meanwhile") from error
    with folder:
        if change.root:
            place, root = os.path.realpath(path), os.path.realpath(change.root)
            if (place != root and not place.startswith(os.path.join(root, ""))) or not folder.is_at(place):
                raise UnwrittenError("folder-link")
        yield folder


def _unchanged(change: FileChange, folder: Folder, name: str) -> os.stat_result | None:
    """The file status if the content is still the old one; None if it is the new one already. Raises
    `UnwrittenError`."""
    try:
        if stat.S_ISLNK(folder.status(name).st_mode):
            raise UnwrittenError("link")
        data, status = folder.read(name, _LIMIT)
    except FileNotFoundError as error:
        raise UnwrittenError("changed-meanwhile") from error
    except OSError as error:
        raise UnwrittenError("link") if error.errno == errno.ELOOP else error from None
    if data == change.after:
        return None
    if data != change.before:
        raise UnwrittenError("changed-meanwhile")
    return status


def _replace(folder: Folder, name: str, made: str, status: os.stat_result) -> None:
    """Replace the file by the staged one."""
    _same(folder, name, status)
    folder.replace(made, name)
    folder.sync()


def _same(folder: Folder, name: str, status: os.stat_result) -> None:
    """Raise `UnwrittenError` if the file is not the one that was read."""
    try:
        now = folder.status(name)
    except FileNotFoundError as error:
        raise UnwrittenError("changed-meanwhile") from error
    if _identity(now) != _identity(status):
        raise UnwrittenError("changed-meanwhile")


def _create(change: FileChange, folder: Folder, name: str, made: str) -> None:
    """Give the staged file the name of the new one; never overwrites one created meanwhile."""
    try:
        folder.create(made, name)
    except FileExistsError as error:
        if stat.S_ISLNK(folder.status(name).st_mode) or folder.read(name, _LIMIT)[0] != change.after:
            raise UnwrittenError("changed-meanwhile") from error


def _in_place(change: FileChange, folder: Folder, name: str, made: str, status: os.stat_result) -> None:
    """Overwrite a file with several hard links; its copy stays next to it until it is complete."""
    _same(folder, name, status)
    copy = name_of_copy(name, change.after)
    folder.replace(made, copy)
    folder.sync()
    try:
        overwrite(folder, name, change.after)
    except BaseException:
        try:
            overwrite(folder, name, change.before)
        except OSError as error:
            raise UnwrittenError("incomplete", copy) from error
        folder.remove(copy)
        raise
    folder.remove(copy)


def _undo(change: FileChange) -> None:
    """Restore a written file as far as possible; one that somebody else has changed since stays."""
    if not change.new:
        write_together([FileChange(change.path, change.after, change.before, False, change.location, change.root)])
        return
    location = change.location or change.path
    with contextlib.suppress(OSError), _folder(change, location) as folder:
        name = os.path.basename(location)
        if folder.read(name, _LIMIT)[0] == change.after:
            folder.remove(name)


def _identity(status: os.stat_result) -> tuple[int, ...]:
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


# Writes the files of a fix result, and says what of it really happened.

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
        for first, other in pairwise(path for path in fix.paths if path in leader):
            leader[find(other)] = find(first)
    groups: dict[str, list[FileChange]] = {}
    for file in sorted(files, key=lambda file: not file.new):
        groups.setdefault(find(file.path), []).append(file)
    return list(groups.values())
