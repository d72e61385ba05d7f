"""Results that nobody would wish for: texts, paths and numbers of every kind."""

from __future__ import annotations

from hypothesis import strategies as st

from npulint.facts.model import Problem, Span
from npulint.judge.findings import (
    CONFIDENCES,
    SEVERITIES,
    Edit,
    Finding,
    Fix,
    Related,
    RunResult,
    Summary,
    SuppressedFinding,
)

_NASTY = (
    *("", " ", "\n", "\r\n", "\t", "\x00", "\x1b[31m", "\x7f", "\x85", "\ufffe", "\uffff", "\ud800", "\udcff"),
    *("</failure>", "]]>", "<!--", "&amp;", "&#0;", '"', "'", "<", ">", "%", "#", "?", "\\", "{0}", "{{1}}", "${X}"),
    *("a[0](1)", "[x](99)", "](", "模型", "🚀", "\u202e", "\u2028", "::error::", "|", "`", "a" * 2000),
)
_PIECES = st.one_of(st.sampled_from(_NASTY), st.text(max_size=8))
texts = st.lists(_PIECES, max_size=4).map("".join)
paths = st.one_of(
    st.sampled_from(
        [
            "a.py",
            "./a.py",
            "a b/c#d%.py",
            "模型/训练.py",
            "../up.py",
            "/abs/x.py",
            "C:/w/x.py",
            "a:b.py",
            "n.ipynb",
            "..",
            ".",
        ]
    ),
    st.lists(_PIECES, min_size=1, max_size=3).map("/".join),
)
numbers = st.sampled_from([-1, 0, 1, 2, 3, 7, 40, 10**6])
spans = st.builds(Span, numbers, numbers, numbers, numbers)
codes = st.sampled_from(["NPU1101", "NPU1102", "MINE7", "x y"])
fixes = st.builds(
    Fix,
    texts,
    st.sampled_from(["safe", "unsafe", "manual"]),
    st.lists(st.builds(Edit, paths, spans, texts), max_size=2).map(tuple),
)
findings = st.builds(
    Finding,
    code=codes,
    name=texts,
    topic=st.sampled_from(["parse", "dropout", ""]),
    category=st.sampled_from(["functional", "precision", "performance", "hygiene"]),
    severity=st.sampled_from(SEVERITIES),
    confidence=st.sampled_from(CONFIDENCES),
    path=paths,
    span=spans,
    message=texts,
    why=texts,
    fix=fixes,
    related=st.lists(st.builds(Related, paths, spans, texts), max_size=5).map(tuple),
    program=texts,
    fingerprint=st.sampled_from(["", "0123456789abcdef0123", "0123456789abcdef0124"]),
    url=st.one_of(st.sampled_from(["", "https://example.org/checks/x/", "not a url", "javascript:alert(1)"]), texts),
)
silenced = st.builds(SuppressedFinding, findings, st.sampled_from(["comment", "baseline"]), texts)
problems = st.builds(
    Problem, paths, st.sampled_from(["syntax-error", "missing", "json", "brand-new"]), texts, spans, st.booleans()
)
results = st.builds(
    RunResult,
    findings=st.lists(findings, max_size=6),
    unreadable=st.lists(problems, max_size=3),
    target=st.dictionaries(st.sampled_from(["cann", "soc"]), texts),
    summary=st.builds(Summary, files=st.integers(0, 9), suppressed=st.integers(0, 9), known=st.integers(0, 9)),
    notices=st.lists(texts, max_size=2),
    suppressed=st.lists(silenced, max_size=3),
)
