"""What becomes of an operator of PyTorch on the NPU: recorded rows, and the dispatcher of the installed torch."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npulint import data
from npulint.data import aten
from npulint.data.aten import FALLS, Verdict, instead, known, nearest, verdict
from npulint.data.releases import torch_releases
from tests.live_support import framework, quiet

RELEASES = [".".join(map(str, release)) for release in torch_releases("kernels")]
WORDS = {"npu", "npu_out", "decomposes", "generic", "cpu", "cpu_out", "error", "custom", "unknown"}

# operator, word in 2.1, 2.6, 2.7, 2.8 and 2.13
ROWS = """
aten.add.Tensor npu npu npu npu npu
aten.linear.default decomposes decomposes decomposes decomposes decomposes
aten.scaled_dot_product_attention.default npu npu npu npu npu
aten.huber_loss.default cpu cpu cpu cpu cpu
aten.multi_margin_loss cpu cpu cpu cpu cpu
aten.mode.default cpu cpu cpu cpu cpu
aten.fmax.default cpu_out cpu_out cpu_out cpu_out cpu_out
aten.scatter.reduce cpu_out cpu_out cpu_out cpu_out cpu_out
aten.scatter.src npu_out npu_out npu_out npu_out npu_out
aten.scatter_reduce.two cpu_out cpu_out cpu_out cpu_out npu
aten.linalg_cholesky.default decomposes decomposes npu npu npu
aten.linalg_inv.default decomposes decomposes decomposes decomposes decomposes
aten.pixel_shuffle.default generic generic generic generic generic
aten.slice_scatter.default generic generic generic generic generic
aten.view_copy.default generic generic generic generic generic
aten.logcumsumexp.default generic generic generic generic generic
aten._cudnn_rnn.default error error error error error
aten.sum npu npu npu npu npu
aten.scatter unknown unknown unknown unknown unknown
aten.no_such_operator unknown unknown unknown unknown unknown
npu.npu_rotary_mul npu npu npu npu npu
torchvision.nms.default cpu cpu cpu cpu cpu
prims.add.default generic generic generic generic generic
higher_order.cond generic generic generic generic generic
_operator.add generic generic generic generic generic
quantized.linear unknown unknown unknown unknown unknown
aten.cpu generic generic generic generic generic
mmcv.carafe custom custom custom custom custom
"""

# operator, release, what it reaches on the CPU forward, and in backward alone
REACHES = [
    ("aten.linalg_inv.default", "2.13", "linalg_inv_ex.inverse", ""),
    ("aten.linalg_det.default", "2.7", "_linalg_det.result", "linalg_lu_solve.out"),
    ("aten.linalg_cholesky.default", "2.6", "linalg_cholesky_ex.L", ""),
    ("aten.linalg_cholesky.default", "2.7", "", ""),
    ("aten.embedding_bag.padding_idx", "2.1", "", "_embedding_bag_backward"),
    ("aten.huber_loss.default", "2.13", "", "huber_loss_backward.out"),
    ("aten.lgamma.default", "2.8", "", "digamma.out"),
    ("aten.mvlgamma.default", "2.13", "lgamma.out", "digamma.out"),
    ("aten.to_sparse.default", "2.1", "_to_sparse _to_sparse.sparse_dim", ""),
    ("aten.to_sparse.default", "2.13", "", ""),
    ("aten.fft_ihfftn.default", "2.6", "conj_physical.out", ""),
    ("aten.softmax.int", "2.13", "", ""),
]


@pytest.mark.parametrize("row", ROWS.strip().split("\n"))
def test_the_word_of_recorded_operators_by_release(row: str) -> None:
    op, *words = row.split()
    assert [verdict(op, release).word for release in ("2.1.0", "2.6", "2.7.1", "2.8.0+cpu", "")] == words


@pytest.mark.parametrize(("op", "release", "forward", "backward"), REACHES)
def test_what_composites_reach_on_the_cpu(op: str, release: str, forward: str, backward: str) -> None:
    found = verdict(op, release)
    assert (" ".join(found.reaches), " ".join(found.backward)) == (forward, backward)


def test_the_name_under_which_an_operator_reaches_the_backend() -> None:
    assert verdict("aten.scatter.reduce", "").via == "scatter.reduce_out"
    assert verdict("aten.gelu_.default", "").via == "gelu.out"
    assert verdict("aten._linalg_eigh.default", "").via == "_linalg_eigh.eigenvalues"


def test_a_chip_decides_which_kernels_can_run_and_where_they_compute() -> None:
    assert verdict("aten.lstm_cell.default", "", "910B").word == "npu"
    assert verdict("aten.lstm_cell.default", "", "950").word == "error"
    assert verdict("aten.lstm_cell.default", "", "Ascend950").word == "error"
    assert verdict("aten.add.Tensor", "", "950").word == "npu"
    assert "acl_path" in verdict("aten.polar.default", "").notes
    assert "acl_path" in verdict("aten.polar.default", "", "910A").notes
    assert verdict("aten.polar.default", "", "910B").notes == ()
    assert verdict("aten._embedding_bag_per_sample_weights_backward.default", "", "910B").notes == ("always",)


def test_conditions_and_certainty_are_told() -> None:
    assert verdict("aten.linalg_matrix_power.default", "").when == "n negative"
    assert verdict("aten.linalg_pinv.default", "").when == "hermitian true"
    assert verdict("torchvision.nms", "").needs == "torchvision_npu"
    assert verdict("torchvision.ps_roi_align", "").needs == ""
    assert not verdict("aten.scatter", "").certain
    assert verdict("aten.huber_loss", "2.13").exact and not verdict("aten.huber_loss", "2.4").exact
    assert verdict("aten.add.Tensor", "2.4").exact


def test_releases_are_judged_by_the_nearest_recorded_one() -> None:
    newest = torch_releases("kernels")[-1]
    asked = ("", "1.11.0", "2.0", "2.1.0.post8", "2.7.1", ">=2.6", f"2.{newest[1] + 1}.0", "nightly")
    wanted = [newest, (2, 1), (2, 1), (2, 1), (2, 7), (2, 6), newest, newest]
    assert [nearest(text) for text in asked] == wanted


def test_an_operator_without_overload_is_none_that_writes_into_what_it_is_given() -> None:
    assert verdict("aten.mode", "").word == "cpu"
    assert (verdict("aten.nanmedian", "", "910B").word, verdict("aten.sort", "").word) == ("npu", "npu")


def test_a_kernel_that_gives_no_gradient_is_noted() -> None:
    assert "no_gradient" in verdict("aten.slogdet.default", "2.7", "910B").notes
    assert "no_gradient" not in verdict("aten.inverse.default", "2.7").notes


def test_words_of_torchscript_are_no_operators() -> None:
    assert [known(op) for op in ("aten.len", "aten.__not__", "aten.floordiv")] == [False] * 3
    assert [known(op) for op in ("aten.add", "aten.add.Tensor", "aten.cpu", "torchvision.nms")] == [True] * 4


def test_the_table_is_small() -> None:
    assert len(data.table("aten.json")) < 150_000


@given(st.text(max_size=40), st.sampled_from(["", *RELEASES]), st.sampled_from(["", "910A", "910B", "950"]))
def test_any_name_gets_a_verdict(op: str, release: str, chip: str) -> None:
    assert verdict(op, release, chip).word in WORDS
    assert verdict(f"aten.{op}", release, chip).word in WORDS


# --- the installed torch ---


@pytest.fixture(scope="module")
def torch() -> Any:
    module = framework("torch")
    if not module.__version__.startswith("2.13."):
        pytest.skip("the table is that of PyTorch 2.13")
    return module


def _overloads(torch: Any) -> Iterator[tuple[str, str]]:
    """The names of all operators as the dispatcher and as graphs write them."""
    for name in torch._C._dispatch_get_all_op_names():
        if name.startswith("aten::"):
            graph = name.replace("::", ".")
            yield name, graph if graph.count(".") > 1 else f"{graph}.default"


def _expected(torch: Any, name: str) -> set[str]:
    """The verdicts that the dispatcher's default kernel allows for an operator without a kernel of the NPU."""

    def has(key: str) -> bool:
        return bool(torch._C._dispatch_has_kernel_for_dispatch_key(name, key))

    if has("CompositeExplicitAutogradNonFunctional"):
        # structured operators call their out variant; views and the like have a kernel for every device instead
        return {"npu_out", "cpu_out"} if has("CPU") and name not in _OWN else {"generic"}
    if has("CompositeExplicitAutograd"):
        return {"generic"}
    if has("CompositeImplicitAutograd"):
        return {"decomposes"}
    return {"cpu"} if has("CPU") else {"error"}


