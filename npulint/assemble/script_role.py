"""Purpose: what code is for, told by the names around it."""

from __future__ import annotations

from npulint.assemble.module import Module
from npulint.lazy_regex import lazy_compile

_PURPOSES = (
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


def purpose(module: Module, block: int) -> str:
    """What code is for, told by its function's, class's and file's names: train, evaluate, export, data
    or unknown. The innermost name that says something wins."""
    words = [*module.qualname(block).lower().split(".")[::-1], _file_words(module.path)]
    for word in words:
        for answer, pattern in _PURPOSES:
            if word and pattern.search(word):
                return answer
    return "unknown"


def _file_words(path: str) -> str:
    return "/".join(path.lower().rsplit("/", 2)[-1:]).removesuffix(".py")
