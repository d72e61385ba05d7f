"""The files of one project during fixing, in memory only."""

from __future__ import annotations

import contextlib
import os
import re
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from npulint.core.lazy_regex import lazy_compile
from npulint.discover.kinds import SourceFile, kinds_of
from npulint.facts.model import FileFacts
from npulint.fix.model import FixRefused, Text
from npulint.fix.python.aligned import realigned
from npulint.fix.python.device_checks import without_unread
from npulint.fix.python.tree import Tree, tree_of
from npulint.fix.python.unused import looks_up, without_unused
from npulint.fix.source import SourceDocument, edited_text
from npulint.fix.verify import objection
from npulint.judge.findings import Edit
from npulint.judge.fix_results import FileChange
from npulint.read.files import LoadedFile, load

_FIRST = ("python", "notebook", "shell", "mixlist", "dockerfile", "cuda", "dependency", "configuration", "data")
"""The kind that a file of several kinds is edited as, by precedence."""


class FixWorkspace:
    """The files of the project at `root` (as in results). Relative paths are opened relative to `folder` (empty:
    working directory). Only the `named` paths may change, and new files be created if `growing`. `content` replaces
    files on disk. The folders of the paths in `explicit` may lie anywhere."""

    def __init__(
        self,
        root: str,
        sources: Sequence[SourceFile],
        named: Collection[str],
        content: Mapping[str, bytes],
        folder: str = "",
        growing: bool = True,
        explicit: Collection[str] = (),
    ) -> None:
        self._root = root
        self._folder = folder
        self._named = named
        self._growing = growing
        self._explicit = explicit
        self._on_disk = {source.path: source.location for source in sources if source.path not in content}
        self._loaded = [load(source, content.get(source.path)) for source in sources]
        self._before = {item.file.path: item.data for item in self._loaded if item.problem is None}
        self._known: dict[str, list[SourceFile]] = {}
        for source in sources:
            self._known.setdefault(source.path, []).append(source)
        self.reset()

    def reset(self) -> None:
        """Discard all changes."""
        self._now: dict[str, bytes] = {}
        self._documents: dict[str, SourceDocument] = {}
        self._origins: dict[str, list[int]] = {}

    def document(self, path: str) -> SourceDocument:
        """The current document at a path, empty for a new file. Raises `FixRefused`: ``encoding`` and
        ``unreadable`` for files that are not text, ``not-named`` for existing files outside of the project,
        ``outside`` for new ones."""
        source_document = self._documents.get(path)
        if source_document is None:
            source_document = self._documents[path] = self._document(path)
        return source_document

    def may_change(self, path: str) -> bool:
        """Whether a file was named or is new."""
        return path in self._named or (self._growing and path not in self._known)

    def is_link(self, path: str) -> bool:
        """Whether a file is a symbolic link, which is never changed."""
        return path in self._on_disk and os.path.islink(self._on_disk[path])

    def put(self, data: Mapping[str, bytes], edits: Mapping[str, Sequence[Edit]]) -> None:
        """Store new bytes of files and the edits that produced them."""
        for path, after in data.items():
            self._origins[path] = _carried(self._lines(path), edits[path])
            self._now[path] = after
            self._documents.pop(path, None)

    def line(self, path: str, line: int) -> int:
        """The original number of a line."""
        lines = self._origins.get(path)
        return line if lines is None or not 0 < line <= len(lines) else lines[line - 1]

    def loaded(self) -> list[LoadedFile]:
        """The current files to evaluate, new ones included."""
        loaded_files = [
            LoadedFile(item.file, self._now[item.file.path]) if item.file.path in self._now else item
            for item in self._loaded
        ]
        for path in self._new():
            base = next((item.file.base for item in self._loaded), self._root)
            data = self._now[path]
            loaded_files += [
                LoadedFile(SourceFile(path, kind, self._location(path), base, len(data)), data)
                for kind in kinds_of(path)
            ]
        return sorted(loaded_files, key=lambda item: (item.file.path, item.file.kind))

    def bytes_of(self) -> dict[str, bytes]:
        """The current bytes of all readable files."""
        return {**self._before, **self._now}

    def original_bytes(self) -> dict[str, bytes]:
        """The original bytes of all readable files."""
        return dict(self._before)

    @property
    def paths(self) -> Collection[str]:
        """The paths of all files of the project."""
        return self._known.keys()

    def matches(self, files: Iterable[FileFacts]) -> bool:
        """Whether these facts were read from the original content: someone may change a file while it is checked."""
        checksums = {(file.path, file.kind): file.checksum for file in files if file.checksum}
        read = ((checksums.get((item.file.path, item.file.kind)), item.data) for item in self._loaded)
        return all(checksum is None or checksum == zlib.crc32(data) for checksum, data in read)

    def changed(self) -> list[str]:
        """The paths of changed files without new ones."""
        return sorted(self._now.keys() & self._before.keys())

    def original(self, path: str) -> SourceDocument:
        """The original document of an existing file."""
        now = self.document(path)
        return SourceDocument(path, now.text.kind, self._before[path])

    def imported_at_first(self, package: str) -> bool:
        """Whether some Python file originally imported a package."""
        named = lazy_compile(rf"^[ \t]*(?:import|from)[ \t]+{package}\b", re.MULTILINE)
        return any(
            named.search(self._before.get(path, b"").decode("utf-8", "replace"))
            for path, sources in self._known.items()
            if any(source.kind == "python" for source in sources)
        )

    def python_texts(self) -> Iterator[tuple[str, str]]:
        """The current text of all decodable Python files by path."""
        for path, sources in self._known.items():
            if any(source.kind == "python" for source in sources):
                with contextlib.suppress(FixRefused):
                    yield path, self.document(path).text.text

    def changes(self) -> list[FileChange]:
        """The changed and new files."""
        changed = []
        for path, after in sorted(self._now.items()):
            before, new = self._before.get(path, b""), path not in self._known
            if new or before != after:
                location = self._location(path) if new else self._known[path][0].location
                root = "" if path in self._explicit else os.path.join(self._folder, self._root)
                changed.append(FileChange(path, before, after, new, location, root))
        return changed

    def _new(self) -> list[str]:
        return [path for path in self._now if path not in self._known]

    def _document(self, path: str) -> SourceDocument:
        sources = self._known.get(path)
        if sources is None:
            return SourceDocument(path, self._kind_of_new(path), self._now.get(path, b""), path not in self._now)
        data = self._now.get(path, self._before.get(path))
        if data is None:
            raise FixRefused("unreadable")
        kinds = {source.kind for source in sources}
        return SourceDocument(path, next((kind for kind in _FIRST if kind in kinds), "other"), data)

    def _kind_of_new(self, path: str) -> str:
        """The kind that a new file is edited as."""
        location = self._location(path)
        if os.path.lexists(location):
            raise FixRefused("not-named")
        if not _within(self._root, path) or not os.path.isdir(os.path.dirname(location) or "."):
            raise FixRefused("outside")
        return next(iter(kinds_of(path)), "other")

    def _location(self, path: str) -> str:
        return os.path.join(self._folder, path.replace("/", os.sep))

    def _lines(self, path: str) -> list[int]:
        origins = self._origins.get(path)
        return origins or list(range(1, self.document(path).text.text.count("\n") + 2))


