"""Resolves paths to configuration files of a project, and reads their values including those of base files."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import takewhile

import msgspec

from npulint.commands.training_config.configs.values import ConfigValue, overlaid, plain
from npulint.commands.training_config.provenance.variables import spot
from npulint.discover.kinds import SourceFile
from npulint.facts.model import FileFacts, Span
from npulint.model.code.module import Module
from npulint.model.values.context import Context
from npulint.model.values.cursors import AssignmentSite, Expr, assignment_at, scope_at
from npulint.model.values.walker import walker
from npulint.read.configuration import KIND, ConfigLeaf, ConfigPackage
from npulint.read.files import load, read

# Configurations that are Python modules, as in mmcv: assignments of literals and ``dict(...)`` calls.

_DEPTH = 24
_MOST = 4000
_STEPS = 20_000  # values of one module, counting a name with everything it refers to
_END = 1 << 30  # a line after all others
_DICTS = frozenset(
    ("dict", "ConfigDict", "edict", "EasyDict", "CN", "CfgNode", "AttrDict", "OrderedDict", "Munch", "Dict")
)

_NOT_PLAIN = object()


class _Reading(msgspec.Struct):
    """The values found so far, and how many expressions were visited."""

    values: list[ConfigValue] = []
    steps: int = 0


def module_values(context: Context, module: Module) -> tuple[ConfigValue, ...]:
    """The leaves of the module-level assignments of a module. Their places are those of the innermost enclosing
    argument, call or assignment that is recorded."""
    reading = _Reading()
    scope = scope_at(context, module, 0)
    for name, binds in module.names.get(0, {}).items():
        bind = assignment_at(context, module, binds[-1])
        if bind.scope.kind == "module" or len(binds) == 1:
            _add(scope.expr(bind.record.value, _END), reading, (name,), bind.span)
    return tuple(reading.values)


@walker(_DEPTH, lambda: None)
def _add(value: Expr, reading: _Reading, key: tuple[str, ...], span: Span) -> None:
    """Add the leaves of a value under its keys."""
    reading.steps += 1
    if len(reading.values) >= _MOST or reading.steps > _STEPS:
        return
    site = value.call
    span = site.span if site is not None and site.last in _DICTS else span
    entries = _entries(value)
    if entries is not None:
        called = site if site is not None and site.last in _DICTS else None
        for name, inner in entries:
            _add(inner, reading, (*key, name), span if called is None else spot(inner, called))
        return
    plain_value = _plain(value)
    if plain_value is not _NOT_PLAIN:
        reading.values.append(ConfigValue(key, plain_value, value.module.path, span))
    for number, inner in enumerate(value.items if plain_value is _NOT_PLAIN else ()):
        _add(inner, reading, (*key, str(number)), span)
    bind = _bind(value) if plain_value is _NOT_PLAIN else None
    if bind is not None:
        _add(value.sibling(bind.record.value), reading, key, bind.span)


@walker(_DEPTH, lambda: None)
def _entries(value: Expr) -> list[tuple[str, Expr]] | None:
    """The entries of a mapping; None when `value` is no mapping."""
    site = value.call
    entries: list[tuple[str, Expr]] = []
    if value.is_dict:
        for key, inner in value.entries:
            entries += _spread(inner) if key is None else [(str(key.literal), inner)] if key.is_literal else []
        return entries
    if site is None or site.last not in _DICTS:
        return None
    for first in site.record.args[:1]:
        entries += _entries(value.sibling(first)) or ()
    for name, argument in site.record.keywords:
        inner = value.sibling(argument)
        entries += _spread(inner) if name == "**" else [(name, inner)]
    return entries


def _spread(value: Expr) -> list[tuple[str, Expr]]:
    """The entries of the operand of ``**``."""
    bind = _bind(value)
    return _entries(value.sibling(bind.record.value) if bind is not None else value) or []


def _bind(value: Expr) -> AssignmentSite | None:
    """The last assignment to a name of the module."""
    binds = value.module.names.get(0, {}).get(value.written, ())
    return assignment_at(value.context, value.module, binds[-1]) if binds else None


@walker(_DEPTH, lambda: _NOT_PLAIN)
def _plain(value: Expr) -> object:
    """The plain value of an expression, or `_NOT_PLAIN`."""
    if value.is_literal:
        return value.literal
    if value.is_display:
        items = [_plain(item) for item in value.items]
        return _NOT_PLAIN if any(item is _NOT_PLAIN for item in items) else tuple(items)
    if value.operator or (value.written and "." not in value.written):
        values = value.known
        return values.single if values.exact and len(values.values) == 1 else _NOT_PLAIN
    return _NOT_PLAIN


# Composes a hydra configuration from the config groups in its defaults list.

_MOST_GROUPS = 64  # entries of a defaults list
_KEY = "defaults"
_SELF = "_self_"

Find = Callable[[str], str]
Values = Callable[[str], tuple[ConfigValue, ...]]


class Part(msgspec.Struct, frozen=True):
    """An entry of a defaults list: the config group (empty: none), the selected option, and the target package (None:
    that of the group)."""

    group: str
    chosen: str
    package: str | None = None


def composed(
    own: tuple[ConfigValue, ...], choices: Mapping[str, str], find: Find, values: Values, packages: Mapping[str, str]
) -> tuple[ConfigValue, ...]:
    """The values of a file composed with those of its defaults list, in list order. `find` resolves a path without
    extension, `values` reads a file, `packages` maps files to the package that they declare."""
    parts = _parts(own)
    rest = tuple(config_value for config_value in own if config_value.key[0] != _KEY)
    config_values: tuple[ConfigValue, ...] = ()
    placed = any_file = False
    for part in parts:
        if part.chosen == _SELF and not part.group:
            config_values, placed = overlaid(config_values, rest), True
            continue
        chosen = choices.get(part.group, part.chosen) if part.group else part.chosen
        path = find(f"{part.group}/{chosen}" if part.group else chosen)
        if path:
            any_file = True
            package = packages.get(path, part.group if part.package is None else part.package)
            prefix = _prefix("" if package == "_global_" else package.replace("_group_", part.group))
            config_values = overlaid(
                config_values, tuple(_below(prefix, config_value) for config_value in values(path))
            )
    if not any_file:
        return own
    return config_values if placed else overlaid(config_values, rest)


def _parts(own: tuple[ConfigValue, ...]) -> list[Part]:
    parts: list[Part] = []
    for config_value in own:
        if config_value.key[0] != _KEY:
            continue
        if len(config_value.key) == 3 and isinstance(config_value.value, str):
            parts.append(_part(config_value.key[2], config_value.value))
        elif len(config_value.key) == 3 and isinstance(config_value.value, tuple):
            parts += [_part(config_value.key[2], text) for text in config_value.value if isinstance(text, str)]
        elif len(config_value.key) == 2 and isinstance(config_value.value, str):
            parts.append(Part("", config_value.value))
        elif len(config_value.key) == 1 and isinstance(config_value.value, tuple):
            parts += [Part("", text) for text in config_value.value if isinstance(text, str)]
    return parts[:_MOST_GROUPS]


def _part(written: str, chosen: str) -> Part:
    """``override /model@net: small`` selects small of the group model for the package net."""
    group, at, package = written.rpartition(" ")[2].lstrip("/").partition("@")
    return Part(group, chosen.removesuffix(".yaml"), package if at else None)


def _prefix(package: str) -> tuple[str, ...]:
    return tuple(part for part in package.replace("/", ".").split(".") if part and part != "_here_")


def _below(prefix: tuple[str, ...], config_value: ConfigValue) -> ConfigValue:
    return msgspec.structs.replace(config_value, key=(*prefix, *config_value.key)) if prefix else config_value


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
            path = self._find(text + ending, folders, bool(star))
            if path:
                return path
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
        best.sort(key=lambda pair: pair[0], reverse=True)
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
    bases: list[str] = []
    for value in values:
        if value.key[0] in _BASES and len(value.key) == 1:
            entries = value.value if isinstance(value.value, tuple) else (value.value,)
            bases += [text for text in entries if isinstance(text, str) and "." in text]
    return bases[:_CHAIN]


def _shared(first: Sequence[str], second: Sequence[str]) -> int:
    """How many parts two paths have in common from the beginning."""
    pairs = zip(first, second, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))
