"""Paths of files: which file an expression names, also when the path begins at the script (``__file__``)."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Sequence
from itertools import product

import msgspec

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.attributes import Flag
from npulint.facts.code import Const
from npulint.model.values.context import Context, once
from npulint.model.values.cursors import CallSite, Expr, module_scopes
from npulint.model.values.objects import assumed_item
from npulint.model.values.walker import walker

_DEPTH = 16
_STEPS = 300
_MOST = 8  # alternatives that are followed
_SAME = frozenset(
    """os.path.abspath os.path.realpath os.path.normpath os.path.expanduser os.fspath str bytes pathlib.Path
    pathlib.PurePath pathlib.PosixPath os.fsencode os.fsdecode""".split()
)
_SAME_LAST = frozenset(
    "resolve absolute as_posix expanduser encode decode as_bytes as_str as_text as_str_any path_to_str".split()
)
_HERE = frozenset(("os.getcwd", "pathlib.Path.cwd"))
_COPIED = lazy_compile(r"^/home/(?:ma-user|work)/(?:modelarts/)?(?:work|user-job-dir)/")
"""Folders into which ModelArts copies the code of a training job."""
_WRITING = ("w", "a", "x")


class FilePath(msgspec.Struct, frozen=True):
    """A path. `anchored`: it begins at a file of the project, so it is written as the paths of the project's files
    are; others are relative to the working directory, or absolute. `chosen`: it is one of several, or an option names
    it; `sure`: where no option names another one, there are no others."""

    text: str
    anchored: bool = False
    chosen: bool = False
    sure: bool = True

    def to(self, other: FilePath) -> FilePath:
        """This folder joined with another path."""
        is_whole = other.anchored or other.text.startswith("/")
        return other if is_whole else self._with(posixpath.join(self.text, other.text), other)

    def followed_by(self, other: FilePath) -> FilePath:
        """The path with another text after it."""
        return self._with(self.text + other.text, other)

    def renamed(self, text: str) -> FilePath:
        """Another path that is as certain."""
        return msgspec.structs.replace(self, text=text)

    def _with(self, text: str, other: FilePath) -> FilePath:
        return FilePath(text, self.anchored, self.chosen or other.chosen, self.sure and other.sure)

    @property
    def folder(self) -> FilePath:
        """The folder around it; of an anchored path also those above the project's."""
        path = posixpath.normpath(self.text)
        outside = (self.anchored and path in (".", "..")) or path.endswith("/..")
        return self.renamed(posixpath.join(path, "..") if outside else posixpath.dirname(path))


Paths = list[FilePath]


def file_paths(value: Expr) -> Paths:
    """The paths that an expression is; empty when one of them is not known, or may be given by an option."""
    paths = possible_paths(value)
    return [] if any(file_path.chosen or not file_path.sure for file_path in paths) else paths


@walker(depth=_DEPTH, otherwise=list, steps=_STEPS)
def possible_paths(value: Expr) -> Paths:
    """The paths that an expression may be, also those that options name by default or that launchers pass; empty when
    one of them is not known."""
    if value.written == "__file__":
        return [FilePath(value.module.path, True)]
    head, _, last = value.written.rpartition(".")
    if last == "parent" and head:
        return [possible_path.folder for possible_path in possible_paths(value.scope.named(head, value.line))]
    values = value.known
    if isinstance(values.single, str) and not values.symbol:
        return [FilePath(values.single)]
    texts = [text for text in values.values[:_MOST] if isinstance(text, str) and text]
    if texts:
        return [FilePath(text, chosen=True, sure=values.exact) for text in texts]
    if value.call is not None:
        return _of_call(value.call)
    if value.operator:
        return _of_operation(value)
    return [] if values.symbol or values.values else _each(value.sources)


def _each(values: Sequence[Expr]) -> Paths:
    """The paths of all of some alternatives; empty when one is unknown."""
    file_pathses = [possible_paths(value) for value in values[:_MOST]]
    return [path for paths in file_pathses for path in paths] if all(file_pathses) else []


def _of_operation(value: Expr) -> Paths:
    operands, attribute = value.operands(), value.attribute
    if attribute is not None:
        return (
            [possible_path.folder for possible_path in possible_paths(attribute[0])] if attribute[1] == "parent" else []
        )
    if value.operator == "/":
        return _combined(operands, lambda a, b: a.to(b))
    if value.operator in ("+", "join"):
        return _combined(operands, _concatenated)
    if value.operator == "%" and operands[0].text:
        return _filled(operands[0], "%s", operands[1].items or operands[1:])
    if value.operator in ("or", "if"):
        return _each(value.alternatives)
    if value.operator == "[]":
        return _of_element(operands[0], operands[1].single)
    item = assumed_item(value)
    return [] if item is None else possible_paths(item)


def _of_element(holder: Expr, index: object) -> Paths:
    """``PATHS["list"]``, ``os.path.split(path)[0]``, ``Path(path).parents[1]``."""
    shown = [display.element(index) for display in holder.displays if isinstance(index, str | int)]
    if shown and None not in shown:
        return _each([expr for expr in shown if expr is not None])
    call, attribute = holder.call, holder.attribute
    if call is not None and call.name == "os.path.split" and index == 0 and call.args:
        return [possible_path.folder for possible_path in possible_paths(call.args[0])]
    head, _, last = holder.written.rpartition(".")
    inner = attribute[0] if attribute is not None else holder.scope.named(head, holder.line) if head else None
    if inner is None or "parents" not in (last, attribute and attribute[1]) or not isinstance(index, int):
        return []
    element = possible_paths(inner)
    for _ in range(index + 1 if 0 <= index < _DEPTH else 0):
        element = [file_path.folder for file_path in element]
    return element


