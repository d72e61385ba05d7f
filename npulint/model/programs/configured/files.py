"""The configuration files of frameworks in a project, recognized by their keys."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Mapping, Sequence

import msgspec

from npulint.data.training_arguments import FileSignature, file_signatures
from npulint.facts.model import FileFacts
from npulint.model.programs.configured.python_files import python_settings
from npulint.model.programs.configured.settings import Setting
from npulint.read.configuration import KIND, ConfigLeaf

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
        self.by_path = {one.path: one for one in training_files if one is not None}
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
    return own is not None and any(one.partition(".")[0] not in own for one in named)
