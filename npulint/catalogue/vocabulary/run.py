"""Fact kinds of run artifacts."""

from __future__ import annotations

import msgspec

from npulint.catalogue.vocabulary.run_kernels import KERNELS
from npulint.catalogue.vocabulary.run_logs import LOGS
from npulint.catalogue.vocabulary.run_precision import PRECISION
from npulint.catalogue.vocabulary.run_profile import PROFILE
from npulint.catalogue.vocabulary.run_series import SERIES
from npulint.catalogue.vocabulary.words import ANY, Kinds, Values, words

_ALL: Kinds = KERNELS | PROFILE | PRECISION | LOGS | SERIES
_OF_COMPUTING = words("run_op run_op_total run_family run_pair run_small run_repeated run_line")
_PLACED = words("run_event run_wait run_line run_host run_compared run_statistic")


def _added(name: str) -> dict[str, Values]:
    """The attributes that assembling a run adds to facts of a kind."""
    found: dict[str, Values] = {"at": ANY, "at_line": ANY} if name in _PLACED else {}
    return found | {"of_step": ANY} if name in _OF_COMPUTING else found


KINDS: Kinds = {
    name: msgspec.structs.replace(kind, attributes={**kind.attributes, **_added(name)}) for name, kind in _ALL.items()
}