def _of_call(call: CallSite) -> Paths:
    name, last, receiver = call.name, call.last, call.receiver
    if name in _HERE:
        return [FilePath("")]
    if name in ("os.path.join", "pathlib.Path", "pathlib.PurePath"):
        return _combined(call.args, lambda a, b: a.to(b))
    if last == "joinpath" and receiver is not None:
        return _combined([receiver, *call.args], lambda a, b: a.to(b))
    if last in ("with_name", "with_suffix") and receiver is not None and call.args:
        return _renamed(last, possible_paths(receiver), call.args[0].single)
    if name == "os.path.dirname" and call.args:
        return [possible_path.folder for possible_path in possible_paths(call.args[0])]
    if name in _SAME or last in _SAME_LAST:
        source = call.args[0] if call.args and last not in ("encode", "decode") else receiver
        return [] if source is None else possible_paths(source)
    if last == "format" and receiver is not None and receiver.text:
        return _filled(receiver, "{}", call.args)
    return [] if call.target is None or call.target.kind == "class" else _each(call.target.returns)


def _renamed(how: str, paths: Paths, given: object) -> Paths:
    if not isinstance(given, str):
        return []
    if how == "with_name":
        return [path.folder.to(FilePath(given)) for path in paths]
    return [path.renamed(posixpath.splitext(path.text)[0] + given) for path in paths]


def _concatenated(before: FilePath, after: FilePath) -> FilePath:
    return after if after.anchored else before.followed_by(after)


def _filled(template: Expr, placeholder: str, values: Sequence[Expr]) -> Paths:
    """A template with its placeholders filled in order."""
    pieces = [template.sibling(Const(piece)) for piece in template.text.split(placeholder)]
    if len(pieces) - 1 != len(values):
        return []
    between = [part for value, piece in zip(values, pieces[1:], strict=True) for part in (value, piece)]
    return _combined([pieces[0], *between], _concatenated)


def _combined(parts: Sequence[Expr], join: Callable[[FilePath, FilePath], FilePath]) -> Paths:
    """All paths that consist of the paths of some parts."""
    combined: Paths = []
    alternatives = [possible_paths(part) for part in parts]
    for chosen in product(*alternatives) if parts and all(alternatives) else ():
        path = chosen[0]
        for file_path in chosen[1:]:
            path = join(path, file_path)
        combined.append(path)
        if len(combined) >= _MOST:
            break
    return combined


class ProjectFiles:
    """The files of a project, by which a path is judged. `root` is its folder."""

    def __init__(self, paths: Iterable[str] = (), root: str = "") -> None:
        self._paths = frozenset(posixpath.normpath(path) for path in paths)
        self._names = frozenset(map(posixpath.basename, self._paths))
        self._root = posixpath.normpath(root) if root else "."

    def has(self, path: FilePath) -> Flag:
        """Whether the project has a file: an anchored path is exact, of another one the name counts. An absolute path
        is judged where the project is, or is copied to by ModelArts; what lies elsewhere is unknown."""
        text = posixpath.normpath(path.text)
        if path.anchored:
            inside = self._root == "." or text.startswith(self._root + "/")
            return "yes" if text in self._paths else "no" if inside and not text.startswith("..") else "unknown"
        if posixpath.basename(text) in self._names:
            return "yes"
        is_elsewhere = text.startswith(("/", "~", "..")) or "$" in text or "{" in text
        return "no" if not is_elsewhere or self._is_here(text) else "unknown"

    def shown(self, path: FilePath) -> str:
        """A path for messages: an anchored one from the project's folder."""
        return posixpath.relpath(path.text, self._root) if path.anchored else path.text

    def _is_here(self, path: str) -> bool:
        folder = posixpath.basename(self._root)
        return bool(_COPIED.match(path)) or (folder not in ("", ".") and f"/{folder}/" in path)


def is_written(context: Context, path: FilePath) -> bool:
    """Whether the project itself writes a file of this name."""
    return posixpath.basename(path.text) in {
        posixpath.basename(written_path) for written_path in written_paths(context)
    }


@once
def written_paths(context: Context) -> frozenset[str]:
    """The paths of the files that the project writes, as written."""
    paths: set[str] = set()
    for module in module_scopes(context):
        for call in module.calls_named("open", "GFile", "write_text", "copy", "copyfile"):
            target = _target(call)
            paths.update(file_path.text for file_path in ([] if target is None else file_paths(target)))
    return frozenset(paths)


def _target(call: CallSite) -> Expr | None:
    """What a call writes to; None where it only reads."""
    if call.last == "write_text":
        return call.receiver
    if call.last in ("copy", "copyfile"):
        return call.argument("dst", 1)
    mode = call.argument("mode", 1)
    is_writing = mode is not None and isinstance(mode.single, str) and mode.single.startswith(_WRITING)
    return call.argument("file", 0) if is_writing else None
