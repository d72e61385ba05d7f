"""Writes the skeleton of a new check: valid, but its example fails until the check is written."""

from __future__ import annotations

import os
import re
from pathlib import Path

from npulint import __version__
from npulint.catalogue.check import CATEGORIES, COMPARE, FAMILIES
from npulint.catalogue.schema import WRITABLE, valid_name
from npulint.catalogue.sources import SourceFile, builtin_directory, list_files

_CODE = re.compile(rb"^(?:code:[ \t]*['\"]?)?(NPU[0-9]{4})\b", re.MULTILINE)

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
_PYTHON = """\
  - bad: |
      import tensorflow as tf

      tf.constant(1)  # expect
  - good: |
      import tensorflow as tf
"""
_SHELL = """\
  - bad: |
      export ANOTHER_VARIABLE=1  # expect
    file: train.sh
  - good: |
      python3 train.py
    file: train.sh
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
_FIND_CALL = "find: {call: todo.name_of_the_call}"
_FIND_VARIABLE = "find: {environment: TODO_NAME_OF_THE_VARIABLE}"
_FIND_DIFFERENCE = 'find: {difference: any, where: {what: "TODO: what is compared"}}'
_SPECIAL = {"launch": (_FIND_VARIABLE, _SHELL), COMPARE: (_FIND_DIFFERENCE, _COMPARED)}


def create(root: str, family: str, name: str, category: str = "functional") -> str:
    """Write ``<root>/<family>/<name>.yaml`` and return its path.

    Raises `ValueError` for a family, name or category that does not exist, or when no code is free;
    `FileExistsError` when a check of that name is there already; `OSError` when it cannot be written."""
    if family not in WRITABLE:
        raise ValueError(f"there is no family '{family}': it must be one of {', '.join(WRITABLE)}")
    if category not in CATEGORIES:
        raise ValueError(f"there is no category '{category}': it must be one of {', '.join(CATEGORIES)}")
    if not valid_name(name):
        raise ValueError(f"'{name}' is not in kebab case, such as variable-in-dataset-map")
    path = os.path.join(root, family, f"{name}.yaml")
    sources = _sources(root)
    for source in sources:
        if source.name == name:
            raise FileExistsError(f"the check '{name}' already exists: {source.path}")
    text = _skeleton(_free_code(sources, family, category), family, category)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "x", encoding="utf-8", newline="\n") as stream:
        stream.write(text)
    return path


def _skeleton(code: str, family: str, category: str) -> str:
    find, examples = _SPECIAL.get(family, (_FIND_CALL, _PYTHON))
    since = ".".join(__version__.split(".")[:2])
    return _HEAD.format(code=code, since=since, category=category, find=find) + examples


def _sources(root: str) -> list[SourceFile]:
    """The built-in check files, those below `root`, and the lists of retired codes."""
    return list_files([builtin_directory(), *([root] if os.path.isdir(root) else [])])


def _free_code(sources: list[SourceFile], family: str, category: str) -> str:
    """The code after the last one of this family and category, else the lowest that is free."""
    prefix = f"NPU{FAMILIES[family]}{CATEGORIES.index(category) + 1}"
    used = {int(code[5:]) for code in _used_codes(sources) if code.startswith(prefix)}
    following = max(used, default=0) + 1
    number = following if following <= 99 else next((n for n in range(1, 100) if n not in used), 0)
    if number == 0:
        raise ValueError(f"all codes {prefix}01 to {prefix}99 are taken")
    return f"{prefix}{number:02}"


def _used_codes(sources: list[SourceFile]) -> set[str]:
    """All codes that these files name at the beginning of a line, also where a file has mistakes."""
    return {code.decode("ascii") for source in sources for code in _CODE.findall(Path(source.path).read_bytes())}
