"""What an edge carries: a variable reference, a resource handle, a string, or a plain value that may be copied
anywhere."""

from __future__ import annotations

from collections.abc import Collection
from functools import cache
from typing import NamedTuple

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.graph import Node
from npulint.graphs.facts.tensorflow.flow import DataFlow

REF, RESOURCE, VARIANT, STRING = "ref", "resource", "variant", "string"

_TAKES_REF = lazy_compile(
    r"Assign(?:Add|Sub)?|(?:Sparse)?Apply\w+|Scatter(?:Nd)?(?:Add|Sub|Mul|Div|Min|Max|Update)|Ref\w+|CountUpTo"
    r"|IsVariableInitialized|DestroyTemporaryVariable|StridedSliceAssign|(?:Lookup|Initialize)Table[A-Za-z]*"
    r"|Queue[A-Za-z]+|Reader[A-Za-z]+|Stack(?:Push|Pop|Close)|Barrier\w+|(?:Sparse)?Accumulator\w+"
)
_GIVES_REF = lazy_compile(
    r"Variable(?:V2)?|TemporaryVariable|Assign(?:Add|Sub)?|(?:Sparse)?Apply\w+|Ref\w+|Stack|Barrier"
    r"|Scatter(?:Nd)?(?:Add|Sub|Mul|Div|Min|Max|Update)|(?:Mutable)?(?:Dense)?HashTable(?:OfTensors)?"
    r"|(?:FIFO|PaddingFIFO|RandomShuffle|Priority)Queue|[A-Za-z]+Reader|(?:Sparse)?ConditionalAccumulator"
)
_GIVES_HANDLE = lazy_compile(
    r"VarHandleOp|[A-Za-z]+TableV2|[A-Za-z]+TableOfTensorsV2|[A-Za-z]+QueueV2|[A-Za-z]+ReaderV2|StackV2|Iterator(?:V2)?"
    r"|OneShotIterator|MultiDeviceIterator|Anonymous\w+|ResourceConditionalAccumulator|MutexV2|[A-Za-z]+HandleOp"
    r"|TensorArray(?:Grad)?V3|TensorArrayGradWithShape|SummaryWriter"
)
_GIVES_VARIANT = lazy_compile(
    r"EmptyTensorList|TensorList(?:Reserve|PushBack|PushBackBatch|SetItem|FromTensor|Scatter\w*|Resize|Split|ConcatLists)"
    r"|TensorMap(?:Insert|Erase)|EmptyTensorMap|RaggedTensorToVariant|OptionalFromValue|OptionalNone|\w*Dataset(?:V\d)?"
)
_GIVES_TEXT = lazy_compile(
    r"AsString|String(?:Join|Format|Lower|Upper|Strip|NGrams)|Substr|(?:Static)?RegexReplace|ReduceJoin|UnsortedSegmentJoin"
    r"|(?:En|De)codeBase64|Encode(?:Jpeg|Png|Wav|JpegVariableQuality)|ReadFile|Reader(?:Read|ReadV2)|MatchingFiles"
    r"|\w+Summary(?:V2)?|Sharded\w+|SerializeTensor|IteratorToStringHandle|UnicodeEncode|UnicodeTranscode"
)
_PASSES = frozenset(
    "Identity IdentityN Enter Exit NextIteration Switch Merge RefSwitch Const Placeholder PlaceholderV2 ExpandDims"
    " Squeeze PlaceholderWithDefault Reshape GatherV2 Gather GatherNd ConcatV2 Concat StridedSlice Slice Pack Unpack"
    " Tile Transpose Fill Select SelectV2 ZerosLike StopGradient EnsureShape Split SplitV _Arg".split()
)
_SCALARS = ("dtype", "T", "Tparams")
_LISTS = ("output_types", "Tout", "component_types", "dtypes")
_OF_LISTS = frozenset(_LISTS)
_KINDS = (STRING, RESOURCE, VARIANT)


def carried(producer: Node, output: int, consumer: Node) -> str:
    """What the edge carries: ``ref``, ``resource``, ``variant``, ``string``, or empty for plain and for unknown
    values."""
    gives = _gives(producer.op)
    if _GIVES_REF_WORD in gives and _takes_ref(consumer.op):
        return REF
    if RESOURCE in gives:
        return RESOURCE if output == 0 else ""
    if gives and gives[-1] != _GIVES_REF_WORD:
        return gives[-1]
    kind = _element_type(producer, output)
    return kind if isinstance(kind, str) and kind in _KINDS else ""


_GIVES_REF_WORD = "gives_ref"


@cache
def _gives(op: str) -> tuple[str, ...]:
    """The certain element types of the outputs of an operator type."""
    patterns = (
        (_GIVES_REF_WORD, _GIVES_REF),
        (RESOURCE, _GIVES_HANDLE),
        (VARIANT, _GIVES_VARIANT),
        (STRING, _GIVES_TEXT),
    )
    return tuple(word for word, pattern in patterns if pattern.fullmatch(op))


@cache
def _takes_ref(op: str) -> bool:
    return _TAKES_REF.fullmatch(op) is not None


def output_of(text: str) -> int:
    """The output number of the producer that an input refers to."""
    number = text.rpartition(":")[2]
    return int(number) if ":" in text and number.isascii() and number.isdigit() and len(number) < _DIGITS else 0


_DIGITS = 9


class Tie(NamedTuple):
    """A reference, resource, variant or string on an edge between two nodes."""

    producer: int
    user: int
    kind: str


def ties(flow: DataFlow, step: Collection[int]) -> list[Tie]:
    """The edges between nodes of a step that do not carry plain values."""
    nodes = flow.nodes
    special = {n for n in step if _gives(nodes[n].op) or _tells(nodes[n])}
    users = [n for n in sorted(step) if not special.isdisjoint(flow.inputs[n])] if special else []
    edges = []
    for user in users:
        for text in nodes[user].inputs:
            producer = None if text.startswith("^") else flow.at.get(text.split(":", 1)[0])
            if producer in special and producer is not None:
                kind = carried(nodes[producer], output_of(text), nodes[user])
                if kind:
                    edges.append(Tie(producer, user, kind))
    return edges


def makes_handle(node: Node) -> bool:
    """Whether the first output of a node is a resource handle."""
    return carried(node, 0, node) == RESOURCE


def _tells(node: Node) -> bool:
    """Whether the attributes of a node may name an element type other than plain values."""
    if node.op in _PASSES:
        return _element_type(node, 0) in _KINDS
    return not _OF_LISTS.isdisjoint(node.attrs) or node.op.startswith("LookupTable")


def _element_type(node: Node, output: int) -> object:
    """The element type of an output according to the attributes of its node."""
    if node.op in _PASSES:
        for key in _SCALARS:
            if key in node.attrs:
                return node.attrs[key]
        return ""
    for key in _LISTS:
        value = node.attrs.get(key)
        if isinstance(value, list):
            return value[output] if output < len(value) else ""
    value = node.attrs.get("Tout")
    return value if node.op.startswith("LookupTable") else ""
