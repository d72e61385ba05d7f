"""Logs: messages, codes, triage, and what a report may quote of them."""

from __future__ import annotations

import io
import re
import tracemalloc

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from npulint.data.error_patterns import Pattern, patterns
from npulint.facts.model import Fact
from npulint.judge.catalogue.regexes import regex_problem
from npulint.runs.read.logs import across, read
from npulint.runs.read.logs.lines import CAP, CHUNK, ENOUGH, Scan
from npulint.runs.read.logs.shapes import Search
from npulint.runs.read.logs.tracebacks import quoted
from tests.fact_support import TableFact, attrs_of, check_declared

NPU = "2024-01-01 00:00:00.000000: I tf_adapter/kernels/geop_npu.cc:1] start\n"
ALL = tuple(patterns().values())
READ = [one for one in ALL if one.kind != "series"]


def facts(text: str | bytes, path: str = "train.log") -> list[Fact]:
    return read(io.BytesIO(text.encode() if isinstance(text, str) else text), path)


def events(text: str | bytes, path: str = "train.log") -> dict[str, Fact]:
    return {one.name: one for one in facts(text, path) if one.kind == "run_event"}


def root(text: str) -> str:
    return " ".join(name for name, one in events(text).items() if one.get("root") == "yes")


def test_the_table_is_whole() -> None:
    assert len(ALL) == 217
    for one in ALL:
        assert one.kind in "fatal error warning info note context series ignore".split()
        for english, chinese in (one.cause, one.fix):
            assert english.endswith(".") and english.isascii()
            assert chinese.endswith("。") and re.search(r"[\u4e00-\u9fff]", chinese)


@pytest.mark.parametrize("one", ALL, ids=lambda one: one.id)
def test_a_message_matches_its_example_and_is_safe(one: Pattern) -> None:
    assert regex_problem(one.regex) == ""
    assert re.search(one.regex, one.example)
    assert any(literal.rstrip("*") in one.example for literal in one.literals)
    assert all(literal.strip("0123456789.*") for literal in one.literals)  # numbers are no part of a line's shape


@pytest.mark.parametrize("one", READ, ids=lambda one: one.id)
def test_a_message_is_found_in_a_log(one: Pattern) -> None:
    found = events(f"{NPU}first\n{one.example}\n")[one.id]
    assert found.span.line == 3
    assert found.get("known") == "yes"
    assert (found.get("cause_en"), found.get("cause_zh")) == one.cause
    check_declared([found])


@pytest.mark.parametrize("name", sorted({one.check for one in ALL} - {""}))
def test_checks_of_the_table_exist(name: str) -> None:
    from npulint.judge.catalogue.load import load_catalogue

    assert any(check.name == name for check in load_catalogue().checks)


SHAPES = (
    "EL0004: Failed to allocate memory.",
    "EL0004: 2024-08-05-18:15:21.270.506 Failed to allocate memory.",
    "EL0004: [PID: 123] 2024-08-05-18:15:21.270.506 Failed to allocate memory.",
    "[PID: 123] 2025-08-05-18:15:21.270.506 Memory_Allocation_Failure(EL0004): Failed to allocate memory.",
    "RuntimeError: {'errCode': 'EL0004', 'message': 'none'}",
)


@pytest.mark.parametrize("line", SHAPES)
@pytest.mark.parametrize("code", ["EL0004", "EK0009"])
def test_codes_are_read_in_every_shape(line: str, code: str) -> None:
    below = "\n    Possible Cause: it is full.\n    Solution: close others.\n    TraceBack (most recent call last):"
    found = events(line.replace("EL0004", code) + below + "\n        rtMalloc failed\nEnd\n")[code]
    assert (found.get("subjects"), found.get("level"), found.get("root")) == (code, "error", "yes")
    assert found.get("quote").endswith(" … it is full.")
    assert found.get("known") == ("yes" if code == "EL0004" else "no")


