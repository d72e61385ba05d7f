"""TensorFlow APIs that the adapter does not support, that force static shapes, or that have no effect on the NPU."""

from __future__ import annotations

from functools import cache, lru_cache

import msgspec

from npulint.data import lazy_table

_RAW, _WRAPPERS = "tensorflow.raw_ops.", "tensorflow.python.ops.gen_"


class TensorFlowApi(msgspec.Struct, frozen=True, array_like=True):
    """The record of a canonical name. `release`: the TensorFlow it applies to, 1.15, 2.6 or both. `support`: no, newer
    (only operator packages later than the recorded list have the operator), static_shape, manual (to be ported
    manually), deprecated, no_effect. `reason` groups names with the same explanation; `ops` are the operator types,
    `instead` is the replacement.

    `argument` (at `position`, -1: keyword only) decides if not empty: `value` is ``-`` (absent), ``true``, ``nonzero``,
    ``gpu`` (a text that names one) or ``data`` (computed from a tensor)."""

    release: str
    support: str
    reason: str
    ops: str
    instead: str
    argument: str
    position: int
    value: str


class _Table(msgspec.Struct, frozen=True):
    apis: dict[str, tuple[TensorFlowApi, ...]]
    raw: dict[str, str]  # support by operator type


_table = lazy_table("tf_api.json", _Table)


@lru_cache(maxsize=1 << 14)
def find(name: str) -> tuple[TensorFlowApi, ...]:
    """The records of a canonical name: usually none, else one or one per deciding argument. Operators of
    ``tf.raw_ops``, and generated wrappers without a public name, use the operator table."""
    if not name.startswith("tensorflow."):
        return ()
    if name.startswith((_RAW, _WRAPPERS)):
        op = _folded().get(name.rpartition(".")[2].replace("_", "").lower())
        return (TensorFlowApi("both", _table().raw[op], "raw", op, "", "", -1, ""),) if op else ()
    return _table().apis.get(name, ())


@cache
def _folded() -> dict[str, str]:
    """Operator types by lower-case name, the spelling of wrappers without underscores."""
    return {op.lower(): op for op in _table().raw}
