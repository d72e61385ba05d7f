"""The fuzz tool finds mistakes that were planted, names them, and makes their inputs smaller."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from hypothesis import strategies as st

from scripts import fuzz
from scripts.fuzzing.conversation import NONSENSE
from scripts.fuzzing.editor import ROOT_URI, closing, message, opening
from scripts.fuzzing.example import Example, Failure, traced
from scripts.fuzzing.judge import report_problem
from scripts.fuzzing.kinds import KINDS
from scripts.fuzzing.run import Found, Tally, generated, save
from scripts.fuzzing.run import fuzz as fuzz_kind
from scripts.fuzzing.sandbox import Judge, Limits, Sandbox
from scripts.fuzzing.shrink import minimal, shrink
from tests.fuzz_planted import judge_hover, judge_planted

TRAIN = b"import torch\nx = torch.ones(1).cuda()\n"
LIMITS = Limits(seconds=3, resident=400_000_000)


def planted(*words: str) -> Example:
    """A project with a launcher that sets off mistakes."""
    lines = [b"export RANK_SIZE=8\n", *(f": plant {word}\n".encode() for word in words), b"python train.py\n"]
    return Example({"train.py": TRAIN, "run.sh": b"".join(lines)})


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    """A process whose reader of shell scripts has mistakes."""
    with Sandbox(LIMITS, judge_planted) as one:
        yield one


@pytest.mark.slow
@pytest.mark.nightly
@pytest.mark.parametrize(
    ("word", "sort", "place"),
    [
        ("crash", "traceback", "tests/fuzz_planted.py:"),
        ("quit", "traceback", "tests/fuzz_planted.py:"),
        ("loop", "hang", " _shell"),
        ("regex", "hang", " _shell"),
        ("sleep", "hang", " _shell"),
        ("memory", "memory", "peak"),
        ("die", "died", "-11 npulint/read/files.py"),
        ("write", "written", "open ("),
        ("change", "changed", "run.sh"),
        ("start", "written", "subprocess.Popen"),
    ],
)
def test_a_planted_mistake_is_found_and_named(sandbox: Sandbox, word: str, sort: str, place: str) -> None:
    found = sandbox.judge(planted(word))
    assert found is not None
    assert (found.sort, place in found.place) == (sort, True), found
    assert sandbox.judge(planted()) is None  # and the next one is judged as if nothing had been


@pytest.mark.slow
@pytest.mark.nightly
def test_a_mistake_of_the_server_is_found_and_named() -> None:
    document = {"uri": f"{ROOT_URI}/train.py", "version": 1, "languageId": "python", "text": TRAIN.decode()}
    opened = {"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {"textDocument": document}}
    place = {"line": 1, "character": 5}
    hover = {"method": "textDocument/hover", "params": {"textDocument": document, "position": place}}
    asked = {"jsonrpc": "2.0", "id": 2, **hover}
    said = (*opening(), message(opened), message(asked), *closing())
    example = Example({"train.py": TRAIN}, ("server",), b"", said)
    assert judged(example) is None
    failure = judged(example, judge_hover)
    assert failure is not None
    assert failure.sort == "traceback" and "npulint/hosts/server/requests.py" in failure.place
    assert "hover ZeroDivisionError" in failure.place
    unknown = message({"jsonrpc": "2.0", "id": NONSENSE, "method": "textDocument/hover", "params": 1})
    assert judged(Example({}, ("server",), b"", (*opening(), unknown, *closing()))) is None


def judged(example: Example, judging: Judge | None = None) -> Failure | None:
    with Sandbox() if judging is None else Sandbox(judging=judging) as one:
        return one.judge(example)


@pytest.mark.slow
@pytest.mark.nightly
def test_an_example_becomes_as_small_as_its_mistake(sandbox: Sandbox) -> None:
    example = planted(*["nothing"] * 60, "crash", *["nothing"] * 60)
    failure = sandbox.judge(example)
    assert failure is not None
    assert shrink(example, failure, sandbox.judge).files == {"run.sh": b"plant crash"}


def test_shrinking_keeps_the_first_failure_and_ends() -> None:
    files = {"a": b"one\ntwo\nthree\n", "b": b""}

    def fails(example: Example) -> Failure | None:
        data = b"".join(example.files.values())
        return Failure("traceback", "two" if b"two" in data else "other", "")

    assert shrink(Example(files), Failure("traceback", "two", ""), fails).files == {"a": b"two"}
    assert shrink(Example(files), Failure("traceback", "two", ""), fails, tries=0) == Example(files)


@pytest.mark.parametrize("needed", [{0}, {99}, {0, 50, 99}, set(range(0, 100, 9))])
def test_nothing_is_left_that_is_not_needed(needed: set[int]) -> None:
    assert list(minimal(range(100), lambda part: needed <= set(part))) == sorted(needed)


@pytest.mark.parametrize(
    ("form", "text", "sort"),
    [
        ("json", "{}", ""),
        ("json", "{", "format"),
        ("jsonl", '{"a": "\u2028"}\n{}\n', ""),
        ("jsonl", "{}\n{\n", "format"),
        ("sarif", "[]]", "format"),
        ("junit", "<a/>", ""),
        ("junit", "<a>\x01</a>", "format"),
        ("checkstyle", "<a>", "format"),
        ("text", "a\tb\n", ""),
        ("text", "a\x1b[31m", "control"),
        ("github", "a\u202eb", "control"),
        ("html", "a\u202eb", ""),
        ("html", "a\0b", "control"),
    ],
)
def test_reports_must_be_of_their_format(form: str, text: str, sort: str) -> None:
    found = report_problem(form, text)
    assert (found.sort if found else "") == sort


def test_a_traceback_is_named_by_the_innermost_function_of_npulint() -> None:
    text = (
        'Traceback (most recent call last):\n  File "/x/npulint/cli/main.py", line 4, in main\n    f()\n'
        '  File "/x/npulint/read/a.py", line 7, in f\n    json.loads(x)\n  File "/lib/json.py", line 9, in loads\n'
        "    raise x\njson.decoder.JSONDecodeError: what it says\n"
    )
    assert str(traced(text)) == "traceback: npulint/read/a.py:7 f json.decoder.JSONDecodeError"


@pytest.mark.slow
@pytest.mark.nightly
@pytest.mark.parametrize("kind", sorted(KINDS))
def test_the_same_seed_gives_the_same_examples(kind: str) -> None:
    first = generated(KINDS[kind], 8, 5)
    assert first == generated(KINDS[kind], 8, 5)
    assert first != generated(KINDS[kind], 8, 6)
    assert all(example.words for example in first)


@pytest.mark.slow
@pytest.mark.nightly
def test_failures_are_kept_and_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(fuzz, "Sandbox", partial(Sandbox, LIMITS, judge_planted))
    monkeypatch.setattr(fuzz, "KINDS", {"shell": st.sampled_from([planted("crash"), planted("nothing")])})
    assert fuzz.main(["--examples=9", f"--keep={tmp_path}"]) == 1
    assert "1 failures\n    traceback: tests/fuzz_planted.py:" in capsys.readouterr().out
    kept = tmp_path / "shell-1-0"
    assert (kept / "project" / "run.sh").read_bytes() == b"plant crash"
    told = (kept / "failure.txt").read_text()
    assert told.startswith("npulint check --no-cache --format=json\ntraceback: ")
    assert "IndexError" in told
    monkeypatch.setattr(fuzz, "KINDS", {"shell": st.just(planted())})
    assert fuzz.main(["--minutes=0.005"]) == 0


class Busy(Sandbox):
    """A process that takes too long the first time, or each time."""

    def __init__(self, times: int) -> None:
        super().__init__()
        self.times = times

    def judge(self, example: Example) -> Failure | None:
        self.times -= 1
        return Failure("hang", "here", "") if self.times >= 0 else None


@pytest.mark.parametrize(("times", "failures"), [(1, 0), (2, 1)])
def test_a_hang_counts_when_it_comes_again(times: int, failures: int) -> None:
    with Busy(times) as busy:
        tally = fuzz_kind("shell", st.just(planted()), busy, 1, lambda tally: tally.examples < 1, shrinking=False)
    assert (tally.examples, len(tally.found)) == (1, failures)


def test_what_an_example_consists_of_is_kept(tmp_path: Path) -> None:
    example = Example({"a/b": b"1"}, ("check", "-"), b"2", (b"3", b"4"))
    save(Found(Failure("hang", "x", "y"), example), tmp_path)
    names = {path.relative_to(tmp_path).as_posix(): path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert names.pop("failure.txt") == b"npulint check -\nhang: x\n\ny\n"
    assert names == {"project/a/b": b"1", "stdin": b"2", "messages": b"34"}
    assert str(Tally("csv", 3, 1.0, 0.5)) == "csv          3 examples, 1 s, longest 0.5 s, 0 failures"
