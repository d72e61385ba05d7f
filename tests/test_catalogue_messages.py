"""Tables of log messages: entries become checks, messages become patterns, mistakes have their file and line."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from npulint.core.errors import CatalogueError
from npulint.data.error_patterns import patterns
from npulint.judge.catalogue.load import load_catalogue, load_files
from npulint.judge.catalogue.messages import FOLDER, LINES, MessageTable, parse_table
from npulint.judge.catalogue.sources import builtin_directory
from npulint.judge.catalogue.tables import parse_checks
from tests.catalogue_samples import sample, write

TABLES = sorted((Path(builtin_directory()) / FOLDER).glob("*.yaml"))

ENTRY = """port-is-taken:
  code: NPU5101
  joins: [NPU3116]
  title: {en: A port was taken, zh: 端口已被占用}
  why:
    en: The ranks meet at one port.
    zh: 各 rank 在一个端口上汇合。
  fix:
    en: End the other process.
    zh: 结束另一个进程。
  references:
    - {title: Error codes of CANN}
  messages:
    EI0099:
      cause: {en: A port is taken., zh: 端口被占用。}
      fix: {en: Choose another., zh: 请更换端口。}
      example: 'EI0099: no port'
      source: logs
    PT-TAKEN:
      kind: warning
      regex: 'port (\\d+) is taken '
      literals: [' is taken ']
      general: true
      subject: true
      cause: {en: A port is taken., zh: 端口被占用。}
      fix: {en: Choose another., zh: 请更换端口。}
      check: one-port
      example: 'port 29500 is taken here'
      source: logs
  examples:
    - bad: [torch, trace, '    bind()', 'EI0099: no port  # expect', '', end]
    - good: [torch, steps]
"""
FILE = """code: NPU5101
since: "0.1"
status: preview
topic: run_artifact
category: functional
consequence: stops
occurs: always
confidence: high
find: {run_event: [EI0099, PT-TAKEN], where: {leads: "yes"}}
joins: [NPU3116]
text:
  en:
    title: A port was taken
    message: "{cause_en} Log: `{quote}`{total:times}."
    why: The ranks meet at one port.
    fix: End the other process.
  zh:
    title: 端口已被占用
    message: "{cause_zh}日志：`{quote}`{total:times}。"
    why: 各 rank 在一个端口上汇合。
    fix: 结束另一个进程。
references:
  - title: Error codes of CANN
examples:
  - bad:
      files:
        train.log: |
          INFO:root:torch_npu 2.1.0.post6 is loaded, device npu:0
          Traceback (most recent call last):
            File "train.py", line 42, in <module>
              bind()
          EI0099: no port

          end
      expect: ["train.log:5"]
  - good:
      files:
        train.log: |
          INFO:root:torch_npu 2.1.0.post6 is loaded, device npu:0
          step 100 loss: 0.412
          step 200 loss: 0.377
