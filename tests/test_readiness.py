"""The readiness list: its items and their examples, what silences a failing item, how the reports tell it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from npulint.core.errors import CatalogueError
from npulint.facts.model import Span
from npulint.judge.catalogue.check import TOPICS, ItemDefinition
from npulint.judge.catalogue.examples import run_item_examples
from npulint.judge.catalogue.load import load_catalogue, load_files
from npulint.judge.catalogue.readiness import parse_item
from npulint.judge.catalogue.sources import builtin_directory
from npulint.judge.evaluate.places import covered
from npulint.judge.findings import ChecklistItem, Evidence, ProgramSummary, RunResult, Summary
from npulint.report.terminal import code, prose
from npulint.report.view import ReportView, render
from tests.project_support import Project
from tests.surface_support import sample

CATALOGUE = load_catalogue(use_cache=False)
each_item = pytest.mark.parametrize("item", [pytest.param(item, id=item.name) for item in CATALOGUE.items])

GPU = """
    import tensorflow as tf

    def main():
        step = tf.train.AdamOptimizer(1e-3).minimize(tf.reduce_mean(tf.get_variable('w', [4])))
        with tf.Session() as sess:{comment}
            for _ in range(1000):
                sess.run(step)

    if __name__ == '__main__':
        main()
    """


@pytest.mark.daily
@each_item
def test_the_examples_hold(item: ItemDefinition) -> None:
    from npulint.commands.examples import check_sources

    def programs(files: dict[str, str], target: dict[str, str]) -> list[ProgramSummary]:
        return check_sources(files, target, CATALOGUE).programs

    assert [str(one) for one in run_item_examples([item], programs) if not one.ok] == []


def _contradictions(result: RunResult) -> list[str]:
    """The items that failed without a finding, and the findings that contradict an item and leave it passed."""
    places = {(f.name, place.path, place.span) for f in result.findings for place in covered(f)}
    wrong = []
    for program in result.programs:
        items = {item.item: item for item in program.checklist}
        for item in items.values():
            failures = [(one.check, one.path, one.span) for one in item.failures]
            if item.status == "failed" and not (failures and set(failures) <= places):
                wrong.append(f"{program.entry}: {item.item} failed by {failures}")
        own = [finding for finding in result.findings if program.entry in (finding.program, *finding.programs)]
        for one in (one for one in CATALOGUE.items if one.key in items and items[one.key].status == "passed"):
            against = {f.name for f in own if f.topic in one.doubted.topics or f.name in one.doubted.checks}
            wrong += [f"{program.entry}: {one.key} passed beside {name}" for name in against - {*one.doubted.but}]
        for error in result.findings:
            concerned = [one for one in CATALOGUE.items if error.topic in one.fails.topics and one.key in items]
            if error.severity == "error" and program.entry in (error.program, *error.programs):
                for item in (items[one.key] for one in concerned if error.name not in one.fails.but):
                    doubted = item.status == "unknown" and error.name in [one.check for one in item.doubts]
                    if item.status != "failed" and not doubted:
                        wrong.append(f"{program.entry}: {item.item} {item.status} beside {error.name}")
    return wrong


@pytest.mark.daily
@each_item
def test_an_item_of_an_example_fails_with_its_finding_alone(item: ItemDefinition) -> None:
    from npulint.commands.examples import check_sources

    found = [check_sources(example.files, example.target, CATALOGUE) for example in item.examples]
    assert [wrong for result in found for wrong in _contradictions(result)] == []


@pytest.mark.daily
@pytest.mark.parametrize("name", ["classifier", "classifier_npu", "configured", "denoiser", "finished", "migrated"])
def test_an_item_of_a_project_fails_with_its_finding_alone(name: str) -> None:
    from npulint.commands.examples import check_sources

    folder = Path(__file__).parent.parent / "examples" / name
    kinds = (".py", ".sh", ".yaml", ".json", ".txt")
    files = {
        path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.suffix in kinds
    }
    result = check_sources(files, {}, CATALOGUE)
    assert files and _contradictions(result) == []


@each_item
def test_an_item_speaks_both_languages(item: ItemDefinition) -> None:
    assert set(item.text) == {"en", "zh"}
    assert all(text.title and text.look for text in item.text.values())


def test_the_list_holds_what_is_checked_before_tuning() -> None:
    names = [item.name for item in CATALOGUE.items]
    wanted = "device mixed-precision loss-scale debug-tools dataset preprocessing sharding training-procedure"
    assert [name for name in names if name in wanted.split()] == wanted.split()
    assert {"hyperparameters", "reference-run"} <= set(names)


def test_what_breaks_training_fails_some_item() -> None:
    covered = {topic for item in CATALOGUE.items for topic in item.fails.topics}
    apart = {"parse", "other", "deprecated_api", "dependency", "run_artifact", "recipe_difference", "determinism"}
    named = {name for item in CATALOGUE.items for name in item.fails.checks}
    loose = {c.topic for c in CATALOGUE.checks if c.severity == "error" and c.name not in named}
    assert loose - covered - apart == set()
    assert covered <= TOPICS


def _answers(project: Project, *words: str) -> dict[str, tuple[str, str, int, str]]:
    (program,) = project.check(*words).document["programs"]
    return {one["item"]: (one["status"], one["path"], one["line"], one["check"]) for one in program["checklist"]}


def test_a_failing_item_names_its_check_and_place(project: Project) -> None:
    project.write({"train.py": GPU.format(comment="")})
    assert _answers(project)["device"] == ("failed", "train.py", 6, "session-without-npu-config")


@pytest.mark.parametrize(
    ("comment", "words"),
    [
        pytest.param("  # npulint: ignore[session-without-npu-config] on purpose", (), id="comment"),
        pytest.param("", ("--ignore", "session-without-npu-config"), id="not selected"),
    ],
)
def test_what_is_silenced_fails_nothing(project: Project, comment: str, words: Sequence[str]) -> None:
    project.write({"train.py": GPU.format(comment=comment)})
    assert _answers(project, *words)["device"] == ("unknown", "", 0, "")


@pytest.mark.parametrize(
    ("condition", "says"), [("True", "depends on what that finding says"), ("options.amp", "it is not sure that")]
)
def test_an_open_item_says_whether_the_finding_or_its_reach_leaves_it_open(
    project: Project, condition: str, says: str
) -> None:
    script = f"""import argparse
