"""What is known of each environment variable that a project sets, and of those that are set beside it."""

from __future__ import annotations

import posixpath
from collections import defaultdict
from collections.abc import Iterable
from functools import cached_property, partial
from typing import Any

from npulint.assemble.index import FactTable
from npulint.assemble.project import Project
from npulint.data.environment import ALLOCATOR, Rule, Variable, allocator_problem, nearest, variable
from npulint.facts.model import Fact
from npulint.facts.values import PossibleValues
from npulint.lazy_regex import lazy_compile

_CUDA_ALLOCATOR = "PYTORCH_CUDA_ALLOC_CONF"
NONE = "-"  # stands in messages where there is nothing to name
_TIMEOUTS = ("HCCL_EVENT_TIMEOUT", "HCCL_EXEC_TIMEOUT")  # the first must be longer
_PREPARES = lazy_compile(r"env|profile|bashrc|activate|conda")
_OF_NPU_DEVICE = frozenset(("NPU_DEBUG", "NPU_DUMP_GRAPH", "NPU_ENABLE_PERF", "NPU_LOOP_SIZE"))
_TOOLKIT = frozenset(("ASCEND_OPP_PATH", "ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME", "ASCEND_AICPU_PATH", "ASCEND_HOME"))
_PORT_OPTIONS = ("master_port", "rdzv_endpoint", "dist_url", "init_method", "dist_port")
_PORT = lazy_compile(r"(?:^|:)(\d+)/?$")


def describe_environment(tables: Iterable[FactTable], project: Project) -> None:
    """Add to what sets a variable, and to what launchers start, what is known of it (see docs/writing-checks.md).
    Nothing is worked out before a check asks."""
    facts = [fact for part in tables for kind in ("environment", "environment_read") for fact in part.get(kind, ())]
    for file in project.files:
        facts += [f for f in file.facts if f.kind in ("environment", "launch", "shell_problem")]
    scripts = _Scripts(facts)
    for fact in facts:
        if fact.kind == "environment":
            fact.attrs.update(_of_variable(fact, scripts))
        elif fact.kind == "launch":
            given = fact.attrs.get("launcher_options")
            fact.attrs["use_env"] = "yes" if isinstance(given, dict) and "use_env" in given else "no"
            fact.attrs["port"] = partial(_port, fact)
            fact.attrs["along"] = partial(_along, fact, scripts)
            fact.attrs["size"] = partial(_size, fact, scripts)
            fact.attrs["short"] = partial(_short, fact, scripts)
            fact.attrs["prepared"] = partial(getattr, scripts, "prepared")
        elif fact.kind == "shell_problem":
            fact.attrs["exported"] = partial(scripts.exported, str(fact.get("variable")))


