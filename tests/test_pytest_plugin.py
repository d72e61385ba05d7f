"""The plugin of pytest: what fails a test, what is accepted, and that it keeps out of the way of everybody else."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from tests.live_support import installed

pytestmark = pytest.mark.slow

pytest_plugins = "pytester"

_PLUGIN = "npulint.live.pytest_plugin"
_NAMED = "npulint" if any(one.name == "npulint" for one in entry_points(group="pytest11")) else _PLUGIN

_NET = """import torch


def loss(x, y):
    return torch.nn.functional.huber_loss(x, y)


def solve(x):
    return torch.linalg.inv(x)
"""
# Stands for the frameworks: a check of a list of operators and lines gives what was recorded at these.
_CONFTEST = """
import os
from unittest import mock

from npulint.facts.graph import Body, Graph, Node, NodeFrame
from npulint.live.judge import judged

NET = os.path.join(os.path.dirname(__file__), "net.py")


FLOAT = {"dtypes": ["float32"]}

def check(operators, **given):
    nodes = [
        Node(op.replace(".", "_"), op, attrs=FLOAT, frames=(NodeFrame(NET, line, "f"),), phase="forward")
        for op, line in operators
    ]
    nodes.append(Node("mul", "aten.mul.Tensor", attrs={"dtypes": ["float32"]}, phase="backward"))
    return judged(Graph("live_torch", [Body("", nodes)], "2.13.0"), name="net", **given)


PATCHES = [
    mock.patch("npulint.live.tensorflow.check.check_tensorflow", check),
    mock.patch("npulint.live.pytest_plugin._needs", lambda module: None),
]


def pytest_configure(config):
    for patch in PATCHES:
        patch.start()


def pytest_unconfigure(config):
    for patch in PATCHES:
        patch.stop()
