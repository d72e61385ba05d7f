"""The base class of facts about code for which the NPU has one fused operation."""

from __future__ import annotations

from typing import Literal

from npulint.assemble.code_facts import CallFact, PlaceFact
from npulint.facts.kinds import fact_kind


@fact_kind("affinity")
class FusibleCode(CallFact):
    """Several small operations compute what the NPU does in one. The name is that operation; the place is the call
    that the code was recognised by."""

    confidence: Literal["shape"] = "shape"


@fact_kind("affinity")
class FusibleDefinition(PlaceFact):
    """A function or class that the NPU has one operation for, by its name and its parameters. The name is that
    operation."""

    confidence: Literal["name"] = "name"