class _Scripts:
    """The variables of a project by the files that set them."""

    def __init__(self, facts: list[Fact]) -> None:
        self._facts = facts
        self._together: dict[str, list[str]] = {}

    @cached_property
    def _set(self) -> dict[str, dict[str, list[Fact]]]:
        """Path -> variable -> what sets it, in text order."""
        found: dict[str, dict[str, list[Fact]]] = defaultdict(lambda: defaultdict(list))
        for fact in self._facts:
            if fact.kind == "environment":
                found[fact.path][fact.name].append(fact)
        return found

    @cached_property
    def _sourced(self) -> dict[str, set[str]]:
        """Path -> names of the scripts that it sources."""
        found: dict[str, set[str]] = defaultdict(set)
        for fact in self._facts:
            if fact.kind == "launch" and fact.get("sourced"):
                found[fact.path].add(posixpath.basename(fact.name))
        return found

    @cached_property
    def _by_base(self) -> dict[str, list[str]]:
        """Name of a script -> the paths of those that set something."""
        found: dict[str, list[str]] = defaultdict(list)
        for path in self._set:
            found[posixpath.basename(path)].append(path)
        return found

    @cached_property
    def _sourcing(self) -> dict[str, list[str]]:
        """Name of a script -> the paths of those that source it and set something."""
        found: dict[str, list[str]] = defaultdict(list)
        for path, names in self._sourced.items():
            for name in names if path in self._set else ():
                found[name].append(path)
        return found

    @cached_property
    def prepared(self) -> str:
        """Whether any launcher sources something that sets the toolkit up, or sets its paths itself."""
        named = {name for names in self._sourced.values() for name in names}
        return "yes" if any(map(_PREPARES.search, named)) or any(self.sets(n) for n in _TOOLKIT) else "no"

    @cached_property
    def _read(self) -> set[str]:
        return {fact.name for fact in self._facts if fact.kind == "environment_read"}

    def sets(self, name: str) -> list[Fact]:
        """What sets a variable anywhere in the project."""
        return [fact for names in self._set.values() for fact in names.get(name, ())]

    def exported(self, name: str) -> str:
        """Whether the project hands the variable on anywhere."""
        return "yes" if self.sets(name) else "no"

    def own(self, fact: Fact) -> str:
        """Whether the project itself reads the variable."""
        return "yes" if fact.get("used") or fact.name in self._read else "no"

    def together(self, path: str) -> list[str]:
        """The scripts that a script sources or that source it, then itself."""
        known = self._together.get(path)
        if known is None:
            others = {p for name in self._sourced.get(path, ()) for p in self._by_base.get(name, ())}
            others.update(self._sourcing.get(posixpath.basename(path), ()))
            known = self._together[path] = [*sorted(others - {path}), path]
        return known

    def ranked(self, path: str) -> bool:
        """Whether the processes that a script starts get ranks."""
        return any("RANK_ID" in self._set.get(place, {}) for place in self.together(path))

    def along(self, path: str) -> set[str]:
        """The variables that certainly have some value where the file's variables are set."""
        found = set()
        for place in self.together(path):
            for name, facts in self._set.get(place, {}).items():
                if _text(facts[-1]) != "" and not any(_conditional(fact) for fact in facts):
                    found.add(name)
        return found

    def beside(self, path: str) -> dict[str, str]:
        """The variables that certainly have one value where the file's variables are set: its own and those
        of scripts that it sources, or that source it."""
        found: dict[str, str] = {}
        for place in self.together(path):
            for name, facts in self._set.get(place, {}).items():
                value = _certain(facts)
                if value is None:
                    found.pop(name, None)
                else:
                    found[name] = value
        return found


def _certain(facts: list[Fact]) -> str | None:
    """The value that a variable has after all of `facts`, if that is sure."""
    last = facts[-1]
    if any(_conditional(fact) for fact in facts) or last.get("default"):
        return None
    return _text(last)


def _conditional(fact: Fact) -> bool:
    return bool(fact.get("guarded")) or (fact.get("via") == "python" and fact.get("active") != "yes")


def _text(fact: Fact) -> str | None:
    value = fact.get("value")
    value = value.single if isinstance(value, PossibleValues) else value
    return value if isinstance(value, str) else None


def _of_variable(fact: Fact, scripts: _Scripts) -> dict[str, Any]:
    known = variable(fact.name)
    attrs: dict[str, Any] = {
        "known": "no" if known is None else "yes",
        "status": "unknown" if known is None else known.status,
        "instead": NONE if known is None else known.instead or NONE,
        "nearest": lambda: nearest(fact.name) or NONE,
        "own": partial(scripts.own, fact),
        "along": partial(_along, fact, scripts),
        "beside": lambda: " ".join(f"{k}={v}" for k, v in sorted(scripts.beside(fact.path).items()) if k != fact.name),
    }
    if known is not None:
        attrs["refused"] = "yes" if known.refused else "no"
        attrs["allowed"] = known.allowed()
        attrs["likely"] = lambda: known.likely(_text(fact) or "") or NONE
        attrs["value_ok"] = lambda: _agreed(fact, known.accepts)
        attrs["left_on"] = lambda: _agreed(fact, known.is_left_on)
        attrs["in_time"] = partial(_in_time, fact, known.read)
        attrs["clash"] = partial(_clash, fact, known, scripts)
        attrs["lacks"] = partial(_lacks, fact, known, scripts)
    if fact.name in (ALLOCATOR, _CUDA_ALLOCATOR):
        attrs["problem"] = lambda: allocator_problem(_text(fact) or "")[0]
        attrs["detail"] = lambda: allocator_problem(_text(fact) or "")[1] or NONE
    return attrs


