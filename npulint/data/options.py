"""Adapter options: which keys exist, how each mechanism spells and types them, which values they take."""

from __future__ import annotations

from functools import cache

import msgspec

from npulint.data import table

MECHANISMS = ("session_key", "run_config", "npu_options")
_CLOSE = 0.7


class Use(msgspec.Struct, frozen=True):
    """An option in one mechanism. `name` is its spelling there (``DumpConfig.dump_path``), `type` one of
    str, int, bool, object. `values` lists all legal values, `low` and `high` bound numbers; none of them
    means that any value is legal. `since` and `until` are adapter releases (``r1.9.0``, or a year)."""

    name: str
    type: str
    values: tuple[str | int, ...] = ()
    low: int | None = None
    high: int | None = None
    default: str | None = None
    since: str = ""
    until: str = ""

    def accepts(self, value: object) -> bool:
        """Whether the adapter takes this value. Letter case counts; a numeral may be given as text."""
        if str(value) == self.default:
            return True
        if self.values:
            return value in self.values or str(value) in map(str, self.values)
        if isinstance(value, int) and not isinstance(value, bool):
            return (self.low is None or value >= self.low) and (self.high is None or value <= self.high)
        return True


class AdapterOption(msgspec.Struct, frozen=True):
    """One option. `field` is the member of the session key's protobuf value (s, b or i); status is active,
    deprecated, removed or dead (read by no adapter); `uses` maps a mechanism to its particulars."""

    key: str
    status: str
    uses: dict[str, Use]
    field: str = ""
    replacement: str = ""
    note: str = ""

    @property
    def mechanisms(self) -> tuple[str, ...]:
        return tuple(m for m in MECHANISMS if m in self.uses)


def option(key: str) -> AdapterOption | None:
    """The option of that key, or of that spelling in any mechanism (``dump_config.dump_path``)."""
    return _spellings().get(key)


@cache
def legal_keys(mechanism: str) -> frozenset[str]:
    """Every spelling that some adapter release reads in a mechanism, groups (``dump_config``) included.

    Raises:
        KeyError: for a mechanism that does not exist.
    """
    if mechanism not in MECHANISMS:
        raise KeyError(mechanism)
    names = {o.uses[mechanism].name for o in _options() if mechanism in o.uses and o.status != "dead"}
    if mechanism == "npu_options":
        names |= {name.rpartition(".")[0] for name in names if "." in name}
        names |= {name.partition(".")[0] for name in names}
    return frozenset(names)


def near(key: str, mechanism: str) -> str | None:
    """The spelling in a mechanism that `key` probably means, or none when nothing is close. For a key
    that no adapter reads any more it is the replacement.

    Raises:
        KeyError: for a mechanism that does not exist.
    """
    legal, known = legal_keys(mechanism), option(key)
    successor = option(known.replacement) if known is not None and key not in legal else None
    if successor is not None and mechanism in successor.uses:
        return successor.uses[mechanism].name
    wanted = key[:80].casefold()
    best = max(sorted(legal), key=lambda candidate: _closeness(wanted, candidate))
    return best if _closeness(wanted, best) >= _CLOSE else None


def _closeness(wanted: str, candidate: str) -> float:
    """From 0 to 1: by letters, by a run of words that both contain, or as a part of the candidate."""
    from difflib import SequenceMatcher  # only mistakes pay for it

    name = candidate if "." in wanted else candidate.rpartition(".")[2]
    words, others = wanted.split("_"), name.casefold().split("_")
    run = SequenceMatcher(None, words, others).find_longest_match().size
    by_words = run / max(len(words), len(others)) + 0.05 if run > 1 else 0.0
    by_part = 0.85 if len(words) > 1 and wanted in name.casefold() else 0.0
    return max(SequenceMatcher(None, wanted, name.casefold()).ratio(), by_words, by_part)


@cache
def _options() -> tuple[AdapterOption, ...]:
    return msgspec.json.decode(table("adapter_options.json"), type=tuple[AdapterOption, ...])


@cache
def _spellings() -> dict[str, AdapterOption]:
    spelled = {use.name: o for o in _options() for use in o.uses.values()}
    return spelled | {o.key: o for o in _options()}
