"""The base class of facts about code for which the NPU has one fused operation."""

from __future__ import annotations

from typing import Literal

from npulint.assemble.code_facts import CallFact, PlaceFact
from npulint.facts.attributes import attribute
from npulint.facts.kinds import fact_kind


@fact_kind("affinity")
class FusibleCode(CallFact):
    """Several small operations compute what the NPU does in one. The name is that operation; the place is the call
    that the code was recognised by."""

    @attribute
    def confidence(self) -> Literal["shape"]:
        """What the code was recognised by: the shape of its data flow."""
        return "shape"


@fact_kind("affinity")
class FusibleDefinition(PlaceFact):
    """A function or class that the NPU has one operation for, by its name and its parameters. The name is that
    operation."""

    @attribute
    def confidence(self) -> Literal["name"]:
        """What the code was recognised by: customary names alone."""
        return "name"
