"""Kinds of facts about the Python code of both frameworks, and about programs as a whole."""

from __future__ import annotations

from npulint.catalogue.vocabulary.words import ANY, FLAG, PURPOSE, Kind, Kinds, words

KINDS: Kinds = {
    "program": Kind(
        {
            "trains": FLAG,
            "evaluates": FLAG,
            "exports": FLAG,
            "purpose": PURPOSE,
            "state": words("not_started partial migrated"),
            "framework": words("tensorflow torch none unknown"),
            "mode": ANY,
            "multi_device": FLAG,
            "npu": FLAG,
            "project_npu": FLAG,
            "own_npu": FLAG,
            "entry": FLAG,
            "side": words("reference migrated"),
            "graph": ANY,
            "run": FLAG,
            "ranks": words("many one unknown"),
            "patched": FLAG,
            "precision": words("none mixed fp16 bf16 fp32 origin unknown default"),
            "tensorflow": ANY,
            "torch": ANY,
            "migration": words("none transfer manual agnostic left"),
            "port": words("explicit transfer"),
        }
    ),
}