def _within(root: str, path: str) -> bool:
    """Whether a path lies below a folder, both as in results."""
    if any(part in ("", ".", "..") for part in path.lstrip("/").split("/")) or "\\" in path or "\0" in path:
        return False
    if root == ".":
        return not path.startswith("/") and ":" not in path.partition("/")[0]
    return path.startswith(root.rstrip("/") + "/")


def _carried(lines: Sequence[int], edits: Sequence[Edit]) -> list[int]:
    """The original line number of each line after some edits."""
    carried = list(lines)
    for edit in sorted(edits, key=lambda edit: edit.span, reverse=True):
        first, last = edit.span.line - 1, edit.span.end_line - 1
        count = edit.text.count("\n") + 1
        carried[first : last + 1] = [carried[min(first + place, last)] for place in range(count)]
    return carried


# Cleanup of Python files after all fixes: unused imports, unused device checks, alignment below brackets.

_CleanedUp = tuple[dict[str, bytes], dict[str, tuple[Edit, ...]]]


def cleaned_up(workspace: FixWorkspace) -> _CleanedUp:
    """The cleaned-up bytes by path, and the edits that produce them."""
    data: dict[str, bytes] = {}
    edits: dict[str, tuple[Edit, ...]] = {}
    for path in workspace.changed():
        text = workspace.document(path).text
        try:
            some = tuple(_edits(workspace, text))
            after = workspace.document(path).edited(some)
            if some and not objection(text, edited_text(text.text, some), some):
                data[path], edits[path] = after, some
        except (FixRefused, RecursionError, MemoryError):
            continue
    return data, edits


def _edits(workspace: FixWorkspace, text: Text) -> list[Edit]:
    if text.kind != "python" or text.new:
        return []
    before, after = Tree(workspace.original(text.path).text), tree_of(text)
    stem = text.path.rpartition("/")[2].removesuffix(".py")

    def exported(name: str) -> bool:
        return any(looks_up(other, stem, name) for path, other in workspace.python_texts() if path != text.path)

    gone = [*without_unused(before, after, exported), *without_unread(before, after, exported)]
    return [*gone, *realigned(before, after, lambda line: workspace.line(text.path, line))]
