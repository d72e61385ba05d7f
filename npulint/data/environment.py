"""Environment variables of torch_npu, CANN and HCCL: legal values, status and constraints."""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise
from typing import Literal

import msgspec

from npulint.core.lazy_regex import lazy_compile
from npulint.core.suggest import may_help, similar
from npulint.data import table

ALLOCATOR = "PYTORCH_NPU_ALLOC_CONF"
VariableStatus = Literal["active", "debug", "deprecated", "obsolete", "cuda"]
AllocatorProblem = Literal["exclusive", "unknown-key", "bad-value", "none"]
_CLOSE = 0.92
_SHORTEST = 9  # letters of a name that may be a misspelling
# Names with these prefixes belong to the NPU stack; others may be the project's own.
_OURS = lazy_compile(
    r"(?:ASCEND|HCCL|TORCH_NPU|TORCH_HCCL|TORCH_TRANSFER|PYTORCH_NPU|PYTORCH_NO_NPU|TASK_QUEUE|INF_NAN|ACL|ACLNN|COMBINED"
    r"|MULTI_STREAM|CPU_AFFINITY|NPU)_",
    re.IGNORECASE,
)
_SWITCHES = {"true": "1", "on": "1", "yes": "1", "false": "0", "off": "0", "no": "0"}
_INTEGER = lazy_compile(r"[+-]?\d+")
_DECIMAL = lazy_compile(r"[+-]?(?:\d+\.?\d*|\.\d+)")


class VariableRule(msgspec.Struct, frozen=True):
    """A constraint on another variable `name` when the variable has the value `when` (``*``: any): one of `values`
    (none: any value), or a `part` of its value."""

    when: str
    name: str
    values: tuple[str, ...] = ()
    part: str = ""

    def met(self, value: str | None) -> bool:
        """Whether the other variable's value satisfies the constraint."""
        if value is None:
            return False
        return self.part in value if self.part else not self.values or value in self.values

    def text(self) -> str:
        """The other variable as an assignment."""
        if self.part:
            return f"{self.name}={self.part}"
        return f"{self.name}={self.values[0]}" if self.values else self.name


class Variable(msgspec.Struct, frozen=True):
    """One variable. `type`: word (of `values`), int, float (from `low` to `high`), pattern (`values` holds it), ids (of
    devices), keys (``key:value`` pairs), any. `status`: active, debug, deprecated, obsolete, cuda. `left_on`: values
    that enable debugging (``*``: any). `read`: start or import if setting it later has no effect. `refused`: a wrong
    value aborts the run. `needs`, `excludes`: constraints on other variables."""

    name: str
    type: str = "any"
    values: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None
    multiple: int = 0
    default: str = ""
    status: VariableStatus = "active"
    left_on: tuple[str, ...] = ()
    read: str = ""
    instead: str = ""
    refused: bool = False
    needs: tuple[VariableRule, ...] = ()
    excludes: tuple[VariableRule, ...] = ()

    def accepts(self, value: str) -> bool:
        """Whether a value is legal."""
        text = value.strip()
        if self.type == "word":
            return text in self.values or text.lower() in self.values
        if self.type == "pattern":
            return re.fullmatch(self.values[0], text) is not None
        if self.type == "ids":
            return _device_ids(value)
        if self.type == "keys":
            return "bad-value" not in map(_key_problem, _pairs(value))
        return self._in_range(text)

    def _in_range(self, text: str) -> bool:
        number = _INTEGER if self.type == "int" else _DECIMAL if self.type == "float" else None
        if number is None:
            return True
        if not number.fullmatch(text):
            return False
        amount = float(text)
        low, high = self.low, self.high
        inside = (low is None or amount >= low) and (high is None or amount <= high)
        return inside and (not self.multiple or amount % self.multiple == 0)

    def likely(self, value: str) -> str:
        """The only legal value that a wrong one may mean: other letter case, a word for a switch, blanks between ids;
        empty if there is none."""
        text = value.strip()
        if self.type == "word":
            digit = _SWITCHES.get(text.lower(), "")
            matching = [word for word in self.values if word in (text.lower(), digit) or word.lower() == text.lower()]
            return matching[0] if len(matching) == 1 else ""
        if self.type == "ids":
            meant = ",".join(piece.strip() for piece in text.split(","))
            return meant if re.fullmatch(r"[\d,]+", meant) and self.accepts(meant) else ""
        return _likely_keys(value) if self.type == "keys" else ""

    def is_left_on(self, value: str) -> bool:
        """Whether a value enables debugging."""
        return bool(value) and (value in self.left_on or "*" in self.left_on)

    def allowed(self) -> str:
        """The legal values, for messages."""
        if self.type == "word":
            return " | ".join(self.values)
        if self.type == "ids":
            return "ascending ids with commas between and no blanks, such as 0,1,2"
        if self.type in ("int", "float"):
            ends = "..".join("" if end is None else f"{end:.10g}" for end in (self.low, self.high))
            return ends + (f", multiples of {self.multiple}" if self.multiple else "")
        return "key:value pairs of the documented keys" if self.type == "keys" else "-"


