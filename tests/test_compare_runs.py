"""``npulint compare --reference-run --migrated-run``: two training runs, with their code and without."""

from __future__ import annotations

import io
import json
import math
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal
from xml.etree.ElementTree import Element

import msgspec
import pytest

from npulint.core.texts import known
from npulint.data.run_symptoms import causes
from npulint.facts.recipe import ITEM_OF
from npulint.hosts.cli.host import system
from npulint.hosts.cli.main import main
from npulint.judge.findings import Comparison, RunResult
from npulint.report.compared.runs import run_parts
from npulint.report.document.markdown import Writer
from npulint.runs.compare.compare_runs import compared_runs
from npulint.runs.read.recorded.values import QUANTITIES, Recorded
from tests.html_support import EVIL, page, text_of, tree, with_class
from tests.test_report_html_browser import DESKTOP, OVERFLOW, PHONE, Open
from tests.test_report_html_browser import browser as browser  # a fixture
from tests.test_report_html_browser import opened as opened  # a fixture

Value = Callable[[int], float]
WARM_UP = 100
AXES: tuple[Literal["step", "epoch", "entry"], ...] = ("step", "epoch", "entry")


def constant(value: float) -> Value:
    return lambda step: value


ONE, TENTH, KILO = constant(1.0), constant(0.1), constant(1024.0)


def log(
    path: Path,
    seed: int = 1,
    *,
    factor: Value = ONE,
    rate: Value = TENTH,
    scale: Value = KILO,
    norm: Value = ONE,
    seconds: float = 0.2,
    steps: int = 1000,
) -> str:
    """Write the log of a run whose loss falls; `factor` changes it. The path."""
    source, lines = random.Random(seed), []
    for step in range(0, steps, 5):
        loss = (1 + 4 * math.exp(-step / 150)) * factor(step) * (1 + 0.02 * source.gauss(0, 1))
        gradient = norm(step) * math.exp(0.2 * source.gauss(0, 1))
        heat = min(1.0, (step + 1) / WARM_UP) * rate(step)
        lines.append(
            f"step: {step}, loss: {loss:.4f}, lr: {heat:.6g}, loss scale: {scale(step):g}, "
            f"grad norm: {gradient:.4f}, step time: {seconds * (1 + 0.01 * source.gauss(0, 1)):.4f} s\n"
        )
    path.write_text("".join(lines))
    return str(path)


def call(*words: str) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    code = main(["compare", *words], msgspec.structs.replace(system(), environ={}, stdout=out, stderr=err))
    return code, out.getvalue(), err.getvalue()


def compared(folder: Path, **changes: Any) -> dict[str, Any]:
    """What the report says about a run and one with these changes."""
    left, right = log(folder / "gpu.log"), log(folder / "npu.log", 2, **changes)
    code, out, err = call("--reference-run", left, "--migrated-run", right, "--format", "json")
    assert code == 0 and err == ""
    found: dict[str, Any] = json.loads(out)["comparison"]["runs"]
    return found


def curve(runs: dict[str, Any], quantity: str) -> dict[str, Any]:
    (found,) = [one for one in runs["curves"] if one["quantity"] == quantity]
    return found  # type: ignore[no-any-return]


def symptoms(runs: dict[str, Any]) -> list[str]:
    return [one["name"] for one in runs["symptoms"]]


def after(step: int, value: float, before: float = 1.0) -> Value:
    """A value from a step on."""
    return lambda at: value if at >= step else before


def test_two_runs_that_differ_by_noise_alone_are_alike(tmp_path: Path) -> None:
    runs = compared(tmp_path)
    assert [(one["quantity"], one["verdict"]) for one in runs["curves"]] == [
        (word, "alike") for word in ("loss", "learning_rate", "loss_scale", "grad_norm", "step_time")
    ]
    assert symptoms(runs) == []


@pytest.mark.parametrize(
    ("changes", "quantity", "verdict", "at", "name"),
    [
        ({"factor": after(600, 1.1)}, "loss", "part", 600, "later"),
        ({"factor": after(50, 1.3)}, "loss", "part", 50, "warm_up"),
        ({"factor": constant(1.5)}, "loss", "apart", 0, "first_loss"),
        ({"factor": after(700, math.nan)}, "loss", "not_finite", 700, "not_finite"),
        ({"rate": after(500, 0.01, 0.1)}, "learning_rate", "part", 500, "learning_rate"),
        ({"rate": constant(0.2)}, "learning_rate", "apart", 0, "learning_rate"),
        ({"scale": after(300, 1.0, 1024.0)}, "loss_scale", "part", 300, "loss_scale"),
        ({"scale": constant(128.0)}, "loss_scale", "apart", 0, "loss_scale"),
        ({"norm": after(400, 2.0)}, "grad_norm", "part", 400, "grad_norm"),
        ({"seconds": 0.3}, "step_time", "slower", None, "slower"),
    ],
)
def test_each_difference_is_found_where_it_begins(
    tmp_path: Path, changes: dict[str, Any], quantity: str, verdict: str, at: int | None, name: str
) -> None:
    runs = compared(tmp_path, **changes)
    found = curve(runs, quantity)
    assert found["verdict"] == verdict
    assert found["at"] is None if at is None else abs(found["at"] - at) <= 15
    assert name in symptoms(runs)
    others = {one["quantity"] for one in runs["curves"] if one["verdict"] != "alike"} - {quantity}
    assert others == set()


