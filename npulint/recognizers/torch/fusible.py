"""The base class of facts about code that a fused NPU operation can replace."""

from __future__ import annotations

from typing import Literal

from npulint.facts.attributes import attribute
from npulint.facts.kinds import fact_kind
from npulint.model.running.code_facts import CallFact, PlaceFact


@fact_kind("affinity")
class FusibleCode(CallFact):
    """Several small operations compute what a fused NPU operation does. The name is that operation; the place is the
    call by which the code was recognised."""

    @attribute
    def confidence(self) -> Literal["shape"]:
        """How the code was recognised: by the shape of its data flow."""
        return "shape"


@fact_kind("affinity")
class FusibleDefinition(PlaceFact):
    """A function or class that a fused NPU operation can replace, recognised by its name and parameters. The name is
    that operation."""

    @attribute
    def confidence(self) -> Literal["name"]:
        """How the code was recognised: by customary names only."""
        return "name"
