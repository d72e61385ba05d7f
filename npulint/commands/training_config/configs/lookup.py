"""Which configuration files a program loads, and which of their values a name in its code refers to."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator

import msgspec

from npulint.commands.training_config.configs.config_merges import READS
from npulint.commands.training_config.configs.files import ConfigFiles
from npulint.commands.training_config.configs.roots import Root, Roots
from npulint.commands.training_config.configs.values import ConfigFile, ConfigValue
from npulint.core.lazy_regex import lazy_compile
from npulint.discover.kinds import SourceFile, may_configure
from npulint.facts.code import Const, Op, Ref, Value
from npulint.facts.model import Problem, Span
from npulint.model.code.reached import Reached, home
from npulint.model.launches.options import HOLDERS
from npulint.model.launches.project_launches import Launch
from npulint.model.programs.command_line import command_line
from npulint.model.values.context import Context
from npulint.model.values.cursors import Expr, call_at, scope_at
from npulint.read.configuration import typed

# Overrides: values of configuration files that a launcher replaces.

_DOTTED = lazy_compile(r"[A-Z][A-Z0-9_]*(?:\.[A-Z][A-Z0-9_]*)+")  # a key of yacs, which the file may leave out
_LISTS = ("opts", "set", "cfg_options", "options", "override", "overrides", "config_options", "set_cfgs")


def overridden(files: list[ConfigFile], launch: Launch | None) -> list[ConfigFile]:
    """The files after applying the overrides on a launcher's command line (``optimizer.lr=0.1``, or ``TRAIN.LR 0.1``
    after ``--opts``)."""
    words = list(_words(launch)) if launch is not None else []
    names = {config_value.name for file in files for config_value in file.values}
    names |= {text for text, _ in words if _DOTTED.fullmatch(text)}
    overrides: dict[str, tuple[str, Span]] = {}
    at = 0
    while at < len(words):
        text, span = words[at]
        name, equals, value = text.partition("=")
        if equals and name.lstrip("+") in names:
            overrides[name.lstrip("+")] = (value, span)
        elif not equals and text in names and at + 1 < len(words):
            at += 1
            overrides[text] = words[at]
        at += 1
    if not overrides or launch is None:
        return files
    names_in_files = {config_value.name for file in files for config_value in file.values}
    added = tuple(
        ConfigValue(tuple(name.split(".")), typed(text), launch.fact.path, span)
        for name, (text, span) in overrides.items()
        if name not in names_in_files
    )
    replaced = [
        msgspec.structs.replace(
            file, values=tuple(_replaced(config_value, overrides, launch.fact.path) for config_value in file.values)
        )
        for file in files
    ]
    if added and replaced:
        replaced[0] = msgspec.structs.replace(replaced[0], values=(*replaced[0].values, *added))
    return replaced


def choices(launch: Launch | None) -> tuple[tuple[str, str], ...]:
    """The arguments of a launcher that may select config groups: ``optimizer=sgd``."""
    words = (text.partition("=") for text, _ in (_words(launch) if launch is not None else ()))
    return tuple(sorted({name.lstrip("+"): value for name, equals, value in words if equals}.items()))


def _replaced(config_value: ConfigValue, overrides: dict[str, tuple[str, Span]], path: str) -> ConfigValue:
    if config_value.name not in overrides:
        return config_value
    text, span = overrides[config_value.name]
    return ConfigValue(
        config_value.key, config_value.value if typed(text) == config_value.value else typed(text), path, span
    )


def _words(launch: Launch) -> Iterator[tuple[str, Span]]:
    """The arguments of a launcher that may be overrides, with their places."""
    record = launch.fact.record
    for name in _LISTS:
        text = launch.options.get(name)
        if text and text != "true" and "*" not in text:
            yield text, record.places.get(name, launch.fact.span)
    for word in record.words:
        if "*" not in word.text:
            yield word.text, word.span


_SEGMENT = lazy_compile(r"[^.\[\]]+")
_SETTINGS = lazy_compile(
    r"(?i)_*(?:\w*cfgs?|\w*conf(?:igs?)?|\w*hparams?|hps?|hyp|\w*params?|\w*opts?|\w*args|flags|\w*settings?|spec|kwargs"
    r"|options?|\w*_dict)"
)


class Configs:
    """The configuration files of one project; candidates in `files` are read when a program loads them. `entry` and
    `launch` select the start to resolve names for; without them all programs count, with default options."""

    def __init__(
        self,
        context: Context,
        files: Iterable[SourceFile] | ConfigFiles,
        entry: str = "",
        launch: Launch | None = None,
    ) -> None:
        self._context = context
        self._files = files if isinstance(files, ConfigFiles) else ConfigFiles(context, files)
        self._entry = entry or (launch.entry if launch is not None else "")
        self._launch = launch
        self._modules = self._closure(self._entry)
        self._roots = Roots(context, self._files, launch, self._modules)
        self._program: tuple[ConfigFile, ...] | None = None
        self._by_last: dict[str, list[ConfigValue]] | None = None
        self._views: dict[tuple[str, int], Configs] = {}
        self._answers: dict[Expr, list[ConfigValue]] = {}

    def under(self, entry: str, launch: Launch | None = None) -> Configs:
        """The same files for one start of the script at `entry` (without a launch: with default options)."""
        key = (entry, id(launch))
        view = self._views.get(key)
        if view is None:
            view = self._views[key] = Configs(self._context, self._files, entry, launch)
        return view

    @property
    def problems(self) -> list[Problem]:
        """Why configuration files that programs load could not be read."""
        return [problem for facts in self._files.read for problem in facts.problems]

    # -- programs -------------------------------------------------------------------------------

    def program(self) -> tuple[ConfigFile, ...]:
        """The configuration files that the start loads or receives, by path; without a start those of all programs.
        Values that the launcher overrides (``lr=0.1``, ``--opts TRAIN.LR 0.1``) have their place in the launcher."""
        if self._program is None:
            paths = dict.fromkeys(path for path in self._loaded() if path)
            chosen = choices(self._launch)
            files = [ConfigFile(path, self._files.values(path, chosen)) for path in sorted(paths)]
            self._program = tuple(overridden([file for file in files if file.values], self._launch))
        return self._program

    def _closure(self, entry: str) -> frozenset[str] | None:
        if entry not in self._context.project.modules:
            return None
        return self._context.memoize(("command line", entry), lambda: command_line(self._context, entry)).modules

    def _loaded(self) -> Iterable[str]:
        context = self._context
        modules = context.project.modules
        paths = sorted(modules if self._modules is None else self._modules)
        running = None
        if self._modules is not None:
            running = context.memoize(Reached, lambda: Reached(context.project)).all_of(paths, self._entry)
        for path in paths:
            module = modules[path]
            for index in module.calls_where(lambda last: "load" in last or last in READS or _is_reader(last)):
                site = call_at(context, module, index)
                if running is not None and (path, home(module, site.record.block)) not in running:
                    continue
                if site.last in READS or self._roots.reads(site):
                    yield from self._roots.loaded(site)
            for function in scope_at(context, module, 0).blocks_of("function"):
                yield from self._roots.hydra(function)
        yield from self._handed()

    def _handed(self) -> Iterable[str]:
        """The files that options of a program name, by its launcher or by default."""
        if self._modules is None or self._entry not in self._context.project.modules:
            return
        folders = self._roots.folders(self._context.project.modules[self._entry])
        texts: list[str] = []
        if self._launch is not None:
            texts += [text for text in self._launch.options.values() if text]
            texts += [word.text for word in self._launch.fact.record.words]
            texts += [text for text in self._launch.fact.record.launcher_options.values() if text]
        for path in sorted(self._modules):
            for name, options in self._context.options.by_module.get(path, {}).items():
                for option in options:
                    if option.kind != "parameter" and _names_settings(name):
                        texts += self._roots.paths.option(option)
        for text in texts:
            if may_configure(posixpath.basename(text)) or text.endswith(".py"):
                config_path = self._files.find(text, folders)
                if config_path and config_path not in (self._modules or ()):
                    yield config_path

    # -- names ----------------------------------------------------------------------------------

    def lookup(self, named: Expr) -> list[ConfigValue]:
        """The configuration values that a dotted name (``cfg.TRAIN.LR``, ``cfg[train][lr]``) refers to; empty if none
        or uncertain."""
        config_values = self._answers.get(named)
        if config_values is None:
            config_values = self._answers[named] = self.decided(named) or self._guessed(named)
        return list(config_values)

    def decided(self, named: Expr) -> list[ConfigValue]:
        """As `lookup`, but only if the code shows that the object is loaded from a file or updated from one: these
        values take precedence over assignments in code."""
        parts = _parts(named.written)
        if len(parts) < 2:
            return []
        leaves: dict[Root, ConfigValue] = {}
        for path, keys in self._roots.of(named.sibling(_value(parts))):
            if self._passed(parts[-1]) and any((path, keys[:at]) in self._roots.defaults for at in range(len(keys))):
                continue
            for leave in self._leaves(path):
                if leave.key == keys:
                    leaves[leave.path, leave.key] = leave
        return list(leaves.values())

    def _passed(self, name: str) -> bool:
        """Whether the launcher passes an option."""
        options = self._launch.options if self._launch is not None else {}
        return bool(options) and any(
            flag in options for option in self._context.options.table.get(name, ()) for flag in option.flags
        )

    def _ending(self, name: str) -> list[ConfigValue]:
        """The values of the program's files whose last key is `name`."""
        if self._by_last is None:
            self._by_last = {}
            for file in self.program():
                for value in file.values:
                    self._by_last.setdefault(value.key[-1], []).append(value)
        return self._by_last.get(name, [])

    def _leaves(self, path: str) -> tuple[ConfigValue, ...]:
        """The values of a file, with the overrides of the start."""
        for file in self.program():
            if file.path == path:
                return file.values
        return self._files.values(path)

    def _guessed(self, named: Expr) -> list[ConfigValue]:
        """The only leaf whose keys end like the name, if the object is named like a configuration and nothing else
        resolves it."""
        parts = _parts(named.written)
        last = max((at for at, part in enumerate(parts[:-1]) if _SETTINGS.fullmatch(part)), default=-1)
        if last < 0 or last > 2 or (parts[-1] in self._context.options.table and HOLDERS.search(parts[last])):
            return []
        if self._roots.of(named.sibling(_value(parts))) or named.sibling(Ref(".".join(parts))).assignments:
            return []
        wanted = parts[last + 1 :]
        fitting = {
            (config_value.path, config_value.key): config_value
            for config_value in self._ending(parts[-1])
            if config_value.key[-len(wanted) :] == wanted
        }
        return list(fitting.values()) if len(fitting) == 1 else []


def _parts(name: str) -> tuple[str, ...]:
    """The segments of a name as written, without brackets and quotes."""
    return tuple(part.strip("'\" ") for part in _SEGMENT.findall(name))


def _value(parts: tuple[str, ...]) -> Value:
    """A value expression from the parts of a name; the longest assigned prefix becomes the base."""
    plain = [part for part in parts if part.isidentifier()]
    if len(plain) == len(parts):
        return Ref(".".join(parts))
    cut = next(at for at, part in enumerate(parts) if not part.isidentifier())
    value: Value = Ref(".".join(parts[:cut]) or parts[0])
    for part in parts[max(cut, 1) :]:
        value = Op("[]", (value, Const(part)))
    return value


def _is_reader(last: str) -> bool:
    return "from" in last or "parse" in last or "config" in last


def _names_settings(name: str) -> bool:
    lowered = name.lower()
    return any(word in lowered for word in ("config", "cfg", "conf", "hyp", "param", "yaml", "json", "setting", "opt"))
