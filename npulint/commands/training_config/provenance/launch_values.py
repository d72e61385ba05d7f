"""Values that one start passes to a program: options on the command line, and environment variables."""

from __future__ import annotations

import ast
import math
from functools import cached_property

from npulint.commands.training_config.provenance.plain import UNKNOWN, Found, ValuePairs, literal, show
from npulint.core.lazy_regex import lazy_compile
from npulint.facts.code import Const, Ref
from npulint.facts.model import Span
from npulint.facts.recipe import ProvenanceStep
from npulint.model.code.module import Module
from npulint.model.launches.options import Option, given
from npulint.model.launches.project_launches import Launch, converted
from npulint.model.values.context import Context
from npulint.read.launcher_facts import VariableRecord

# Variables that distributed launchers set for every process.
_RANKS = lazy_compile(
    r"(?:\w+_)?(?:RANK|RANK_ID|RANK_SIZE|WORLD_SIZE|LOCAL_RANK|LOCAL_SIZE|LOCAL_WORLD_SIZE|NODE_RANK|DEVICE_ID"
    r"|DEVICE_INDEX|DEVICE_NUM|MASTER_ADDR|MASTER_PORT|VISIBLE_DEVICES|PROCID|LOCALID|NTASKS)"
)
_BOOLEAN = lazy_compile(r"bool|boolean|flag|switch", 2)
_NUMBER = lazy_compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_LITERAL = frozenset(("eval", "literal_eval", "loads", "safe_load", "json", "list", "tuple", "dict"))
_TYPES = {"int": "int", "float": "float", "str": "text"}
_LONG = 400  # characters of a text that is parsed as a literal
_WORDS = {"true": True, "yes": True, "y": True, "t": True, "1": True, "on": True} | dict.fromkeys(
    ("false", "no", "n", "f", "0", "off"), False
)


class Start:
    """One start of the script at `entry` (empty: unknown) by `launch`; without a launch, nothing is passed."""

    def __init__(self, context: Context, launch: Launch | None, entry: str = "") -> None:
        self.launch = launch
        self.entry = entry or (launch.entry if launch is not None else "")
        self._context = context

    @cached_property
    def modules(self) -> frozenset[str]:
        """The paths of the modules that the script imports, directly or indirectly; all modules if it is unknown."""
        project = self._context.project
        if self.entry not in project.modules:
            return frozenset(project.modules)
        seen = {self.entry}
        queue = [self.entry]
        while queue:
            more = [path for path in project.uses(queue.pop()) if path not in seen]
            seen.update(more)
            queue += more
        return frozenset(seen)

    def options(self, name: str, module: Module) -> list[Option]:
        """The options of that name that `module` may refer to: its own, else those of the started script."""
        options = self._context.options
        own = options.by_module.get(module.path, {}).get(name)
        candidates = own or options.table.get(name, [])
        if len(candidates) > 1 and not own:
            started = [option for option in candidates if option.module.path == self.entry]
            candidates = (
                started
                or [option for option in candidates if option.module.path in self.modules]
                or options.near(name, module)
            )
        return candidates

    def passed(self, option: Option) -> Found | None:
        """The value that the launcher passes for an option, or for another one with the same destination; None if it
        passes neither."""
        same = self._context.options.by_module.get(option.module.path, {}).get(option.name, ())
        for same_option in (option, *(other for other in same if other is not option)):
            passed = self._passed(same_option)
            if passed is not None:
                return passed
        return None

    def _passed(self, option: Option) -> Found | None:
        launch = self.launch
        flag = next((flag for flag in option.flags if launch and flag in launch.options), None)
        if launch is None or flag is None:
            return None
        if self._is_of_another(option):
            return UNKNOWN
        text = launch.options[flag]
        place = launch.fact.record.places.get(flag, launch.fact.span)
        alone = flag in launch.fact.record.flags
        written = dashed(flag) if alone or text is None else f"{dashed(flag)} {show(text)}"
        step = ProvenanceStep(launch.fact.path, place, written)
        return self._converted(option, launch, flag, text).through(step, defined(option))

    def _is_of_another(self, option: Option) -> bool:
        """Whether an option belongs to an imported script, and the started script defines one of the same name."""
        own = self._context.options.by_module.get(self.entry, {})
        return option.module.path != self.entry and option.name in own

    def _converted(self, option: Option, launch: Launch, flag: str, text: str | None) -> Found:
        keywords = dict(option.call.keywords)
        named, nargs = keywords.get("type"), keywords.get("nargs")
        kind = named.name.rpartition(".")[2] if isinstance(named, Ref) else ""
        if text is None:
            return UNKNOWN
        if isinstance(nargs, Const) and (nargs.value in ("+", "*") or isinstance(nargs.value, int)):
            return self._several(launch, flag, text, kind)
        if option.kind in ("words", "parameter"):
            return _words(text, kind)
        if option.kind == "unknown" and nargs == Const("?"):
            values = converted(text, _TYPES.get(kind, "text" if named is None else "unknown"))
        else:
            values = given(option, launch, flag, text)
        return Found(tuple(values.values), values.exact)

    def _several(self, launch: Launch, flag: str, text: str, kind: str) -> Found:
        """The values of an option with several arguments: those up to the next option."""
        record = launch.fact.record
        place = record.places.get(flag)
        if place is None or flag not in record.apart:
            return UNKNOWN
        begins = [(span.line, span.column) for span in record.places.values()]
        begin = (place.line, place.column)
        end = min([position for position in begins if position > begin], default=(1 << 30, 0))
        rest = [word.text for word in record.words if begin < (word.span.line, word.span.column) < end]
        parts = [_words(word, kind) for word in (text, *rest)]
        return literal(tuple([part.single for part in parts])) if all(part.known for part in parts) else UNKNOWN

    def variable(self, name: str) -> Found | None:
        """The value of an environment variable; None if the launcher does not set it."""
        facts = self._environment.get(name)
        if facts:
            last = facts[-1]
            text = last.value
            variable = literal(text) if text is not None else UNKNOWN
            return variable.through(ProvenanceStep(last.path, last.span, f"{name}={text or '…'}"))
        return UNKNOWN if _RANKS.fullmatch(name) else None

    @cached_property
    def _environment(self) -> dict[str, list[VariableRecord]]:
        """The variables that the launcher sets before the start, by name."""
        environment: dict[str, list[VariableRecord]] = {}
        if self.launch is not None:
            place = self.launch.fact
            for file in self._context.project.files:
                if file.path == place.path:
                    for fact in file.facts:
                        if isinstance(fact, VariableRecord) and fact.span.line <= place.span.line:
                            environment.setdefault(fact.name, []).append(fact)
        return environment


