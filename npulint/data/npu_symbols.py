"""The names in the modules of the TensorFlow adapter, ``npu_bridge`` and ``npu_device``, of all recorded releases."""

from __future__ import annotations

from functools import cache, lru_cache
from typing import Literal

from npulint.core.suggest import may_help, similar
from npulint.data import lazy_table
from npulint.data.names import canonical, star_exports
from npulint.data.releases import standing

ROOTS = ("npu_bridge", "npu_device")
_FIRST = ("npu_bridge.npu_init", "npu_device")
_LIKE_BRIDGE = "npu_device.compat.v1"  # the build puts a copy of npu_bridge there
_API = "npu_device._api."
_ALIKE = 0.85  # minimum similarity of a misspelling; below, it may be a name of a newer release
_ALIKE_ELSEWHERE = 0.9  # of a misspelling in another module, or where a newer release is declared
_ABSENT = ("later", "gone")

Symbol = tuple[Literal["yes", "passes", "no"], str, str]
"""Whether the module defines it, passes it on from the adapter or imports it from elsewhere; its first and its last
release (empty: the newest)."""

_table = lazy_table("npu_symbols.json", dict[str, dict[str, Symbol]])


@cache
def _modules() -> dict[str, dict[str, Symbol]]:
    """The names of each module, by all names of the module; submodules count as names."""
    modules: dict[str, dict[str, Symbol]] = {}
    for module, names in _table().items():
        for spelling in _spellings(module):
            modules.setdefault(spelling, {}).update(names)
    for name in star_exports(_FIRST[0]):  # names of the line before r1.1.1, and of hccl
        modules[_FIRST[0]].setdefault(name, ("no", "", ""))
    for module in list(modules):
        while "." in module:
            package, _, last = module.rpartition(".")
            modules.setdefault(package, {}).setdefault(last, ("yes", "", ""))
            module = package
    for module in list(modules):
        modules.setdefault(canonical(module), {}).update(modules[module])
    return modules


def _spellings(module: str) -> list[str]:
    if module.startswith(_API):
        return [module, f"npu_device.{module.removeprefix(_API)}"]
    below = module.removeprefix("npu_bridge")
    return [module, _LIKE_BRIDGE + below] if below != module else [module]


@lru_cache(maxsize=4096)
def missing(name: str) -> tuple[str, str] | None:
    """The module and its member, if no recorded release of the adapter has the member that a dotted name needs; None
    for names that exist, members of what is no module, private names, and names of other packages."""
    modules = _modules()
    parts = name.partition("(")[0].partition("[")[0].split(".")
    if parts[0] not in ROOTS:
        return None
    module = parts[0]
    for part in parts[1:]:
        if f"{module}.{part}" in modules:
            module = f"{module}.{part}"
        elif part in modules[module] or part.startswith("_") or not part:
            return None
        else:
            return module, part
    return None


def meant(module: str, member: str, adapter: str, cann: str) -> str:
    """What a missing member probably means: the name of the same module or of another one, with that module, that is
    spelled alike and that the declared release may have; empty if there is none. Where the declared release is newer
    than the recorded ones, only very similar names count."""
    names = {name for name, symbol in _modules()[module].items() if _may_be_there(symbol, adapter, cann)}
    least = _ALIKE if is_recorded(adapter, cann) else _ALIKE_ELSEWHERE
    near = _near(member, names, least)
    if near:
        return f"{module}.{near}"
    homes: dict[str, str] = {}
    for home in _public_modules():
        for name, symbol in _modules()[home].items():
            is_own = symbol[0] == "yes" or (symbol[0] == "passes" and home in _FIRST)
            if is_own and symbol[1] and _may_be_there(symbol, adapter, cann):
                homes.setdefault(name, home)
    if not is_recorded(adapter, cann):
        return ""
    moved = [public_module for public_module in _public_modules() if public_module.rpartition(".")[2] == member]
    if moved:
        return moved[0]
    near = member if member in homes else _near(member, set(homes), _ALIKE_ELSEWHERE)
    return f"{homes[near]}.{near}" if near else ""


def meant_by_star(module: str, name: str) -> str:
    """The name of a module that an undefined name probably means, if it comes by a star import; empty if none."""
    return _near(name, {symbol for symbol in _modules().get(module, ()) if not symbol.startswith("_")}, _ALIKE)


def is_module(name: str) -> bool:
    """Whether some recorded release has a module of this name."""
    return name in _modules()


def is_recorded(adapter: str, cann: str) -> bool:
    """Whether the names of the declared release are recorded, which are those of all releases up to the newest in the
    tables; true where none is declared."""
    return not any(int(text.lstrip("rv").partition(".")[0] or 0) > 9 for text in (adapter, cann) if text[-1:].isdigit())


@cache
def _public_modules() -> list[str]:
    """The modules in the order in which their names are suggested: what everybody imports first."""
    return [*_FIRST, *sorted(module for module in _table() if module not in _FIRST and "._api" not in module)]


def _may_be_there(symbol: Symbol, adapter: str, cann: str) -> bool:
    return standing(symbol[1], symbol[2], adapter, cann) not in _ABSENT


@lru_cache(maxsize=256)
def _folded(names: frozenset[str]) -> dict[str, str]:
    return {name.lower(): name for name in sorted(names)}


def _near(word: str, names: set[str], least: float) -> str:
    """The name that is spelled most like a word, whatever the case."""
    from difflib import SequenceMatcher, get_close_matches  # expensive, and only needed for wrong names

    folded, word = _folded(frozenset(names)), word.lower()
    likely = [name for name in similar(word, tuple(folded)) if SequenceMatcher(None, name, word).quick_ratio() >= least]
    if not likely or not may_help():
        return ""
    close = get_close_matches(word, likely, n=1, cutoff=least)
    return folded[close[0]] if close else ""