def test_mere_mentions_of_unknown_codes_are_none() -> None:
    assert events(f"{NPU}see EK0009 in the manual, and XEK0009: too\nE0718 10:00:00.0 12] glog\n") == {}


def test_umbrellas_stand_back_behind_a_real_error() -> None:
    wrapper = "F geop_npu.cc:1] GeOp11_0GEOP::::DoRunAsync Failed\nError Message is :\n"
    assert root(f"{wrapper}EL0004: Failed to allocate memory.\n") == "EL0004"
    assert root(wrapper) == "TF-GEOP-FAIL"
    assert events(wrapper)["TF-GEOP-FAIL"].get("leads") == "yes"
    assert events(f"{wrapper}EL0004: no\n")["TF-GEOP-FAIL"].get("leads") == "no"
    assert root(f"{NPU}EK9999: Inner Error!\nEI0003: bad type\nEI0005: differs\n") == "EI0003"


def test_a_lost_loss_is_no_cause_of_a_later_failure() -> None:
    assert root(f"{NPU}step 1 loss: nan\nEI0002: times out\n") == "EI0002"
    assert root(f"{NPU}step 1 loss: nan\n") == "LOSS-NAN"


def test_ranks_that_waited_are_no_roots() -> None:
    waited = facts("EI0002: [PID: 1] 2024-11-28-11:59:30.645.648 waits\n", "rank-0.log")
    failed = facts("EL0004: [PID: 2] 2024-11-28-11:58:00.000.000 full\n", "rank-1.log")
    found = [(one.path, one.name) for one in across([*waited, *failed]) if one.get("root") == "yes"]
    assert found == [("rank-1.log", "EL0004")]
    later = facts("EI0006: [PID: 1] 2024-11-28-12:00:00.000.000 waits\n", "rank-2.log")
    found = [(one.path, one.name) for one in across([*later, *waited]) if one.get("root") == "yes"]
    assert found == [("rank-0.log", "EI0002")]
    assert across(waited) == waited


def test_a_full_shuffle_buffer_counts_only_before_a_failure() -> None:
    fill = f"{NPU}Filling up shuffle buffer (this may take a while): 1 of 10\n"
    assert events(fill)["TF-SHUFFLE-FILL"].get("level") == "info"
    soon = events(fill + "x\n" * 100 + "E30008: AI CPU operator execution time out.\n")["TF-SHUFFLE-FILL"]
    assert soon.get("level") == "warning"
    late = events(fill + "x\n" * 300 + "E30008: AI CPU operator execution time out.\n")["TF-SHUFFLE-FILL"]
    assert late.get("level") == "info"


def test_operators_that_fall_back_are_told_apart() -> None:
    line = "CAUTION: The operator 'aten::{}' is not currently supported on the NPU backend\n"
    text = "".join(line.format(name) for name in ("a", "b", "a"))
    found = [one for one in facts(text) if one.kind == "run_event"]
    assert [(one.get("subject"), one.get("total"), one.span.line) for one in found] == [
        ("aten::a", 3, 1),
        ("aten::b", 1, 2),
    ]
    many = [one for one in facts("".join(line.format(f"n{n}") for n in range(400))) if one.kind == "run_event"]
    assert len(many) == 51
    assert many[0].get("total") == 400


def test_a_log_shows_its_device() -> None:
    text = "step 1 loss: nan\nGradient overflow\nAddress already in use\nTensors must be contiguous\n"
    assert facts(text)[0].get("note") == "no-npu"
    assert facts(f"{text}NVIDIA A100-SXM4-80GB\n")[0].get("note") == "gpu"
    assert facts(NPU + text)[0].get("note") == ""
    assert set(events(text)) == set(events(NPU + text)) == {"LOSS-NAN", "PT-PORT", "PT-NONCONTIG"}


