"""The target line of a report: the releases and frameworks that the judgement is for, declared, assumed or inferred."""

from __future__ import annotations

from npulint.assemble.build import DEFAULT_ADAPTER
from npulint.postprocess.record import RawResults
from npulint.settings import Settings
from npulint.texts import say


def target_of(raw: RawResults, settings: Settings) -> dict[str, str]:
    """The text for each part of the target: what `settings` declare, and what the programs and graphs tell."""
    lang = settings.language()
    target = {key: _because(settings.target[key], "given", lang) for key in settings.target}
    frameworks = _frameworks(raw)
    if any(framework.startswith("tensorflow") for framework in frameworks):
        of_two = set(frameworks) <= {"tensorflow 2.x", "torch"}  # its adapter is numbered otherwise
        anything = say(lang, "target.any")
        target.setdefault("adapter", anything if of_two else _because(DEFAULT_ADAPTER, "assumed", lang))
        target.setdefault("cann", anything)
        target.setdefault("soc", anything)
    if frameworks and not {"framework", "tensorflow", "torch"} & set(target):
        target["framework"] = _because(say(lang, "list.and").join(frameworks), "inferred", lang)
    if any(graph.framework == "tensorflow" for graph in raw.graphs):
        from npulint.postprocess.operators import lists_used  # most runs see no graph

        target["operators"] = lists_used(raw.graphs, lang)
    return dict(sorted(target.items()))


def _frameworks(raw: RawResults) -> list[str]:
    """The frameworks of programs and graphs; TensorFlow without a generation only where no generation is known."""
    found = {program.framework for program in raw.programs} | {graph.framework for graph in raw.graphs}
    if any(framework.startswith("tensorflow ") for framework in found):
        found.discard("tensorflow")
    return sorted(found - {"", "none", "unknown"})


def _because(text: str, key: str, lang: str) -> str:
    return text + say(lang, "aside", text=say(lang, f"target.{key}"))