import torch

parser = argparse.ArgumentParser()
parser.add_argument("--amp", type=int, required=True)
options = parser.parse_args()
model = torch.nn.Linear(4, 2).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
if {condition}:
    scaler = torch.cuda.amp.GradScaler()
for x in loader:
    scaler.scale(model(x.cuda()).sum()).backward()
    scaler.step(optimizer)
    scaler.update()
"""
    project.write({"train.py": script})
    (program,) = project.check().document["programs"]
    (item,) = [item for item in program["checklist"] if item["item"] == "loss_scale"]
    assert (item["status"], item["check"]) == ("unknown", "amp-to-migrate")
    assert says in item["look"]


def test_a_program_that_does_not_train_has_no_list(project: Project) -> None:
    text = "import tensorflow as tf\nwith tf.Session() as sess:\n    print(sess.run(tf.ones([2])))\n"
    project.write({"eval.py": text})
    (program,) = project.check().document["programs"]
    assert program["checklist"] == []


def test_each_program_of_a_shared_module_fails_for_it(project: Project) -> None:
    shared = "import tensorflow as tf\n\ndef session():\n    return tf.Session()\n"
    main = """
        import tensorflow as tf
        import shared

        step = tf.train.AdamOptimizer(1e-3).minimize(tf.reduce_mean(tf.get_variable('w', [4])))
        sess = shared.session()
        for _ in range(1000):
            sess.run(step)
        """
    answer = project.write({"shared.py": shared, "train_a.py": main, "train_b.py": main}).check()
    devices = [p["checklist"][0] for p in answer.document["programs"] if p["entry"] in ("train_a.py", "train_b.py")]
    assert [(one["status"], one["path"], one["line"]) for one in devices] == [("failed", "shared.py", 4)] * 2


BROKEN = {
    "no examples": (
        "order: 1\notherwise: passed\ntext: {en: {title: a, look: b}, zh: {title: a, look: b}}\n",
        "examples",
    ),
    "an answer that is none": ("otherwise: perhaps\n", "otherwise"),
    "an order that is none": ("order: soon\n", "order"),
    "a topic that is none": ("fails: {topics: [weather]}\n", "weather"),
    "an example without an answer": ("examples: [{target: {tensorflow: '1.15'}}]\n", "must have one of"),
    "no YAML": ("a: [", ""),
}


@pytest.mark.parametrize(("text", "told"), BROKEN.values(), ids=BROKEN.keys())
def test_a_mistake_in_an_item_is_told(text: str, told: str) -> None:
    parsed = parse_item(text.encode(), "x.yaml", "x")
    assert parsed.item is None
    assert any(told in problem.message for problem in parsed.problems)


def test_an_item_may_not_name_a_check_that_is_none(tmp_path: Path) -> None:
    item = tmp_path / "readiness" / "own.yaml"
    item.parent.mkdir()
    text = (Path(builtin_directory()) / "readiness" / "debug-tools.yaml").read_text(encoding="utf-8")
    item.write_text(text.replace("topics: [debug_leftover]", "checks: [no-such-check]"), encoding="utf-8")
    with pytest.raises(CatalogueError, match="no check 'no-such-check'"):
        load_catalogue([str(tmp_path)], use_cache=False)
    assert [one.name for one in load_files([str(item)]).items] == ["own"]


def _program(*items: ChecklistItem, entry: str = "train.py") -> RunResult:
    program = ProgramSummary(entry, 1, "torch", "migrated", checklist=items)
    return RunResult(programs=[program], summary=Summary(files=1, read=1))


def test_the_text_report_shows_the_main_program() -> None:
    long = (ChecklistItem("a", "first", "passed"), ChecklistItem("b", "second", "unknown", look="Look here."))
    programs = [
        ProgramSummary("b.py", 1, "torch", "migrated", checklist=long),
        ProgramSummary("a.py", 1, "torch", "migrated", checklist=long[:1]),
    ]
    result = RunResult(programs=programs, summary=Summary(files=2, read=2))
    text = render("text", result, ReportView())
    assert "Readiness of b.py (1 passed, 0 failed, 1 undetermined)\n" in text
    assert "1 more readiness checklist" in text and "Readiness of a.py" not in text
    verbose = render("text", result, ReportView(verbose=True))
    assert "Readiness of a.py" in verbose and "Look here." in verbose


def test_markdown_is_a_document_whose_cells_hold() -> None:
    text = render("markdown", sample(), ReportView(lang="en"))
    assert text.startswith("# ") and text.endswith("|\n")
    tables = [line for line in text.splitlines() if line.startswith("|")]
    assert {line.replace("\\|", "").count("|") for line in tables} == {5}
    assert "\x1b" not in text and "\u202e" not in text
    assert "| runs on the NPU | **failed** | `models/train.py:7` `no-npu` |  |" in text


def test_markdown_in_chinese_and_without_findings() -> None:
    item = ChecklistItem("a", "甲", "failed", Evidence("x.py", Span(2, 1, 2, 3), "c", "NPU1"))
    text = render("markdown", _program(item), ReportView(lang="zh"))
    assert "| 甲 | **未通过** | `x.py:2` `c` |  |" in text
    assert "## 检查结果" not in text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", "plain"),
        ("`a|b` and |", "`a\\|b` and \\|"),
        ("*x* _y_ [z](u) <b> & @you", "\\*x\\* \\_y\\_ \\[z\\](u) &lt;b&gt; &amp; @&#8203;you"),
        ("a ` b", "a \\` b"),
        ("line\nbreak", "line\\\\nbreak"),
    ],
)
def test_prose_keeps_code_and_nothing_else(text: str, expected: str) -> None:
    assert prose(text, cell=True) == expected


def test_code_may_hold_backticks() -> None:
    assert (code("a"), code("a`b"), code("`a"), code("")) == ("`a`", "``a`b``", "`` `a ``", "")


def test_json_tells_evidence_and_what_to_look_at() -> None:
    items = json.loads(render("json", sample(), ReportView()))["programs"][1]["checklist"]
    assert items[0] == {
        "item": "device",
        "title": "runs on the NPU",
        "status": "failed",
        "path": "models/train.py",
        "line": 7,
        "check": "no-npu",
        "look": "",
    }
    assert items[2]["status"] == "unknown" and items[2]["path"] == "" and items[2]["look"]
