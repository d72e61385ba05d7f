"""The options that a project sets for the NPU adapter: which are set in the same place, and what determines them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from functools import cached_property
from typing import Literal, Protocol

import msgspec

from npulint.data.options import option
from npulint.facts.attributes import Flag
from npulint.facts.model import Fact
from npulint.facts.values import PossibleValues
from npulint.model.code.iteration_sinking import SinkingCalls
from npulint.model.values.file_paths import ProjectFiles

PRECISION = ("precision_mode", "precision_mode_v2")
_MIXED = frozenset(
    """allow_mix_precision allow_mix_precision_fp16 allow_mix_precision_bf16
    mixed_float16 mixed_bfloat16 mixed_hif8""".split()
)
_WRITTEN_WITH = {"dump_config": ("enable_dump", "enable_dump_debug")}  # NPUEstimator writes these with its default
_UNSEEN = "?"  # the holder of settings on unknown optimizers


class Declared(msgspec.Struct, frozen=True):
    """The declared releases of the adapter and of CANN, and the SoC; empty if not declared."""

    adapter: str = ""
    cann: str = ""
    soc: str = ""


class AdapterSettingFact(Protocol):
    """A fact about an adapter setting (`npulint.model.programs.adapter_settings`), as `ProjectOptions` reads it."""

    @property
    def name(self) -> str: ...
    @property
    def path(self) -> str: ...
    @property
    def via(self) -> Literal["session_key", "run_config", "npu_options"]: ...
    @property
    def entry(self) -> str | None: ...
    @property
    def value(self) -> PossibleValues: ...
    @property
    def active(self) -> Flag: ...
    @property
    def function(self) -> str: ...


class CustomOptimizerFact(Protocol):
    """A fact about a custom optimizer (`npulint.recognizers.tensorflow.protos`), as `ProjectOptions` reads
    it."""

    @property
    def entry(self) -> str: ...
    @property
    def spelling(self) -> str: ...
    @property
    def run_config(self) -> bool: ...


class LaunchOptionFact(Protocol):
    """A fact about a passed option (`npulint.model.programs.launch_options`), as `ProjectOptions` reads it."""

    @property
    def option(self) -> str: ...
    @property
    def modules(self) -> frozenset[str]: ...


class ProjectOptions:
    """The adapter options of a project, with the custom optimizers that hold them and the options that launchers pass;
    facts query it about each other. Everything is computed on demand. `sinking` are the calls that offload a loop of
    iterations, `files` the files of the project."""

    def __init__(
        self,
        settings: Sequence[AdapterSettingFact] = (),
        optimizers: Sequence[CustomOptimizerFact] = (),
        passed: Sequence[LaunchOptionFact] = (),
        declared: Declared = Declared(),  # noqa: B008 - it is immutable
        sinking: Sequence[Fact] = (),
        files: ProjectFiles = ProjectFiles(),  # noqa: B008 - it is immutable
    ) -> None:
        self.declared = declared
        self.sinking = SinkingCalls(sinking)
        self._settings = settings
        self._optimizers = optimizers
        self._passed = passed
        self.files = files
        self._certain: dict[str, str] = {}

    @cached_property
    def _by_entry(self) -> dict[str, CustomOptimizerFact]:
        return {optimizer.entry: optimizer for optimizer in self._optimizers}

    @cached_property
    def _groups(self) -> dict[str, list[AdapterSettingFact]]:
        """The settings by holder, with a single group for all settings on unknown optimizers."""
        groups: dict[str, list[AdapterSettingFact]] = defaultdict(list)
        for setting in self._settings:
            groups[_group(setting)].append(setting)
        return dict(groups)

    @cached_property
    def _names(self) -> dict[str, set[str]]:
        """The option names of each group."""
        return {name: {setting.name for setting in group} for name, group in self._groups.items()}

    # -- settings of one holder ----------------------------------------------------------------------

    def optimizer(self, entry: str | None) -> CustomOptimizerFact | None:
        """The custom optimizer at a place."""
        return self._by_entry.get(entry or "")

    def is_foreign(self, setting: AdapterSettingFact) -> bool:
        """Whether it is set on a custom optimizer of another backend."""
        optimizer = self.optimizer(setting.entry)
        return optimizer is not None and optimizer.spelling == "other"

    def names_on(self, holder: str) -> str:
        """The options that are, or may be, set on this holder."""
        return " ".join(sorted(self._names.get(holder, set()) | self._names.get(_UNSEEN, set())))

    def names_with(self, setting: AdapterSettingFact) -> str:
        """The options that have the same holder as a setting, including its own."""
        return self.names_on(_group(setting))

    def certain_with(self, setting: AdapterSettingFact) -> str:
        """``key=value`` of each setting with the same holder that is active by default and has a single value."""
        name = _group(setting)
        if name not in self._certain:
            running = [
                group for group in self._groups[name] if group.active == "yes" and group.value.single is not None
            ]
            self._certain[name] = " ".join(sorted(f"{active.name}={active.value.single}" for active in running))
        return self._certain[name]

    @cached_property
    def _run_config_keys(self) -> set[str]:
        """The options set by an NPURunConfig, including those that it sets to their defaults."""
        names = {setting.name for setting in self._settings if setting.via == "run_config"}
        return {key_of(name) for name in names} | {key for name in names for key in _WRITTEN_WITH.get(name, ())}

    def is_in_run_config(self, name: str) -> bool:
        """Whether some NPURunConfig sets the option as well."""
        return key_of(name) in self._run_config_keys

    def feeds_run_config(self, entry: str) -> Flag:
        """Whether an NPURunConfig uses the ConfigProto of the custom optimizer at a place."""
        optimizer = self.optimizer(entry)
        return "unknown" if optimizer is None else "yes" if optimizer.run_config else "no"

    def is_on_host(self, entry: str) -> bool:
        """Whether the settings on a custom optimizer certainly leave the graph on the host."""
        values = [setting.value for setting in self._groups.get(entry, ()) if setting.name == "use_off_line"]
        return bool(values) and all(value.single is False and not value.symbol for value in values)

    def mixed_with(self, setting: AdapterSettingFact) -> Literal["yes", "no", "unset", "unknown"]:
        """Whether the holder of a list of operators also sets a mixed precision mode."""
        name = _group(setting)
        modes = [other.value for other in self._groups.get(name, ()) if other.name in PRECISION]
        if name == _UNSEEN or (not modes and self._names.get(_UNSEEN, set()).intersection(PRECISION)):
            return "unknown"
        if not modes:
            return "unset"
        if any(not value.exact or not value.values for value in modes):
            return "unknown"
        return "yes" if any(str(scalar) in _MIXED for value in modes for scalar in value.values) else "no"

    @cached_property
    def _checkpoint_intervals(self) -> dict[str | None, PossibleValues]:
        """For each NPURunConfig the number of steps between checkpoints."""
        settings = (
            setting
            for setting in self._settings
            if setting.via == "run_config" and setting.name == "save_checkpoints_steps"
        )
        return {setting.entry: setting.value for setting in settings}

    def checkpoint_interval(self, entry: str | None) -> PossibleValues | None:
        """The number of steps between checkpoints, as set by the NPURunConfig at a place."""
        return self._checkpoint_intervals.get(entry)

    # -- launchers ---------------------------------------------------------------------------------

    @cached_property
    def _takers(self) -> dict[str, list[AdapterSettingFact]]:
        """The settings by the command line option that determines them."""
        takers: dict[str, list[AdapterSettingFact]] = {}
        for setting in self._settings:
            if setting.value.symbol:
                takers.setdefault(setting.value.symbol, []).append(setting)
        return takers

    def taking(self, passed: LaunchOptionFact) -> list[AdapterSettingFact]:
        """The settings that a passed option determines, in the modules that the started script imports."""
        takers = self._takers.get(passed.option, ()) if self._takers else ()
        return [setting for setting in takers if setting.path in passed.modules]

    @cached_property
    def _launched(self) -> set[int]:
        """The identities of the settings that are determined by passed options."""
        return {id(setting) for launch_option_fact in self._passed for setting in self.taking(launch_option_fact)}

    def is_launched(self, setting: AdapterSettingFact) -> bool:
        """Whether launchers pass the option that determines a setting."""
        return id(setting) in self._launched


NO_OPTIONS = ProjectOptions()
"""The options of a fact before its project is complete."""


def key_of(name: str) -> str:
    """The option key for the spelling `name` in a mechanism."""
    adapter_option = option(name)
    return name if adapter_option is None else adapter_option.key


def holder(setting: AdapterSettingFact) -> str:
    """The holder of a setting: a custom optimizer, an NPURunConfig or the global options. Settings on an unknown
    optimizer are grouped by their function (``?…``)."""
    if setting.via == "npu_options":
        return "global_options"
    return setting.entry or f"{_UNSEEN}{setting.path}:{setting.function}"


def _group(setting: AdapterSettingFact) -> str:
    """As `holder`, but with a single group for all settings on unknown optimizers."""
    return holder(setting) if setting.entry or setting.via == "npu_options" else _UNSEEN
