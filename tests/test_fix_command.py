"""Whole projects are mended: in rounds, in memory, and only where it is allowed."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from npulint.commands.check import fix_command
from npulint.commands.check.fix_command import apply_fixes, fix_texts
from npulint.commands.check.project_results import facts_of
from npulint.core.cache import Cache
from npulint.facts.model import Span
from npulint.fix import plan as planning
from npulint.fix.model import FixRefused, Plan, Text
from npulint.judge.catalogue.check import Catalogue
from npulint.judge.catalogue.collect import content_digest
from npulint.judge.findings import Edit, FixEdit, RunResult
from npulint.judge.fix_results import FixResult, Refusal
from npulint.judge.postprocess.finalize import finalize
from npulint.judge.postprocess.record import RawResults, RunContext
from npulint.judge.settings import Settings
from npulint.judge.source_lines import FileLines
from npulint.read.files import LoadedFile
from npulint.report.fix_summary import findings_fixed, headline, why
from npulint.report.view import ReportView
from tests.catalogue_samples import AS_SEVERE, parsed, sample, write

EXAMPLES = """
  - bad: |
      import torch
      torch.old(1)  # expect
    fixed: |
      x
  - good: x"""


def check(code: str, name: str, find: str, fix: str, severity: str = "error", once: str = "", more: str = "") -> str:
    changed = {"code": code, "find": find, "fix": fix, "topic": "other", "examples": EXAMPLES, **AS_SEVERE[severity]}
    return sample(**changed, **({"once": once} if once else {})) + more


def catalogue(*texts: str) -> Catalogue:
    checks = [parsed(text, "run", f"check-{number}") for number, text in enumerate(texts)]
    return Catalogue(tuple(checks), content_digest(checks))


def rename(code: str, old: str, new: str, applicability: str = "safe", severity: str = "error", once: str = "") -> str:
    fix = f"{{applicability: {applicability}, edits: [rename: torch.{new}]}}"
    return check(code, old, f"{{call: torch.{old}}}", fix, severity, once)


SAFE = rename("NPU5101", "old", "new")
UNSAFE = rename("NPU5102", "slow", "fast", "unsafe", "warning")
WRAP = check("NPU5103", "raw", "{call: torch.raw}", "{applicability: safe, edits: [replace: torch.done($arguments)]}")
SOURCE = "import torch\n\ntorch.old(1)\ntorch.slow(2)\n"


def texts(mended: FixResult) -> dict[str, str]:
    return {one.path: one.after.decode() for one in mended.files}


def refusals(mended: FixResult) -> list[tuple[str, str, int, str]]:
    return [(one.code, one.path, one.line, one.reason) for one in mended.refused]


Run = Callable[..., FixResult]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NPULINT_CACHE_DIR", str(tmp_path.parent / f"{tmp_path.name}-cache"))
    return tmp_path


@pytest.fixture
def run(project: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Mends by the checks above alone."""
    known = catalogue(SAFE, UNSAFE, WRAP)
    monkeypatch.setattr("npulint.commands.check.fix_command.load_catalogue", lambda *_, **__: known)
    monkeypatch.setattr("npulint.commands.check.pipeline.load_catalogue", lambda *_, **__: known)

    def mending(*paths: str, unsafe: bool = True, **settings: Any) -> FixResult:
        return apply_fixes(Settings(paths=paths or (".",), **settings), unsafe)

    return mending


def test_nothing_is_written(run: Run, project: Path) -> None:
    place = write(project, "train.py", SOURCE)
    mended = run()
    assert texts(mended) == {"train.py": "import torch\n\ntorch.new(1)\ntorch.fast(2)\n"}
    assert place.read_text() == SOURCE
    (file,) = mended.files
    assert (file.before, file.new, file.location) == (SOURCE.encode(), False, "train.py")


def test_what_was_done_and_what_is_left(run: Run, project: Path) -> None:
    write(project, "train.py", SOURCE)
    write(project, "other.py", "import torch\ntorch.slow(3)\n")
    mended = run(unsafe=False)
    assert [(one.code, one.path, one.line, one.applicability) for one in mended.fixed] == [
        ("NPU5101", "train.py", 3, "safe")
    ]
    assert [(one.code, one.path, one.span.line) for one in mended.result.findings] == [
        ("NPU5102", "other.py", 2),
        ("NPU5102", "train.py", 4),
    ]
    assert (mended.result.summary.errors, mended.result.summary.warnings, mended.result.summary.files) == (0, 2, 2)
    assert mended.refused == []


