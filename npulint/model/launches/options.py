"""The command line options that a project defines with argparse, tf.flags, absl or HParams, with their values."""

from __future__ import annotations

from collections.abc import Callable

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.code import UNKNOWN, Call, Const, Ref, SequenceDisplay, Value
from npulint.facts.values import NO, YES, PossibleValues
from npulint.model.code.module import Module
from npulint.model.code.names import Names
from npulint.model.launches.project_launches import Launch, LaunchArguments, converted, option_kind

# Names that hold parsed options by custom; anything else must come from parse_args() or FLAGS itself.
HOLDERS = lazy_compile(
    r"(?:^|\.)(?:FLAGS|flags|args|arg|opts?|hparams|hps|params|cfg|config|conf|options|parsed|argv|a)$"
)
PARSED = lazy_compile(r"parse_(?:known_)?(?:intermixed_)?args(?:_into_dataclasses)?\(\)|(?:^|\.)FLAGS$")
"""Canonical names of parsed options."""

_MOST = 4  # evaluated definitions per option
_DEFINING = frozenset(("add_argument", "mark_flag_as_required", "mark_flags_as_required", "HParams"))


class Option:
    """One option: name, place of its definition, and default value; `flags` are its option strings, `kind` is how its
    text is converted (see `npulint.model.launches.project_launches.option_kind`)."""

    def __init__(
        self, name: str, module: Module, call: Call, default: Value, kind: str, flags: tuple[str, ...]
    ) -> None:
        self.name = name
        self.module = module
        self.call = call
        self.value = default
        self.kind = kind
        self.flags = flags


class Options:
    """The options of a project by name, and by module and name. If launchers start a script, the values that they pass
    count instead of the defaults."""

    def __init__(self, names: Names) -> None:
        self.table: dict[str, list[Option]] = {}
        self.by_module: dict[str, dict[str, list[Option]]] = {}
        self.passed = LaunchArguments(names.project)
        self.required: set[str] = set()
        for module in names.project.modules.values():
            for index in module.calls_where(_defines):
                call = module.code.calls[index]
                if isinstance(call.callee, Ref):
                    self._define(names, module, index, call, module.callee_name(index))

    def launched(self, name: str, module: Module) -> list[str | None]:
        """The values that launchers of the scripts that import `module` pass for an option that it reads (None:
        computed)."""
        return [
            launch.options[flag]
            for option in self.near(name, module)
            for launch in self.passed.starts(option.module.path, module.path)
            for flag in option.flags
            if flag in launch.options
        ]

    def _define(self, names: Names, module: Module, index: int, call: Call, last: str) -> None:
        if last == "add_argument":
            self._argparse(module, call)
        elif last.startswith("DEFINE_"):
            self._flag(module, call, last)
        elif last in ("mark_flag_as_required", "mark_flags_as_required"):
            named = call.args[0].items if call.args and isinstance(call.args[0], SequenceDisplay) else call.args
            self.required.update(str(a.value) for a in named if isinstance(a, Const))
        elif last == "HParams" and names.of_call(module, index).startswith("tensorflow."):
            for key, value in call.keywords:
                self._add(key, module, call, value, last, (key,))

    def _flag(self, module: Module, call: Call, last: str) -> None:
        keywords = dict(call.keywords)
        name = call.args[0] if call.args else keywords.get("name", keywords.get("flag_name"))
        default = call.args[1] if len(call.args) > 1 else keywords.get("default", keywords.get("default_value"))
        if isinstance(name, Const):
            required = keywords.get("required") == Const(True)
            flags = (str(name.value), *([f"no{name.value}"] if option_kind(last, call) == "flag" else []))
            self._add(str(name.value), module, call, UNKNOWN if required else default or Const(None), last, flags)

    def _argparse(self, module: Module, call: Call) -> None:
        flags = [a.value for a in call.args if isinstance(a, Const) and isinstance(a.value, str)]
        keywords = dict(call.keywords)
        dest = keywords.get("dest")
        if isinstance(dest, Const):
            name = str(dest.value)
        elif flags:
            name = next((f for f in flags if f.startswith("--")), flags[0]).lstrip("-").replace("-", "_")
        else:
            return
        names = tuple([flag.lstrip("-").replace("-", "_") for flag in flags if flag.startswith("-")])
        required = keywords.get("required") == Const(True) or not any(f.startswith("-") for f in flags)
        default: Value = keywords.get("default", UNKNOWN if required else Const(None))
        action = keywords.get("action")
        if isinstance(action, Const) and "default" not in keywords:
            if action.value == "store_true":
                default = Const(False)
            elif action.value == "store_false":
                default = Const(True)
        self._add(name, module, call, default, "add_argument", names)

    def _add(self, name: str, module: Module, call: Call, default: Value, written: str, flags: tuple[str, ...]) -> None:
        kind = option_kind(written, call)
        option = Option(name, module, call, default, kind, flags)
        self.table.setdefault(name, []).append(option)
        self.by_module.setdefault(module.path, {}).setdefault(name, []).append(option)

    def meant(self, module: Module, dotted: str) -> list[Option]:
        """The value of ``FLAGS.x``, ``args.x`` and the like in `module`; None if it is no option. It counts as exact,
        because it applies unless the caller overrides it."""
        holder, _, name = dotted.rpartition(".")
        if name not in self.table or not holder or not HOLDERS.search(holder):
            return []
        return self.near(name, module)[:_MOST]

    def held(self, module: Module, dotted: str, canonical: Callable[[], str]) -> list[Option]:
        """The options that a name means whose first part is called otherwise: by its canonical name, that part is the
        result of ``parse_args()`` or ``FLAGS`` itself."""
        name = dotted.rpartition(".")[2]
        if name == dotted or name not in self.table or not PARSED.search(canonical().removesuffix(f".{name}")):
            return []
        return self.near(name, module)[:_MOST]

    def near(self, name: str, module: Module) -> list[Option]:
        """The options of that name that `module` may mean: its own, else those of modules that are imported together
        with it."""
        options = self.table.get(name, [])
        if len(options) == 1:
            return options
        own = self.by_module.get(module.path, {}).get(name)
        scripts = self.passed.reaching(module.path)
        if own or not scripts:
            return own or options
        return [o for o in options if not scripts.isdisjoint(self.passed.reaching(o.module.path))] or options

    def launched_values(self, option: Option, module: Module) -> tuple[list[PossibleValues], bool]:
        """The passed values; also the default if a launcher does not pass the option, or if there is no launcher."""
        parts: dict[tuple[str, str | None], PossibleValues] = {}
        starts = self.passed.starts(option.module.path, module.path)
        left_out = not starts or option.kind == "parameter"
        for launch in starts:
            flag = next((flag for flag in option.flags if flag in launch.options), None)
            left_out = left_out or flag is None or not launch.sure
            if flag is not None:
                text = launch.options[flag]
                parts[flag, text] = given(option, launch, flag, text)
        return list(parts.values()), left_out


def given(option: Option, launch: Launch, flag: str, text: str | None) -> PossibleValues:
    """The value of an option in a start that passes `text` with the option string `flag`. A boolean absl option only
    takes a value after an equals sign."""
    if option.kind != "flag":
        return converted(text, option.kind)
    if flag != option.name:
        return NO
    return YES if flag in launch.fact.record.apart else converted(text, "flag")


def _defines(last: str) -> bool:
    return last in _DEFINING or last.startswith("DEFINE_")
