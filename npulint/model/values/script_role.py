"""The role of a script, according to its names."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal

from npulint.core.lazy_regex import lazy_compile
from npulint.model.values.blocks import BlockCursor

Purpose = Literal["train", "evaluate", "export", "data", "unknown"]

_PURPOSES: tuple[tuple[Purpose, re.Pattern[str]], ...] = (
    ("train", lazy_compile(r"(?:^|[_./])(?:re)?train(?!_?data|_?set|_?input)|fit\b|finetune")),
    (
        "export",
        lazy_compile(
            r"freeze|frozen|export|convert|ckpt|2pb|_pb\b|to_pb|onnx|save_?model|saved_model|inspect|checkpoint"
        ),
    ),
    (
        "evaluate",
        lazy_compile(
            r"eval|(?:^|[_./])test|valid|predict|infer|demo|sample|generat|visuali|metric|detect(?!or|ion)|benchmark"
        ),
    ),
    ("data", lazy_compile(r"data|record|dataset|preprocess|prepare|download|(?:^|[_./])input")),
)
_TEST_FILE = lazy_compile(r"(?:^|/)(?:tests?|testing|unittests?)/|(?:^|/)(?:test_[^/]+|[^/]+_test|testing_utils)\.py$")


@lru_cache(maxsize=4096)
def is_test_file(path: str) -> bool:
    """Whether a file is one of tests according to its name and folders."""
    return _TEST_FILE.search(path) is not None


def purpose(scope: BlockCursor) -> Purpose:
    """The role of code according to the names of its function, class and file: train, evaluate, export, data or
    unknown. The innermost name that indicates a role wins."""
    file = scope.path.lower().rpartition("/")[2].removesuffix(".py")
    words = (*scope.qualname.lower().split(".")[::-1], file)
    return next((role for role in map(purpose_of_name, words) if role != "unknown"), "unknown")


def purpose_of_name(word: str) -> Purpose:
    """The role that a name in lower case indicates."""
    return next((answer for answer, pattern in _PURPOSES if word and pattern.search(word)), "unknown")