"""


def table(text: str) -> MessageTable:
    return parse_table(text.encode(), "checks/messages/own.yaml")


def mistakes(text: str) -> list[str]:
    found = table(text)
    return [str(one) for one in (*found.problems, *(one for check in found.checks for one in check.problems))]


def test_an_entry_is_the_check_that_a_file_would_be() -> None:
    (entry,) = table(ENTRY).checks
    (file,) = parse_checks(FILE.encode(), "checks/run/port-is-taken.yaml", "run", "port-is-taken")
    assert mistakes(ENTRY) == [] and file.problems == ()
    assert entry.check == file.check
    assert entry.code_at == (2, 9)


def test_entries_may_share_keys() -> None:
    shared = "shared: {occurs: some-runs, once: file, why: {en: A process is left.}}\n"
    (entry,) = table(shared + ENTRY.replace("  code: NPU5101\n", "  code: NPU5101\n  once: program\n")).checks
    (alone,) = table(ENTRY).checks
    assert entry.problems == () and entry.check is not None and alone.check is not None
    assert (entry.check.severity, entry.check.once) == ("warning", "program")
    assert entry.check.text == alone.check.text


def test_messages_are_read_with_what_they_leave_out() -> None:
    plain, other = table(ENTRY).messages
    assert (plain.id, plain.kind, plain.regex, plain.literals) == ("EI0099", "error", r"\bEI0099\b", ("EI0099",))
    assert (plain.cause, plain.flags, plain.check) == (("A port is taken.", "端口被占用。"), (), "")
    assert (other.kind, other.regex, other.literals) == ("warning", r"port (\d+) is taken ", (" is taken ",))
    assert (other.flags, other.check) == (("subject", "general"), "one-port")
    assert {plain.finding, other.finding} == {"port-is-taken"}
    assert (plain.line, other.line) == (14, 19)


def test_an_entry_of_messages_alone_is_no_check() -> None:
    begin, end = ENTRY.index("  messages:"), ENTRY.index("  examples:")
    found = table(f"own-file:\n{ENTRY[begin:end]}unreported:\n{ENTRY[begin:end].replace('0099', '0098')}")
    assert found.checks == () and found.problems == ()
    assert [one.finding for one in found.messages] == ["own-file", "own-file", "", ""]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("  code: NPU5101", "  cod: NPU5101", "2:3: port-is-taken: unknown key 'cod' (did you mean 'code'?)"),
        ("  code: NPU5101\n", "", "1:1: check: the key 'code' is missing"),
        ("port-is-taken:", "Port:", "1:1: the name 'Port' must be in kebab case"),
        ("title: {en: A port was taken, ", "title: {", "1:1: text.en: the key 'title' is missing"),
        ("端口已被占用}", "taken}", "4:37: text.zh.title is not Chinese"),
        ("  messages:\n", "  massages:\n", "2:3: port-is-taken: the key 'messages' is missing"),
        ("      kind: warning", "      kind: warn", "20:13: PT-TAKEN.kind: 'warn' is not one of"),
        ("(\\d+)", "(\\d+", "21:14: PT-TAKEN.regex: not a regular expression: missing )"),
        ("(\\d+)", ".*.*.*(\\d+)x", "21:14: PT-TAKEN.regex: a string can be divided"),
        ("29500", "x", "21:14: PT-TAKEN: its regex does not find its example"),
        ("[' is taken ']", "'xyz'", "21:14: PT-TAKEN: its example has none of its literals"),
        ("      source: logs\n    PT", "    PT", "15:7: EI0099: the key 'source' is missing"),
        ("{en: A port is taken., zh:", "{en: A port is taken., ch:", "15:37: EI0099.cause: unknown key 'ch'"),
        ("  # expect", "", "31:12: examples[0]: no line is marked with '# expect'"),
        ("[torch, steps]", "[[torch]]", "32:14: examples[1].good: a line of a log must be text"),
        ("    PT-TAKEN:", "    EI0099:", "19:5: 'EI0099' is given twice (first in line 14)"),
        (ENTRY, "- a\n", "1:1: the table must be a non-empty mapping"),
    ],
)  # fmt: skip
def test_a_mistake_has_its_file_and_line(old: str, new: str, message: str) -> None:
    assert ENTRY.count(old) >= 1
    found = mistakes(ENTRY.replace(old, new, 1))
    assert any(one.startswith(f"checks/messages/own.yaml:{message}") for one in found), found


def test_entries_clash_with_files_and_with_one_another(tmp_path: Path) -> None:
    write(tmp_path, "messages/one.yaml", ENTRY)
    write(tmp_path, "messages/two.yaml", ENTRY.replace("port-is-taken", "port-was-taken").replace("NPU5101", "NPU5102"))
    write(tmp_path, "run/other.yaml", FILE)
    with pytest.raises(CatalogueError) as caught:
        load_catalogue((str(tmp_path),), use_cache=False)
    found = str(caught.value)
    assert f"two.yaml:14:1: the message 'EI0099' belongs to {tmp_path}/messages/one.yaml:14" in found
    assert f"one.yaml:2:9: code: NPU5101 belongs to {tmp_path}/run/other.yaml" in found


def test_messages_of_a_check_that_does_not_exist_are_refused(tmp_path: Path) -> None:
    begin, end = ENTRY.index("  messages:"), ENTRY.index("  examples:")
    write(tmp_path, "messages/one.yaml", f"no-such-check:\n{ENTRY[begin:end]}")
    with pytest.raises(CatalogueError, match=r"one\.yaml:3:1: EI0099: there is no check 'no-such-check'"):
        load_catalogue((str(tmp_path),), use_cache=False)
    assert load_files([str(tmp_path / "messages" / "one.yaml")]).checks == ()


def test_a_file_of_python_is_still_tested_beside_a_table(tmp_path: Path) -> None:
    write(tmp_path, "messages/one.yaml", ENTRY)
    write(tmp_path, "tensorflow/own.yaml", sample())
    assert {one.name for one in load_files([str(tmp_path)]).checks} == {"port-is-taken", "own"}


@pytest.mark.parametrize("path", TABLES, ids=lambda one: one.stem)
def test_the_reader_of_logs_knows_the_tables(path: Path) -> None:
    found = parse_table(path.read_bytes(), str(path))
    assert found.problems == () and found.messages
    for message in found.messages:
        known = patterns()[message.id]
        assert (known.regex, known.literals, known.finding) == (message.regex, message.literals, message.finding)
        assert (
            tuple(flag for flag in ("umbrella", "echo", "subject", "general") if getattr(known, flag)) == message.flags
        )


def test_every_pattern_stands_in_one_table() -> None:
    names = [one.id for path in TABLES for one in parse_table(path.read_bytes(), str(path)).messages]
    assert sorted(names) == sorted(patterns())


def test_the_words_for_lines_are_no_lines_of_logs() -> None:
    assert all(word.isalpha() for word in LINES)


def test_codes_and_numbers_are_found_in_every_spelling() -> None:
    """Numbers stand behind many words; codes may stand for all that begin alike."""
    entry = ENTRY.replace("    EI0099:\n", "    EI0099:\n      codes: [EI0099, E7*]\n      numbers: [507015]\n")
    table = parse_table(entry.encode(), "table.yaml")
    assert table.problems == ()
    message = next(one for one in table.messages if one.id == "EI0099")
    for text in (
        "EI0099: no port",
        "E71234: wrong",
        "Unknown_Error(EI0099): no port",
        "error code is 507015",
        "error code:507015",
        "ErrCode=507015, desc",
        "runtime result = 507015[FUNC]",
        "aclrtSynchronizeStream(stream) failed: 507015",
        "errorCode: 507015",
        "ret[507015]",
    ):
        assert re.search(message.regex, text), text
        assert any(literal.rstrip("*") in text for literal in message.literals), text
    for text in ("exit code is 507015", "step 507015", "error code is 5070151", "E8123: x"):
        assert not re.search(message.regex, text), text


def test_numbers_of_errors_have_six_digits() -> None:
    entry = ENTRY.replace("    EI0099:\n", "    EI0099:\n      numbers: [5070]\n")
    assert "numbers must be a list of numbers of six digits" in str(parse_table(entry.encode(), "t.yaml").problems[0])
