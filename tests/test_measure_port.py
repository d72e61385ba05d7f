"""The measurement of ports against those of experts."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts.measure_port import labels_of, main, measure
from tests.port_samples import DDP

HEAD = "case_id,split,kind,framework,repo,commit,path,line,category,expectation,severity_guess,evidence\n"
ROWS = (
    "P-pt-a-orig,dev,pair,pt,r,c,main.py,17,device_cuda,fire,error,moved",
    "P-pt-a-orig,dev,pair,pt,r,c,main.py,10,distribution,fire,error,nccl",
    "P-pt-a-orig,dev,pair,pt,r,c,main.py,10,drop_remainder,fire,error,another topic",
    "P-pt-a-orig,dev,pair,pt,r,c,main.py,10,unsupported_op,fire,error,decided for each model",
    "P-pt-a-migr,dev,pair,pt,r,c,main.py,10,device_cuda,quiet,error,migrated",
)


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    (tmp_path / "labels_dev.csv").write_text(HEAD + "\n".join(ROWS) + "\n", encoding="utf-8")
    (tmp_path / "cases" / "P-pt-a-orig").mkdir(parents=True)
    (tmp_path / "cases" / "P-pt-a-orig" / "main.py").write_text(DDP["main.py"], encoding="utf-8")
    return tmp_path


def test_edits_of_experts_that_the_port_makes_are_counted(corpus: Path) -> None:
    labels = labels_of(corpus / "labels_dev.csv")
    assert list(labels) == ["P-pt-a-orig"] and len(labels["P-pt-a-orig"]) == 3
    found = measure(corpus / "cases" / "P-pt-a-orig", labels["P-pt-a-orig"], "npu")
    assert (dict(found.made), found.broken, found.again) == ({"device_cuda": 1, "distribution": 1}, [], False)
    assert [row["category"] for row in found.missing] == ["drop_remainder"]


def test_the_originals_stay_as_they_are(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(corpus), str(corpus / "cases"), "--missing"]) == 0
    printed = capsys.readouterr().out
    assert "total 2/3 = 66.7%" in printed and "main.py:10 drop_remainder" in printed
    assert (corpus / "cases" / "P-pt-a-orig" / "main.py").read_text(encoding="utf-8") == DDP["main.py"]
