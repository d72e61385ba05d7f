"""Writes a file for the NPU beside one for GPUs: a launcher, an image. The original stays as it is."""

from __future__ import annotations

import posixpath
from collections.abc import Callable

from npulint.facts.model import Span
from npulint.fix.model import FixRefused, Plan, Text
from npulint.judge.findings import Edit, FixStep
from npulint.model.launches.npu_names import launcher_for_npu


def plan(step: FixStep, text: Text, text_of: Callable[[str], Text]) -> Plan:
    """The plan of a ``sibling`` step: a copy under the name for the NPU, with `text` above the first command of a shell
    script, and its MPI launches rewritten (see `npulint.fix.rank_loop`) if `processes` says so; in a Dockerfile, with
    `part` of the line at the place replaced by it, and `behind` in the next line. Raises `FixRefused`: ``exists``
    (there is such a file), ``kind`` (another kind of file), ``place``."""
    path = npu_path(text.path, text.kind)
    if not text_of(path).new:
        raise FixRefused("exists")
    added = step.words["text"]
    content = _launcher(text, added, step.words.get("processes")) if text.kind == "shell" else _image(text, step)
    return Plan((Edit(path, Span(), content),), copied=text.path)


def npu_path(path: str, kind: str = "shell") -> str:
    """The path of the file for the NPU beside one for GPUs. Raises `FixRefused` (``kind``) for other kinds.

    >>> npu_path("run/train.sh"), npu_path("train_2gpu.sh"), npu_path("docker/Dockerfile.gpu", "dockerfile")
    ('run/train_npu.sh', 'train_2npu.sh', 'docker/Dockerfile.npu')
    """
    if kind not in ("shell", "dockerfile"):
        raise FixRefused("kind")
    return launcher_for_npu(path) if kind == "shell" else posixpath.join(posixpath.dirname(path), "Dockerfile.npu")


def _launcher(text: Text, added: str, processes: str | None) -> str:
    from npulint.fix.rank_loop import all_in_ranks
    from npulint.fix.script import Script
    from npulint.fix.source import edited_text
    from npulint.read.shell.tokens import Word

    script = Script(text.text, text.path)
    first = next((position for position, token in enumerate(script.tokens) if isinstance(token, Word)), None)
    if first is None:
        raise FixRefused("place")
    top = script.line_start(script.start(first))
    ranks = all_in_ranks(script) if processes else []
    return edited_text(text.text, [script.edit(top, top, f"{added}\n"), *ranks])


def _image(text: Text, step: FixStep) -> str:
    lines = text.text.split("\n")
    number = step.span.line - 1
    part = step.words.get("part", "")
    if not 0 <= number < len(lines) or not part or lines[number].count(part) != 1:
        raise FixRefused("place")
    lines[number] = lines[number].replace(part, step.words["text"])
    behind = step.words.get("behind")
    if behind and lines[number].rstrip().endswith("\\"):
        raise FixRefused("joined")
    return "\n".join([*lines[: number + 1], *([behind] if behind else []), *lines[number + 1 :]])
