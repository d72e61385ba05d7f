"""Memory of many projects: equal parts of their results are one object."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from npulint.facts.model import FileFacts, Span
from npulint.judge.findings import ChecklistItem, Evidence, Finding, Fix, ProgramSummary
from npulint.judge.postprocess.record import RawResults
from npulint.judge.postprocess.sharing import Pool

_TEXT = "a text that is worth sharing"


def _results(path: str) -> RawResults:
    """Results with texts of their own, as they come from another process."""
    finding = Finding(
        "NPU1", "n", "t", "c", "error", "high", path, Span(3), _TEXT, "why", Fix("fix"), related=(), programs=("a", "b")
    )
    item = ChecklistItem("device", _TEXT, "failed", Evidence(path, Span(3), "n", "NPU1"), failures=())
    results = RawResults(
        findings=[finding],
        programs=[ProgramSummary(path, 1, "torch", "partial", ("m",), checklist=(item,))],
        files=[FileFacts(path, "python")],
    )
    return msgspec.msgpack.decode(msgspec.msgpack.encode(results), type=RawResults)


def test_results_stay_equal_and_share_what_is_equal() -> None:
    pool = Pool()
    first, second = (pool.shared(_results(path)) for path in ("a.py", "b.py"))
    for path, shared in (("a.py", first), ("b.py", second)):
        plain = _results(path)
        assert [list(getattr(shared, name)) for name in plain.__struct_fields__] == [
            list(getattr(plain, name)) for name in plain.__struct_fields__
        ]
    one, other = first.findings[0], second.findings[0]
    assert one.message is other.message and one.fix is other.fix and one.programs is other.programs
    assert one.path is first.files[0].path
    assert first.programs[0].checklist[0].title is one.message
    assert first.programs[0].checklist[0] != second.programs[0].checklist[0]


def test_an_equal_value_of_another_type_is_not_taken() -> None:
    pool = Pool()
    first = RawResults(findings=[_with(Span(1))])
    second = RawResults(findings=[_with(Span(True))])
    assert pool.shared(first).findings[0].programs == pool.shared(second).findings[0].programs == ("x",)


def _with(span: Span) -> Finding:
    return Finding("NPU1", "n", "t", "c", "error", "high", "p", span, _TEXT, "", Fix(""), programs=("x",))


_PEAK = """
from npulint.hosts.cli.main import main
main(["check", "--no-cache", "--isolated", "--jobs=1", "--format=json", "--output=json=/dev/null", "."])
with open("/proc/self/status") as status:
    print(next(line.split()[1] for line in status if line.startswith("VmHWM")))
"""


@pytest.mark.nightly
@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the system does not report the peak of a process")
def test_a_further_project_takes_little_memory(tmp_path: Path) -> None:
    peaks = []
    for count in (200, 1400):
        for number in range(count):
            folder = tmp_path / f"p{number}"
            folder.mkdir(exist_ok=True)
            (folder / "setup.py").write_text("")
            (folder / "train.py").write_text("import torch\nmodel = torch.nn.Linear(2, 2).cuda()\nmodel.backward()\n")
        run = subprocess.run(
            [sys.executable, "-c", _PEAK], cwd=tmp_path, capture_output=True, text=True, check=True, timeout=300
        )
        peaks.append(int(run.stdout.split()[-1]))
    assert (peaks[1] - peaks[0]) / 1200 < 25, f"{peaks} kB"
