"""The lines of files, as their readers count them."""

from __future__ import annotations

from pathlib import Path

import pytest

from npulint.judge.source_lines import FileLines


@pytest.mark.parametrize(
    ("name", "data", "lines"),
    [
        ("train.log", b"one\r\n 1%\r 2%\r\ntwo\r\n", ["one", " 1%  2%", "two", ""]),
        ("nohup.out", b"a\rb\nc", ["a b", "c"]),
        ("train.log", "epoch 1\r\n轮次 2\n".encode("utf-16"), ["epoch 1 ", "轮次 2", ""]),
        ("a.py", b"one\rtwo\r\nthree", ["one", "two", "three"]),
        ("requirements.txt", b"one\rtwo\n", ["one", "two", ""]),
    ],
)
def test_a_progress_bar_is_one_line_of_a_log_and_a_return_ends_one_of_a_source(
    name: str, data: bytes, lines: list[str], tmp_path: Path
) -> None:
    (tmp_path / name).write_bytes(data)
    assert list(FileLines()(str(tmp_path / name))) == lines
    assert list(FileLines({name: data})(name)) == lines
