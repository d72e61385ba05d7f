"""Values as JSON data of bounded size, always the same for equal values."""

from __future__ import annotations

import math
from typing import Any

import msgspec

from npulint.core.digest import blake2b
from npulint.facts.values import PossibleValues

LONGEST = 600  # characters of a string that is kept as it is
MOST = 200  # members of a list that is kept as it is
_KEPT = 300  # characters of a longer string
_EXACT = 2**53  # below it, JSON readers keep integers exactly
_DIGEST = 8  # bytes


def canonical(value: Any) -> bytes:
    """The JSON text of plain data; objects have sorted keys."""
    return msgspec.json.encode(value, order="sorted")


def digest_of(value: Any) -> str:
    """A digest of plain data; empty for empty data."""
    return blake2b(canonical(value), digest_size=_DIGEST).hexdigest() if value else ""


def plain(value: Any) -> Any:
    """A value as JSON data; of long strings and lists the beginning, with a digest of the whole."""
    if isinstance(value, PossibleValues):
        return {"values": plain(value.values), "exact": value.exact, "symbol": value.symbol}
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, dict):
        return {str(plain(key)): plain(part) for key, part in value.items()}
    if isinstance(value, tuple | list):
        parts = [plain(part) for part in value]
        return parts if len(parts) <= MOST else [*parts[:MOST], f"… {len(parts)} {digest_of(parts)}"]
    return _scalar(value)


def _text(value: str) -> str:
    text = value if value.isascii() else value.encode("utf-8", "backslashreplace").decode()
    return text if len(text) <= LONGEST else f"{text[:_KEPT]}… {len(text)} {digest_of(text)}"


def _scalar(value: Any) -> Any:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return int(value) if abs(value) < _EXACT else str(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, msgspec.Struct):
        return plain(msgspec.to_builtins(value, str_keys=True))
    if isinstance(value, set | frozenset):
        return sorted((plain(part) for part in value), key=canonical)
    return _text(str(value))
