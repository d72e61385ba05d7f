"""Arguments of training frameworks: how their configurations are recognized, and what values mean on the NPU."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from functools import cache
from typing import Literal

import msgspec

from npulint.core.lazy_regex import lazy_compile
from npulint.data import lazy_table

Effect = Literal["refused", "ignored", "slow", "wrong", "cpu", "fine"]
UNSET = "unset"
_COMPARED = lazy_compile(r"([<>])\s*(-?\d+(?:\.\d+)?)")
_NOTHING = ("", "none", "null", "false", "no", "off", "~")
_WORDS = {"yes": "true", "on": "true", "no": "false", "off": "false"}


class ArgumentRule(msgspec.Struct, frozen=True, array_like=True):
    """What some values of an argument do on the NPU. `argument` may have ``*`` for a segment, `values` are alternatives
    (none: any value; ``unset``: the argument is left out); `when` are conditions on other arguments, `chips` those that
    it is about (none: all), `versions` the releases of packages (``transformers<4.51``; a name alone: it is required),
    `instead` the value to write
    (``-``: a person must decide)."""

    argument: str
    values: tuple[str, ...]
    effect: Effect
    cause: str
    when: tuple[tuple[str, tuple[str, ...]], ...]
    chips: tuple[str, ...]
    versions: tuple[str, ...]
    instead: str


class ConfiguredFramework(msgspec.Struct, frozen=True):
    """A framework whose training is configured: its name for readers, the frameworks whose arguments it takes too, and
    the names whose use by a script makes its command line one of this framework. It `replaces` frameworks that it
    patches, and `places` the model on the NPU by itself."""

    title: str
    inherits: tuple[str, ...] = ()
    imports: tuple[str, ...] = ()
    replaces: tuple[str, ...] = ()
    places: bool = False


class FileSignature(msgspec.Struct, frozen=True, array_like=True):
    """The keys by which a configuration file of a framework is recognized: all of `required` and one of `usual`, if
    there are any. A `start` trains by itself, a `part` belongs to another configuration or command line. `prefix` is
    where the arguments of the framework are, if not at the top."""

    framework: str
    role: Literal["start", "part"]
    required: tuple[str, ...]
    usual: tuple[str, ...]
    prefix: str = ""

    def fits(self, keys: set[str]) -> bool:
        """Whether a file with these dotted keys, or beginnings of them, is one."""
        return keys.issuperset(self.required) and (not self.usual or not keys.isdisjoint(self.usual))


class StartCommand(msgspec.Struct, frozen=True, array_like=True):
    """How a framework is started: by a `command`, by running a `module`, or as the `launcher` of a script.
    `configuration` is the option that names its configuration file, or the place of the argument that does."""

    framework: str
    by: Literal["command", "module", "launcher"]
    name: str
    configuration: str


class ConfiguringCall(msgspec.Struct, frozen=True, array_like=True):
    """A call whose keyword arguments are arguments of a framework, after `prefix`; `call` may have ``*``."""

    framework: str
    call: str
    prefix: str


class _Tables(msgspec.Struct, frozen=True):
    frameworks: dict[str, ConfiguredFramework]
    files: list[FileSignature]
    starts: list[StartCommand]
    calls: list[ConfiguringCall]
    rules: dict[str, list[ArgumentRule]]


_tables = lazy_table("training_arguments.json", _Tables)


def file_signatures() -> list[FileSignature]:
    """The signatures of all configuration files, the more specific ones first."""
    return _tables().files


def start_commands() -> list[StartCommand]:
    """The commands, modules and launchers that start a training."""
    return _tables().starts


def framework_started_by(path: str, root: str) -> str:
    """The framework that starts its trainings by the script at a path, if the project at `root` has a whole copy of the
    framework; else empty."""
    module = path.removeprefix(root).removesuffix(".py")
    return next((name for start, name in _copied_starts() if f"/{module}".endswith(start)), "")


@cache
def _copied_starts() -> tuple[tuple[str, str], ...]:
    """The ends of the paths of such scripts, and the frameworks: those whose package other scripts import."""
    return tuple(
        (f"/{start_command.name.replace('.', '/')}", start_command.framework)
        for start_command in start_commands()
        if start_command.by == "module"
        and start_command.name.partition(".")[0] in configured_framework(start_command.framework).imports
    )


def commands_of(program: str) -> tuple[str, ...]:
    """The commands that train and begin with this program: ``swift sft``, ``swift rlhf``."""
    return _commands().get(program, ())


@cache
def _commands() -> dict[str, tuple[str, ...]]:
    commands: dict[str, tuple[str, ...]] = {}
    for start in _tables().starts:
        if start.by == "command":
            first = start.name.split()[0]
            commands[first] = (*commands.get(first, ()), start.name)
    return commands


def configured_framework(name: str) -> ConfiguredFramework:
    """The framework of that name in the tables."""
    return _tables().frameworks[name]


def frameworks_by_import() -> Iterator[tuple[str, str]]:
    """(canonical name or its beginning, framework): a script that uses the name takes arguments of the framework."""
    for name, framework in _tables().frameworks.items():
        for prefix in framework.imports:
            yield prefix, name


@cache
def configuring_call(name: str) -> ConfiguringCall | None:
    """The entry of a call by its canonical name; None for calls that configure nothing."""
    last = name.rpartition(".")[2]
    for configuring in _calls_by_last().get(last, ()):
        if fnmatchcase(name, configuring.call):
            return configuring
    return next(
        (configuring for configuring in _calls_by_last().get("*", ()) if fnmatchcase(name, configuring.call)), None
    )


@cache
def _calls_by_last() -> dict[str, list[ConfiguringCall]]:
    by_last: dict[str, list[ConfiguringCall]] = {}
    for call in _tables().calls:
        last = call.call.rpartition(".")[2]
        by_last.setdefault("*" if "*" in last else last, []).append(call)
    return by_last


@cache
def with_inherited(framework: str) -> tuple[str, ...]:
    """A framework and those whose arguments it takes too, the nearest first."""
    inherited: dict[str, None] = {framework: None}
    for name in _tables().frameworks[framework].inherits:
        inherited.update(dict.fromkeys(with_inherited(name)))
    return tuple(inherited)


@cache
def rules_of(framework: str, argument: str) -> tuple[ArgumentRule, ...]:
    """The rules about an argument of a framework, those about few values before those about all."""
    exact, patterns = _rules(framework)
    rules = [*exact.get(argument, ())]
    rules += [rule for rule in patterns if fnmatchcase(argument, rule.argument) and rule not in rules]
    return tuple(rules)


@cache
def is_known(framework: str, argument: str) -> bool:
    """Whether a rule about an argument of a framework or of one that it inherits from says something of an argument, or
    depends on it."""
    frameworks = with_inherited(framework)
    return any(argument in _conditions(inherited) or rules_of(inherited, argument) for inherited in frameworks)


@cache
def _conditions(framework: str) -> frozenset[str]:
    """The arguments that the conditions of rules name."""
    return frozenset(name for rule in _tables().rules.get(framework, ()) for name, _ in rule.when)


@cache
def _rules(framework: str) -> tuple[dict[str, list[ArgumentRule]], list[ArgumentRule]]:
    exact: dict[str, list[ArgumentRule]] = {}
    patterns: list[ArgumentRule] = []
    for rule in _tables().rules.get(framework, ()):
        if "*" in rule.argument:
            patterns.append(rule)
        else:
            exact.setdefault(rule.argument, []).append(rule)
    return exact, patterns


def argument_rules(framework: str) -> tuple[ArgumentRule, ...]:
    """All rules about the arguments of a framework, without those that it inherits."""
    return tuple(_tables().rules.get(framework, ()))


def rules_about_absence(framework: str) -> Iterator[ArgumentRule]:
    """The rules about arguments of a framework that are left out: what their default does."""
    return (rule for rule in _tables().rules.get(framework, ()) if UNSET in rule.values and rule.effect != "fine")


def matches(value: object, patterns: Iterable[str]) -> bool:
    """Whether a value is one of these: a word, one with ``*``, ``set`` (anything but nothing), ``>N``, ``<N``. Letter
    case does not count."""
    text = written(value)
    return any(_matches(text, pattern) for pattern in patterns)


def written(value: object) -> str:
    """A value as the tables write it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return "null"
    text = str(value).strip().lower()
    return _WORDS.get(text, text)


def _matches(text: str, pattern: str) -> bool:
    if pattern == "set":
        return text not in _NOTHING
    compared = _COMPARED.fullmatch(pattern)
    if compared is not None:
        try:
            number, limit = float(text), float(compared[2])
        except ValueError:
            return False
        return number > limit if compared[1] == ">" else number < limit
    return fnmatchcase(text, pattern.lower())