def defined(option: Option) -> ProvenanceStep:
    """The place where an option is defined, with its name on the command line."""
    call = option.call
    as_written = [arg.value for arg in call.args if isinstance(arg, Const) and isinstance(arg.value, str)]
    name = next((text for text in as_written if text.startswith("--")), "")
    if not name:
        name = option.name if option.kind == "parameter" or not option.flags else dashed(option.flags[0])
    return ProvenanceStep(option.module.path, Span.of(call), name)


def dashed(flag: str) -> str:
    """An option as written on a command line."""
    return f"-{flag}" if len(flag) == 1 else f"--{flag}"


def default_of(option: Option, default: Found) -> Found:
    """The default value of an option; a text is converted to the option's type."""
    value = default.single
    if option.kind in ("int", "float") and isinstance(value, str):
        values = converted(value, option.kind)
        return Found(tuple(values.values), values.exact, default.provenance)
    if option.kind == "float" and isinstance(value, int) and not isinstance(value, bool):
        return Found((float(value),), True, default.provenance)
    return default


def _words(text: str, kind: str) -> Found:
    """The result of converting a text with a project function, or one that parses literals, judging by its name."""
    if _BOOLEAN.search(kind):
        answer = _WORDS.get(text.lower())
        return UNKNOWN if answer is None else literal(answer)
    if text.lower() in ("true", "false"):
        return literal(text.lower() == "true")
    if _NUMBER.fullmatch(text):
        return number(text)
    return read_literal(text) if kind in _LITERAL else literal(text)


def number(text: str) -> Found:
    """The number that a text represents."""
    try:
        value = float(text)
        is_integer = text.lstrip("+-").isdecimal() and len(text) < 20
        return literal(int(text) if is_integer else value) if math.isfinite(value) else UNKNOWN
    except ValueError:
        return UNKNOWN


def read_literal(text: str) -> Found:
    """The value of a Python literal in a text."""
    try:
        return literal(frozen(ast.literal_eval(text))) if len(text) <= _LONG else UNKNOWN
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return UNKNOWN


def frozen(value: object) -> object:
    """A value with its lists and dictionaries made hashable."""
    if isinstance(value, dict):
        return ValuePairs.of((key, frozen(inner)) for key, inner in value.items())
    if isinstance(value, list | tuple | set | frozenset):
        return tuple([frozen(item) for item in value])
    return value if value is None or isinstance(value, str | int | float) else str(value)
