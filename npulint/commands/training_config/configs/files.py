"""Resolves paths to configuration files of a project, and reads their values including those of base files."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from itertools import takewhile

from npulint.commands.training_config.configs.groups import composed
from npulint.commands.training_config.configs.modules import module_values
from npulint.commands.training_config.configs.values import ConfigValue, overlaid, plain
from npulint.discover.kinds import SourceFile
from npulint.facts.model import FileFacts
from npulint.model.values.context import Context
from npulint.read.configuration import KIND, ConfigLeaf, ConfigPackage
from npulint.read.files import load, read

_MOST = 4000  # leaves of a file; files with more are data
_CHAIN = 16  # maximum depth of base files
_BASES = ("_base_", "_BASE_", "BASE", "base_config", "__base__", "_base", "include", "import")
_ENDINGS = ("", ".yaml", ".yml", ".json")
_USUAL = frozenset(("config.json", "config.yaml", "config.yml", "settings.json", "params.json", "data.json"))

Choices = tuple[tuple[str, str], ...]
"""Options of hydra's config groups that a launcher selects."""


class ConfigFiles:
    """The possible configuration files of a project, read on demand."""

    def __init__(self, context: Context, files: Iterable[SourceFile]) -> None:
        self._context = context
        self._files = {file.path: file for file in files if file.kind == KIND}
        self._by_base: dict[str, list[str]] = {}
        for path in (*self._files, *context.project.modules):
            self._by_base.setdefault(posixpath.basename(path), []).append(path)
        self._values: dict[tuple[str, Choices], tuple[ConfigValue, ...]] = {}
        self._own_values: dict[str, tuple[ConfigValue, ...]] = {}
        self._packages: dict[str, str] = {}
        self._busy: list[str] = []
        self.read: list[FileFacts] = []

    def find(self, written: str, folders: Sequence[str]) -> str:
        """The path of the file that `written` refers to in a program that runs in one of `folders`; empty if ambiguous
        or missing."""
        text = written.replace("\\", "/")
        _, star, rest = text.rpartition("*")
        if star and "/" in rest:
            text = rest if rest.startswith("/") else rest.partition("/")[2]
        for ending in _ENDINGS:
            found = self._find(text + ending, folders, bool(star))
            if found:
                return found
        return ""

    def _find(self, text: str, folders: Sequence[str], open_start: bool) -> str:
        if "*" in text:
            return self._matching(text)
        if not open_start:
            for folder in ("", *folders) if text.startswith("/") else (*folders, ""):
                path = posixpath.normpath(posixpath.join(folder, text))
                if self._has(path):
                    return path
        parts = [part for part in text.split("/") if part not in ("", ".", "..")]
        if not parts:
            return ""
        best: list[tuple[tuple[int, int], str]] = []
        for path in self._by_base.get(parts[-1], ()):
            shared = _shared(path.split("/")[::-1], parts[::-1])
            enough = shared == len(parts) and (len(parts) > 1 or not open_start)
            if enough or (text.startswith("/") and not open_start and (shared > 1 or parts[-1] not in _USUAL)):
                near = max((_shared(path.split("/"), folder.split("/")) for folder in folders), default=0)
                best.append(((shared, near), path))
        best.sort(key=lambda one: one[0], reverse=True)
        return best[0][1] if best and (len(best) == 1 or best[0][0] != best[1][0]) else ""

    def _matching(self, pattern: str) -> str:
        """The only file that matches a path with wildcards for unknown parts; else empty."""
        parts = [part for part in pattern.split("/") if part not in ("", ".", "..")]
        tail = "*/" + "/".join(parts) if parts else ""
        last = parts[-1] if parts else "*"
        if not last.strip("*") or last.startswith("*."):
            return ""
        fitting = [
            path
            for base, paths in self._by_base.items()
            if fnmatchcase(base, last)
            for path in paths
            if fnmatchcase(f"/{path}", tail)
        ]
        return fitting[0] if len(fitting) == 1 else ""

    def _has(self, path: str) -> bool:
        return path in self._files or path in self._context.project.modules

    def values(self, path: str, choices: Choices = ()) -> tuple[ConfigValue, ...]:
        """The values of a file, after those of its bases and groups that it does not override."""
        config_values = self._values.get((path, choices))
        if config_values is None:
            if path in self._busy or len(self._busy) >= _CHAIN:
                return ()
            self._busy.append(path)
            try:
                config_values = self._values[path, choices] = self._whole(path, choices)
            finally:
                self._busy.pop()
        return config_values

    def _whole(self, path: str, choices: Choices) -> tuple[ConfigValue, ...]:
        folder = posixpath.dirname(path)
        own = self._own(path)
        config_values: tuple[ConfigValue, ...] = ()
        for base in _bases(own):
            target = self.find(base, [folder])
            if target and target != path:
                config_values = overlaid(config_values, self.values(target, choices))
        own = tuple(
            config_value for config_value in own if config_value.key[0] not in _BASES or len(config_value.key) > 1
        )
        if any(config_value.key[0] == "defaults" for config_value in own):
            own = composed(
                own,
                dict(choices),
                lambda name: self._group(folder, name),
                lambda inner: self.values(inner, choices),
                self._packages,
            )
        return overlaid(config_values, own)

    def _group(self, folder: str, name: str) -> str:
        """The file that an entry of a defaults list refers to."""
        while True:
            for ending in (".yaml", ".yml"):
                path = posixpath.normpath(posixpath.join(folder, name + ending))
                if path in self._files:
                    self._own(path)
                    return path
            if not folder or not self._busy or folder == posixpath.dirname(self._busy[0]):
                return ""
            folder = posixpath.dirname(folder)

    def _own(self, path: str) -> tuple[ConfigValue, ...]:
        config_values = self._own_values.get(path)
        if config_values is None:
            module = self._context.project.modules.get(path)
            config_values = module_values(self._context, module) if module is not None else self._read(path)
            self._own_values[path] = config_values
        return config_values

    def _read(self, path: str) -> tuple[ConfigValue, ...]:
        file = self._files.get(path)
        if file is None:
            return ()
        facts = read(load(file))
        self.read.append(facts)
        leaves = [fact for fact in facts.facts if isinstance(fact, ConfigLeaf)]
        for fact in facts.facts:
            if isinstance(fact, ConfigPackage):
                self._packages[path] = fact.name
        if len(leaves) > _MOST or (leaves and all(fact.key[0].isdigit() for fact in leaves)):
            return ()
        return tuple(ConfigValue(fact.key, plain(fact.value), path, fact.span) for fact in leaves)


def _bases(values: tuple[ConfigValue, ...]) -> list[str]:
    found: list[str] = []
    for value in values:
        if value.key[0] in _BASES and len(value.key) == 1:
            entries = value.value if isinstance(value.value, tuple) else (value.value,)
            found += [text for text in entries if isinstance(text, str) and "." in text]
    return found[:_CHAIN]


def _shared(first: Sequence[str], second: Sequence[str]) -> int:
    """How many parts two paths have in common from the beginning."""
    pairs = zip(first, second, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
