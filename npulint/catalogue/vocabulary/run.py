"""Kinds of facts about what a run left behind."""

from __future__ import annotations

import msgspec

from npulint.catalogue.vocabulary.run_kernels import KERNELS
from npulint.catalogue.vocabulary.run_logs import LOGS
from npulint.catalogue.vocabulary.run_precision import PRECISION
from npulint.catalogue.vocabulary.run_profile import PROFILE
from npulint.catalogue.vocabulary.run_series import SERIES
from npulint.catalogue.vocabulary.words import ANY, Kinds, words

_ALL: Kinds = KERNELS | PROFILE | PRECISION | LOGS | SERIES
_PLACED = words("run_event run_wait run_line run_host run_compared run_statistic")

KINDS: Kinds = {
    name: msgspec.structs.replace(kind, attributes={**kind.attributes, "at": ANY, "at_line": ANY})
    if name in _PLACED
    else kind
    for name, kind in _ALL.items()
}