def test_the_result_is_that_of_a_run_over_the_new_files(
    run: Run, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from npulint.commands.check import pipeline

    write(project, "a/train.py", SOURCE + "torch.old(torch.old(*x))\n")
    write(project, "a/README.md", "")
    write(project, "b/train.py", "import torch\ntorch.raw(torch.raw(1))\ntorch.old\n")
    write(project, "b/requirements.txt", "torch\n")
    mended = run(unsafe=False)
    for one in mended.files:
        (project / one.path).write_bytes(one.after)
    again = pipeline.run(Settings())
    assert mended.result.findings == again.findings
    assert mended.result.programs == again.programs
    assert mended.result.target == again.target
    assert run(unsafe=False).files == []


@pytest.mark.parametrize(
    ("settings", "done"),
    [
        pytest.param({"ignore": ("NPU5101",)}, {"NPU5102"}, id="ignored"),
        pytest.param({"select": ("NPU5101",)}, {"NPU5101"}, id="selected"),
        pytest.param({"min_severity": "error"}, {"NPU5101"}, id="too slight"),
        pytest.param({"unfixable": ("NPU5102",)}, {"NPU5101"}, id="for people"),
        pytest.param({}, {"NPU5101", "NPU5102"}, id="all"),
    ],
)
def test_only_what_is_reported_is_mended(run: Run, project: Path, settings: dict[str, object], done: set[str]) -> None:
    write(project, "train.py", SOURCE)
    assert {one.code for one in run(**settings).fixed} == done


@pytest.mark.parametrize(
    "source",
    [
        "import torch\ntorch.old(1)  # npulint: ignore[check-0] why\n",
        "# npulint: ignore-file[NPU5101] why\nimport torch\ntorch.old(1)\n",
        "import torch\n# npulint: ignore[NPU5101] why\ntorch.old(1)\n",
    ],
)
def test_comments_keep_places_as_they_are(run: Run, project: Path, source: str) -> None:
    write(project, "train.py", source)
    mended = run()
    assert (mended.files, mended.refused, len(mended.result.suppressed)) == ([], [], 1)


def test_comments_also_keep_the_other_places_of_a_finding() -> None:
    once = catalogue(rename("NPU5101", "old", "new", once="program"))
    source = "import torch\ntorch.old(1)\ntorch.old(2)  # npulint: ignore[NPU5101] why\ntorch.old(3)\n"
    mended = fix_texts({"train.py": source}, {}, once, ["NPU5101"])
    assert texts(mended) == {
        "train.py": "import torch\ntorch.new(1)\ntorch.old(2)  # npulint: ignore[NPU5101] why\ntorch.new(3)\n"
    }


def test_a_comment_of_no_use_goes(run: Run, project: Path) -> None:
    write(project, "train.py", "import torch\ntorch.ok(1)  # npulint: ignore[NPU5101]\r\n")
    mended = run(unsafe=False)
    assert mended.files[0].after == b"import torch\ntorch.ok(1)\r\n"
    assert [(one.code, one.line, one.applicability) for one in mended.fixed] == [("NPU0401", 2, "safe")]


def test_known_findings_are_left(run: Run, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from npulint.commands.check import pipeline
    from npulint.judge.baseline import save_baseline
    from npulint.judge.postprocess.baseline import EntryBuilder

    write(project, "train.py", SOURCE)
    settings = Settings(baseline="known.json", write_baseline=True, select=("NPU5101",))
    result = pipeline.run(settings)
    assert result.baseline is not None
    place = EntryBuilder(os.path.dirname(result.baseline.path), FileLines(settings.piped()))
    save_baseline(result.baseline.path, [place.entry(one) for one in result.findings], "en")
    mended = run(baseline="known.json")
    assert {one.code for one in mended.fixed} == {"NPU5102"}


def test_changes_within_changes_take_rounds() -> None:
    source = "import torch\nx = torch.raw(torch.raw(torch.raw(a, b)), torch.raw(c))\n"
    mended = fix_texts({"train.py": source}, {}, catalogue(WRAP), ["NPU5103"])
    assert texts(mended) == {"train.py": "import torch\nx = torch.done(torch.done(torch.done(a, b)), torch.done(c))\n"}
    assert len(mended.fixed) == 4
    assert mended.refused == []


def test_lines_are_those_before_all_fixes() -> None:
    above = check(
        "NPU5101",
        "old",
        "{call: torch.old}",
        '{applicability: safe, edits: [{rename: torch.new}, {insert: {text: "a()\\nb()", where: before}}]}',
    )
    source = "import torch\ntorch.old()\ntorch.raw(torch.raw(1))\ntorch.raw(*[)\n".replace("(*[)", "(2)")
    mended = fix_texts({"train.py": source}, {}, catalogue(above, WRAP), None)
    assert [(one.code, one.line) for one in mended.fixed] == [
        ("NPU5101", 2),
        ("NPU5103", 3),
        ("NPU5103", 3),
        ("NPU5103", 4),
    ]


def test_every_place_of_a_finding_is_mended_by_itself() -> None:
    once = rename("NPU5101", "old", "new", once="program")
    files = {
        "train.py": "import torch\nimport other\ntorch.old(1)\ntorch.old(2)\n",
        "other.py": "import torch\ntorch.old(3)\n",
    }
    mended = fix_texts(files, {}, catalogue(once), ["NPU5101"])
    assert [(one.path, one.line) for one in mended.fixed] == [("other.py", 2), ("train.py", 3), ("train.py", 4)]
    assert mended.result.findings == []


def test_a_rule_about_another_kind_of_found_fact_does_not_fit() -> None:
    find = "{any: [{call: torch.old}, {mention: torch.old}]}"
    fix = """
  - {when: {mention: any}, applicability: safe, edits: [rename: torch.named]}
  - {when: {not: {mention: any}}, applicability: safe, edits: [rename: torch.called]}"""
    files = {"train.py": "import torch\ntorch.old(1)\nold = torch.old\n"}
    mended = fix_texts(files, {}, catalogue(check("NPU5101", "old", find, fix)), ["NPU5101"])
    assert texts(mended) == {"train.py": "import torch\ntorch.called(1)\nold = torch.named\n"}


def test_the_same_place_of_two_programs_is_mended_once() -> None:
    files = {
        "train.py": "import torch\nimport common\ntorch.old(1)\n",
        "test.py": "import torch\nimport common\n",
        "common.py": "import torch\n\ndef f():\n    torch.old(3)\n",
    }
    mended = fix_texts(files, {}, catalogue(rename("NPU5101", "old", "new", once="program")), ["NPU5101"])
    assert [(one.path, one.line) for one in mended.fixed] == [("common.py", 4), ("train.py", 3)]


def test_what_several_programs_need_for_one_place_is_done_for_each() -> None:
    text = check(
        "NPU5101",
        "entries",
        "{call: torch.shared}",
        "{applicability: safe, edits: [insert: {text: torch.ready(), where: imports, at: entry}]}",
        once="program",
        more="needs: {not: {call: torch.ready}}\n",
    )
    programs = dict.fromkeys(
        ("a.py", "b.py"), "import torch\nimport lib\n\nif __name__ == '__main__':\n    lib.run()\n"
    )
    mended = fix_texts({"lib.py": "import torch\n\ndef run():\n    torch.shared()\n", **programs}, {}, catalogue(text))
    assert [one.path for one in mended.files] == ["a.py", "b.py"]
    assert all(b"torch.ready()" in one.after for one in mended.files)


def test_a_refusal_names_the_files_that_it_is_about() -> None:
    text = check(
        "NPU5101",
        "entries",
        "{call: torch.shared}",
        "{applicability: safe, edits: [insert: {text: torch.ready(), where: imports, at: entry}]}",
        once="program",
        more="needs: {not: {call: torch.ready}}\n",
    )
    lines = ["import torch\n", "import lib\n", "loss = lib.run()\n", "loss.backward()\n"]
    cell: dict[str, Any] = {
        "cell_type": "code",
        "metadata": {},
        "outputs": [],
        "execution_count": None,
        "source": lines,
    }
    notebook = json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    script = "import torch\nimport lib\n\nif __name__ == '__main__':\n    lib.run()\n"
    files = {"lib.py": "import torch\n\ndef run():\n    torch.shared()\n", "a.py": script}
    two = fix_texts({**files, "b.ipynb": notebook, "c.ipynb": notebook}, {}, catalogue(text))
    assert [one.path for one in two.files] == ["a.py"]
    assert [(one.path, one.line, one.reason, one.files) for one in two.refused] == [
        ("lib.py", 4, "notebook", ("b.ipynb", "c.ipynb"))
    ]
    assert [why(one, "en") for one in two.refused] == ["b.ipynb and 1 more file: notebooks are not modified"]
    assert [why(one, "zh") for one in two.refused] == ["b.ipynb 和另外 1 个文件：不修改 Notebook 文件"]
    (single,) = fix_texts({**files, "b.ipynb": notebook}, {}, catalogue(text)).refused
    assert why(single, "en") == "b.ipynb: notebooks are not modified"
    alone = fix_texts({"b.ipynb": notebook.replace("lib.run()", "torch.shared()")}, {}, catalogue(text)).refused
    assert [(one.path, why(one, "en")) for one in alone] == [("b.ipynb", "notebooks are not modified")]


def test_the_number_of_fixed_findings_is_the_one_that_was_announced() -> None:
    """What only other fixes make fixable is told apart, also if these change its own line."""
    edits = "[{rename: torch.new}, {import: {what: import torch_npu, after: torch}}]"
    first = check("NPU5101", "old", "{call: torch.old}", f"{{applicability: safe, edits: {edits}}}")
    later = check(
        "NPU5107",
        "later",
        "{call: torch.later}",
        "{when: {all: [{call: torch.later}, {import: torch_npu}]}, applicability: safe, edits: [rename: torch.done]}",
    )
    source = "import torch\ntorch.old(1)\ntorch.later(torch.old(2))\ntorch.later(3)\n"
    mended = fix_texts({"train.py": source}, {}, catalogue(first, later))
    assert texts(mended)["train.py"].endswith("torch.new(1)\ntorch.done(torch.new(2))\ntorch.done(3)\n")
    assert findings_fixed(mended) == 2
    assert [headline(mended, 0, ReportView(lang=lang)) for lang in ("en", "zh")] == [
        "Fixed 2 findings in 1 file (4 places), and 2 more that are fixable only after these",
        "已修复 2 个问题，涉及 1 个文件（4 处），以及完成这些修复后才可修复的另外 2 个问题",
    ]


def test_a_check_that_its_own_fix_does_not_silence_is_refused_and_its_files_stay() -> None:
    stubborn = rename("NPU5104", "more", "more2").replace("torch.more}", "torch.more*}", 1)
    assert "more*" in stubborn
    source = "import torch\ntorch.more(1)\ntorch.old(1)\n"
    mended = fix_texts({"train.py": source}, {}, catalogue(SAFE, stubborn), None)
    assert texts(mended) == {"train.py": "import torch\ntorch.more(1)\ntorch.new(1)\n"}
    assert refusals(mended) == [("NPU5104", "train.py", 2, "restless")]


def test_checks_that_undo_each_other_are_put_out_and_the_rest_is_mended() -> None:
    here, there = rename("NPU5105", "here", "there"), rename("NPU5106", "there", "here")
    source = "import torch\ntorch.here(1)\ntorch.old(1)\n"
    mended = fix_texts({"a.py": source, "b.py": "import torch\ntorch.old()\n"}, {}, catalogue(SAFE, here, there), None)
    assert texts(mended)["b.py"] == "import torch\ntorch.new()\n"
    assert texts(mended)["a.py"].endswith("torch.new(1)\n")
    assert {(one.path, one.line, one.reason) for one in mended.refused} == {("a.py", 2, "restless")}


def test_only_named_files_change(run: Run, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(project, "train.py", "import torch\nimport helper\ntorch.old(1)\n")
    write(project, "helper.py", "import torch\ntorch.old(2)\n")
    mended = run("train.py")
    assert set(texts(mended)) == {"train.py"}
    assert mended.result.summary.elsewhere == 1
    assert set(texts(run("."))) == {"train.py", "helper.py"}


def test_a_change_that_needs_a_file_that_was_not_named_is_refused(
    run: Run, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def elsewhere(change: FixEdit, text_of: Callable[[str], Text]) -> Plan:
        (step,) = change.steps
        text_of("helper.py")
        return Plan((Edit(step.path, step.span, "torch.new(1)"), Edit("helper.py", Span(), "x = 1\n")))

    write(project, "train.py", "import torch\nimport helper\ntorch.old(1)\n")
    write(project, "helper.py", "import torch\n")
    monkeypatch.setattr(planning, "planned", elsewhere)
    mended = run("train.py")
    assert mended.files == []
    assert refusals(mended) == [("NPU5101", "train.py", 3, "not-named")]
    assert set(texts(run())) == {"helper.py", "train.py"}


def test_standard_input(run: Run, project: Path) -> None:
    write(project, "helper.py", "import torch\ntorch.old(2)\n")
    source = b"import torch\r\ntorch.old(1)"
    mended = run("train.py", stdin=source, stdin_filename="train.py")
    assert [(one.path, one.before, one.after) for one in mended.files] == [
        ("train.py", source, b"import torch\r\ntorch.new(1)")
    ]
    assert mended.result.findings == []


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"import torch\r\ntorch.old(1)\n\rx = 1\r", id="mixed line ends"),
        pytest.param(b"\xef\xbb\xbfimport torch\r\ntorch.old(1)", id="byte order mark"),
        pytest.param("# coding: gbk\nimport torch\ntorch.old('甲')\n".encode("gbk"), id="GBK"),
        pytest.param("import torch\ntorch.old('甲\u2028\f')  # 乙\n".encode("gb18030"), id="undeclared"),
    ],
)
def test_bytes(run: Run, project: Path, data: bytes) -> None:
    (project / "train.py").write_bytes(data)
    (file,) = run().files
    assert file.after == data.replace(b"old", b"new")


def test_a_broken_project_does_not_stop_the_others(run: Run, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a", "b", "c"):
        write(project, f"{name}/train.py", SOURCE)
        write(project, f"{name}/requirements.txt", "torch\n")
    calls = []

    def failing(raw: RawResults, context: RunContext) -> RunResult:
        calls.append(1)
        if len(calls) == 2:
            raise RecursionError
        return finalize(raw, context)

    monkeypatch.setattr(fix_command, "finalize", failing)
    mended = run()
    assert len(mended.files) == 2
    assert [(one.path, one.reason) for one in mended.refused] == [("a", "too-deep")]


def broken_plan(change: FixEdit, text_of: Callable[[str], Text]) -> Plan:
    """What a faulty planner would give."""
    (step,) = change.steps
    text_of(step.path)
    start = step.span
    if step.words["to"] == "torch.fast":
        return Plan((Edit(step.path, start, "torch.fast(((2)"),))
    return Plan((Edit(step.path, start, "torch.new(1)"),))


def test_a_change_that_breaks_its_file_is_refused_and_the_others_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planning, "planned", broken_plan)
    mended = fix_texts({"train.py": SOURCE}, {}, catalogue(SAFE, UNSAFE), None)
    assert texts(mended) == {"train.py": "import torch\n\ntorch.new(1)\ntorch.slow(2)\n"}
    assert refusals(mended) == [("NPU5102", "train.py", 4, "broken")]


def test_changes_that_are_good_alone_and_bad_together_take_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    def halves(change: FixEdit, text_of: Callable[[str], Text]) -> Plan:
        """Each puts a bracket before its call and one behind it, if the other has not."""
        (step,) = change.steps
        text = text_of(step.path).text
        if step.words["to"] == "torch.new":
            return Plan((Edit(step.path, step.span, "torch.new(1)" if "fast" in text else "torch.new(1"),))
        return Plan((Edit(step.path, step.span, "torch.fast(2)"),))

    monkeypatch.setattr(planning, "planned", halves)
    mended = fix_texts({"train.py": SOURCE}, {}, catalogue(SAFE, UNSAFE), None)
    assert texts(mended) == {"train.py": "import torch\n\ntorch.new(1)\ntorch.fast(2)\n"}
    assert mended.refused == []


def test_an_error_of_a_planner_costs_that_change_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(change: FixEdit, text_of: Callable[[str], Text]) -> Plan:
        if change.steps[0].words["to"] == "torch.fast":
            raise KeyError("a bug")
        return broken_plan(change, text_of)

    monkeypatch.setattr(planning, "planned", failing)
    mended = fix_texts({"train.py": SOURCE}, {}, catalogue(SAFE, UNSAFE), None)
    assert [one.reason for one in mended.refused] == ["failed"]
    assert len(mended.fixed) == 1


def test_a_change_that_changes_nothing_is_no_change(monkeypatch: pytest.MonkeyPatch) -> None:
    def same(change: FixEdit, text_of: Callable[[str], Text]) -> Plan:
        return Plan((Edit("train.py", change.steps[0].span, "torch.old(1)"),))

    monkeypatch.setattr(planning, "planned", same)
    mended = fix_texts({"train.py": SOURCE}, {}, catalogue(SAFE), None)
    assert (mended.files, mended.fixed) == ([], [])
    assert refusals(mended) == [("NPU5101", "train.py", 3, "restless")]


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("new.py", ""),
        ("../new.py", "outside"),
        ("/new.py", "outside"),
        ("sub/../new.py", "outside"),
        ("missing/new.py", "outside"),
        ("data.bin", "not-named"),
    ],
)
def test_new_files_come_below_the_project_alone(
    run: Run, project: Path, monkeypatch: pytest.MonkeyPatch, path: str, reason: str
) -> None:
    def making(change: FixEdit, text_of: Callable[[str], Text]) -> Plan:
        (step,) = change.steps
        assert text_of(path).new
        return Plan((Edit(step.path, step.span, "torch.new(1)"), Edit(path, Span(), "x = 1\n")))

    write(project, "train.py", SOURCE)
    write(project, "data.bin", "")
    monkeypatch.setattr(planning, "planned", making)
    mended = run(unsafe=False)
    if reason:
        assert refusals(mended) == [("NPU5101", "train.py", 3, reason)]
        assert mended.files == []
    else:
        assert texts(mended) == {"new.py": "x = 1\n", "train.py": SOURCE.replace("old", "new")}
        assert [(one.path, one.new) for one in mended.files] == [("new.py", True), ("train.py", False)]
        assert [one.paths for one in mended.fixed] == [("new.py", "train.py")]
        assert mended.result.summary.files == 2