"""
_HUBER = '("aten.huber_loss", 5)'
_INV = '("aten.linalg_inv_ex", 9)'


@pytest.fixture
def tried(pytester: pytest.Pytester, cache_folder: Path, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    monkeypatch.setenv("NPULINT_CACHE_DIR", str(cache_folder))
    monkeypatch.setenv("NPULINT_LANG", "en")
    pytester.makepyfile(net=_NET)
    pytester.makeconftest(_CONFTEST)
    return pytester


def _run(pytester: pytest.Pytester, *words: str, apart: bool = False) -> pytest.RunResult:
    run = pytester.runpytest_subprocess if apart else pytester.runpytest_inprocess
    return run("-p", _NAMED, "-p", "no:cacheprovider", "--strict-markers", *words)


def _tests(pytester: pytest.Pytester, **bodies: str) -> None:
    """A test of each name that calls the fixture with these arguments."""
    lines = [f"def test_{name}(npulint_tensorflow):\n    npulint_tensorflow({body})\n" for name, body in bodies.items()]
    pytester.makepyfile(test_net="\n\n".join(lines))


def test_a_fallback_fails_the_test_with_its_place_and_fix(tried: pytest.Pytester) -> None:
    _tests(tried, bad=f"[{_HUBER}]", good='[("aten.add.Tensor", 5)]')
    result = _run(tried)
    result.assert_outcomes(failed=1, passed=1)
    result.stdout.fnmatch_lines(["*`net` is not ready for the NPU*", "*`aten.huber_loss`*", "*net.py:5:5*", "*fix: *"])
    result.stdout.fnmatch_lines(["*= npulint =*", "test_net.py::test_bad: 1 new, 0 accepted*", "2 tests checked*1"])
    result.stdout.no_fnmatch_line("*live/testing.py*")


@pytest.mark.parametrize(
    ("words", "ini", "failed"),
    [
        ("", "", 1),
        (', fail_on="error"', "", 0),
        (', fail_on="never"', "", 0),
        ("", "npulint_fail_on = error", 0),
        (', fail_on="warning"', "npulint_fail_on = error", 1),
        (', allow=["aten.huber_loss"]', "", 0),
        (', allow=["operator-falls-back-to-cpu"]', "", 0),
        (', allow=["aten.huber"]', "", 1),
    ],
)
def test_severity_and_what_is_allowed_decide(tried: pytest.Pytester, words: str, ini: str, failed: int) -> None:
    _tests(tried, it=f"[{_HUBER}]{words}")
    tried.makeini(f"[pytest]\n{ini}\n")
    _run(tried).assert_outcomes(failed=failed, passed=1 - failed)


def test_with_a_baseline_only_what_is_new_fails(tried: pytest.Pytester) -> None:
    _tests(tried, one=f"[{_HUBER}]", two="[]")
    update = _run(tried, "--npulint-update-baseline")
    update.assert_outcomes(passed=2)
    update.stdout.fnmatch_lines(["*0 new, 1 accepted*", "Written to the baseline: *npulint-tests.json"])
    written = json.loads((tried.path / "npulint-tests.json").read_text())
    assert list(written["tests"]) == ["test_net.py::test_one"]
    entry = written["tests"]["test_net.py::test_one"][0]
    assert (entry["path"], entry["operator"]) == ("net.py", "aten.huber_loss") and "huber_loss(x, y)" in entry["line"]

    _run(tried).assert_outcomes(passed=2)
    (tried.path / "net.py").write_text(f"\n\n\n{_NET}")  # lines move
    _tests(tried, one='[("aten.huber_loss", 8)]', other='[("aten.huber_loss", 8)]')
    _run(tried).assert_outcomes(passed=2)
    _tests(tried, one='[("aten.huber_loss", 8), ("aten.linalg_inv_ex", 12)]')
    result = _run(tried)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*aten.linalg_inv_ex*", "*1 new, 1 accepted*"])
    result.stdout.no_fnmatch_line("*`aten.huber_loss`*")


def test_a_baseline_keeps_tests_that_did_not_run_and_drops_what_is_mended(tried: pytest.Pytester) -> None:
    tried.makeini("[pytest]\nnpulint_baseline = sub/accepted.json\n")
    (tried.path / "sub").mkdir()
    _tests(tried, one=f"[{_HUBER}]", two=f"[{_INV}]")
    _run(tried, "--npulint-update-baseline").assert_outcomes(passed=2)
    _tests(tried, one="[]", two=f"[{_INV}]")
    _run(tried, "--npulint-update-baseline", "-k", "one").assert_outcomes(passed=1, deselected=1)
    written = json.loads((tried.path / "sub/accepted.json").read_text())
    assert list(written["tests"]) == ["test_net.py::test_two"]
    assert written["tests"]["test_net.py::test_two"][0]["path"] == "../net.py"


@pytest.mark.parametrize("text", ["{", '{"version": 9, "tests": {}}', '{"version": 1, "tests": [3]}'])
def test_a_baseline_that_cannot_be_read_is_told(tried: pytest.Pytester, text: str) -> None:
    _tests(tried, it="[]")
    (tried.path / "npulint-tests.json").write_text(text)
    result = _run(tried)
    assert result.ret != 0
    assert "npulint-tests.json" in result.stdout.str() + result.stderr.str()


@pytest.mark.nightly
def test_workers_of_xdist_hand_on_what_they_find(tried: pytest.Pytester) -> None:
    pytest.importorskip("xdist")
    _tests(tried, one=f"[{_HUBER}]", two=f"[{_INV}]", three="[]")
    result = _run(tried, "-n2", apart=True)
    result.assert_outcomes(failed=2, passed=1)
    result.stdout.fnmatch_lines(["*= npulint =*", "3 tests checked, new findings: 2"])
    _run(tried, "-n2", "--npulint-update-baseline", apart=True).assert_outcomes(passed=3)
    written = json.loads((tried.path / "npulint-tests.json").read_text())
    assert sorted(written["tests"]) == ["test_net.py::test_one", "test_net.py::test_two"]
    _run(tried, "-n2", apart=True).assert_outcomes(passed=3)


def test_without_the_framework_tests_are_skipped(tried: pytest.Pytester) -> None:
    tried.makeconftest(
        """
        import importlib.util

        find = importlib.util.find_spec
        importlib.util.find_spec = lambda name, *more: None if name in ("torch", "tensorflow") else find(name, *more)
        """
    )
    tried.makepyfile(
        test_net="""
        import pytest

        def test_fixture(npulint_torch):
            assert False

        def test_other(npulint_tensorflow):
            assert False

        @pytest.mark.npulint_torch(release="2.7")
        def test_marked():
            assert False
        """
    )
    result = _run(tried, "-rs", apart=True)
    result.assert_outcomes(skipped=3)
    result.stdout.fnmatch_lines(["*npulint: torch is not installed*"])


def test_a_project_that_asks_for_nothing_notices_nothing(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("import sys\n\n\ndef test_it():\n    assert 'npulint.live.testing' not in sys.modules\n")
    result = _run(pytester, apart=True)
    result.assert_outcomes(passed=1)
    result.stdout.no_fnmatch_line("*npulint*tests checked*")
    assert not (pytester.path / "npulint-tests.json").exists()
    assert "npulint_torch(release='', fail_on='', allow=())" in _run(pytester, "--markers", apart=True).stdout.str()


def test_the_plugin_is_light() -> None:
    script = (
        "import sys, time; start = time.process_time(); import pytest; usual = time.process_time() - start;"
        "import importlib, importlib.util; before = set(sys.modules); start = time.process_time();"
        f"import {_PLUGIN}; spent = time.process_time() - start;"
        "print(sorted(set(sys.modules) - before), spent / usual)"
    )
    spent = []
    for _ in range(3):
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
        modules, _, share = done.stdout.strip().rpartition(" ")
        assert modules == str(["npulint", "npulint.live", _PLUGIN])
        spent.append(float(share))
    assert min(spent) < 0.05  # of what pytest itself takes to load


_TORCH = """
import pytest
import torch