# with a kernel of the CPU beside the one for all devices, and no out variant behind it
_OWN = frozenset(("aten::narrow_copy", "aten::pixel_shuffle", "aten::pixel_unshuffle"))
_KERNELS = 1068  # of the NPU for torch 2.13


@pytest.mark.slow
def test_every_operator_of_torch_has_the_class_that_the_dispatcher_gives_it(torch: Any) -> None:
    wrong, kernels = [], 0
    for name, graph in _overloads(torch):
        found = verdict(graph, "2.13")
        if found.kernels and not found.via:
            kernels += 1
        elif found.word not in _expected(torch, name):
            wrong.append((graph, found.word))
    assert not wrong, wrong
    assert kernels == _KERNELS


@pytest.mark.slow
def test_the_counts_of_all_verdicts(torch: Any) -> None:
    words = Counter(verdict(graph, "2.13").word for _, graph in _overloads(torch))
    wanted = {"npu": 1068, "generic": 845, "decomposes": 697, "cpu": 229, "error": 163, "cpu_out": 88, "npu_out": 20}
    assert words == wanted


def test_what_is_called_exists_in_torch(torch: Any) -> None:
    names = {graph for _, graph in _overloads(torch)}
    for graph in sorted(names):
        found = verdict(graph, "2.13")
        for one in (found.via, *found.reaches, *found.backward):
            assert not one or {f"aten.{one}", f"aten.{one}.default"} & names, (graph, one)