def test_files_that_are_no_text_and_files_that_cannot_be_read(run: Run, project: Path) -> None:
    write(project, "train.py", SOURCE)
    (project / "other.py").write_bytes(b"\xff\xff\0")
    os.symlink("missing.py", project / "gone.py")
    mended = run()
    assert set(texts(mended)) == {"train.py"}
    assert {one.path for one in mended.result.unreadable} == {"other.py", "gone.py"}


def test_later_rounds_read_only_what_changed(run: Run, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(project, "train.py", "import torch\nimport helper\ntorch.raw(torch.raw(1))\n")
    write(project, "helper.py", "import torch\n")
    seen: list[list[str]] = []

    def counted(loaded: list[LoadedFile], cache: Cache) -> object:
        seen.append([item.file.path for item in loaded])
        return facts_of(loaded, cache)

    monkeypatch.setattr(fix_command, "read_facts", counted)
    assert len(run(cache=False).fixed) == 2
    assert seen == [["helper.py", "train.py"], ["train.py"]]


def test_a_second_run_remembers_the_rounds(run: Run, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(project, "train.py", SOURCE)
    first = run(cache=True)
    monkeypatch.setattr(fix_command, "read_facts", lambda *_: pytest.fail("nothing is to be read"))
    again = run(cache=True)
    assert (again.files, again.fixed, again.result.findings) == (first.files, first.fixed, first.result.findings)


def test_a_project_that_never_comes_to_rest_is_left_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """Though each attempt blames another check."""
    checks = [rename(f"NPU51{number}0", f"a{number}", f"b{number}").replace("}", "*}", 1) for number in range(1, 8)]
    monkeypatch.setattr(fix_command, "_ATTEMPTS", 1)
    source = "import torch\n" + "".join(f"torch.a{number}()\n" for number in range(1, 8))
    stubborn = [one.replace(f"torch.b{number}", f"torch.a{number}x") for number, one in enumerate(checks, 1)]
    mended = fix_texts({"train.py": source}, {}, catalogue(*stubborn), None)
    assert mended.files == []
    assert mended.refused == [Refusal("", "", ".", 0, "restless")]


def test_every_reason_is_told_in_words() -> None:
    import re

    from npulint.core.texts import table

    command = Path(fix_command.__file__)
    sources = [*(command.parents[2] / "fix").rglob("*.py"), command]
    found = {
        reason
        for source in sources
        for reason in re.findall(r"(?:Refused|Error|Denied)\(\s*\"([a-z-]+)\"", source.read_text("utf-8"))
    }
    assert {"encoding", "link", "not-named"} <= found
    assert sorted(reason for reason in found if f"fix.refused.{reason}" not in table("fix")) == []


def test_refused_is_an_exception_with_a_reason() -> None:
    assert FixRefused("place").reason == "place"
