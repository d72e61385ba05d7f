"""The fit of effort estimates to ports by experts."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts.calibrate_effort import (
    FileDiff,
    Sample,
    changed,
    diffs_of,
    fitted,
    left_out,
    lines_of,
    main,
    predicted,
    spearman,
)

TRAIN = """import torch

net = torch.nn.Linear(2, 2).cuda()
for step in range(9):
    loss = net(torch.ones(2).cuda()).sum()
    loss.backward()
    print(step)
"""
HEAD = "case_id,split,kind,framework,repo,commit,root,side,counterpart,family,note\n"


def test_only_code_counts() -> None:
    assert lines_of("a\n\n  # comment\n\tb   c\r\n") == ["a", "b c"]


def test_changed_lines_and_those_about_the_port() -> None:
    old = ["x = 1", "y = net.cuda()", "z = 3"]
    assert changed(old, old) == (0, 0)
    assert changed(old, ["x = 2", "y = net.npu()", "import torch_npu", "z = 3"]) == (3, 2)
    assert changed(old, ["y = net.cuda()", "z = 3"]) == (1, 0)


def test_files_that_were_moved_are_compared_and_new_ones_are_not(tmp_path: Path) -> None:
    for place, text in (
        ("old/src/train.py", TRAIN),
        ("old/gone.py", "x = 1\n"),
        ("new/moved/train.py", TRAIN.replace("cuda", "npu")),
        ("new/moved/more.py", "y = 1\n"),
    ):
        path = tmp_path / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert list(diffs_of(tmp_path / "old", tmp_path / "new" / "moved", "")) == [FileDiff("src/train.py", 2, 2)]


@pytest.mark.parametrize("place", [1.0, 3.0])
@pytest.mark.parametrize("file", [0.0, 5.0])
def test_weights_are_found_again(place: float, file: float) -> None:
    made = [Sample(str(n), n * n % 17, n % 5, round(place * (n * n % 17) + file * (n % 5))) for n in range(20)]
    assert fitted(made) == (place, file)
    quality = left_out(made)
    assert quality.correlation == pytest.approx(1) and quality.factor == pytest.approx(1) and quality.chosen == 1
    assert predicted(made[3], (place, file)) == made[3].lines


def test_a_project_is_predicted_without_others_of_its_repository() -> None:
    alike = [Sample("same", n, 1, 40 * n) for n in range(1, 9)]
    others = [Sample(f"{n}", n, 0, n) for n in range(1, 9)]
    assert left_out([*alike, *others]).chosen > 1


def test_ranks_of_equal_values_are_shared() -> None:
    assert spearman([1, 2, 3], [10, 20, 90]) == pytest.approx(1)
    assert spearman([1, 2, 3], [3, 2, 1]) == pytest.approx(-1)
    assert spearman([1, 1, 2, 2], [1, 2, 1, 2]) == pytest.approx(0)


@pytest.mark.slow
def test_a_corpus_is_fitted_from_end_to_end(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = []
    for number in range(1, 5):
        for side, text in (("orig", TRAIN * number), ("migr", (TRAIN * number).replace("cuda", "npu"))):
            folder = tmp_path / f"P-{number}-{side}"
            folder.mkdir()
            (folder / "train.py").write_text(text, encoding="utf-8")
            other = "migr" if side == "orig" else "orig"
            rows.append(f"P-{number}-{side},dev,pair,pt,repo{number},c,,{side},P-{number}-{other},f,n")
    (tmp_path / "cases_dev.csv").write_text(HEAD + "\n".join(rows) + "\n", encoding="utf-8")
    assert main([str(tmp_path), str(tmp_path), "--details"]) == 0
    printed = capsys.readouterr().out
    assert "projects 4, weights: place" in printed and "P-4-orig" in printed
    assert "20 of 20 lines are about the port" in printed