def test_process_logs_are_counted_by_level() -> None:
    line = "[{}] {}(12,python):2024-01-01-00:00:00.000.001 [a.cc:1]12 f: text\n"
    text = line.format("INFO", "GE") * 3 + line.format("ERROR", "FE") + line.format("ERROR", "GE") * 2
    log = facts(text, "worker-3/plog/plog-1_2.log")[1]
    assert (log.name, log.get("lines"), log.get("verbose_lines"), log.get("error_lines")) == ("plog", 6, 3, 3)
    assert (log.get("error_module"), log.get("rank")) == ("FE", "3")


def test_progress_bars_and_colours() -> None:
    text = f"{NPU}\r 1%|#| 1/9\r 2%|#| loss: nan\r 3%|#| loss: nan\r\n\x1b[31mEI0003\x1b[0m: bad\r\nend\r\n"
    found = events(text)
    assert (found["LOSS-NAN"].get("total"), found["LOSS-NAN"].span.line) == (2, 2)
    assert (found["EI0003"].span.line, found["EI0003"].get("text")) == (3, "EI0003: bad")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "gb18030", "utf-16"])
def test_encodings(encoding: str) -> None:
    found = events(f"{NPU}训练失败 Ascend\nEL0004: 内存不足。\n".encode(encoding))["EL0004"]
    assert (found.span.line, found.get("text")) == (3, "EL0004: 内存不足。")


def test_quotes_hide_people_and_machines() -> None:
    text = "at /home/zhang/a.py, C:\\Users\\li\\b.py, hw81087854, wx1234567 from 10.0.0.1 by li@host.com\x1b\u202e"
    assert quoted(text) == "at /home/<user>/a.py, C:\\Users\\<user>\\b.py, <user>, <user> from <ip> by <user>"
    assert len(quoted("x" * 9999)) == 200


def test_a_code_far_in_a_line_is_quoted_with_what_stands_around_it() -> None:
    line = f"[ERROR] TEFUSION(1,python): {'/very/long' * 40} RuntimeError: EA0000: too many inputs {'x' * 400}"
    text = events(line)["EA0000"].get("text")
    assert text.startswith("… RuntimeError: EA0000: too many inputs x") and len(text) == 200
    assert quoted("aa:bb:cc:dd:ee:ff and fe80:1:2:3:4:5") == "<mac> and <ip>"


def test_lines_without_end_are_capped() -> None:
    long = b"a" * (CHUNK + CAP) + b" EI0003: bad " + b"b" * (3 * CAP)
    found = events(NPU.encode() + long + b"\nEI0005: differs\n")
    assert {name: one.span.line for name, one in found.items()} == {"EI0003": 2, "EI0005": 3}
    assert len(found["EI0003"].get("text")) <= 200


@pytest.mark.slow
def test_a_long_log_needs_little_memory() -> None:
    class Long:
        def __init__(self) -> None:
            self.left = 15

        def read(self, size: int, /) -> bytes:
            self.left -= 1
            return b"[INFO] GE(1,python):2024-01-01-00:00:00.000.001 [a.cc:1] some text\n" * 60000 if self.left else b""

    tracemalloc.start()
    found = read(Long(), "plog.log")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found[1].get("verbose_lines") == found[1].get("lines") == 14 * 60000
    assert peak < 60 << 20


class Pieces:
    """A stream that gives what it has in pieces of a few bytes."""

    def __init__(self, data: bytes, size: int) -> None:
        self.stream, self.size = io.BytesIO(data), size

    def read(self, size: int, /) -> bytes:
        return self.stream.read(min(self.size, size))


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.sampled_from([b"\n", b"\r", b"plain ", b"EI0003: x", b"loss: nan", b"NPU", b"\xff\x00"])),
    st.integers(1, 9),
)
def test_pieces_of_a_stream_do_not_matter(parts: list[bytes], size: int) -> None:
    data = b"".join(parts)
    whole = [(one.kind, one.name, one.span, attrs_of(one)) for one in facts(data)]
    assert [(one.kind, one.name, one.span, attrs_of(one)) for one in read(Pieces(data, size), "train.log")] == whole
    assert whole[0][3]["rows"] == data.count(b"\n") + (not data.endswith(b"\n") and bool(data))


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=400))
def test_any_bytes_are_read(data: bytes) -> None:
    assert facts(data)[0].kind == "run_source"