def test_what_is_reached_on_the_cpu_falls_back_itself(torch: Any) -> None:
    for _, graph in _overloads(torch):
        for release in ("2.1", "2.13"):
            found = verdict(graph, release)
            for one in (*found.reaches, *found.backward):
                name = f"aten.{one}" if "." in one else f"aten.{one}.default"
                assert verdict(name, release).word in FALLS, (graph, one)


# --- what to write instead ---

_SETUP = """
torch.manual_seed(3)
dim, delta, margin, n = 1, 0.7, 1.0, 3
low, high, bins = -2.0, 2.0, 8
"""

# operator: (what makes the inputs, the original, the name of the result where the text has two statements)
EQUAL = {
    "huber_loss": ("x, y = torch.randn(4, 3), torch.randn(4, 3)", "F.huber_loss(x, y, delta=delta)"),
    "multi_margin_loss": ("x, y = torch.randn(4, 3), torch.tensor([0, 2, 1, 1])", "F.multi_margin_loss(x, y)"),
    "bitwise_left_shift": ("a = torch.arange(5)", "torch.bitwise_left_shift(a, n)"),
    "bitwise_right_shift": ("a = torch.arange(50)", "torch.bitwise_right_shift(a, n)"),
    "copysign": ("a, b = torch.randn(9), torch.randn(9)", "torch.copysign(a, b)"),
    "fmax": ("a, b = torch.tensor([1., math.nan, 2]), torch.tensor([2., 1, math.nan])", "torch.fmax(a, b)"),
    "fmin": ("a, b = torch.tensor([1., math.nan, 2]), torch.tensor([2., 1, math.nan])", "torch.fmin(a, b)"),
    "heaviside": ("x, values = torch.tensor([-1., 0, 2]), torch.tensor(0.5)", "torch.heaviside(x, values)"),
    "hypot": ("a, b = torch.randn(9), torch.randn(9)", "torch.hypot(a, b)"),
    "lcm": ("a, b = torch.tensor([4, -6]), torch.tensor([6, 9])", "torch.lcm(a, b)"),
    "logcumsumexp": ("x = torch.randn(3, 5)", "torch.logcumsumexp(x, dim)"),
    "_logcumsumexp": ("x = torch.randn(3, 5)", "torch.logcumsumexp(x, dim)"),
    "scatter": (
        "x, src = torch.randn(3, 4), torch.randn(3, 4); index = torch.randint(0, 4, (3, 4))",
        "x.scatter(dim, index, src, reduce='add')",
    ),
    "scatter_reduce": (
        "x, src = torch.randn(3, 4), torch.randn(3, 4); index = torch.randint(0, 4, (3, 4))",
        "x.scatter_reduce(dim, index, src, 'sum')",
    ),
    "segment_reduce": (
        "x = torch.randn(6, 2); segment_ids = torch.tensor([0, 0, 1, 1, 1, 2])",
        "torch.segment_reduce(x, 'sum', lengths=torch.tensor([2, 3, 1]))",
    ),
    "special_entr": ("x = torch.rand(9)", "torch.special.entr(x)"),
    "special_log_ndtr": ("x = torch.randn(9)", "torch.special.log_ndtr(x)"),
    "special_ndtri": ("p = torch.linspace(0.05, 0.95, 9)", "torch.special.ndtri(p)"),
    "special_xlog1py": ("x, y = torch.rand(9), torch.rand(9)", "torch.special.xlog1py(x, y)"),
    "histogram": ("x = torch.rand(50) * 2 - 1", "torch.histogram(x, bins, range=(low, high))[0]"),
    "linalg_inv": ("a = torch.randn(3, 3) + 3 * torch.eye(3)", "torch.linalg.inv(a)"),
    "linalg_matrix_power": (
        "a = torch.randn(3, 3) + 3 * torch.eye(3); n = -2",
        "torch.linalg.matrix_power(a, n)",
    ),
    "linalg_solve": ("a, b = torch.randn(3, 3) + 3 * torch.eye(3), torch.randn(3, 2)", "torch.linalg.solve(a, b)"),
    "linalg_det": ("a = torch.randn(3, 3)", "torch.linalg.det(a)"),
    "linalg_slogdet": ("a = torch.randn(3, 3)", "torch.linalg.slogdet(a)"),
    "logdet": ("a = torch.eye(3) * 2 + 0.1", "torch.logdet(a)"),
    "linalg_lstsq": ("a, b = torch.randn(6, 3), torch.randn(6, 2)", "torch.linalg.lstsq(a, b).solution"),
    "cholesky": ("a = torch.eye(3) * 2 + 0.1", "torch.cholesky(a)"),
    "cholesky_inverse": ("l = torch.linalg.cholesky(torch.eye(3) * 2 + 0.1)", "torch.cholesky_inverse(l)"),
    "cholesky_solve": (
        "l = torch.linalg.cholesky(torch.eye(3) * 2 + 0.1); b = torch.randn(3, 2)",
        "torch.cholesky_solve(b, l)",
    ),
    "embedding_bag": (
        "w = torch.randn(9, 4); x = torch.randint(0, 9, (3, 5))",
        "F.embedding_bag(x, w, mode='sum')",
    ),
    "pdist": ("x = torch.randn(5, 3); i, j = torch.triu_indices(5, 5, 1)", "torch.pdist(x)"),
    "masked_select": ("x = torch.randn(9); mask = x > 0", "x.masked_select(mask).sum()"),
    "repeat_interleave": (
        "x = torch.randn(3); repeats = torch.tensor([1, 0, 2]); total = 3",
        "torch.repeat_interleave(x, repeats)",
    ),
    "bincount": ("x = torch.tensor([0, 2, 2, 1]); n = 3", "torch.bincount(x).float()"),
    "_unique2": ("x = torch.tensor([0, 2, 2]); n = 3", "torch.bincount(x).clamp(max=1).int()"),
}


