"""The configuration files of frameworks in a project, recognized by their keys."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator, Mapping, Sequence

import msgspec

from npulint.data.training_arguments import FileSignature, file_signatures
from npulint.facts.code import CallResult, Code, Const, Ref, SequenceDisplay, Table, Value
from npulint.facts.model import FileFacts, Span
from npulint.model.programs.configured.settings import Setting
from npulint.read.configuration import KIND, ConfigLeaf

# Configuration files that are Python modules of assignments, as those of MMEngine and of MMCV before it.

FRAMEWORK = "mmengine"
_KEYS = frozenset(
    "_base_ default_hooks default_scope dist_params env_cfg lr_config optim_wrapper optimizer_config".split()
)
_CONTAINER_TYPES = ("dict", "list", "tuple", "set")
_DEEP = 12
_MOST = 2000  # values of one file


def python_settings(file: FileFacts) -> tuple[Setting, ...]:
    """The settings in a module that is a configuration; empty for other code."""
    code = file.code
    if code is None or not _is_configuration(code):
        return ()
    settings: list[Setting] = []
    for name, value, span in _Leaves(code).all():
        if len(settings) == _MOST:
            break
        settings.append(Setting(FRAMEWORK, name, value, file.path, span, "file"))
    return tuple(settings)


def _is_configuration(code: Code) -> bool:
    """Whether a module only assigns values, and names what such a configuration has."""
    if len(code.blocks) != 1 or code.imports or _KEYS.isdisjoint(assignment.target for assignment in code.assignments):
        return False
    return all(isinstance(call.callee, Ref) and call.callee.name in _CONTAINER_TYPES for call in code.calls)


class _Leaves:
    """The values of a module by dotted keys, each at the innermost dict that has it."""

    def __init__(self, code: Code) -> None:
        self._code = code

    def all(self) -> Iterator[tuple[str, object, Span]]:
        for assignment in self._code.assignments:
            if assignment.target.isidentifier():
                span = Span(assignment.line, assignment.column, assignment.end_line, assignment.end_column)
                yield from self._below(assignment.target, assignment.value, span, _DEEP)

    def _below(self, name: str, value: Value, span: Span, depth: int) -> Iterator[tuple[str, object, Span]]:
        if isinstance(value, Const):
            yield name, value.value, span
            return
        for key, inner, place in self._entries(value, span) if depth else ():
            yield from self._below(f"{name}.{key}", inner, place, depth - 1)

    def _entries(self, value: Value, span: Span) -> Iterator[tuple[str, Value, Span]]:
        """The members of a dict or list."""
        if isinstance(value, CallResult):
            call = self._code.calls[value.call]
            here = Span(call.line, call.column, call.end_line, call.end_column)
            places = [Span(*keyword_span) for keyword_span in call.keyword_spans] or [here] * len(call.keywords)
            for (key, inner), place in zip(call.keywords, places, strict=True):
                yield key, inner, place
            for inner in call.args:
                yield from self._entries(inner, here)
        elif isinstance(value, SequenceDisplay):
            for number, inner in enumerate(value.items):
                yield str(number), inner, span
        elif isinstance(value, Table):
            places = [Span(*position) for position in value.places] or [span] * len(value.values)
            for written, inner, place in zip(value.keys, value.values, places, strict=True):
                if isinstance(written, Const) and isinstance(written.value, str):
                    yield written.value, inner, place


_MAKERS = frozenset(("_target_", "class_path", "target"))
_PACKAGES = {"lightning": frozenset(("lightning", "pytorch_lightning", "lightning_fabric"))}


class TrainingFile(msgspec.Struct, frozen=True):
    """A configuration file of a framework. A `start` trains by itself, other files are parts of a configuration."""

    path: str
    framework: str
    start: bool
    settings: tuple[Setting, ...]


class TrainingFiles:
    """The configuration files of a project by path."""

    def __init__(self, files: Iterable[FileFacts]) -> None:
        training_files = (training_file(file) for file in files if file.kind == KIND or file.code is not None)
        self.by_path = {file.path: file for file in training_files if file is not None}
        self._by_name: dict[str, list[str]] = {}
        for path in self.by_path:
            self._by_name.setdefault(posixpath.basename(path), []).append(path)

    def find(self, written: str, folders: Sequence[str]) -> TrainingFile | None:
        """The file that a path means in a program that runs in one of some folders: the one there, else the only one
        whose path ends so. ``*`` stands for unknown beginnings."""
        name = posixpath.basename(written)
        if name not in self._by_name:
            return None
        text = written.rpartition("*")[2].lstrip("/") if "*" in written else written
        for folder in folders:
            path = posixpath.normpath(posixpath.join(folder, text))
            if path in self.by_path:
                return self.by_path[path]
        tail = "/" + "/".join(part for part in text.split("/") if part not in ("", ".", ".."))
        fitting = [path for path in self._by_name[name] if tail.endswith(f"/{path}") or f"/{path}".endswith(tail)]
        return self.by_path[fitting[0]] if len(fitting) == 1 else None


def training_file(file: FileFacts) -> TrainingFile | None:
    """The configuration that a file is; None if its keys are those of no framework."""
    if file.code is not None:
        written = python_settings(file)
        return TrainingFile(file.path, written[0].framework, False, written) if written else None
    leaves = [fact for fact in file.facts if isinstance(fact, ConfigLeaf)]
    signature = _signature(leaves)
    if signature is None:
        return None
    settings = tuple(
        Setting(signature.framework, leaf.name.removeprefix(signature.prefix), leaf.value, file.path, leaf.span, "file")
        for leaf in leaves
    )
    return TrainingFile(file.path, signature.framework, signature.role == "start", settings)


def _signature(leaves: Sequence[ConfigLeaf]) -> FileSignature | None:
    keys: set[str] = set()
    for leaf in leaves:
        keys.update(".".join(leaf.key[:count]) for count in range(1, len(leaf.key) + 1))
    made = {leaf.name: leaf.value for leaf in leaves if leaf.key[-1] in _MAKERS and isinstance(leaf.value, str)}
    fitting = (file_signature for file_signature in file_signatures() if file_signature.fits(keys))
    return next((file_signature for file_signature in fitting if not _is_for_another(file_signature, made)), None)


def _is_for_another(signature: FileSignature, made: Mapping[str, str]) -> bool:
    """Whether the file names another class than one of the framework for the arguments: ``trainer: {_target_:
    training.trainer.Trainer}``."""
    own = _PACKAGES.get(signature.framework)
    named = [made[key] for name in _MAKERS if (key := f"{signature.prefix}{name}") in made]
    return own is not None and any(class_name.partition(".")[0] not in own for class_name in named)