@settings(max_examples=100, deadline=None)
@given(st.sets(st.binary(min_size=1, max_size=4), min_size=1, max_size=8), st.binary(max_size=60))
def test_search_finds_every_literal(literals: set[bytes], data: bytes) -> None:
    expected = {(at, one) for one in literals for at in range(len(data)) if data.startswith(one, at)}
    found = list(Search(literals).hits(data, len(data)))
    assert expected <= set(found)
    assert [at for at, _ in found] == sorted(at for at, _ in found)


def test_watchers_see_what_they_want() -> None:
    class Watch:
        wants = (b"tep ",)
        levels = always = ()

        def __init__(self) -> None:
            self.seen: list[tuple[int, str]] = []

        def see(self, line_number: int, text: str, lines: int = 1) -> None:
            self.seen.append((line_number, text))

        def facts(self, path: str) -> list[Fact]:
            return [TableFact("run_series", "seen", path, found[0].span)]

    watch = Watch()
    found = facts(NPU)
    given_facts = read(io.BytesIO(f"{NPU}step 1 loss: nan\nother\nstep 2 step 3\n".encode()), "a.log", [watch])
    assert watch.seen == [(2, "step 1 loss: nan"), (4, "step 2 step 3")]
    assert given_facts[-1].kind == "run_series"
    assert any(one.name == "LOSS-NAN" for one in given_facts)


def test_lines_that_hold_nothing_are_not_shown() -> None:
    scan = Scan([b"wanted"], lambda data, cut, number: None)
    assert [one.number for one in scan.over(io.BytesIO(b"a\nb\nwanted\nc"))] == [3]
    assert scan.lines == 4


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            (
                *(b"\n", b"\r", b"step 1 ", b"step 22.5 ", b"loss ", b"lo1ss ", b"code is 107001", b"code is 9"),
                *(b"EI0003 ", b"EE1", b"0013", b"W11001", b"ERR00", b"ERR7", b"GeOp", b"x" * 16_000),
            )
        ),
        max_size=40,
    )
)
def test_shapes_of_lines_hide_nothing(parts: list[bytes]) -> None:
    data = b"".join(parts)
    literals = [b"loss", b"code is 107001", b"ERR00", b"GeOp"]
    expected = []
    for number, line in enumerate(data.split(b"\n"), 1):
        for text in line.split(b"\r"):
            codes = re.findall(rb"(?=([EW][0-9ABEFHIJKLZ][0-9]{4}))", text)
            held = {one for one in literals if one in text}.union(codes)
            if held:
                expected.append((number, held))
    shown: dict[int, list[set[bytes]]] = {}
    for one in Scan(literals, lambda data, cut, number: None).over(io.BytesIO(data)):
        shown.setdefault(one.number, []).append(one.found)
    assert sorted(shown) == sorted({number for number, _ in expected})
    for number in shown:  # of a very long line parts are shown
        assert set().union(*shown[number]) == set().union(*(held for at, held in expected if at == number))


def test_of_a_line_of_megabytes_the_beginning_is_searched_and_the_next_line_is() -> None:
    far = NPU.encode() + b"EI0003: bad " + b"b" * (ENOUGH + 2 * CHUNK) + b" EI0004: bad " + b"c" * CHUNK
    found = events(far + b"\nEI0005: differs\n" + b"d" * ENOUGH + b"\r\nEI0006: differs\n")
    assert {name: one.span.line for name, one in found.items()} == {"EI0003": 2, "EI0005": 3, "EI0006": 5}