@pytest.mark.parametrize("op", EQUAL)
def test_the_replacement_comes_to_the_same_numbers(op: str, torch: Any) -> None:
    import math

    names: dict[str, Any] = {"torch": torch, "F": torch.nn.functional, "math": math}
    inputs, original = EQUAL[op]
    exec(_SETUP + inputs, names)
    text = instead(f"aten.{op}")
    assert text, op
    *before, last = text.split("  #")[0].split("; ")
    exec("\n".join(before), names)
    with quiet():
        wanted, found = eval(original, names), eval(last, names)
    for one, other in zip(*map(_tensors, (wanted, found)), strict=True):
        torch.testing.assert_close(other, one, rtol=1e-3, atol=1e-4, check_dtype=False, equal_nan=True)


# operator: what makes the inputs, the original; the first variable is a matrix
TRAINED = {
    "linalg_det": ("a = torch.randn(2, 4, 4)", "torch.linalg.det(a)"),
    "linalg_slogdet": ("a = torch.randn(2, 4, 4)", "torch.linalg.slogdet(a).logabsdet"),
    "slogdet": ("a = -torch.eye(3) - 0.1", "torch.linalg.slogdet(a).logabsdet"),
    "logdet": ("a = torch.eye(3) * 2 + 0.1", "torch.logdet(a)"),
    "linalg_inv": ("a = torch.randn(3, 3) + 3 * torch.eye(3)", "torch.linalg.inv(a)"),
    "linalg_solve": ("a, b = torch.randn(3, 3) + 3 * torch.eye(3), torch.randn(3, 2)", "torch.linalg.solve(a, b)"),
    "linalg_lstsq": ("a, b = torch.randn(6, 3), torch.randn(6, 2)", "torch.linalg.lstsq(a, b).solution"),
}