def test_a_shorter_run_is_compared_up_to_its_end(tmp_path: Path) -> None:
    runs = compared(tmp_path, steps=600)
    assert symptoms(runs) == ["length"]
    assert curve(runs, "loss")["verdict"] == "alike" and runs["ends"] == [995, 595]


def test_a_run_that_logs_less_often_is_compared_by_steps(tmp_path: Path) -> None:
    left = log(tmp_path / "gpu.log")
    lines = Path(log(tmp_path / "npu.log", 2, factor=after(600, 1.2))).read_text().splitlines(keepends=True)
    (tmp_path / "npu.log").write_text("".join(lines[3::7]))
    _, out, _ = call("--reference-run", left, "--migrated-run", str(tmp_path / "npu.log"), "--format", "json")
    found = curve(json.loads(out)["comparison"]["runs"], "loss")
    assert found["verdict"] == "part" and abs(found["at"] - 600) <= 40


PROGRAM = """\
import torch
model = torch.nn.Linear(4, 2)
optimizer = torch.optim.AdamW(model.parameters(), lr=0.1, weight_decay=0.01)
scheduler = torch.optim.lr_scheduler.MultiStepLR(optimizer, milestones=[800])
for data, label in torch.utils.data.DataLoader([], batch_size=32):
    loss = torch.nn.functional.cross_entropy(model(data), label)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    scheduler.step()
"""


def projects(folder: Path) -> tuple[str, str]:
    """A project and its migrated counterpart with another decay."""
    for name, text in (("gpu", PROGRAM), ("npu", PROGRAM.replace("[800]", "[500]"))):
        (folder / name).mkdir()
        (folder / name / "train.py").write_text(text)
    return str(folder / "gpu"), str(folder / "npu")


def test_differences_of_the_code_explain_what_the_runs_show(tmp_path: Path) -> None:
    left = log(tmp_path / "gpu.log")
    right = log(tmp_path / "npu.log", 2, rate=after(500, 0.01, 0.1), factor=after(520, 1.2))
    words = (*projects(tmp_path), "--reference-run", left, "--migrated-run", right)
    _, out, _ = call(*words, "--format", "json")
    found = {one["name"]: one for one in json.loads(out)["comparison"]["runs"]["symptoms"]}
    assert set(found) == {"learning_rate", "later"}
    for one in found.values():
        first = one["explanations"][0]
        assert one["explained"] and (first["part"], first["reference"], first["migrated"]) == (
            "schedule",
            "[800]",
            "[500]",
        )
        assert first["path"].endswith("npu/train.py") and first["line"] == 4
    _, out, _ = call(*words)
    assert (
        "The losses part at step 520" in out and "learning rate schedule MultiStepLR(milestones): [800] → [500]" in out
    )
    assert out.index("same hyperparameters as the reference") < out.index("Two training runs")


@pytest.mark.parametrize(
    ("lang", "told"),
    [("en", ("The losses part at step 600", "Usual causes")), ("zh", ("loss 自第 600 步起分开", "常见原因"))],
)
@pytest.mark.parametrize("form", ["text", "markdown", "html"])
def test_reports_for_people_say_so(tmp_path: Path, lang: str, told: tuple[str, str], form: str) -> None:
    left, right = log(tmp_path / "gpu.log"), log(tmp_path / "npu.log", 2, factor=after(600, 1.1))
    _, out, _ = call("--reference-run", left, "--migrated-run", right, "--format", form, "--lang", lang)
    text = text_of(tree(out)) if form == "html" else out
    assert all(word in text for word in told)


def test_a_difference_of_the_curves_fails_as_a_warning(tmp_path: Path) -> None:
    left, right = log(tmp_path / "gpu.log"), log(tmp_path / "npu.log", 2, factor=after(600, 1.1))
    words = ("--reference-run", left, "--migrated-run", right)
    assert [call(*words, "--fail-on", word)[0] for word in ("error", "warning", "never")] == [0, 1, 0]
    assert call("--reference-run", left, "--migrated-run", left, "--fail-on", "note")[0] == 0


