"""Creates the skeleton of a new check: valid, but its example fails until the check is written."""

from __future__ import annotations

import os
import re
from pathlib import Path

from npulint import __version__
from npulint.catalogue import messages
from npulint.catalogue.check import CATEGORIES, COMPARE, FAMILIES, GRAPH, RUN
from npulint.catalogue.codes import LAST, PATTERN, code_of, number_of
from npulint.catalogue.schema import WRITABLE, valid_name
from npulint.catalogue.sources import CheckFile, builtin_directory, list_files, read_file

_PLAIN = 99  # the last number without a letter
_CODE = re.compile(rf"^(?:[ \t]*code:[ \t]*['\"]?)?({PATTERN})\b".encode(), re.MULTILINE)

_HEAD = """\
code: {code}
since: "{since}"
status: preview
topic: other
category: {category}
severity: warning
confidence: medium
{find}
text:
  en:
    title: "TODO: name the bad thing in one line"
    message: "TODO: say what is wrong with `{{name}}` here"
    why: "TODO: say what happens on the NPU"
    fix: "TODO: say what to write instead"
  zh:
    title: "待写：一行说明问题"
    message: "待写：说明这里的 `{{name}}` 有什么问题"
    why: "待写：说明在 NPU 上会发生什么"
    fix: "待写：说明应改成什么"
references:
  - title: "TODO: name the document that says so"
examples:
"""
_TENSORFLOW = """\
  - bad: |
      import tensorflow as tf

      tf.constant(1)  # expect
  - good: |
      import tensorflow as tf
"""
_PYTORCH = """\
  - bad: |
      import torch
      import torch_npu

      torch.zeros(1)  # expect
  - good: |
      import torch
      import torch_npu
"""
_SHELL = """\
  - bad: |
      export ANOTHER_VARIABLE=1  # expect
    file: train.sh
  - good: |
      python3 train.py
    file: train.sh
"""
_GRAPHS = """\
  - bad: |
      node { name: "call" op: "PyFunc" }  # expect
    file: graph.pbtxt
  - good: |
      node { name: "product" op: "MatMul" }
    file: graph.pbtxt
"""
_RUNS = """\
  - bad:
      files:
        ASCEND_PROFILER_OUTPUT/op_statistic.csv: |
          OP Type,Core Type,Count,Total Time(us),Min Time(us),Avg Time(us),Max Time(us),Ratio(%)
          Cast,AI_CPU,7,785.18,72,112,197.5,1.6
          MatMulV2,AI_CORE,10,49000,800,900,990,98.4
      expect: ["ASCEND_PROFILER_OUTPUT/op_statistic.csv:2"]
  - good:
      files:
        ASCEND_PROFILER_OUTPUT/op_statistic.csv: |
          OP Type,Core Type,Count,Total Time(us),Min Time(us),Avg Time(us),Max Time(us),Ratio(%)
          MatMulV2,AI_CORE,10,49000,800,900,990,100
"""
_COMPARED = """\
  - bad:
      reference: |
        import torch

        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
      migrated: |
        import torch

        optimizer = torch.optim.SGD(model.parameters(), lr=0.01)  # expect
  - good:
      reference: |
        import torch
      migrated: |
        import torch
"""
_SKELETONS = {
    "tensorflow": ("find: {call: todo.name_of_the_call}", _TENSORFLOW),
    "pytorch": ("find: {call: todo.name_of_the_call}", _PYTORCH),
    "launch": ("find: {environment: TODO_NAME_OF_THE_VARIABLE}", _SHELL),
    GRAPH: ("find: {graph_op: TodoOperatorType}  # of PyTorch: torch_op", _GRAPHS),
    RUN: ("find: {run_op_total: TodoOperatorType}  # messages of logs: an entry in checks/messages", _RUNS),
    COMPARE: ('find: {difference: any, where: {what: "TODO: operation or setting"}}', _COMPARED),
}
"""Per family, the query and the examples of a new check."""


def create(root: str, family: str, name: str, category: str = "functional") -> str:
    """Write ``<root>/<family>/<name>.yaml`` and return its path. Raises `ValueError` for an unknown family or
    category, an invalid name, or without a free code; `FileExistsError` when a check has this name; `OSError` when
    writing fails."""
    if family not in WRITABLE:
        raise ValueError(f"there is no family '{family}': it must be one of {', '.join(WRITABLE)}")
    if category not in CATEGORIES:
        raise ValueError(f"there is no category '{category}': it must be one of {', '.join(CATEGORIES)}")
    if not valid_name(name):
        raise ValueError(f"'{name}' is not in kebab case, such as variable-in-dataset-map")
    path = os.path.join(root, family, f"{name}.yaml")
    sources = _sources(root)
    for source in sources:
        if name in _names(source):
            raise FileExistsError(f"the check '{name}' already exists: {source.path}")
    text = _skeleton(_free_code(sources, family, category), family, category)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "x", encoding="utf-8", newline="\n") as stream:
        stream.write(text)
    return path


def _names(source: CheckFile) -> tuple[str, ...]:
    """The names of the checks in a file: its own, or those of a table's entries."""
    return messages.names_in(read_file(source)) if source.family == messages.FOLDER else (source.name,)


def _skeleton(code: str, family: str, category: str) -> str:
    find, examples = _SKELETONS[family]
    since = ".".join(__version__.split(".")[:2])
    return _HEAD.format(code=code, since=since, category=category, find=find) + examples


def _sources(root: str) -> list[CheckFile]:
    """The built-in check files, those below `root`, and lists of retired codes."""
    return list_files([builtin_directory(), *([root] if os.path.isdir(root) else [])])


def _free_code(sources: list[CheckFile], family: str, category: str) -> str:
    """The code after the last one of this family and category; gaps are filled before a letter is used."""
    prefix = f"NPU{FAMILIES[family]}{CATEGORIES.index(category) + 1}"
    used = {number_of(code) for code in _used_codes(sources) if code.startswith(prefix)}
    last = max((number for number in used if number <= _PLAIN), default=0)
    number = last + 1 if last < _PLAIN else next((n for n in range(1, LAST + 1) if n not in used), 0)
    if number == 0:
        raise ValueError(f"all codes {code_of(prefix, 1)} to {code_of(prefix, LAST)} are taken")
    return code_of(prefix, number)


def _used_codes(sources: list[CheckFile]) -> set[str]:
    """All codes at line starts of these files, which may be invalid."""
    return {code.decode("ascii") for source in sources for code in _CODE.findall(Path(source.path).read_bytes())}
