"""The rules by which TF Adapter places a single node, before its neighbours are considered."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Literal

from npulint.core.lazy_regex import lazy_compile
from npulint.data.supported import SupportedOps, recorded
from npulint.facts.graph import Node
from npulint.graphs.facts.tensorflow.flow import DataFlow
from npulint.graphs.facts.tensorflow.view import TensorFlowGraphView, makes_dataset, run_by

# Families of operators that may stay on the host, as checks distinguish them.

Family = Literal[
    "python",
    "gpu",
    "block",
    "collective",
    "summary",
    "opencv",
    "print",
    "table",
    "input",
    "file",
    "text",
    "custom",
    "other",
]
"""``gpu``: without CPU kernel as well; ``block``: recurrent cells in one operator; ``opencv``: for a description that
only OpenCV reads; ``custom``: unknown to TensorFlow and the adapter; ``other``: the rest."""

_FAMILIES: tuple[tuple[Family, str], ...] = (
    ("python", r"(?:Eager)?PyFunc(?:Stateless)?"),
    ("gpu", r"Cudnn\w+|_?Nccl\w+"),
    ("block", r"LSTMBlockCell\w*|BlockLSTM\w*|GRUBlockCell\w*"),
    ("collective", r"Collective\w+|_?Horovod\w+"),
    ("summary", r"\w*Summary(?:V2)?|SummaryWriter|CreateSummary\w+|Write\w*Summary\w*"),
    ("opencv", r"PriorBox|DetectionOutput|Flatten"),
    ("print", r"Print(?:V2)?|CheckNumerics(?:V2)?|Timestamp|Debug\w+"),
    ("table", r"\w*HashTable\w*|LookupTable\w+|InitializeTable\w*"),
    (
        "input",
        r"\w*Iterator\w*|\w*Dataset(?:V\d)?|Reader\w+|\w+Reader(?:V2)?|ReadFile|MatchingFiles|(?:Queue|FIFOQueue|PaddingFIFOQueue"
        r"|RandomShuffleQueue|PriorityQueue)\w*|Decode\w+|Parse\w+|Sample\w*BoundingBox\w*|Encode\w+|ExtractJpegShape",
    ),
    ("file", r"Save\w*|Restore\w*|Sharded\w+|MergeV2Checkpoints|WriteFile"),
    ("text", r"String\w+|AsString|Substr|\w*Regex\w+|ReduceJoin|UnsortedSegmentJoin|Unicode\w+|SerializeTensor"),
)
_PATTERNS = tuple((name, lazy_compile(pattern)) for name, pattern in _FAMILIES)


@cache
def family(op: str) -> Family:
    """The family of an operator type."""
    family_name = next((name for name, pattern in _PATTERNS if pattern.fullmatch(op)), None)
    return family_name or ("other" if recorded(op).known or op.startswith("_") else "custom")


INPUT, UNLISTED, GRAY, SCOPE, CALLS, HANDLE = "input", "unlisted", "gray", "scope", "calls", "handle"
_NEUTRAL = frozenset(("_Arg", "_Retval", "_DeviceArg", "_DeviceRetval", "_Send", "_Recv", "_HostSend", "_HostRecv"))
_ITERATORS = frozenset(("Iterator", "IteratorV2", "IteratorGetNext"))
_STARTS = ("Iterator", "OneShotIterator", "MakeIterator", "AnonymousIterator", "MultiDeviceIterator")
_WITHOUT = "_without_npu_compile"
_OPEN_PLUGINS = 9  # the major release of CANN whose plug-ins are public
_CALLS = frozenset(("PartitionedCall", "StatefulPartitionedCall"))
_AROUND_CALLS = _CALLS | frozenset(
    "Placeholder PlaceholderWithDefault Const Identity IdentityN NoOp VarHandleOp ReadVariableOp AssignVariableOp"
    " VarIsInitializedOp Pack Select _Arg _Retval".split()
)
_FAMILIES_AROUND = ("table", "file", "text", "input")
_NONE = "none"
_CUT_OUT = "GeOp"  # what the adapter itself puts in place of a device part
_BRANCHES = frozenset("FakeParam OptionalFromValue OptionalNone OptionalGetValue OptionalHasValue".split())


class PlacementRules:
    """The rules for one graph. `why` returns the reason why a node stays on the host (empty: it runs on the device)."""

    def __init__(self, view: TensorFlowGraphView, supported: SupportedOps, cann: str, *, mixed: bool = False) -> None:
        self.supported = supported
        self.functional = functional(view)
        self.mixed = mixed and not self.functional
        self._newest = _major(cann) >= _OPEN_PLUGINS
        self._types: dict[str, str] = {}
        self.functions: Mapping[str, DataFlow] = view.functions
        self.holders = self._holders(view)

    def why(self, flow: DataFlow, node: Node) -> str:
        """The reason for the host: ``input`` (feeds the step), ``unlisted`` or ``gray`` (operator list), ``scope``
        (excluded by the script), ``calls`` (calls a function that contains such a node); empty for the device."""
        if node.attrs.get(_WITHOUT) is True:
            return SCOPE
        return self._type(node.op) or (CALLS if self.host_operator(flow, node) else "")

    def host_operator(self, flow: DataFlow, node: Node) -> str:
        """The host operator type inside the function that a node calls; empty if there is none."""
        if not self.holders or node.op == _CUT_OUT or (self.functional and node.op in _CALLS):
            return ""
        return next((self.holders[name] for name in (*run_by(flow, node), node.op) if name in self.holders), "")

    def newer(self, op: str) -> str:
        """The evidence that a newer operator package supports an unlisted operator; empty if it is listed, if there is
        none, or if the list is that of the installation. Operators that only occur in branches disappear when the
        branches are merged."""
        if op in self.supported.ops:
            return ""
        if op in _BRANCHES:
            return _NONE
        return "" if self.supported.source else recorded(op).newer

    def unsure(self, op: str) -> bool:
        """Whether it depends on the release of the operator package if the device runs an operator."""
        kind = self.newer(op)
        return bool(kind) and kind != _NONE and not (self._newest and kind == "plugin")

    def _type(self, op: str) -> str:
        judgement = self._types.get(op)
        if judgement is None:
            judgement = self._types[op] = self._judged(op)
        return judgement

    def _judged(self, op: str) -> str:
        if op in _NEUTRAL or op in self.functions:
            return ""
        if op.startswith(_STARTS):
            return "" if self.functional and op in _ITERATORS else INPUT
        if recorded(op).rule and not self.functional:
            return UNLISTED
        if op in self.supported.ops:
            return GRAY if self.mixed and op in self.supported.gray else ""
        return "" if recorded(op).adapter or self.newer(op) else UNLISTED

    def _holders(self, view: TensorFlowGraphView) -> dict[str, str]:
        """From each function that cannot run on the device to the operator type that causes it."""
        callers: dict[str, list[str]] = {}
        holders: dict[str, str] = {}
        for name, flow in view.functions.items():
            for node in flow.nodes:
                if node.op not in _NEUTRAL and (self._type(node.op) or node.attrs.get(_WITHOUT) is True):
                    holders.setdefault(name, node.op)
                if not makes_dataset(node):
                    for callee in (*run_by(flow, node), node.op):
                        if callee in view.functions:
                            callers.setdefault(callee, []).append(name)
        queue = sorted(holders)
        while queue:
            name = queue.pop()
            for caller in callers.get(name, ()):
                if caller not in holders:
                    holders[caller] = holders[name]
                    queue.append(caller)
        return holders


def functional(view: TensorFlowGraphView) -> bool:
    """Whether a step is a function (TensorFlow 2) and not a part of the main graph that a session runs."""
    if not view.functions:
        return False
    main = (view.on_path[place] for place, flow in enumerate(view.flows) if not flow.name)
    nodes = (flow.nodes for flow in view.flows if not flow.name)
    ops = {body[place].op for path, body in zip(main, nodes, strict=True) for place in path}
    return all(op in _AROUND_CALLS or op in view.functions or family(op) in _FAMILIES_AROUND for op in ops)


def _major(release: str) -> int:
    head = release.split(".", 1)[0]
    return int(head) if head.isascii() and head.isdigit() and len(head) < _DIGITS else 0


_DIGITS = 6