def test_runs_without_values_are_told(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_text("hello\n")
    code, out, _ = call("--reference-run", str(tmp_path / "a.log"), "--migrated-run", str(tmp_path))
    assert code == 2 and "The runs record no values that can be compared" in out
    left, right = projects(tmp_path)
    code, _, err = call(left, right, "--reference-run", left, "--migrated-run", right)
    assert code == 0 and "The runs record no values" in err


def test_both_runs_are_needed(tmp_path: Path) -> None:
    left = log(tmp_path / "gpu.log")
    code, _, err = call("--reference-run", left)
    assert code == 2 and "--migrated-run is missing" in err
    code, _, err = call("--reference-run", left, "--migrated-run", "nowhere.log")
    assert code == 2 and "nowhere.log" in err


def result_of(folder: Path, **changes: Any) -> RunResult:
    """The result for rendering."""
    left, right = log(folder / "gpu.log"), log(folder / "npu.log", 2, **changes)
    kept: list[RunResult] = []
    host = system()

    def add(result: RunResult, settings: Any, runs: tuple[str, str]) -> RunResult:
        kept.append(host.add_runs(result, settings, runs))
        return kept[0]

    out = io.StringIO()
    main(
        ["compare", "--reference-run", left, "--migrated-run", right],
        msgspec.structs.replace(host, environ={}, stdout=out, stderr=out, add_runs=add),
    )
    return kept[0]


def svg(root: Element, name: str) -> list[Element]:
    """The elements of a picture."""
    return [one for one in root.iter() if str(one.tag).rpartition("}")[2] == name]


def test_the_picture_has_both_curves_and_a_line_where_they_part(tmp_path: Path) -> None:
    root = tree(page(result_of(tmp_path, factor=after(600, 1.1)), comparing=True))
    figures = with_class(root, "twin")
    assert len(figures) == 5
    loss = figures[0]
    assert [one.get("class") for one in svg(loss, "path")] == ["curve reference", "curve migrated"]
    assert all(len((one.get("d") or "").split("L")) > 100 for one in svg(loss, "path"))
    (mark,) = [one for one in svg(loss, "line") if one.get("class") == "limit"]
    assert float((mark.get("x1") or "").rstrip("%")) == pytest.approx(100 * 600 / 995, abs=2)
    assert "step 600" in text_of(loss)
    assert not [one for one in with_class(root, "limit") if one not in list(loss.iter())]


def test_hostile_labels_are_text(tmp_path: Path) -> None:
    result = result_of(tmp_path, factor=after(600, 1.1))
    assert result.comparison is not None and result.comparison.runs is not None
    runs = result.comparison.runs
    curves = tuple(msgspec.structs.replace(one, label=EVIL, migrated_label=EVIL, path=EVIL) for one in runs.curves)
    runs = msgspec.structs.replace(runs, reference=EVIL, curves=curves)
    comparison = msgspec.structs.replace(result.comparison, runs=runs)
    root = tree(page(msgspec.structs.replace(result, comparison=comparison), comparing=True))
    assert not list(root.iter("img"))


@pytest.mark.nightly
@pytest.mark.parametrize(("size", "scheme"), [(PHONE, "dark"), (DESKTOP, "light")])
def test_nothing_bars_the_way(opened: Open, tmp_path: Path, size: dict[str, int], scheme: str) -> None:
    from axe_playwright_python.sync_playwright import Axe

    one = opened(
        page(result_of(tmp_path, factor=after(600, 1.1)), comparing=True, lang="zh"), viewport=size, color_scheme=scheme
    )
    assert one.ask(OVERFLOW) <= 0
    skipped = {"rules": {"scrollable-region-focusable": {"enabled": size != PHONE}}}
    violations = Axe().run(one.tab, options=skipped).response["violations"]
    assert [(broken["id"], [node["target"] for node in broken["nodes"]][:3]) for broken in violations] == []
    assert one.complaints == []


def test_any_values_can_be_compared() -> None:
    source = random.Random(5)
    odd = (0.0, -1.0, 1e-300, 1e200, math.nan, math.inf, -math.inf, 1.0, 65536.0)

    def series() -> Recorded:
        count = source.choice((1, 2, 3, 25, 200))
        at = [float(step) for step in sorted(source.sample(range(1000), count))]
        values = [source.choice(odd) if count < 25 or source.random() < 0.2 else source.random() for _ in at]
        form, axis = source.choice(("log", "events")), source.choice(AXES)
        return Recorded(source.choice(QUANTITIES), source.choice("ab"), "x", form, axis, at, values, list(range(count)))

    for _ in range(300):
        sides = [series() for _ in range(source.randrange(4))], [series() for _ in range(source.randrange(4))]
        runs = compared_runs(("a", "b"), sides, (), "en")
        comparison = Comparison("a", "b", runs=runs)
        for lang in ("en", "zh"):
            assert run_parts(comparison, runs, Writer(lang, 100_000), lang)


def test_the_table_of_causes_is_complete() -> None:
    symptoms_known = {key for key in causes() if known(f"pair.symptom.{key}")}
    assert symptoms_known == set(causes()) and len(symptoms_known) == 9
    parts = {part for some in causes().values() for cause in some for part in cause.parts}
    assert parts == set(ITEM_OF)
    assert all(known(f"change.part.{part}") for part in ITEM_OF)
    assert all(cause.en.endswith(".") and cause.zh.endswith("。") for some in causes().values() for cause in some)
    for name, some in causes().items():
        named = [part for cause in some for part in cause.parts]
        assert len(named) == len(set(named)), name