from net import loss


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 2)

    def forward(self, x):
        return self.linear(x)


AIM = torch.zeros(8, 2)


def test_fixture(npulint_torch):
    result = npulint_torch(Net(), torch.randn(8, 4), loss=torch.nn.MSELoss(), targets=AIM, release="2.7")
    assert result.summary.release == "2.7" and result.counts["npu"]


def test_fallback(npulint_torch):
    npulint_torch(Net(), torch.randn(8, 4), loss=loss, targets=AIM)


def test_allowed(npulint_torch):
    allow = ["aten.huber_loss", "aten.huber_loss_backward"]
    npulint_torch(Net(), torch.randn(8, 4), loss=loss, targets=AIM, allow=allow)


@pytest.mark.npulint_torch(release="2.6")
def test_watched():
    loss(Net()(torch.randn(8, 4)), AIM).backward()


@pytest.mark.npulint_torch(allow=["aten.huber_loss", "aten.huber_loss_backward"])
def test_watched_and_allowed():
    loss(Net()(torch.randn(8, 4)), AIM).backward()


@pytest.mark.npulint_torch
def test_own_failure():
    assert loss(Net()(torch.randn(8, 4)), AIM) < 0
"""


def test_real_models_of_pytorch(tried: pytest.Pytester) -> None:
    installed("torch")
    tried.makeconftest("")
    tried.makepyfile(test_net=_TORCH)
    result = _run(tried, "-o", "npulint_torch_release=2.8", apart=True)
    result.assert_outcomes(passed=3, failed=3)
    result.stdout.fnmatch_lines(["*with PyTorch 2.8*", "*--> net.py:5:5*", "*with PyTorch 2.6*", "*--> net.py:5:5*"])
    result.stdout.fnmatch_lines(["*assert loss(Net()*"])
    result.stdout.fnmatch_lines(["*test_fallback: 1 new*", "*test_watched: 1 new*", "5 tests checked, new findings: 2"])


_STOPS = """
import pytest
import torch


class Mixed(torch.nn.Linear):
    def forward(self, x):
        return super().forward(x) + torch.ones(x.shape[0], 2)


class Double(torch.nn.Linear):
    def forward(self, x):
        return super().forward(x.double())


def test_mixed(npulint_torch):
    npulint_torch(Mixed(4, 2), torch.randn(8, 4))


def test_double(npulint_torch):
    npulint_torch(Double(4, 2).double(), torch.randn(8, 4))


class Sparse(torch.nn.Linear):
    def forward(self, x):
        return torch.sparse.mm(torch.eye(8, device=x.device).to_sparse(), super().forward(x))


def test_sparse(npulint_torch):
    npulint_torch(Sparse(4, 2), torch.randn(8, 4))


@pytest.mark.npulint_torch
def test_numpy():
    torch.nn.Linear(4, 2)(torch.randn(8, 4)).detach().numpy()


@pytest.mark.npulint_torch
def test_sound():
    torch.nn.Linear(4, 2)(torch.randn(8, 4)).detach().cpu().numpy()
"""


@pytest.mark.nightly
def test_what_an_npu_raises_fails_tests_also_if_only_errors_count(tried: pytest.Pytester) -> None:
    installed("torch")
    tried.makeconftest("")
    tried.makepyfile(test_net=_STOPS)
    result = _run(tried, "-o", "npulint_fail_on=error", apart=True)
    result.assert_outcomes(passed=1, failed=4)
    for name in ("host-tensor-meets-npu-tensor", "matrix-product-in-double", "sparse-tensor-operator", "to-numpy"):
        result.stdout.fnmatch_lines([f"*{name}*"])


_TENSORFLOW = """
import numpy as np
import tensorflow as tf

ROWS = np.zeros((2, 3), "float32")


def test_fine(npulint_tensorflow):
    assert npulint_tensorflow(lambda x: tf.nn.relu(x), ROWS).counts["device"]


def test_noted(npulint_tensorflow):
    result = npulint_tensorflow(lambda x: tf.py_function(np.tanh, [x], tf.float32), ROWS, fail_on="never")
    assert ("EagerPyFunc", "host") in {(one.name, one.verdict) for one in result.operators}
"""


@pytest.mark.nightly
def test_real_graphs_of_tensorflow(tried: pytest.Pytester) -> None:
    installed("tensorflow")
    tried.makeconftest("")
    tried.makepyfile(test_net=_TENSORFLOW)
    result = _run(tried, apart=True)
    result.assert_outcomes(passed=2)
    result.stdout.fnmatch_lines(["*test_noted: 0 new*operators off the NPU: *", "2 tests checked*"])
