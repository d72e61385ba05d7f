"""Which changes go together, and which wait."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from npulint.facts.model import Span
from npulint.fix.edits import CompatibleFixes, Proposal, coherent
from npulint.fix.model import FixRefused, ImportRequest, Plan, Text
from npulint.fix.source import edited_text
from npulint.judge.findings import Edit
from tests.surface_support import finding

TEXT = "import a\nf(g(x), y)\nh(z)\n"


def edit(start: int, end: int, text: str, line: int = 2, path: str = "a.py") -> Edit:
    """What replaces a stretch of a line, between columns from 0."""
    return Edit(path, Span(line, start + 1, line, end + 1), text)


def proposal(*edits: Edit, requests: Sequence[str] = (), code: str = "NPU1301", severity: str = "warning") -> Proposal:
    place = edits[0].span if edits else Span()
    one = finding(code=code, path="a.py", span=place, severity=severity)
    plan = Plan(edits, tuple(ImportRequest("a.py", request) for request in requests))
    return Proposal(one, "safe", "a.py", place, None, plan)


def merged_imports(text: Text, requests: Sequence[ImportRequest]) -> tuple[Edit, ...]:
    """Imports behind the first line; one of ``taken`` cannot be, nor one of ``b`` together with one of ``c``."""
    statements = [request.statement for request in requests]
    if "import taken" in statements or {"import b", "import c"} <= set(statements):
        raise FixRefused("name-taken")
    return (Edit(text.path, Span(2, 1, 2, 1), "".join(f"{one}\n" for one in statements)),)


def taken(*wanted: Proposal) -> tuple[list[bool], str]:
    """Which of the changes are taken, in their turn, and the text after them."""
    together = CompatibleFixes(lambda path: Text(path, "python", TEXT), merged_imports)
    answers = [together.add(one) for one in wanted]
    return answers, edited_text(TEXT, together.edits().get("a.py", ()))


def test_changes_that_do_not_meet() -> None:
    answers, text = taken(proposal(edit(2, 3, "G")), proposal(edit(0, 1, "F")), proposal(edit(0, 1, "H", line=3)))
    assert answers == [True, True, True]
    assert text == "import a\nF(G(x), y)\nH(z)\n"


@pytest.mark.parametrize(
    "second",
    [
        pytest.param(edit(2, 3, "K"), id="the same stretch"),
        pytest.param(edit(0, 10, "F(...)"), id="around it"),
        pytest.param(edit(3, 3, "K"), id="within it"),
        pytest.param(edit(3, 8, "K"), id="its end"),
    ],
)
def test_of_two_that_meet_the_second_waits(second: Edit) -> None:
    assert taken(proposal(edit(2, 6, "G(X)")), proposal(second)) == ([True, False], "import a\nf(G(X), y)\nh(z)\n")


def test_to_touch_is_not_to_meet() -> None:
    answers, text = taken(proposal(edit(2, 3, "G")), proposal(edit(3, 4, "[")), proposal(edit(2, 2, "+")))
    assert answers == [True, True, True]
    assert text == "import a\nf(+G[x), y)\nh(z)\n"


def test_a_change_is_taken_whole_or_not_at_all() -> None:
    answers, text = taken(proposal(edit(2, 3, "G")), proposal(edit(0, 1, "H", line=3), edit(2, 3, "K")))
    assert answers == [True, False]
    assert text == "import a\nf(G(x), y)\nh(z)\n"


def test_two_insertions_at_one_place_are_a_quarrel_between_changes_but_not_within_one() -> None:
    assert taken(proposal(edit(2, 2, "a")), proposal(edit(2, 2, "b")))[0] == [True, False]
    assert taken(proposal(edit(2, 2, "a"), edit(2, 2, "b")))[1] == "import a\nf(abg(x), y)\nh(z)\n"


def test_what_two_changes_want_alike_is_done_once() -> None:
    first, second = proposal(edit(0, 1, "F"), edit(0, 0, "new\n")), proposal(edit(0, 0, "new\n"), edit(2, 3, "G"))
    assert taken(first, second) == ([True, True], "import a\nnew\nF(G(x), y)\nh(z)\n")


def test_brackets_that_close_at_one_place_are_two() -> None:
    """Else one of the two calls would stay open."""
    outer = proposal(edit(0, 0, "w("), edit(10, 10, ")"))
    inner = proposal(edit(8, 8, "w("), edit(10, 10, ")"))
    assert taken(outer, inner)[0] == [True, False]


def test_the_graver_comes_first() -> None:
    grave = proposal(edit(5, 6, "x"), severity="error")
    early, late = proposal(edit(2, 3, "x"), code="NPU1302"), proposal(edit(2, 3, "x", line=3))
    earlier_code = proposal(edit(2, 3, "x"), code="NPU1301")
    slight = proposal(edit(0, 1, "x"), severity="note")
    order = sorted([slight, late, early, earlier_code, grave], key=Proposal.order)
    assert order == [grave, earlier_code, early, late, slight]


def test_wishes_are_united() -> None:
    first = proposal(edit(0, 1, "F"), requests=["import b"])
    second = proposal(edit(0, 1, "H", line=3), requests=["import b", "import d"])
    assert taken(first, second) == ([True, True], "import a\nimport b\nimport d\nF(g(x), y)\nH(z)\n")


def test_an_import_that_only_others_prevent_is_for_the_next_round() -> None:
    first = proposal(edit(0, 1, "F"), requests=["import b"])
    second = proposal(edit(0, 1, "H", line=3), requests=["import c"])
    assert taken(first, second) == ([True, False], "import a\nimport b\nF(g(x), y)\nh(z)\n")


def test_an_import_that_cannot_be_is_refused() -> None:
    with pytest.raises(FixRefused, match="name-taken"):
        taken(proposal(edit(0, 1, "F"), requests=["import taken"]))


def test_imports_stand_before_what_is_inserted_at_their_place() -> None:
    answers, text = taken(proposal(edit(0, 0, "set()\n")), proposal(requests=["import b"]))
    assert answers == [True, True]
    assert text == "import a\nimport b\nset()\nf(g(x), y)\nh(z)\n"


def test_a_change_that_wants_the_text_of_imports_waits() -> None:
    across = proposal(Edit("a.py", Span(1, 9, 2, 3), ""))
    wishing = proposal(requests=["import b"])
    assert taken(across, wishing)[0] == [True, False]
    assert taken(wishing, across)[0] == [True, False]


def test_one_change_may_not_quarrel_with_itself() -> None:
    assert coherent([edit(0, 1, "F"), edit(0, 1, "F"), edit(1, 1, "a"), edit(1, 1, "b")]) == (
        edit(0, 1, "F"),
        edit(1, 1, "a"),
        edit(1, 1, "b"),
    )
    for other in (edit(0, 1, "G"), edit(0, 2, "F(")):
        with pytest.raises(FixRefused, match="overlap"):
            coherent([edit(0, 1, "F"), other])


def test_files_do_not_meet() -> None:
    together = CompatibleFixes(lambda path: Text(path, "python", TEXT), merged_imports)
    assert together.add(proposal(edit(0, 1, "F")))
    assert together.add(proposal(edit(0, 1, "G", path="b.py")))
    assert sorted(together.edits()) == ["a.py", "b.py"]


def test_many_edits_are_compared_with_their_neighbours_alone() -> None:
    """As against all others: the answers are the same."""
    wanted = [proposal(edit(place % 50, place % 50 + place % 4, str(place))) for place in range(0, 400, 7)]
    together = CompatibleFixes(lambda path: Text(path, "python", "x" * 60), merged_imports)
    kept: list[Edit] = []
    for one in wanted:
        (new,) = one.plan.edits
        start, end = new.span.column, new.span.end_column
        meets = any((start < old.span.end_column and old.span.column < end) or new.span == old.span for old in kept)
        assert together.add(one) is not meets
        kept += [] if meets else [new]
