"""Families of operators that may stay on the host, as checks distinguish them."""

from __future__ import annotations

from functools import cache
from typing import Literal

from npulint.core.lazy_regex import lazy_compile
from npulint.data.supported import recorded

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
    found = next((name for name, pattern in _PATTERNS if pattern.fullmatch(op)), None)
    return found or ("other" if recorded(op).known or op.startswith("_") else "custom")
