"""Creates the skeleton of a new check: valid, but its example fails until the check is written."""

from __future__ import annotations

import os
import re
from pathlib import Path

from npulint import __version__
from npulint.judge.catalogue.check import CATEGORIES, FAMILIES
from npulint.judge.catalogue.codes import LAST, PATTERN, code_of, number_of
from npulint.judge.catalogue.messages import FOLDER
from npulint.judge.catalogue.schema import WRITABLE, valid_name
from npulint.judge.catalogue.sources import CheckFile, builtin_directory, list_files, read_file
from npulint.judge.catalogue.tables import names_in

_PLAIN = 99  # the last number without a letter
_CODE = re.compile(rf"^(?:[ \t]*code:[ \t]*['\"]?)?({PATTERN})\b".encode(), re.MULTILINE)
_SKELETONS = Path(__file__).parent / "skeletons"  # the query and the examples by family, and the head of all


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
    sources = list_files([builtin_directory(), *([root] if os.path.isdir(root) else [])])
    for source in sources:
        if name in _names(source):
            raise FileExistsError(f"the check '{name}' already exists: {source.path}")
    text = _skeleton(_free_code(sources, family, category), family, category)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "x", encoding="utf-8", newline="\n") as stream:
        stream.write(text)
    return path


def _names(source: CheckFile) -> tuple[str, ...]:
    """The names of the checks in a file: its own, or those of a table's rows."""
    names = names_in(read_file(source), always=source.family == FOLDER)
    return names or (source.name,)


def _skeleton(code: str, family: str, category: str) -> str:
    head = (_SKELETONS / "head.txt").read_text(encoding="utf-8")
    find, _, examples = (_SKELETONS / f"{family}.yaml").read_text(encoding="utf-8").partition("\n")
    since = ".".join(__version__.split(".")[:2])
    return head.format(code=code, since=since, category=category, find=find) + examples


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
