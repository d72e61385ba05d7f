"""Operator types: what real mixed-precision lists hold is known, what they misspell is not."""

from __future__ import annotations

import pytest

from npulint.data.ops import known_op, near_op

REAL_LISTS = """
    Add AddN ApplyAdamD ArgMaxD Assign AssignAdd AssignSub AtomicAddrClean BatchMatMul BiasAdd BiasAddGrad Cast
    ConcatV2D ConfusionSoftmaxGrad ConfusionTransposeD CumsumD Data DivNoNan DropOutDoMask DynamicAtomicAddrClean
    Equal Exp FusedMulAdd FusedMulAddN Gather GatherEqual GatherV2 GreaterEqual L2Loss LabelGotoEx LabelSet
    LabelSwitchByIndex LayerNorm LayerNormBetaGammaBackpropV2 LayerNormXBackpropV2 Less Log LogSoftmaxGrad
    LogSoftmaxV2 MatMul MatMulV2 Maximum Minimum Mul Muls Neg NotEqual OneHotD Pack Pow RealDiv Reciprocal Recv
    ReduceAllD ReduceMaxD ReduceMean ReduceMeanD ReduceSumD Relu ReluGradV2 ScatterAdd Select Sigmoid SliceD
    SoftmaxCrossEntropyWithLogits SoftmaxV2 Sqrt SqrtGrad Square SquareSumV1 SquaredDifference StridedSliceD
    StridedSliceGrad Sub TanhGrad TileD TransData Transpose TransposeD UnsortedSegmentSum
    Conv2D Conv2DBackpropInput Conv2DBackpropInputD Conv2DBackpropFilterD BatchMatMulV2 ReduceSum
""".split()
UNKNOWN = [
    ("matmulv2", "MatMulV2"),  # the first five stand in published lists
    ("MatMu1V2", "MatMulV2"),
    ("StrideSliceD", "StridedSliceD"),
    ("Loglp", "Log1p"),
    ("LayerNormXbackpropV2", "LayerNormXBackpropV2"),
    ("Sum", "ReduceSum"),
    ("Mean", "ReduceMean"),
    ("Softmax", "SoftmaxV2"),
    ("FusedBatchNormV3", "BatchNorm"),
    ("tf.reduce_sum", "ReduceSum"),
    ("tf.nn.softmax", "SoftmaxV2"),
    ("ReduceSumd", "ReduceSumD"),
    ("ConfusionTranposeD", "ConfusionTransposeD"),
    ("SoftmaxCrossEntopyWithLogits", "SoftmaxCrossEntropyWithLogits"),
    ("ReudceSumD", "ReduceSumD"),
    ("Redu ceSum", "ReduceSum"),
    ("", None),
    ("矩阵乘", None),
    ("x" * 100_000, None),
]


@pytest.mark.parametrize("name", REAL_LISTS)
def test_a_type_of_a_real_list_is_known(name: str) -> None:
    assert known_op(name)
    assert near_op(name) is None


@pytest.mark.parametrize(("name", "meant"), UNKNOWN, ids=[n[:30] or "empty" for n, _ in UNKNOWN])
def test_a_misspelt_type_is_unknown_and_leads_to_the_right_one(name: str, meant: str | None) -> None:
    assert not known_op(name)
    assert near_op(name) == meant


@pytest.mark.parametrize("name", ["ApplyAdamW", "ReduceSumV2", "BatchMatMulV3", "MyCompanyFusedThing", "AddV9"])
def test_a_type_that_may_exist_elsewhere_is_accepted(name: str) -> None:
    assert known_op(name)
