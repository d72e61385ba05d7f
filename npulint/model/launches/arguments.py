"""The values that launchers pass for an option, as the started script parses them."""

from __future__ import annotations

from npulint.facts.code import Call, Const, Ref
from npulint.facts.values import NO, NOTHING, YES, PossibleValues
from npulint.model.code.project import Project
from npulint.model.launches.project_launches import Launch, Launches

_TRUE = frozenset(("true", "t", "1", "yes", "y"))
_FALSE = frozenset(("false", "f", "0", "no", "n"))
_KINDS = {
    "DEFINE_integer": "int",
    "DEFINE_float": "float",
    "DEFINE_boolean": "flag",
    "DEFINE_bool": "flag",
    "DEFINE_string": "text",
    "DEFINE_enum": "text",
}
_TYPES = {"int": "int", "float": "float", "str": "text", "bool": "nonempty"}
_ACTIONS = {"store_true": "true", "store_false": "false", "store": ""}


class LaunchArguments:
    """The starts of a project's scripts by the modules that these scripts import."""

    def __init__(self, project: Project) -> None:
        self.launches = Launches(project)
        self._project = project
        self._reaching: dict[str, frozenset[str]] = {}

    def reaching(self, path: str) -> frozenset[str]:
        """The started scripts that are the module or import it, directly or indirectly."""
        if not self.launches.by_entry:
            return frozenset()
        known = self._reaching.get(path)
        if known is None:
            seen = {path}
            queue = [path]
            while queue:
                for user in self._project.users.get(queue.pop(), ()):
                    if user not in seen:
                        seen.add(user)
                        queue.append(user)
            known = self._reaching[path] = frozenset(seen & self.launches.by_entry.keys())
        return known

    def starts(self, defined: str, used: str) -> list[Launch]:
        """The starts in which code of the module `used` may read an option that the module `defined` defines: those of
        scripts that import both. If some launchers are for the NPU, those for other devices are omitted."""
        first, second = self.reaching(defined), self.reaching(used)
        entries = (first & second) or first or second
        starts = [launch for entry in sorted(entries) for launch in self.launches.by_entry[entry]]
        if any(launch.target == "npu" for launch in starts):
            return [launch for launch in starts if launch.target != "gpu"]
        return starts


def option_kind(written: str, call: Call) -> str:
    """How the parser converts an option's text: int, float, text, flag (words for true and false), nonempty (true for
    every text except the empty one), true or false (options without a value), words (a function of the project converts
    it), parameter (no option, but often set from one), or unknown. An option without a type is text."""
    if written.startswith("DEFINE_"):
        return _KINDS.get(written, "unknown")
    if written != "add_argument":
        return "parameter"
    keywords = dict(call.keywords)
    action, kind = keywords.get("action"), keywords.get("type")
    if action is not None and isinstance(action, Const) and action.value in _ACTIONS:
        taken = _ACTIONS[str(action.value)]
        if taken:
            return taken
    elif action is not None or "nargs" in keywords:
        return "unknown"
    if kind is None:
        return "text"
    return _TYPES.get(kind.name, "words") if isinstance(kind, Ref) else "unknown"


def converted(text: str | None, kind: str) -> PossibleValues:
    """The value of an option of `kind` when a launcher passes `text` (None: computed)."""
    if text is None or kind == "unknown":
        return NOTHING
    if kind in ("true", "false"):
        return YES if kind == "true" else NO
    if kind == "nonempty":
        return YES if text else NO
    lowered = text.lower()
    if kind == "flag":
        return YES if lowered in _TRUE else NO if lowered in _FALSE else NOTHING
    if kind in ("int", "float"):
        return _number(text, kind)
    if kind in ("words", "parameter") and lowered in ("true", "false"):
        return YES if lowered == "true" else NO
    return PossibleValues((text,), True)


def _number(text: str, kind: str) -> PossibleValues:
    try:
        return PossibleValues((int(text) if kind == "int" else float(text),), True)
    except ValueError:
        return NOTHING
