"""Facts about scripts that launchers start and the options that they pass."""

from __future__ import annotations

import posixpath
from functools import cached_property
from typing import Literal

from npulint.data.options import option
from npulint.facts.attributes import Flag, attribute, flag
from npulint.facts.code import Const, Ref, SequenceDisplay
from npulint.facts.kinds import fact_kind
from npulint.facts.model import Fact, Span
from npulint.model.launches.options import Option
from npulint.model.launches.project_launches import Launch, Target, converted
from npulint.model.programs.command_line import CommandLine, command_line
from npulint.model.programs.project_options import NO_OPTIONS, ProjectOptions
from npulint.model.values.context import Context
from npulint.read.launcher_facts import NONE

_CLOSE = 0.75
_NOTHING = (None, "", "None", "0", "true", "True", "false", "False")  # not passed, or without a value


@fact_kind("start")
class Start(Fact, dict=True):
    """A launcher starts a script of the project, which is the name; only programs of the script have the fact."""

    record: Launch

    @property
    def name(self) -> str:
        """The name of the script."""
        return posixpath.basename(self.record.entry)

    @property
    def path(self) -> str:
        """The path of the launcher."""
        return self.record.fact.path

    @property
    def span(self) -> Span:
        """Where it starts the script."""
        return self.record.fact.span

    @attribute
    def target(self) -> Target:
        """The device that the launcher is for; other: unknown, while another launcher starts the script for the NPU."""
        return self.record.target

    @attribute
    def launcher(self) -> str:
        """What starts its processes, such as torchrun or torch.distributed.launch; empty for a plain start."""
        return self.record.fact.launcher

    @attribute
    def guarded(self) -> bool:
        """Whether it is started under some condition only."""
        return self.record.fact.guarded

    @attribute
    def in_container(self) -> bool:
        """Whether it is started in a container, which has its own environment."""
        return self.record.fact.in_container

    @attribute
    def prepared(self) -> bool:
        """Whether something in the project sets the toolkit up."""
        return self.record.fact.prepared

    @attribute
    def loop(self) -> bool:
        """Whether it is started in a loop of the launcher."""
        return self.record.fact.loop

    @attribute
    def size(self) -> str:
        """The number of devices in RANK_SIZE or CM_WORKER_SIZE, or `-`."""
        return self.record.fact.size

    @attribute
    def short(self) -> str:
        """The number of processes that the loop starts, if they are more than `size`, or `-`."""
        return self.record.fact.short

    @attribute
    def processes(self) -> str:
        """The number of processes that its launcher starts on a machine, or `-`."""
        return self.record.fact.processes

    @attribute
    def visible(self) -> str:
        """The devices that it may use, as a variable lists them, if it starts more processes than these, or `-`."""
        return self.record.fact.visible