@pytest.mark.parametrize("op", TRAINED)
def test_the_replacement_has_the_same_gradient(op: str, torch: Any) -> None:
    inputs, original = TRAINED[op]
    *before, last = instead(f"aten.{op}").split("  #")[0].split("; ")
    gradients = []
    for lines, result in (((), original), (before, last)):
        names: dict[str, Any] = {"torch": torch}
        exec(_SETUP + inputs, names)
        names["a"].requires_grad_()
        exec("\n".join(lines), names)
        _tensors(eval(result, names))[-1].sum().backward()
        gradients.append(names["a"].grad)
    torch.testing.assert_close(gradients[1], gradients[0], rtol=1e-3, atol=1e-3)


def test_no_replacement_trains_through_a_kernel_without_gradient() -> None:
    table = data.table("aten.json").decode() if isinstance(data.table("aten.json"), bytes) else data.table("aten.json")
    recorded = json.loads(table)["instead"]
    lost = [op for op, text in recorded.items() if "slogdet(" in text and "slogdet(a.detach())" not in text]
    assert recorded and lost == []
    apis = json.loads(data.table("torch_api.json"))
    assert [name for name, row in apis.items() if "slogdet(" in row[-1] and ".detach()" not in row[-1]] == []


def test_overloads_that_write_are_told_by_their_names(torch: Any) -> None:
    """Every overload with an argument that it writes its result into, by the schemas of PyTorch."""
    missed = set()
    for schema in torch._C._jit_get_all_schemas():
        name, overload = schema.name, schema.overload_name
        writes = any(one.kwarg_only and one.alias_info and one.alias_info.is_write for one in schema.arguments)
        if name.startswith("aten::") and writes and known(f"aten.{name[6:]}") and not aten._OUT.search(overload):
            missed.add(f"{name}.{overload}")
    assert missed == set()


def _tensors(value: Any) -> list[Any]:
    return list(value) if isinstance(value, tuple) else [value]


def test_replacements_consist_of_operators_that_the_npu_computes(torch: Any) -> None:
    """Every operator that a replacement dispatches to below autograd has a verdict other than the CPU."""
    import math

    from torch.utils import _python_dispatch

    base: Any = _python_dispatch.TorchDispatchMode

    seen: set[str] = set()

    class Record(base):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            seen.add(str(func))
            return func(*args, **(kwargs or {}))

    fell = {}
    for op, (inputs, _) in EQUAL.items():
        names: dict[str, Any] = {"torch": torch, "F": torch.nn.functional, "math": math}
        exec(_SETUP + inputs, names)
        seen.clear()
        with Record(), quiet():
            exec(instead(f"aten.{op}").replace("; ", "\n"), names)
        text = instead(f"aten.{op}")
        whole = {part for name, part in _WHOLE.items() if name in text}
        bad = {one for one in seen if verdict(one, "2.13").word in FALLS}
        if bad - whole:
            fell[op] = bad - whole
    assert fell == {}


# composites that torch_npu takes over whole, so that the parts which the CPU sees are never asked for
_WHOLE = {
    "torch.inverse(": "aten.linalg_inv_ex.default",
    "torch.slogdet(": "aten._linalg_slogdet.default",
    "torch.linalg.cholesky(": "aten.linalg_cholesky_ex.default",
}


def test_the_composites_of_replacements_have_kernels_of_their_own() -> None:
    names = ("inverse", "slogdet", "linalg_cholesky")
    assert {verdict(f"aten.{name}.default", "2.7").word for name in names} == {"npu"}


def test_each_text_is_python() -> None:
    for op in ("huber_loss", "linalg_inv", "cauchy_", "geometric_", "log_normal_", "_fused_adamw_", "index_reduce"):
        compile(instead(f"aten.{op}").replace("; ", "\n"), op, "exec")
    assert instead("aten.add.Tensor") == ""


def test_a_verdict_can_be_compared_and_kept() -> None:
    assert verdict("aten.add.Tensor", "2.7") == Verdict("npu", kernels=("acl_op", "op_api"))
