"""The verdict on a project: what was judged, in numbers and in words that every format takes from one record."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from npulint.commands.session import Session
from npulint.facts.model import Problem
from npulint.hosts.cli.main import main
from npulint.judge.effort import estimate
from npulint.judge.evaluate.distance import APART
from npulint.judge.findings import (
    ChecklistItem,
    Evidence,
    Finding,
    Fix,
    FixEdit,
    FrameworkUse,
    OpenRelease,
    ProgramSummary,
    RunResult,
    Summary,
)
from npulint.judge.priorities import first_steps
from npulint.judge.settings import FORMATS, Settings
from npulint.judge.verdict import judged, keeping_from_npu, meaning, verdict_of
from npulint.report.open_releases import labelled
from npulint.report.terminal import prose
from npulint.report.verdict import headline, sentence
from npulint.report.view import ReportView, render
from tests.surface_support import finding

_PRAISE = re.compile(r"All checks passed|No blocking issues|检查通过|未发现阻碍")
_SCRIPT = "import torch\nnet = torch.nn.Linear(3, 3).cuda()\n"
_SERVER = """import torch
from flask import Flask, request

app = Flask(__name__)
model = torch.jit.load("m.pt").cuda().eval()


@app.route("/predict", methods=["POST"])
def predict():
    with torch.no_grad():
        return str(model(torch.tensor(request.json["x"]).cuda()).argmax().item())
"""
_TRAIN = """import torch

model = torch.nn.Linear(3, 3).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in loader:
    loss = torch.nn.functional.mse_loss(model(x.cuda()), y.cuda())
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
"""
_LIBRARY = """import torch

class Learner:
    def learn(self, loader):
        for x in loader:
            self.model(x.cuda()).mean().backward()
            self.optimizer.step()
"""
_SMOKE = """import torch
import torch_npu

net = torch.nn.Linear(4, 4).npu()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(3):
    net(torch.randn(2, 4, device="npu")).sum().backward()
    optimizer.step()
