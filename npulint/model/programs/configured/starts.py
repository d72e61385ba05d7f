"""Finds the starts of trainings that files and command lines configure."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator, Mapping
from functools import partial

from npulint.core.lazy_regex import lazy_compile
from npulint.data.training_arguments import (
    StartCommand,
    configured_framework,
    configuring_call,
    frameworks_by_import,
    start_commands,
    with_inherited,
)
from npulint.facts.code import Code, Ref, Value
from npulint.facts.model import FileFacts, Span
from npulint.model.programs.configured.files import TrainingFile, TrainingFiles
from npulint.model.programs.configured.settings import Setting, TrainingStart
from npulint.model.values.context import Context, once
from npulint.read.configuration import typed
from npulint.read.launcher_facts import CommandStart, LaunchFact, StartedScript

# What the scripts of a project make of their command lines: arguments of frameworks, some with other defaults.

_OF_TRAINERS = frozenset(("transformers", "trl"))
_TRAINER = lazy_compile(r"^(?:transformers|trl|optimum|peft|unsloth|sentence_transformers|swift|setfit)\..*Trainer\w*$")


def frameworks_of(context: Context, entry: str) -> list[str]:
    """The frameworks whose names the modules of a script use."""

    def work() -> list[str]:
        used = set(_of_reached(context, entry, _names))
        packages = {name.partition(".")[0] for name in used}
        return [
            framework
            for prefix, framework in frameworks_by_import()
            if prefix.partition(".")[0] in packages
            and any(name == prefix or name.startswith(f"{prefix}.") for name in used)
        ]

    return context.memoize(("configured by", entry), work)


def may_start(context: Context, framework: str) -> bool:
    """Whether a configuration file of a framework may be a training of its own: one of the Trainer only in a project
    that has no code for PyTorch or takes a Trainer from somewhere. Others read the names of its arguments as well, for
    a loop of their own."""
    return framework not in _OF_TRAINERS or _has_trainer(context)


@once
def _has_trainer(context: Context) -> bool:
    codes = [module.code for module in context.project.modules.values()]
    names = [name for code in codes for name in _names(code)]
    roots = {name.partition(".")[0] for name in names}
    return "torch" not in roots or any(_TRAINER.search(name) for name in names)


def fields_of(context: Context, entry: str) -> list[str]:
    """The fields to which classes of a script that extend the arguments of a framework give defaults."""

    def work() -> list[str]:
        return list(dict.fromkeys(_of_reached(context, entry, _fields)))

    return context.memoize(("arguments with defaults", entry), work)


def _of_reached(context: Context, entry: str, what: Callable[[Code], Iterator[str]]) -> Iterator[str]:
    """What a script and the modules that it loads have; many scripts load the same modules."""
    for path in context.project.reached_from(entry):
        yield from context.memoize(("configured", what.__name__, path), partial(_of_module, context, path, what))


def _of_module(context: Context, path: str, what: Callable[[Code], Iterator[str]]) -> list[str]:
    return list(dict.fromkeys(what(context.project.modules[path].code)))


def _names(code: Code) -> Iterator[str]:
    """The names that a module imports, and those of imported modules that it calls or extends:
    ``transformers.HfArgumentParser(...)``."""
    imported = _imported(code)
    yield from (
        f"{import_record.module}.{import_record.name}" if import_record.name else import_record.module
        for import_record in code.imports
    )
    called = [call.callee for call in code.calls]
    for reference in (*called, *(base for block in code.blocks for base in block.bases)):
        name = _canonical(reference, imported)
        if name:
            yield name


def _fields(code: Code) -> Iterator[str]:
    imported = _imported(code)
    classes = {
        number
        for number, block in enumerate(code.blocks)
        if any(configuring_call(_canonical(base, imported)) is not None for base in block.bases)
    }
    yield from (assignment.target for assignment in code.assignments if assignment.block in classes)


def _imported(code: Code) -> Mapping[str, str]:
    """What the names mean that a module imports."""
    return {
        import_record.alias
        or import_record.name
        or import_record.module: f"{import_record.module}.{import_record.name}"
        if import_record.name
        else import_record.module
        for import_record in code.imports
        if not import_record.level
    }


def _canonical(value: Value, imported: Mapping[str, str]) -> str:
    """The canonical name of a name that was imported, or belongs to an imported module; else empty."""
    if not isinstance(value, Ref):
        return ""
    first, dot, rest = value.name.partition(".")
    return f"{imported[first]}{dot}{rest}" if first in imported else ""


_CONFIGURATIONS = ("config", "config-name", "config_name", "config_file", "config-path", "config_path")
_FILES = (".yaml", ".yml", ".json")


class TrainingStarts:
    """The starts of a project: those by commands and launchers, and those of configuration files that none of these
    names. `parts` are the remaining configuration files, which some start that is not seen may use."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._files = TrainingFiles(context.project.files)
        self._used: set[str] = set()
        commands = start_commands()
        self._commands = {command.name: command for command in commands if command.by == "command"}
        self._modules = {command.name.replace(".", "/"): command for command in commands if command.by == "module"}
        self._launchers = {command.name: command for command in commands if command.by == "launcher"}
        training_starts = [start for file in context.project.files for start in self._of_file(file)]
        training_starts = [start for start in training_starts if start.settings]
        unnamed = [file for path, file in self._files.by_path.items() if path not in self._used]
        alone = [file for file in unnamed if file.start and may_start(context, file.framework)]
        self.all = [*training_starts, *map(self._alone, alone)]
        chosen = any(path.endswith(".py") for path in self._used)  # libraries come with hundreds of them
        left = [file for file in unnamed if file not in alone and file.path not in self._used]
        self.parts = [file for file in left if not (chosen and file.path.endswith(".py"))]

    def _of_file(self, file: FileFacts) -> Iterator[TrainingStart]:
        for fact in file.facts:
            if isinstance(fact, CommandStart):
                yield self._by_command(fact)
            elif isinstance(fact, LaunchFact) and not fact.record.sourced:
                yield self._by_launcher(fact)

    def _alone(self, file: TrainingFile) -> TrainingStart:
        """The start by a file that no command line names."""
        settings = self._with_parts(file.settings, posixpath.dirname(file.path))
        return TrainingStart(file.path, Span(), file.framework, settings, is_started=False)

    def _by_command(self, fact: CommandStart) -> TrainingStart:
        command = self._commands[fact.name]
        passed = self._passed(fact, fact.record, command.framework, fact.guarded)
        settings = (*self._configured(fact, fact.record, command), *passed)
        complete = self._complete(fact, fact.record)
        return TrainingStart(fact.path, fact.span, command.framework, settings, complete=complete)

    def _by_launcher(self, fact: LaunchFact) -> TrainingStart:
        """The start of a script or module: options of its launcher, the files that it names, and its own options, if
        the script hands them to a framework."""
        record = fact.record
        settings: list[Setting] = []
        launcher = self._launchers.get(fact.launcher)
        if launcher is not None:
            settings += self._of_launcher(fact, launcher)
        module = self._module(record)
        entries = tuple(self._context.options.passed.launches.entries(fact))
        frameworks = {name for entry in entries for name in frameworks_of(self._context, entry)}
        if module is not None and entries and module.framework not in frameworks:
            module = None  # a script of the project that only has the name of one of the framework
        if module is not None:
            settings += self._configured(fact, record, module)
        named = list(self._named(fact, record))
        settings += [setting for file in named for setting in file.settings]
        starting = (file.framework for file in named if file.start and may_start(self._context, file.framework))
        framework = next(starting, "")
        framework = framework or (module.framework if module else "")
        for own_framework in self._of_entries(entries) or ((framework,) if framework else ()):
            defaults = dict.fromkeys(name for entry in entries for name in fields_of(self._context, entry))
            settings += [
                Setting(own_framework, name, None, fact.path, fact.span, "code", fact.guarded) for name in defaults
            ]
            settings += self._passed(fact, record, own_framework, fact.guarded)
        settings = list(self._with_parts(settings, record.folder))
        complete = module is not None and self._complete(fact, record)
        return TrainingStart(fact.path, fact.span, framework, tuple(settings), entries, complete)

    def _complete(self, fact: CommandStart | LaunchFact, record: StartedScript) -> bool:
        """Whether all arguments of a command line are known, those in the configuration that it names too."""
        named = [record.options[name] for name in _CONFIGURATIONS if name in record.options]
        texts = [*named, *(word.text for word in record.words if word.text.endswith(_FILES))]
        are_found = all(self._find(text, fact.path, record.folder) is not None for text in texts)
        return are_found and not fact.guarded and all(word.text != "*" for word in record.words)

    def _module(self, record: StartedScript) -> StartCommand | None:
        """The entry of the table for the started module."""
        path = record.path.removesuffix(".py")
        return next(
            (start_command for name, start_command in self._modules.items() if f"/{path}".endswith(f"/{name}")), None
        )

    def _of_launcher(self, fact: LaunchFact, launcher: StartCommand) -> Iterator[Setting]:
        record = fact.record
        if launcher.configuration:
            file = self._find(record.launcher_options.get(launcher.configuration), fact.path, record.folder)
            yield from file.settings if file else ()
        for name, text in record.launcher_options.items():
            span, value = record.launcher_places.get(name, fact.span), None if text is None else typed(text)
            yield Setting(launcher.framework, name, value, fact.path, span, "command line", fact.guarded)

    def _configured(
        self, fact: CommandStart | LaunchFact, record: StartedScript, command: StartCommand
    ) -> list[Setting]:
        """The settings of the configuration file that a command names."""
        if command.configuration.isdigit():
            at = int(command.configuration) - 1
            text = record.words[at].text if at < len(record.words) else None
        else:
            text = record.options.get(command.configuration)
        file = self._find(text, fact.path, record.folder)
        settings = [] if file is None else list(file.settings)
        return list(self._with_parts(settings, record.folder))

    def _named(self, fact: LaunchFact, record: StartedScript) -> Iterator[TrainingFile]:
        """The configuration files that the arguments of a script name."""
        for text in (*record.options.values(), *(word.text for word in record.words)):
            file = self._find(text, fact.path, record.folder)
            if file is not None:
                yield file

    def _passed(
        self, fact: CommandStart | LaunchFact, record: StartedScript, framework: str, guarded: bool
    ) -> Iterator[Setting]:
        """The arguments that a command line passes: ``--name value``, ``name=value``."""
        for name, text in record.options.items():
            span, value = record.places.get(name, fact.span), None if text is None else typed(text)
            yield Setting(framework, name, value, fact.path, span, "command line", guarded)
        for word in record.words:
            name, equals, text = word.text.partition("=")
            if equals and "*" not in word.text:
                yield Setting(framework, name.lstrip("+"), typed(text), fact.path, word.span, "command line", guarded)

    def _with_parts(self, settings: list[Setting] | tuple[Setting, ...], folder: str) -> tuple[Setting, ...]:
        """The settings, with those of the files that they name: ``deepspeed: ds_config.json``."""
        more: list[Setting] = []
        for setting in settings:
            if isinstance(setting.value, str) and "." in setting.value and setting.via == "file":
                file = self._find(setting.value, setting.path, folder)
                more += file.settings if file is not None and file.path != setting.path else ()
        return (*settings, *more)

    def _find(self, text: str | None, path: str, folder: str) -> TrainingFile | None:
        """The configuration file that a text in the file at `path` names, in a program that runs in `folder`."""
        if not text or "." not in text:
            return None
        here = posixpath.dirname(path)
        root = self._context.project.root
        folders = [posixpath.join(here, folder), here, "" if root == "." else root]
        training_file = self._files.find(text, list(dict.fromkeys(folders)))
        if training_file is not None:
            self._used.add(training_file.path)
        return training_file

    def _of_entries(self, entries: tuple[str, ...]) -> list[str]:
        """The frameworks that scripts of the project hand their command lines to, those that inherit from others
        alone."""
        frameworks: dict[str, None] = {}
        for entry in entries:
            frameworks.update(dict.fromkeys(frameworks_of(self._context, entry)))
        inherited = {parent for name in frameworks for parent in with_inherited(name)[1:]}
        replaced = {other for name in frameworks for other in configured_framework(name).replaces}
        return [name for name in frameworks if name not in inherited | replaced]
