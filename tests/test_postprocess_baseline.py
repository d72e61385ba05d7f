"""Holding findings against entries: counts, moves and scopes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npulint.facts.model import Span
from npulint.judge.findings import Finding
from npulint.judge.postprocess.baseline import Compared, EntryBuilder, compare, merged_entries, scope
from npulint.judge.source_lines import FileLines
from tests.surface_support import finding

LINES = ["a = 1", "b = 2", "c = 3"]


def at(path: str, line: int, places: int = 1) -> Finding:
    return finding(path=path, span=Span(line, 1, line, 2), places=places)


def held(accepted: Sequence[Finding], now: Sequence[Finding], folder: Path) -> Compared:
    place = EntryBuilder(str(folder), lambda path: LINES)
    return compare("x.json", merged_entries(map(place.entry, accepted)), now, place, lambda entry: True)


spots = st.lists(st.tuples(st.sampled_from(["a.py", "b.py"]), st.integers(1, 3)), max_size=12)


@given(spots, spots)
def test_as_many_as_were_accepted_are_known_and_no_more(
    before: list[tuple[str, int]], after: list[tuple[str, int]]
) -> None:
    folder = Path(__file__).parent  # the files of the findings are not there, so all may have been moved
    compared = held([at(*spot) for spot in before], [at(*spot) for spot in after], folder)
    had, have = Counter(line for _, line in before), Counter(line for _, line in after)
    assert Counter(one.span.line for one in compared.new) == have - had
    assert compared.baseline is not None
    fixed = Counter({int(e.line[-1]): 0 for e in compared.baseline.fixed + compared.baseline.stale})
    for entry in compared.baseline.fixed + compared.baseline.stale:
        fixed[int(entry.line[-1])] += entry.count
    assert +fixed == had - have
    assert sum(entry.count for entry in compared.baseline.active) == len(compared.known)


def test_a_file_that_is_still_there_hands_nothing_to_another(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("")
    one, other = (str(tmp_path / name) for name in ("a.py", "b.py"))
    assert held([at(one, 1)], [at(other, 1)], tmp_path).known == []
    (tmp_path / "a.py").unlink()
    assert held([at(one, 1)], [at(other, 1)], tmp_path).new == []


@pytest.mark.parametrize(("accepted", "found", "known"), [(2, 1, True), (2, 2, True), (2, 3, False)])
def test_a_finding_for_more_places_than_accepted_is_new(accepted: int, found: int, known: bool, tmp_path: Path) -> None:
    compared = held([at("a.py", 1, accepted)], [at("a.py", 1, found)], tmp_path)
    assert (compared.new == []) is known
    assert compared.baseline is not None
    assert len(compared.baseline.stale) == (not known) and compared.baseline.fixed == []


SOURCE = """\
class Net:
    def build(self, x,
              rate):
        # a comment
        if x:
            y = drop(
                x,
            )
    z = 1

async def main():

\tx = 1
print()
""".split("\n")


@pytest.mark.parametrize(
    ("line", "name"),
    [
        (1, ""),
        (2, "Net"),
        (3, "Net.build"),
        (6, "Net.build"),
        (7, "Net.build"),
        (9, "Net"),
        (13, "main"),
        (14, ""),
        (0, ""),
        (99, ""),
    ],
)
def test_the_function_around_a_line(line: int, name: str) -> None:
    assert scope(SOURCE, line) == name


def test_a_long_line_is_kept_short_and_still_told_apart(tmp_path: Path) -> None:
    texts = ["x" * 500 + "1", "x" * 500 + "2"]
    lines = [FileLines({"a.py": text.encode()}) for text in texts]
    first, second = (EntryBuilder(str(tmp_path), one).entry(at("a.py", 1)).line for one in lines)
    assert first != second and max(len(first), len(second)) < 150