"""


def checked(folder: Path, files: dict[str, str], capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """What ``npulint check`` prints about these files."""
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    main(["check", str(folder), "--no-cache", "--isolated", "--lang", "en", *words])
    return capsys.readouterr().out


def last(text: str) -> str:
    """The first of the closing lines, which end the report or are above what to do first."""
    blocks = [block for block in text.rstrip("\n").split("\n\n") if not block.startswith("What to do first")]
    return blocks[-1].split("\n")[0]


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"t.py": _SCRIPT}, "No training program was recognised; 1 script stops without CUDA"),
        (
            {"learner.py": _LIBRARY, "__init__.py": ""},
            "1 file has training code, but no script that starts it was recognised; the code of the library is not "
            "moved to the NPU",
        ),
        ({"app.py": _SERVER}, "No training program was recognised; 1 script stops without CUDA"),
        ({"train.py": _TRAIN}, "The training program does not run on the NPU"),
        ({"train.py": _TRAIN, "smoke.py": _SMOKE}, "1 of 2 training programs does not run on the NPU"),
        ({"smoke.py": _SMOKE}, "1 training program: nothing found that stops it on the NPU or makes its results wrong"),
        ({"a.py": "import math\n"}, "1 file checked: no program uses TensorFlow or PyTorch, nothing to migrate"),
    ],
    ids=["one line on CUDA", "a library", "a server on CUDA", "not ported", "one of two", "ported", "no framework"],
)
def test_the_verdict_says_what_was_judged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], files: dict[str, str], said: str
) -> None:
    assert last(checked(tmp_path, files, capsys)).startswith(said)
    document = json.loads(checked(tmp_path, files, capsys, "--format", "json"))
    assert document["verdict"]["text"].startswith(said)


def test_where_a_program_runs_is_told_for_each(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = checked(tmp_path, {"train.py": _TRAIN, "smoke.py": _SMOKE}, capsys, "--format", "json")
    verdict = json.loads(text)["verdict"]
    runs_on = {Path(program["entry"]).name: program["runs_on"] for program in verdict["training"]}
    assert runs_on == {"train.py": "cuda", "smoke.py": "npu"}


@pytest.mark.parametrize(
    ("line", "needs"),
    [
        ("net = torch.nn.Linear(3, 3).cuda()", True),
        ("device = 'cuda' if torch.cuda.is_available() else 'cpu'\nnet = torch.nn.Linear(3, 3).to(device)", False),
        ("net = torch.nn.Linear(3, 3)\nif torch.cuda.is_available():\n    net = net.cuda()", False),
        ("try:\n    net = torch.nn.Linear(3, 3).cuda()\nexcept AssertionError:\n    net = None", False),
    ],
)
def test_a_script_needs_cuda_only_where_it_surely_stops_without(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], line: str, needs: bool
) -> None:
    text = checked(tmp_path, {"t.py": f"import torch\n{line}\n"}, capsys, "--format", "json")
    assert bool(json.loads(text)["verdict"]["needing_cuda"]) is needs


def test_a_change_says_what_is_known_of_the_training_programs() -> None:
    program = ProgramSummary("train.py", 1, "torch", "not_started", checklist=(_DEVICE_ITEM["failed"],), device="cuda")
    text = render("text", RunResult([finding()], [program]), ReportView(change=True))
    assert "\nProject: The training program does not run on the NPU\n" in text
    assert "Project" not in render("text", RunResult([finding()]), ReportView(change=True))


def test_the_editor_says_the_same_of_a_project(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = json.loads(checked(tmp_path, {"train.py": _TRAIN, "t.py": _SCRIPT}, capsys, "--format", "json"))["verdict"]
    session = Session(Settings(paths=(str(tmp_path),), cache=False, lang="en"))
    verdict = session.check(str(tmp_path / "train.py")).verdict
    assert verdict is not None
    assert sentence(verdict, "en") == said["text"]


def test_what_runs_on_the_cpu_instead_does_not_stop(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = _SMOKE.replace("import torch_npu\n", "").replace(
        ".npu()", '.to("cuda" if torch.cuda.is_available() else "cpu")'
    )
    document = json.loads(checked(tmp_path, {"train.py": script.replace('"npu"', '"cpu"')}, capsys, "--format", "json"))
    (verdict,) = document["verdict"]["training"]
    assert (verdict["runs_on"], verdict["stops"], verdict["errors"]) == ("host", 0, 0)
    assert (document["verdict"]["counts"]["stops"], document["verdict"]["counts"]["unused"]) == (0, 1)
    assert next(item for item in document["programs"][0]["checklist"] if item["item"] == "device")["status"] == "failed"


def test_some_checks_alone_are_not_all(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "only selected checks ran" in checked(tmp_path, {"smoke.py": _SMOKE}, capsys, "--select", "native-dropout")


def test_thresholds_hide_nothing_from_the_verdict(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    loud = json.loads(checked(tmp_path, {"train.py": _TRAIN}, capsys, "--format", "json"))
    quiet = json.loads(checked(tmp_path, {}, capsys, "--format", "json", "--min-severity", "error"))
    assert quiet["verdict"] == loud["verdict"]
    assert quiet["summary"]["findings"] < loud["summary"]["findings"]


# Synthetic results: whatever was found, all formats say and count the same.

_DEVICE_ITEM = {
    "passed": ChecklistItem("device", "on the NPU", "passed"),
    "unknown": ChecklistItem("device", "on the NPU", "unknown"),
    "failed": ChecklistItem(
        "device",
        "on the NPU",
        "failed",
        Evidence("train.py", finding().span, "cuda-not-migrated", "NPU2100"),
        failures=(Evidence("train.py", finding().span, "cuda-not-migrated", "NPU2100"),),
    ),
}


@st.composite
def findings(draw: st.DrawFn) -> Finding:
    category = draw(st.sampled_from(["functional", "precision", "performance", "hygiene"]))
    severity = draw(st.sampled_from(["error", "warning", "note"]))
    number = draw(st.integers(1, 3))
    change = draw(st.sampled_from(["", "safe", "unsafe"]))
    fix = Fix("Change it.", change, changes=(FixEdit(change, ()),)) if change else Fix("Change it.")
    path = draw(st.sampled_from(["train.py", "other.py", "models.py"]))
    code = f"NPU9{['functional', 'precision', 'performance', 'hygiene'].index(category)}0{number}"
    return finding(
        code=code, name=f"check-{code.lower()}", category=category, severity=severity, path=path, fix=fix, program=path
    )


@st.composite
def programs(draw: st.DrawFn, entry: str) -> ProgramSummary:
    status = draw(st.sampled_from(["passed", "unknown", "failed", ""]))
    items = [ChecklistItem("own", "own item", draw(st.sampled_from(["passed", "unknown"])))]
    checklist = (_DEVICE_ITEM[status], *items) if status else ()
    return ProgramSummary(
        entry,
        1,
        "torch",
        "not_started",
        roles=(draw(st.sampled_from(["train", "evaluate"])),),
        checklist=checklist,
        migration=draw(st.sampled_from(["none", "manual", "left"])),
        device=draw(st.sampled_from(["cuda", "host", "unknown"])),
    )


@st.composite
def results(draw: st.DrawFn) -> RunResult:
    some = draw(st.lists(findings(), max_size=6))
    summaries = [
        draw(programs(entry)) for entry in draw(st.sampled_from([(), ("train.py",), ("train.py", "other.py")]))
    ]
    unread = [Problem("bad.py", "too-large")] if draw(st.booleans()) else []
    seen = [FrameworkUse("torch", 1, "a.py", 1)] if not summaries and draw(st.booleans()) else []
    read = draw(st.integers(0 if not (some or summaries) else 1, 4))
    severities = [one.severity for one in some]
    numbers = (severities.count("error"), severities.count("warning"), severities.count("note"))
    summary = Summary(read + len(unread), read, len(unread), *numbers)
    opened = [OpenRelease("soc", "", "some-check", "NPU9101", "train.py", 1)] if draw(st.booleans()) else []
    return RunResult(some, summaries, unread, summary=summary, seen=seen, open_releases=opened)


@settings(max_examples=60, deadline=None)
@given(results(), st.sampled_from(["en", "zh"]))
def test_all_formats_say_and_count_the_same(result: RunResult, lang: str) -> None:
    view = ReportView(lang=lang)
    texts = {name: render(name, result, view) for name in FORMATS}
    verdict = verdict_of(result)
    said = sentence(verdict, lang)
    for name, text in texts.items():
        assert not _PRAISE.search(text), name
    for name in ("text", "concise", "github", "agent"):
        assert said in texts[name], name
    assert prose(said) in texts["markdown"]
    assert f'value="{html.escape(said)}"' in texts["junit"]
    assert f'<h2 id="verdict-word">{html.escape(headline(verdict, lang))}</h2>' in texts["html"]
    document, last_line = json.loads(texts["json"]), json.loads(texts["jsonl"].splitlines()[-1])
    properties = json.loads(texts["sarif"])["runs"][0]["properties"]
    assert document["verdict"] == last_line["verdict"] == properties["verdict"]
    assert document["verdict"]["text"] == said
    total = verdict.errors + verdict.warnings + verdict.notes
    assert total == len(result.findings) == document["summary"]["findings"] == properties["summary"]["findings"]
    assert total == verdict.stops + verdict.unused + verdict.wrong + verdict.slows + verdict.others
    assert document["summary"]["fixable"] == last_line["fixable"] == properties["summary"]["fixable"]
    places = [(step.first.code, step.first.path) for step in first_steps(result.findings, 3, result.programs)]
    for record in (document, last_line, properties):
        assert [(step["code"], step["path"]) for step in record["first_steps"]] == places
    for opened in labelled(result.open_releases, lang):
        for name in ("text", "concise", "github", "agent"):
            assert opened in texts[name], name
        assert prose(opened) in texts["markdown"]
        assert html.escape(opened) in texts["html"]
        assert f'value="{html.escape(opened)}"' in texts["junit"]
        notifications = json.loads(texts["sarif"])["runs"][0]["invocations"][0]["toolExecutionNotifications"]
        assert opened in [notification["message"]["text"] for notification in notifications]
    assert bool(result.open_releases) == ("open_releases" in document) == ("open_releases" in properties)
    hours = re.search(r"(?:About|约需?) ?([\d.]+)", texts["html"])
    assert estimate(result).items == 0 or hours is not None


@settings(max_examples=200, deadline=None)
@given(results())
def test_success_is_claimed_only_where_nothing_speaks_against_it(result: RunResult) -> None:
    verdict = judged(result, result.findings)
    said = sentence(verdict, "en")
    training = [program for program in result.programs if "train" in program.roles or program.checklist]
    assert len(verdict.training) == len(training)
    if verdict.training and (verdict.away or any(program.stops for program in verdict.training)):
        assert "nothing found that stops" not in said
    if any(finding.category == "precision" and finding.severity != "note" for finding in result.findings):
        assert "results wrong" not in said
    if verdict.word == "ready":
        assert all(program.runs_on == "npu" and not program.stops for program in verdict.training)
        assert not verdict.errors and not verdict.warnings and not verdict.undetermined
    if not verdict.training and result.summary.read and verdict.frameworks:
        assert said.startswith("No training program was recognised")


@pytest.mark.parametrize(
    ("declared", "meant"),
    [("stops", "stops"), ("wasted-device", "unused"), ("wrong-result", "wrong"), ("much-slower", "slows")],
)
def test_what_a_check_declares_decides_what_its_findings_mean(declared: str, meant: str) -> None:
    assert meaning(finding(category="hygiene", consequence=declared)) == meant
    assert meaning(finding(category="functional", consequence="hygiene")) == "none"


def test_items_that_await_the_reference_are_not_to_be_verified_on_the_device() -> None:
    items = (
        _DEVICE_ITEM["passed"],
        ChecklistItem("a", "a", "unknown"),
        ChecklistItem("b", "b", "unknown", compared=True),
    )
    program = ProgramSummary("t.py", 1, "torch", "migrated", checklist=items)
    said = sentence(judged(RunResult(programs=[program], summary=Summary(1, 1)), []), "en")
    assert said.endswith("; 1 item to verify on the device; 1 item to compare with the reference")


@given(findings())
def test_a_note_never_stops_anything(one: Finding) -> None:
    if one.severity == "note":
        assert meaning(one) in ("slows", "none")


def test_what_is_done_first_is_to_reach_the_npu() -> None:
    slow = finding(code="NPU9001", category="performance", severity="error")
    stops = finding(code="NPU9002", category="functional", severity="warning")
    keeps = finding(code="NPU2100", category="functional", severity="warning")
    wrong = finding(code="NPU9003", category="precision", severity="warning")
    note = finding(code="NPU9004", category="functional", severity="note")
    program = ProgramSummary("train.py", 1, "torch", "not_started", checklist=(_DEVICE_ITEM["failed"],))
    steps = first_steps([note, slow, wrong, stops, keeps], 9, [program])
    assert [step.first.code for step in steps] == ["NPU2100", "NPU9002", "NPU9003", "NPU9001", "NPU9004"]


def test_a_note_comes_first_where_it_keeps_a_program_from_the_npu() -> None:
    slow = finding(code="NPU9001", category="performance", program="smoke.py")
    left = finding(code="NPU2104", topic="device_cuda", category="functional", severity="note", program="train.py")
    program = ProgramSummary("train.py", 1, "torch", "not_started", migration="left", device="cuda")
    assert [step.first.code for step in first_steps([slow, left], 9, [program])] == ["NPU2104", "NPU9001"]


def test_what_changes_nothing_keeps_no_program_from_the_npu() -> None:
    train = ProgramSummary("train.py", 1, "torch", "not_started", roles=("train",), device="cuda")
    sample = ProgramSummary("sample.py", 1, "torch", "not_started", roles=("evaluate",), device="cuda")
    flag = finding(code="NPU2001", topic="device_cuda", consequence="hygiene", program="train.py")
    stops = finding(code="NPU2002", topic="device_cuda", consequence="stops", program="train.py")
    other = finding(code="NPU2003", topic="device_cuda", consequence="stops", program="sample.py")
    assert keeping_from_npu([train, sample], [flag, stops, other]) == {"NPU2002"}
    assert keeping_from_npu([sample], [other]) == {"NPU2003"}  # nothing trains


def test_a_group_begins_with_the_main_program() -> None:
    of_test = finding(path="a_test.py", program="a_test.py")
    of_main = finding(path="train.py", program="train.py")
    main_first = [ProgramSummary("train.py", 1, "torch", "x"), ProgramSummary("a_test.py", 1, "torch", "x")]
    assert first_steps([of_test, of_main], 1, main_first)[0].first is of_main
    assert first_steps([of_test, of_main], 1)[0].first is of_test


def test_a_group_does_not_begin_at_what_takes_part_in_no_training() -> None:
    in_test = finding(path="train.py", program="train.py", distance=APART)
    elsewhere = finding(path="tool.py", program="tool.py", distance=12)
    shared = finding(path="net.py", program="tool.py", distance=9)
    main_first = [
        ProgramSummary("train.py", 1, "torch", "x", paths=("train.py", "net.py")),
        ProgramSummary("tool.py", 1, "torch", "x", paths=("tool.py", "net.py")),
    ]
    (step,) = first_steps([in_test, elsewhere, shared], 1, main_first)
    assert [found.path for found in step.findings] == ["net.py", "train.py", "tool.py"]


def test_what_takes_part_in_no_training_is_done_last() -> None:
    apart = finding(code="NPU9001", category="functional", severity="error", distance=APART)
    speed = finding(code="NPU9002", category="performance", severity="warning")
    assert [step.first.code for step in first_steps([apart, speed])] == ["NPU9002", "NPU9001"]


def test_a_file_that_cannot_be_read_comes_after_what_is_known_to_matter() -> None:
    unread = replace(finding(code="NPU0102", severity="warning"), topic="parse")
    slow = replace(finding(code="NPU9001", severity="warning"), consequence="slower")
    assert [step.first.code for step in first_steps([unread, slow])] == ["NPU9001", "NPU0102"]
    fatal = replace(unread, severity="error")  # an error says that a run needs the file
    assert [step.first.code for step in first_steps([fatal, slow])] == ["NPU0102", "NPU9001"]


def test_all_formats_begin_with_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    document = json.loads(checked(tmp_path, {"train.py": _TRAIN}, capsys, "--format", "json"))
    (first, *_) = document["first_steps"]
    assert (first["name"], first["line"]) == ("cuda-not-migrated", 6)
    (device,) = (item for item in document["programs"][0]["checklist"] if item["item"] == "device")
    assert (device["check"], device["line"]) == (first["name"], first["line"])  # the item names the same place
    place = f"{first['path']}:{first['line']}"
    text = checked(tmp_path, {}, capsys).partition("What to do first")[2]
    assert f"cuda-not-migrated: {first['places']} places, begin at {place}" in text.splitlines()[2]
    agent = checked(tmp_path, {}, capsys, "--format", "agent")
    assert f"What to do first: NPU2100 @ «{place.rpartition(':')[0]}»:6" in agent
    rows = [line for line in agent.splitlines() if line.startswith("NPU")]
    assert rows[0].startswith("NPU2100 cuda-not-migrated")


def test_a_hidden_note_that_keeps_a_program_from_the_npu_is_done_first() -> None:
    note = finding(code="NPU2100", severity="note")
    program = ProgramSummary("train.py", 1, "torch", "not_started", checklist=(_DEVICE_ITEM["failed"],))
    text = render("text", RunResult([note], [program]), ReportView(shown_from="warning"))
    assert "native-dropout: 1 place, at models/train.py:13" in text.partition("What to do first")[2]


def test_what_to_do_first_is_a_place_in_the_training_step(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    begun = "import torch\n\ntorch.cuda.manual_seed_all(1)\n"
    text = checked(tmp_path, {"train.py": begun + _TRAIN.partition("\n")[2], "models.py": ""}, capsys, "--verbose")
    assert "cuda-not-migrated" in text
    text = checked(tmp_path, {}, capsys)
    line = next(
        number for number, row in enumerate((tmp_path / "train.py").read_text().split("\n"), 1) if "x.cuda" in row
    )
    assert f"train.py:{line}:" in text.partition("error[cuda-not-migrated]")[2].split("\n")[1]


def test_a_finding_of_the_baseline_is_not_counted_as_found() -> None:
    known = replace(RunResult(summary=Summary(1, 1, known=2)), programs=[ProgramSummary("t.py", 1, "torch", "x")])
    assert "No new findings: 1 file checked" in render("concise", known, ReportView())
