"""Kinds of facts about what a run left behind."""

from __future__ import annotations

from npulint.catalogue.vocabulary.run_kernels import KERNELS
from npulint.catalogue.vocabulary.run_logs import LOGS
from npulint.catalogue.vocabulary.run_precision import PRECISION
from npulint.catalogue.vocabulary.run_profile import PROFILE
from npulint.catalogue.vocabulary.run_series import SERIES
from npulint.catalogue.vocabulary.words import Kinds

KINDS: Kinds = KERNELS | PROFILE | PRECISION | LOGS | SERIES