def _agreed(fact: Fact, test: Any) -> str:
    """Whether all values that the variable may have pass (yes), or none (no)."""
    value = fact.get("value")
    if isinstance(value, str):
        value = PossibleValues((value,), True)
    if not isinstance(value, PossibleValues) or not value.exact or not value.values:
        return "unknown"
    answers = {test(one) if isinstance(one, str) else None for one in value.values}
    if len(answers) > 1 or None in answers:
        return "unknown"
    return "yes" if True in answers else "no"


def _in_time(fact: Fact, read: str) -> str:
    """Whether Python code sets a variable before it is read: that is when Python or PyTorch starts."""
    if fact.get("via") != "python" or not read:
        return "yes"
    if read == "start":
        return "no"
    module, block = fact.around.module, fact.around.block
    readers = ("npu_device",) if fact.name in _OF_NPU_DEVICE else ("torch", "torch_npu")
    imports = [r for r in module.code.imports if r.module.partition(".")[0] in readers]
    within = module.function_of(block)
    for record in imports:
        holder = module.function_of(record.block)
        if holder == within and record.line < fact.span.line:
            return "no"
        if holder < 0 <= within:
            return "no"  # the module has been run when the function is called
    return "yes"


def _rules(fact: Fact, rules: tuple[Rule, ...]) -> list[Rule]:
    """The rules that hold for the value of a variable."""
    value = _text(fact)
    return [rule for rule in rules if value and rule.when in ("*", value)]


def _clash(fact: Fact, known: Variable, scripts: _Scripts) -> str:
    """The other variable, with its value, that must not be set beside this one."""
    beside = scripts.beside(fact.path)
    for rule in _rules(fact, known.excludes):
        if rule.met(beside.get(rule.name)):
            return f"{rule.name}={beside[rule.name]}"
    if fact.name == _TIMEOUTS[0]:
        event, running = _text(fact) or "", beside.get(_TIMEOUTS[1], "")
        if event.isdigit() and running.isdigit() and 0 < int(event) <= int(running):
            return f"{_TIMEOUTS[1]}={running}"
    return NONE


def _lacks(fact: Fact, known: Variable, scripts: _Scripts) -> str:
    """The other variable, with its value, without which this one does nothing; nothing of the kind may be set
    anywhere in the project, not even to a value that is unknown."""
    for rule in _rules(fact, known.needs):
        others = scripts.sets(rule.name)
        if not any(_text(other) is None or rule.met(_text(other)) for other in others):
            return rule.text()
    return NONE


def _port(fact: Fact) -> str:
    """The port at which the processes of a launch meet, as its options say."""
    for attribute in ("launcher_options", "options"):
        options = fact.attrs.get(attribute)
        given = options if isinstance(options, dict) else {}
        for name in _PORT_OPTIONS:
            match = _PORT.search(given.get(name) or "")
            if match:
                return match[1]
    return NONE


def _along(fact: Fact, scripts: _Scripts) -> str:
    """The variables that are certainly set where this one is, or where a script is started."""
    return " ".join(sorted(scripts.along(fact.path) - {fact.name}))


def _size(fact: Fact, scripts: _Scripts) -> str:
    """How many processes a launcher says that there are."""
    beside = scripts.beside(fact.path)
    return beside.get("RANK_SIZE", beside.get("CM_WORKER_SIZE", NONE))


def _short(fact: Fact, scripts: _Scripts) -> str:
    """Whether a loop starts more processes than that, each with a rank of its own: then their number."""
    started, size = fact.attrs.get("rounds"), _size(fact, scripts)
    if not isinstance(started, int) or not size.isdigit() or not scripts.ranked(fact.path):
        return NONE
    return str(started) if 0 < int(size) < started else NONE