@fact_kind("launch_option")
class LaunchOption(Fact, dict=True):
    """A launcher passes an option to a script of the project; the name is the option, without dashes."""

    _context: Context
    _launch: Launch
    name: str
    span: Span
    value: str | None
    """The text that is passed; true for an option without a value, None if it is computed."""
    _options: ProjectOptions = NO_OPTIONS

    def complete(self, options: ProjectOptions) -> None:
        """Stores the options of the whole project, which are known only when all facts exist."""
        self._options = options

    @property
    def path(self) -> str:
        """The path of the launcher."""
        return self._launch.fact.path

    @cached_property
    def _line(self) -> CommandLine:
        """The command line of the started script."""
        context, entry = self._context, self._launch.entry
        return context.memoize(("command line", entry), lambda: command_line(context, entry))

    @cached_property
    def _found(self) -> list[Option]:
        """The options of the script that may be meant."""
        return self._line.find(self.name)

    @property
    def _is_apart(self) -> bool:
        return self.name in self._launch.fact.record.apart

    @property
    def _is_alone(self) -> bool:
        return self.name in self._launch.fact.record.flags

    @property
    def modules(self) -> frozenset[str]:
        """The modules that the script imports, directly or indirectly."""
        return self._line.modules

    # -- how it is passed --------------------------------------------------------------------------

    @attribute
    def script(self) -> str:
        """The script that is started."""
        return posixpath.basename(self._launch.entry)

    @attribute
    def target(self) -> Target:
        """The device that the launcher is for; other: unknown, while another launcher starts the script for the NPU."""
        return self._launch.target

    @attribute
    def ranks(self) -> bool:
        """Whether the value is the number of ranks that the launcher starts."""
        return bool(self.value) and self._launch.fact.size == self.value

    @attribute
    def by_caller(self) -> bool:
        """Whether the caller of the launcher may override the value."""
        return self.name in self._launch.fact.record.defaults

    # -- what the script makes of it ---------------------------------------------------------------

    @attribute
    def option(self) -> str:
        """The option as the script defines it."""
        return self._found[0].name if self._found else self.name

    @attribute
    def known(self) -> Flag:
        """Whether the script has such an option."""
        return "yes" if self._found else "no" if self._line.refuses(self.name) else "unknown"

    @attribute
    def effect(self) -> Literal["aborts", "ignored", "unknown"]:
        """The effect of an option that the script does not define: it aborts the script, or is ignored."""
        if self._line.by in ("argparse", "absl"):
            return "aborts"
        return "ignored" if self._line.by == "tolerant" else "unknown"

    @attribute
    def nearest(self) -> str:
        """The option of the script that it is probably a misspelling of, or ``-``."""
        from difflib import get_close_matches  # expensive, and only needed for wrong options

        close = [] if self._found else get_close_matches(self.name, list(self._line.options), 1, _CLOSE)
        return close[0] if close else NONE

    @attribute
    def fits(self) -> Flag:
        """Whether the script's parser accepts the value."""
        answers = {self._fits(option) for option in self._found}
        return answers.pop() if len(answers) == 1 else "unknown"

    @attribute
    def allowed(self) -> str:
        """The values that the parser accepts, or ``-``."""
        if not self._found:
            return NONE
        option = self._found[0]
        if option.kind in ("true", "false"):
            return "no value"
        choices = _choices(option)
        return " | ".join(choices) if choices else {"int": "an integer", "float": "a number"}.get(option.kind, NONE)

    @attribute
    def detached(self) -> bool:
        """Whether the value of a boolean absl flag is a separate argument, which absl does not read."""
        flags = bool(self._found) and all(option.kind == "flag" for option in self._found)
        return flags and self._is_apart and self._line.by in ("absl", "tolerant")

    @attribute
    def default(self) -> str:
        """The literal default of the option in the script, or ``-``."""
        values = [dict(option.call.keywords).get("default") for option in self._found]
        values += [option.value for option in self._found]
        written = next((value for value in values if isinstance(value, Const)), None)
        return str(written.value) if written is not None else NONE

    def _fits(self, option: Option) -> Flag:
        text, alone = self.value, self._is_alone
        if self._line.by == "unknown" or (not text and not alone):
            return "unknown"  # an empty text is a placeholder for a value from the caller
        if option.kind in ("true", "false"):
            if alone:
                return "yes"
            return "unknown" if self._is_apart and (self._line.positionals or not self._line.closed) else "no"
        choices = _choices(option)
        if choices:
            return flag(text in choices)
        if option.kind in ("int", "float") and not alone:
            return flag(bool(converted(text, option.kind).values))
        return "unknown"

    # -- the adapter settings that it decides ------------------------------------------------------

    @attribute
    def feeds(self) -> str:
        """The names of the adapter settings that it determines, separated by spaces, or ``-``."""
        return " ".join(sorted({setting.name for setting in self._options.taking(self)})) or NONE

    @attribute
    def refused_by(self) -> str:
        """The adapter setting that does not accept the value, or ``-``."""
        return self._refusal[0]

    @attribute
    def legal(self) -> str:
        """The values that this setting accepts, or ``-``."""
        return self._refusal[1]

    @cached_property
    def _refusal(self) -> tuple[str, str]:
        for setting in self._options.taking(self) if self.value not in _NOTHING else ():
            adapter_option = option(setting.name)
            use = adapter_option.uses.get(setting.via) if adapter_option is not None else None
            if use is not None and use.values and not use.accepts(self.value):
                return setting.name, " | ".join(str(v) for v in use.values)
        return NONE, NONE


def launch_options(context: Context) -> dict[str, list[Fact]]:
    """For each started script, a `Start` per start and a `LaunchOption` per passed option."""
    options = {}
    for entry, launches in context.options.passed.launches.by_entry.items():
        facts: list[Fact] = []
        for launch in launches:
            if launch.sure:
                facts.append(Start(launch))
                facts += _passed(context, launch)
        options[entry] = facts
    return options


def _passed(context: Context, launch: Launch) -> list[LaunchOption]:
    """The options that a launch passes."""
    places = launch.fact.record.places
    return [
        LaunchOption(context, launch, name, places.get(name, launch.fact.span), text)
        for name, text in launch.options.items()
    ]


def _choices(option: Option) -> list[str]:
    """The possible values of an option as texts; none if they are unknown."""
    keywords = dict(option.call.keywords)
    listed = keywords.get("choices", keywords.get("enum_values"))
    if listed is None and isinstance(option.call.callee, Ref) and option.call.callee.name.endswith("DEFINE_enum"):
        listed = option.call.args[2] if len(option.call.args) > 2 else None
    if not isinstance(listed, SequenceDisplay) or option.kind not in ("text", "int"):
        return []
    values = [str(item.value) for item in listed.items if isinstance(item, Const)]
    return values if len(values) == len(listed.items) else []
