"""Facts about settings: session keys, arguments of NPURunConfig, global options, fields of ConfigProto. For options of
the adapter also what the option tables and the rest of the project say about them."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Literal

from npulint.data.options import AdapterOption, OptionUse, Status, elsewhere, legal_keys, meant_key, near, option
from npulint.data.releases import DEFAULT_ADAPTER, Standing, standing
from npulint.facts.attributes import Flag, attribute
from npulint.facts.values import PossibleValues
from npulint.model.code.iteration_sinking import Agreement, divides
from npulint.model.programs import adapter
from npulint.model.programs.adapter import NONE
from npulint.model.programs.project_options import NO_OPTIONS, ProjectOptions
from npulint.model.running.code_facts import PlaceFact
from npulint.model.running.conditions import ANY, Situation, known_in, within
from npulint.model.values.cursors import Expr
from npulint.model.values.file_paths import FilePath, file_paths, is_written

Mechanism = Literal["session_key", "run_config", "npu_options"]

_HOLDERS = {"session_key": "parameter_map", "run_config": "NPURunConfig", "npu_options": "global_options()"}
_NEEDED_BY = {"enable_data_pre_proc": "iterations_per_loop"}  # deprecated, but the other does not work without it
_FILE_OPTIONS = frozenset(("modify_mixlist", "customize_dtypes", "fusion_switch_file", "op_debug_config"))
_ITERATIONS = "iterations_per_loop"


class Setting(PlaceFact):
    """Something is set by an assignment or an argument."""

    _expr: Expr
    _situation: Situation = ANY
    _derived: bool = False

    @property
    def is_editable(self) -> bool:
        """Whether it is written where it is set: not in a loop over options, by ``setattr`` or ``**options``."""
        return not self._derived

    @attribute
    def value(self) -> PossibleValues:
        """What it is set to."""
        return known_in(self._expr, self._situation)


class AdapterSetting(Setting):
    """An option of the NPU adapter is set; the name is the option as it is spelled there."""

    _options: ProjectOptions = NO_OPTIONS

    if TYPE_CHECKING:

        @property
        def via(self) -> Mechanism: ...
        @property
        def entry(self) -> str | None: ...

    @property
    def is_incomplete(self) -> bool:
        """Whether other options may be set together with it that the source does not show (``**options``)."""
        return False

    @attribute
    def key(self) -> str:
        """The last part of its name."""
        return self.name.rpartition(".")[2]

    @attribute
    def literal(self) -> bool:
        """Whether the value is written as a literal."""
        return self._expr.is_literal

    def complete(self, options: ProjectOptions) -> None:
        """Stores the options of the whole project, which are known only when all facts exist."""
        self._options = options

    # -- what the option table says ----------------------------------------------------------------

    @cached_property
    def is_own(self) -> bool:
        """Whether the adapter reads it: it is not set on a custom optimizer of another backend."""
        return not self._options.is_foreign(self)

    @cached_property
    def _option(self) -> AdapterOption | None:
        return option(self.name)

    @cached_property
    def _use(self) -> OptionUse | None:
        """The table entry of the option in this mechanism, if it is spelled so there."""
        use = None if self._option is None else self._option.uses.get(self.via)
        return use if self.is_own and use is not None and use.name == self.name else None

    @property
    def _known(self) -> tuple[AdapterOption, OptionUse] | None:
        """The option and its table entry in this mechanism, if it is spelled so there."""
        return None if self._option is None or self._use is None else (self._option, self._use)

    @property
    def _removed(self) -> AdapterOption | None:
        """The option that releases up to some version read in this mechanism under this name."""
        adapter_option = self._option
        if (
            not self.is_own
            or adapter_option is None
            or self.via in adapter_option.uses
            or self.name in legal_keys(self.via)
        ):
            return None
        return adapter_option if adapter_option.status in ("removed", "dead") else None

    @attribute
    def legal(self) -> bool | None:
        """Whether some release of the adapter reads, or has read, this name in this mechanism."""
        if not self.is_own:
            return None
        return self._use is not None or self.name in legal_keys(self.via) or self._removed is not None

    @attribute
    def status(self) -> Status | None:
        """The status of the option in the table; no adapter reads dead ones."""
        adapter_option = self._option if self._use is not None else self._removed
        if adapter_option is None:
            return None
        is_needed = self._use is not None and _NEEDED_BY.get(adapter_option.key) in self.options.split()
        return "active" if is_needed else adapter_option.status

    @attribute
    def instead(self) -> str | None:
        """The option that replaces it, or ``-``."""
        adapter_option = self._option if self._use is not None else self._removed
        return None if adapter_option is None else adapter_option.replacement or NONE

    @attribute
    def nearest(self) -> str | None:
        """The option that an illegal name is probably a misspelling of, or ``-``."""
        if self.legal is not False:
            return None
        use = None if self._option is None else self._option.uses.get(self.via)
        return use.name if use is not None else near(self.name, self.via) or NONE

    @attribute
    def elsewhere(self) -> str | None:
        """The mechanisms that have an option of this illegal name, or none."""
        if self.legal is not False:
            return None
        return ", ".join(_HOLDERS[mechanism] for mechanism in elsewhere(self.name, self.via)) or "none"

    @attribute
    def same(self) -> bool | None:
        """Whether the mechanism has the option of this illegal name under another name, which is then `nearest`."""
        if self.legal is not False:
            return None
        return self._option is not None and self.via in self._option.uses

    @attribute
    def meant(self) -> str | None:
        """The key that an illegal name is probably a misspelling of, or ``-`` if that key is set as well."""
        if self.legal is not False:
            return None
        key = meant_key(self.name, self.via)
        if key is None or key in self.options.split():
            return NONE
        head, _, last = key.rpartition(".")
        return key if self.via != "run_config" else last if self.name.rpartition(".")[0] == head else NONE

    @attribute
    def since(self) -> str | None:
        """The first release of the adapter that has the option, or ``-``."""
        return None if self._use is None else self._use.since or NONE

    @attribute
    def until(self) -> str | None:
        """The last release of the adapter that has the option, or ``-``."""
        return None if self._use is None else self._use.until or NONE

    @attribute
    def available(self) -> Standing | None:
        """Whether the declared release has the option: yes, later, gone or unknown."""
        declared, use = self._options.declared, self._use
        return None if use is None else standing(use.since, use.until, declared.adapter, declared.cann)

    def supposed(self) -> dict[str, tuple[str, str]]:
        """What attributes that are unknown because nothing is declared would be: by attribute, the part of the target
        that decides and the word, of the assumed release of the adapter and of a chip that lacks the value."""
        declared, use = self._options.declared, self._use
        if use is None:
            return {}
        supposed: dict[str, tuple[str, str]] = {}
        if not declared.adapter and not declared.cann:
            supposed["available"] = ("adapter", standing(use.since, use.until, DEFAULT_ADAPTER, ""))
        if not declared.soc and adapter.chips(self.value, use):
            supposed["on_soc"] = ("soc", "no")
        return supposed

    @attribute
    def declared(self) -> str | None:
        """The declared release, in words for messages."""
        declared = self._options.declared
        if self._use is None:
            return None
        return f"adapter {declared.adapter}" if declared.adapter else f"CANN {declared.cann}"

    @attribute
    def acts_in(self) -> Literal["any", "inference"] | None:
        """Whether the option has an effect in inference only."""
        return None if self._known is None else "inference" if self._known[0].mode == "inference" else "any"

    @attribute
    def expected_field(self) -> str | None:
        """The field of a session key from which the adapter reads the option; empty where it has none."""
        return None if self._known is None else self._known[0].field

    @attribute
    def field_ok(self) -> Literal["yes", "no", "outdated", "unknown"] | None:
        """Whether the adapter reads the option from this field: yes, no, outdated (older adapters do) or unknown."""
        return None if self._known is None else "unknown"

    @attribute
    def type_ok(self) -> Flag | None:
        """Whether the type of the value can be written."""
        return None if self._use is None else adapter.type_fits(self.value, self._use)

    @attribute
    def expected_type(self) -> str | None:
        """The type of the option."""
        return None if self._use is None else adapter.expected_type(self._use)

    @attribute
    def value_ok(self) -> Flag | None:
        """Whether the adapter accepts the value."""
        return None if self._use is None else adapter.is_accepted(self.value, self._use)

    @attribute
    def allowed(self) -> str | None:
        """The legal values, or ``-``."""
        return None if self._use is None else adapter.allowed(self._use)

    @attribute
    def likely(self) -> str | None:
        """The legal text that an illegal one probably means, or ``-``."""
        return None if self._use is None else adapter.likely(self.value, self._use)

    @attribute
    def counterpart(self) -> str | None:
        """The equivalent value of the other precision option, or ``-``."""
        return None if self._use is None else adapter.in_other_option(self.value)

    @attribute
    def chips(self) -> str | None:
        """The generations of chips (A1 A2 A3 950) that have the option with this value, or ``-`` for all."""
        return None if self._use is None else adapter.chips(self.value, self._use) or NONE

    @attribute
    def on_soc(self) -> Flag | None:
        """Whether the declared SoC has the option with this value."""
        return None if self._use is None else adapter.is_on_soc(self.value, self._use, self._options.declared.soc)

    @attribute
    def soc(self) -> str | None:
        """The declared SoC, or ``-``."""
        return None if self._use is None else self._options.declared.soc or NONE

    @cached_property
    def paths(self) -> list[FilePath]:
        """The paths that the value may be; empty where they are not known."""
        with within(self.scope.context, self._situation):
            return file_paths(self._expr)

    # -- what the project says ---------------------------------------------------------------------

    @attribute
    def options(self) -> str:
        """The options that are set in the same place, including this one, separated by spaces."""
        return self._options.names_with(self)

    @attribute
    def beside(self) -> str:
        """``key=value`` of each setting in the same place that is active by default and has a single value."""
        return self._options.certain_with(self)

    @attribute
    def launched(self) -> bool:
        """Whether launchers pass the command line option that determines it."""
        return self._options.is_launched(self)

    @attribute
    def file(self) -> Flag | None:
        """For options that name a file: whether the project has, or makes, the file."""
        if self.name not in _FILE_OPTIONS:
            return None
        path = self.paths[0] if len(self.paths) == 1 else None
        if path is None or not path.text.endswith(".json") or is_written(self.scope.context, path):
            return "unknown"
        return self._options.files.has(path)

    @attribute
    def file_path(self) -> str | None:
        """For options that name a file: its path, from the project's folder if the path begins at a script; ``-`` if
        unknown."""
        if self.name not in _FILE_OPTIONS:
            return None
        return " / ".join(map(self._options.files.shown, self.paths)) or NONE

    @attribute
    def mixed(self) -> Literal["yes", "no", "unset", "unknown"] | None:
        """For a list of operators: whether a mixed precision mode is set in the same place."""
        return self._options.mixed_with(self) if self.name == "modify_mixlist" else None

    @attribute
    def agrees(self) -> Agreement | None:
        """For the iterations per loop of a session: whether the calls that offload the loop get the same number."""
        is_sinking = self.via == "session_key" and self.name == _ITERATIONS
        return self._options.sinking.agree_with(self.value) if is_sinking else None

    @attribute
    def divides(self) -> Flag | None:
        """For the iterations per loop of an NPURunConfig: whether its checkpoint interval is a multiple."""
        if self.via != "run_config" or self.name != _ITERATIONS:
            return None
        return divides(self.value, self._options.checkpoint_interval(self.entry))
