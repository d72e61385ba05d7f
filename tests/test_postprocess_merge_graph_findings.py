"""What source and graph say of the same line is one finding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from npulint.facts.model import Comment, FileFacts, Span
from npulint.judge.baseline import save_baseline
from npulint.judge.catalogue.check import Catalogue, Check, Query
from npulint.judge.catalogue.load import load_catalogue
from npulint.judge.findings import Finding, Fix, FixEdit, FixStep, Related, RunResult
from npulint.judge.postprocess.baseline import EntryBuilder
from npulint.judge.postprocess.finalize import finalize
from npulint.judge.postprocess.merge_graph_findings import related_to_source, united_graphs
from npulint.judge.postprocess.record import RawResults, RunContext
from npulint.judge.settings import Settings
from tests.surface_support import finding

LINES = ["import torch", "", "def f(x, y):", "    loss = F.huber_loss(x, y)", "    return loss.item()", ""]
GRAPH, SOURCE = "NPU4301", "NPU2336"


def check(code: str, family: str, topic: str = "unsupported_op", joins: tuple[str, ...] = ()) -> Check:
    return Check(
        code=code,
        name=f"check-{code.lower()}",
        family=family,
        since="0.1",
        status="preview",
        topic=topic,
        category="performance",
        severity="warning",
        confidence="high",
        find=Query(),
        text={},
        joins=joins,
    )


def catalogue(joins: tuple[str, ...] = ()) -> Catalogue:
    return Catalogue((check(SOURCE, "pytorch"), check(GRAPH, "graph", joins=joins)))


def source(path: str) -> Sequence[str]:
    return LINES if path.endswith(".py") else ()


def told(line: int = 4, **changes: Any) -> Finding:
    """What a check of the source says of a line."""
    base = {"code": SOURCE, "name": f"check-{SOURCE.lower()}", "topic": "unsupported_op", "program": "train.py"}
    place = {"path": "net.py", "span": Span(line, 12, line, 30), "message": "`F.huber_loss` has no kernel"}
    return finding(**{**base, **place, **changes})


def seen(line: int = 4, graph: str = "model.pt2", **changes: Any) -> Finding:
    """What a graph says of a line."""
    base = {"code": GRAPH, "name": f"check-{GRAPH.lower()}", "topic": "unsupported_op", "program": graph}
    place = {"path": "net.py", "span": Span(line, 1, line, 1), "message": "`aten.huber_loss` runs on the CPU"}
    return finding(**{**base, **place, "subject": "aten.huber_loss", **changes})


MANY = [Span(line, 1, line, 1) for line in (1, 3, 4, 5, 6)]


def test_one_operator_at_many_lines_is_one_finding_with_the_other_places() -> None:
    repeated = [seen(span=span, message=f"nodes {span.line}") for span in MANY]
    [one] = settled(*repeated).findings
    assert (one.span.line, one.places) == (1, 5)
    assert [place.span.line for place in one.related if place.path == one.path] == [3, 4, 5, 6]


def test_a_note_of_many_places_goes_where_the_graph_says_more_of_each() -> None:
    more = tuple(Related("net.py", span, "F.huber_loss") for span in MANY if span.line != 4)
    note = told(severity="note", related=more, places=5)
    repeated = [seen(span=span) for span in MANY]
    assert [(one.code, one.places) for one in settled(note, *repeated, joins=(SOURCE,)).findings] == [(GRAPH, 5)]
    fewer = settled(note, *repeated[1:], joins=(SOURCE,)).findings
    assert {one.code for one in fewer} == {GRAPH, SOURCE}


def test_few_lines_other_operators_and_other_graphs_are_findings_of_their_own() -> None:
    few = [seen(span=span) for span in MANY[:3]]
    other = [seen(span=span, subject="aten.mode", message="`aten.mode`") for span in MANY[2:]]
    elsewhere = [seen(span=span, subject="aten.lgamma", message="`aten.lgamma`", graph="b.pt2") for span in MANY[2:]]
    assert len(settled(*few, *other, *elsewhere).findings) == 9


def test_lines_that_the_source_tells_or_a_comment_silences_are_not_among_the_places() -> None:
    repeated = [seen(span=span) for span in MANY]
    result = settled(told(), *repeated, joins=(SOURCE,))
    graph = next(one for one in result.findings if one.code == GRAPH)
    others = [place.span.line for place in graph.related if place.path == graph.path]
    assert (graph.places, others) == (4, [3, 5, 6])
    assert {one.code for one in result.findings} == {GRAPH, SOURCE}
    quiet = settled(*repeated, comment=GRAPH)
    assert [(one.span.line, one.places) for one in quiet.findings] == [(1, 4)]


def settled(*findings: Finding, joins: tuple[str, ...] = (), comment: str = "", **settings: Any) -> RunResult:
    comments = [Comment(4, False, f"# npulint: ignore[{comment}] known")] if comment else []
    files = [FileFacts("net.py", "python", comments=comments), FileFacts("model.pt2", "graph")]
    return finalize(RawResults(findings, files=files), RunContext(Settings(**settings), catalogue(joins), source))


def test_one_finding_is_left_of_two() -> None:
    result = settled(told(confidence="low"), seen(severity="error"))
    (one,) = result.findings
    assert (one.code, one.span, one.severity, one.confidence) == (SOURCE, Span(4, 12, 4, 30), "error", "high")
    assert one.related == (Related("model.pt2", Span(), "the graph confirms it: `aten.huber_loss` runs on the CPU"),)
    assert result.summary.errors == 1


def test_what_the_source_only_notes_the_graph_says_better() -> None:
    (one,) = settled(told(severity="note"), seen()).findings
    assert (one.code, one.severity, one.message) == (GRAPH, "warning", "`aten.huber_loss` runs on the CPU")
    (one,) = settled(told(severity="note"), seen(severity="note")).findings
    assert one.code == SOURCE
    mended = Fix("", "safe", changes=(FixEdit("safe", (FixStep("delete", "net.py", Span(4, 12, 4, 30)),)),))
    (one,) = settled(told(severity="note", fix=mended), seen()).findings
    assert one.code == SOURCE


def test_a_note_for_several_places_stays_where_the_graph_has_only_some() -> None:
    elsewhere = Related("net.py", Span(5, 12, 5, 18), "loss.item")
    several = told(severity="note", places=2, related=(elsewhere,))
    assert [one.code for one in settled(several, seen()).findings] == [SOURCE]
    assert [one.code for one in settled(several, seen(), seen(5)).findings] == [SOURCE, GRAPH]
    beside = told(severity="note", related=(elsewhere,))
    assert [one.code for one in settled(beside, seen()).findings] == [GRAPH]


def test_the_graver_judgement_of_the_source_stays() -> None:
    (one,) = settled(told(severity="error"), seen(severity="note", confidence="low")).findings
    assert (one.severity, one.confidence) == ("error", "high")


def test_the_fingerprint_is_that_of_the_source() -> None:
    (alone,) = settled(told()).findings
    (both,) = settled(seen(), told()).findings
    assert both.fingerprint == alone.fingerprint


@pytest.mark.parametrize(
    "graph",
    [
        pytest.param(seen(5), id="another line"),
        pytest.param(seen(path="other.py"), id="another file"),
        pytest.param(seen(topic="host_sync"), id="another topic"),
        pytest.param(seen(subject="aten.lgamma"), id="another operator"),
        pytest.param(seen(subject="aten.huber"), id="a part of the name"),
    ],
)
def test_what_is_not_the_same_stays_apart(graph: Finding) -> None:
    assert {one.code for one in settled(told(), graph).findings} == {SOURCE, GRAPH}


def test_checks_that_are_named_are_joined_whatever_they_call_it() -> None:
    item = told(5, message="`.item()` waits", topic="host_sync")
    graph = seen(5, subject="_local_scalar_dense", topic="graph_op")
    assert len(settled(item, graph).findings) == 2
    assert [one.code for one in settled(item, graph, joins=(SOURCE,)).findings] == [SOURCE]


def test_of_two_the_one_with_the_name_is_meant() -> None:
    inverse = told(span=Span(4, 1, 4, 9), message="`inv` has no kernel (linalg_inv_ex)")
    graphs = (seen(), seen(subject="aten.linalg_inv", message="`aten.linalg_inv` runs on the CPU"))
    result = settled(inverse, told(), *graphs, joins=(SOURCE,))
    assert [one.related[0].message.rpartition(": ")[2] for one in result.findings] == [
        "`aten.linalg_inv` runs on the CPU",
        "`aten.huber_loss` runs on the CPU",
    ]


def test_a_long_statement_holds_its_lines() -> None:
    long = told(span=Span(3, 1, 5, 9))
    assert [one.code for one in settled(long, seen(5)).findings] == [SOURCE]


def test_several_graphs_are_one_finding() -> None:
    graphs = (seen(graph="train.pt2", message="3 nodes"), seen(graph="eval.pt2", message="2 nodes", severity="error"))
    (one,) = settled(*graphs).findings
    assert (one.code, one.severity, one.message, one.span) == (GRAPH, "error", "2 nodes", Span(4, 5, 4, 30))
    assert [place.path for place in one.related] == ["eval.pt2", "train.pt2"]
    (both,) = settled(told(), *graphs).findings
    assert [place.path for place in both.related] == ["eval.pt2", "train.pt2"]
    assert both.related[0].message == "the graph confirms it: 2 nodes"


def in_graph(path: str, **changes: Any) -> Finding:
    return seen(1, path, path=path, subject="PyFunc", message="`PyFunc` stays on the host", **changes)


def test_checkpoints_of_one_training_are_one_finding() -> None:
    (one,) = settled(in_graph("out/model-2.meta"), in_graph("out/model-1.meta")).findings
    assert one.path == "out/model-1.meta"
    assert [place.path for place in one.related] == ["out/model-2.meta"]


def test_a_text_tells_more_than_a_binary_graph() -> None:
    (one,) = settled(in_graph("model.meta"), in_graph("graph.pbtxt", span=Span(70, 1, 70, 1))).findings
    assert (one.path, one.span.line) == ("graph.pbtxt", 70)


def test_graphs_in_different_folders_stay_apart() -> None:
    assert len(settled(in_graph("a/model.meta"), in_graph("b/model.meta")).findings) == 2


def test_what_one_graph_says_twice_stays_two() -> None:
    twice = [in_graph("g.pbtxt", span=Span(line, 1, line, 1)) for line in (3, 9)]
    assert len(settled(*twice).findings) == 2


def test_a_finding_in_a_graph_is_known_by_what_it_is_about() -> None:
    (one,) = settled(in_graph("model.pb")).findings
    (later,) = settled(in_graph("model.pb", span=Span(7, 1, 7, 1), places=3)).findings
    other = msgspec.structs.replace(in_graph("model.pb"), subject="EagerPyFunc")
    assert one.fingerprint == later.fingerprint
    assert settled(other).findings[0].fingerprint != one.fingerprint


def test_a_comment_silences_both() -> None:
    result = settled(told(), seen(), comment=SOURCE)
    assert result.findings == []
    assert [(one.finding.code, one.reason) for one in result.suppressed] == [(GRAPH, "known"), (SOURCE, "known")]


def test_a_comment_about_the_graph_is_of_use() -> None:
    result = settled(told(severity="note"), seen(), comment=GRAPH)
    (one,) = result.findings
    assert (one.code, one.severity, one.related) == (SOURCE, "note", ())
    assert [one.finding.code for one in result.suppressed] == [GRAPH]


def test_without_the_check_of_the_source_the_graph_speaks() -> None:
    assert [one.code for one in settled(told(), seen(), ignore=(SOURCE,)).findings] == [GRAPH]


def test_a_baseline_that_knows_the_source_knows_both(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    save_baseline("b.json", [EntryBuilder("", source).entry(one) for one in settled(told()).findings], "en")
    result = settled(told(), seen(), baseline="b.json")
    assert result.findings == []
    assert result.summary.known == 1
    assert result.baseline is not None
    assert result.baseline.fixed == []


def py_func(path: str = "train.py", program: str = "train.py", **changes: Any) -> Finding:
    return told(1, path=path, program=program, message="`tf.py_func` runs Python", **changes)


def test_a_graph_without_lines_names_the_source() -> None:
    graph, source_finding = related_to_source([in_graph("model.pb"), py_func()], catalogue(), "en")
    assert source_finding == py_func()
    assert graph.related == (Related("train.py", Span(1, 12, 1, 30), "built here, see `check-npu2336`"),)


def test_of_two_programs_nobody_knows_which_built_the_graph() -> None:
    several = [in_graph("model.pb"), py_func(), py_func("eval.py", "eval.py")]
    assert related_to_source(several, catalogue(), "en") == several


def test_what_the_graph_has_and_no_source_is_left_alone() -> None:
    findings = [in_graph("model.pb"), told()]
    assert related_to_source(findings, catalogue(), "en") == findings


_GRAVE = {"a.pt2": "warning", "b.pt2": "error"}
_ANY = st.builds(
    lambda line, graph: seen(line, graph, severity=_GRAVE[graph]) if graph else told(line),
    st.integers(1, 6),
    st.sampled_from(["", *_GRAVE]),
)


@given(st.lists(_ANY, max_size=8))
def test_nothing_is_lost_and_nothing_said_twice(findings: list[Finding]) -> None:
    left = settled(*findings).findings
    graphs, sources = ({one.span.line for one in findings if bool(one.subject) is of} for of in (True, False))
    told_by_graphs = [line for one in left if one.subject for line in _lines_told(one)]
    assert sorted(told_by_graphs) == sorted(graphs - sources)
    assert {one.span.line for one in left if not one.subject} == sources
    ranks = ("note", "warning", "error")
    for line in graphs | sources:
        gravest = max((one.severity for one in findings if one.span.line == line), key=ranks.index)
        assert {one.severity for one in left if line in _lines_told(one)} == {gravest}


def _lines_told(one: Finding) -> list[int]:
    """The lines that a finding speaks for."""
    return [one.span.line, *(place.span.line for place in one.related if place.path == one.path)]


def test_findings_of_the_source_alone_stay_as_they_are() -> None:
    assert united_graphs([told(), told(5)], source, "en") == [told(), told(5)]


def test_checks_that_are_joined_exist_and_are_of_the_source() -> None:
    known = load_catalogue()
    families = {one.code: one.family for one in known.checks}
    for one in known.checks:
        for code in one.joins:
            assert families.get(code, "none") not in ("none", "graph", "compare"), f"{one.name} joins {code}"
