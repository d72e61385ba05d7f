"""The target in reports: versions, SoC and frameworks, declared, inferred or assumed."""

from __future__ import annotations

from npulint.core.texts import say
from npulint.judge.findings import GraphSummary
from npulint.judge.postprocess.record import RawResults
from npulint.judge.settings import DEFAULT_ADAPTER, Settings

_SECOND = "2.x"  # the adapter of TensorFlow 2


def target_of(raw: RawResults, settings: Settings) -> dict[str, str]:
    """The text for each part of the target, from `settings`, programs and graphs."""
    lang = settings.language()
    target = {key: _because(settings.target[key], "given", lang) for key in settings.target}
    frameworks = _frameworks(raw)
    if any(framework.startswith("tensorflow") for framework in frameworks):
        of_two = set(frameworks) <= {"tensorflow 2.x", "torch"}  # its adapter has other version numbers
        anything = say(lang, "target.any")
        target.setdefault("adapter", _adapter(raw, lang) or (anything if of_two else _assumed(lang)))
        target.setdefault("cann", anything)
        target.setdefault("soc", anything)
    if "soc" not in settings.target and (shown := _chips(raw, lang)):
        target["soc"] = shown
    if frameworks and not {"framework", "tensorflow", "torch"} & set(target):
        target["framework"] = _because(say(lang, "list.and").join(frameworks), "inferred", lang)
    if any(graph.framework == "tensorflow" for graph in raw.graphs):
        from npulint.judge.postprocess.operators import lists_used  # rarely needed

        target["operators"] = lists_used(raw.graphs, lang)
    return dict(sorted(target.items()))


def _assumed(lang: str) -> str:
    return _because(DEFAULT_ADAPTER, "assumed", lang)


def _adapter(raw: RawResults, lang: str) -> str:
    """The line of the adapter if only graphs need one, by the TensorFlow that wrote them; empty if no graph is of
    TensorFlow, if programs decide, or if it is unknown."""
    graphs = [graph for graph in raw.graphs if graph.framework == "tensorflow"]
    lines = {graph.version.partition(".")[0] for graph in graphs}
    if any(program.framework.startswith("tensorflow") for program in raw.programs) or len(lines) != 1:
        return ""
    line = {"1": DEFAULT_ADAPTER, "2": _SECOND}.get(lines.pop(), "")
    newest = max(graphs, key=lambda graph: graph.version)
    key = "target.running" if newest.form.startswith("live_") else "target.graph"
    return line and line + say(lang, "aside", text=say(lang, key, version=newest.version))


def _frameworks(raw: RawResults) -> list[str]:
    """The frameworks of programs and graphs; TensorFlow without a major version only if none is known."""
    found = {program.framework for program in raw.programs} | {_framework(graph) for graph in raw.graphs}
    if any(framework.startswith("tensorflow ") for framework in found):
        found.discard("tensorflow")
    return sorted(found - {"", "none", "unknown", "onnx"})


def _framework(graph: GraphSummary) -> str:
    major = graph.version.partition(".")[0]
    known = graph.framework == "tensorflow" and major in ("1", "2")
    return f"tensorflow {major}.x" if known else graph.framework


def _chips(raw: RawResults, lang: str) -> str:
    """The chips that all projects of the run are for, with the place that shows it; empty where they differ."""
    shown = [chip for chip in raw.chips if chip.evidence is not None]
    if not shown or len({(inferred_chips.named, inferred_chips.unlikely) for inferred_chips in shown}) > 1:
        return ""
    first, evidence = shown[0], shown[0].evidence
    listed = say(lang, "list.and").join(first.named or first.unlikely)
    text = listed if first.named else say(lang, "target.unlikely", chips=listed)
    if evidence is None:
        return text
    key = "target.shown.at" if evidence.path else "target.shown"
    because = say(lang, key, word=evidence.word, path=evidence.path, line=evidence.line)
    return text + say(lang, "aside", text=because)


def _because(text: str, key: str, lang: str) -> str:
    return text + say(lang, "aside", text=say(lang, f"target.{key}"))