def variable(name: str) -> Variable | None:
    """The variable of that name, or None."""
    return _variables().get(name)


def is_of_npu(name: str) -> bool:
    """Whether a name has a prefix of the NPU stack, known or not."""
    return _OURS.match(name) is not None


def nearest(name: str) -> str:
    """The variable that `name` probably means; empty if it is known itself or nothing is close."""
    if name in _variables() or len(name) < _SHORTEST or not _OURS.match(name) or not may_help():
        return ""
    return _nearest(name)


@cache
def _nearest(name: str) -> str:
    from difflib import SequenceMatcher  # imported on demand: rarely needed

    upper = name.upper()
    candidates = [n for n, v in _variables().items() if ":" not in n and v.status in ("active", "debug")]
    if upper in candidates:
        return upper
    near = similar(upper, candidates)
    if not near:
        return ""
    best = max(near, key=lambda candidate: SequenceMatcher(None, upper, candidate).ratio())
    return best if SequenceMatcher(None, upper, best).ratio() >= _CLOSE else ""


def allocator_problem(value: str) -> tuple[AllocatorProblem, str]:
    """The problem of an allocator configuration (``exclusive``, ``unknown-key``, ``bad-value`` or ``none``) and its
    keys."""
    pairs = _pairs(value)
    settings = dict(pairs)
    if settings.get("expandable_segments") == "True":
        split = [key for key in ("max_split_size_mb", "garbage_collection_threshold") if key in settings]
        if split:
            return "exclusive", " ".join(split)
    for pair in pairs:
        problem = _key_problem(pair)
        if problem is not None:
            return problem, pair[0] if problem == "unknown-key" else ":".join(pair)
    return "none", ""


def _pairs(value: str) -> list[tuple[str, str]]:
    pairs = []
    for piece in re.split(r",(?![^\[]*\])", value):
        key, _, setting = piece.partition(":")
        if key.strip():
            pairs.append((key.strip(), setting.strip()))
    return pairs


def _key_problem(pair: tuple[str, str]) -> Literal["unknown-key", "bad-value"] | None:
    key_variable = variable(f"{ALLOCATOR}:{pair[0]}")
    if key_variable is None:
        return "unknown-key"
    return None if key_variable.accepts(pair[1]) else "bad-value"


def _likely_keys(value: str) -> str:
    """A corrected allocator configuration: misspelled keys fixed, CUDA-only keys removed or renamed to the NPU's; empty
    if uncertain."""
    from difflib import get_close_matches

    names = [name.partition(":")[2] for name in _variables() if name.startswith(f"{ALLOCATOR}:")]
    settings = []
    for written, setting in _pairs(value):
        if written == "backend":
            continue
        meant = written.replace("cuda", "npu")
        key = meant if meant in names else next(iter(get_close_matches(written, names, 1, _CLOSE)), "")
        key_variable = variable(f"{ALLOCATOR}:{key}")
        right = setting if key_variable is None or key_variable.accepts(setting) else key_variable.likely(setting)
        if not key or not right:
            return ""
        settings.append(f"{key}:{right}")
    right = ",".join(settings)
    return right if allocator_problem(right)[0] == "none" else ""


def _device_ids(value: str) -> bool:
    pieces = value.split(",")
    if not all(piece.isdigit() for piece in pieces):
        return value.strip() in ("", "-1")
    numbers = [int(piece) for piece in pieces]
    return all(a < b for a, b in pairwise(numbers))


@cache
def _variables() -> dict[str, Variable]:
    rows = msgspec.json.decode(table("env_vars.json"), type=tuple[Variable, ...])
    return {row.name: row for row in rows}
