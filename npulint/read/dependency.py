"""Dependencies declared by a project: requirements, pyproject, setup, conda, Pipfile and Dockerfiles."""

from __future__ import annotations

import ast
import re
import sys
import warnings
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.model import Fact
from npulint.read.json_tree import Lines
from npulint.read.packages import Dependency, PackageIndex, PythonVersion, RequirementsFile, Via
from npulint.read.requirement import canonical, conda_requirement, cuda_index, is_wheel, requirement

_SETUP_KEYWORDS = frozenset(("install_requires", "tests_require", "setup_requires", "extras_require"))
_CFG_KEY = lazy_compile(r"(?P<key>[\w.-]+)[ \t]*[=:][ \t]*(?P<value>.*)")
_OTHER_INDEX = lazy_compile(r"(?m)index-url|find-links|(?:^|\s)-[if][ \t=]*[\w./:]|tool\.uv\.index|poetry\.source")
_INCLUDED = lazy_compile(r"(?m)^[ \t]*(?:-r|--requirement)[ \t=]*(?P<path>[^\s#]+)")
_CONDA_ITEM = lazy_compile(r"(?P<indent>[ \t]*)-[ \t]+(?P<item>[^#\n]*)")


class Found(NamedTuple):
    """A package with its specifier, the offset of its text, and the extra or group that it belongs to."""

    name: str
    version: str
    offset: int
    group: str = ""


def read_dependency(text: str, path: str) -> list[Fact]:
    """The `Dependency` facts of one file, whose name determines the format, and a `PackageIndex` for each index of CUDA
    builds.

    Files that do not parse give no facts. For a Dockerfile, the dependencies of its shell commands."""
    return _completed(_read(text, path, path.rsplit("/", 1)[-1]), text)


def _read(text: str, path: str, name: str) -> list[Fact]:
    if name.endswith(".txt"):
        return _facts(text, path, "requirements", _requirements(text))
    if name in ("pyproject.toml", "Pipfile"):
        return _facts(text, path, "pyproject" if name == "pyproject.toml" else "pipfile", _toml(text))
    if name in ("setup.py", "setup.cfg"):
        return _facts(text, path, "setup", _setup_py(text) if name == "setup.py" else _setup_cfg(text))
    if name.endswith((".yml", ".yaml")):
        return _facts(text, path, "conda", _conda(text))
    from npulint.read.dockerfile import read_dockerfile

    return read_dockerfile(text, path)


def _completed(facts: list[Fact], text: str) -> list[Fact]:
    """The facts; packages get whether torch_npu is among them (`beside_npu`), and whether the file names another
    package index (`other_index`)."""
    packages = [fact for fact in facts if isinstance(fact, Dependency)]
    if any(fact.name == "torch-npu" for fact in packages):
        for fact in packages:
            fact.beside_npu = True
    if packages and _OTHER_INDEX.search(text):
        for fact in packages:
            fact.other_index = True
    return facts


def _facts(text: str, path: str, via: Via, packages: Iterable[Found]) -> list[Fact]:
    lines = Lines(text)
    facts: list[Fact] = []
    for name, version, offset, group in packages:
        span = lines.span(offset, offset + len(name))
        if name == "python":
            facts.append(PythonVersion(name, path, span, version, via))
        else:
            marked = ";" in text[offset:].partition("\n")[0].partition("#")[0]
            facts.append(Dependency(name, path, span, version, via, group, marked=marked))
    if via == "requirements":
        included = (match for match in _INCLUDED.finditer(text))
        facts += [RequirementsFile(m["path"], path, lines.span(m.start("path"), m.end("path")), via) for m in included]
    facts += _indexes(text, path, via, lines)
    return sorted(facts, key=lambda fact: fact.span)


def _indexes(text: str, path: str, via: Via, lines: Lines) -> Iterator[Fact]:
    """Sources of CUDA builds: pip's options, wheel URLs, indexes of Poetry and uv."""
    if "://" not in text or "/cu" not in text:
        return
    shown = _shown(text) if path.endswith(".py") else frozenset()
    offset = 0
    for number, line in enumerate(text.split("\n"), 1):
        index = None if number in shown or line.lstrip().startswith("#") else cuda_index(line[:2000])
        if index:
            url, cuda, start = index
            span = lines.span(offset + start, offset + start + len(url))
            yield PackageIndex(url, path, span, cuda, is_wheel(url), via)
        offset += len(line) + 1


def _requirements(text: str) -> Iterator[Found]:
    offset = 0
    for line in text.split("\n"):
        stripped = line.strip()
        option = re.match(r"(?:-e|--editable)[= \t]+", stripped)
        if option:
            stripped = stripped[option.end() :]
        parsed = requirement(stripped.rstrip("\\").rstrip())
        if stripped and not stripped.startswith(("#", "-")) and parsed:
            yield Found(*parsed, offset + line.index(stripped))
        offset += len(line) + 1


def _toml(text: str) -> Iterator[Found]:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        document = tomllib.loads(text)
    except (ValueError, RecursionError):
        return
    project = _table(document.get("project"))
    groups = [("", project.get("dependencies"))]
    groups += _table(project.get("optional-dependencies")).items()
    groups += _table(document.get("dependency-groups")).items()
    if isinstance(project.get("requires-python"), str):
        yield Found("python", project["requires-python"].replace(" ", ""), _offset(text, "requires-python"))
    for group, items in groups:
        for item in items if isinstance(items, list) else ():
            parsed = requirement(item) if isinstance(item, str) else None
            if parsed:
                yield Found(*parsed, _offset(text, item), group)
    for group, table in _named_tables(document):
        for name, entry in table.items():
            version = entry if isinstance(entry, str) else _table(entry).get("version", "")
            if isinstance(version, str):
                yield Found(canonical(name), "" if version == "*" else version, _offset(text, name), group)


def _named_tables(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Tables whose keys are packages: those of Poetry and Pipfile, each with its group."""
    poetry = _table(_table(document.get("tool")).get("poetry"))
    yield "", _table(poetry.get("dependencies"))
    yield "dev", _table(poetry.get("dev-dependencies"))
    for name, group in _table(poetry.get("group")).items():
        yield name, _table(_table(group).get("dependencies"))
    yield "", _table(document.get("packages"))
    yield "dev", _table(document.get("dev-packages"))


def _table(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _offset(text: str, item: str) -> int:
    """The offset of `item` as a string or key; 0 if it is spelled differently."""
    match = re.search(r"(?m)(?:^[ \t]*|[\"'])(" + re.escape(item) + r")(?=[\"' \t=])", text)
    return match.start(1) if match else 0


def _parsed(text: str) -> ast.Module:
    """The syntax tree of Python code; that of an empty file if it cannot be parsed."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ast.Module([], [])


def _shown(text: str) -> frozenset[int]:
    """The lines of Python code that only tell somebody something: documentation and what is printed."""
    lines: set[int] = set()
    for node in ast.walk(_parsed(text)):
        value = node.value if isinstance(node, ast.Expr) else None
        called = value.func if isinstance(value, ast.Call) else None
        printed = isinstance(called, ast.Name) and called.id == "print"
        if value is not None and (printed or isinstance(value, ast.Constant)):
            lines.update(range(value.lineno, (value.end_lineno or value.lineno) + 1))
    return frozenset(lines)


def _setup_py(text: str) -> Iterator[Found]:
    tree = _parsed(text)
    lists = {
        target.id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    starts = _line_offsets(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and node.arg in _SETUP_KEYWORDS:
            value = lists.get(node.value.id, node.value) if isinstance(node.value, ast.Name) else node.value
            for group, items in _groups(node.arg or "", value):
                for text, line, column in _texts(items):
                    parsed = requirement(text)
                    if parsed:
                        yield Found(*parsed, starts[line - 1] + column + 1, group)


def _groups(keyword: str, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """The requirements that a keyword of ``setup`` gives, with the extra that each belongs to
    (``extras_require={"gpu": […]}``)."""
    if isinstance(value, ast.Dict):
        for key, items in zip(value.keys, value.values, strict=True):
            yield next((text for text, _, _ in _texts(key)), keyword) if key is not None else keyword, items
    else:
        yield "" if keyword == "install_requires" else keyword, value


def _texts(node: ast.expr) -> Iterator[tuple[str, int, int]]:
    """The texts in an expression, each with its line and column."""
    for item in ast.walk(node):
        if isinstance(item, ast.Constant) and isinstance(item.value, str):
            yield item.value, item.lineno, item.col_offset


def _line_offsets(text: str) -> list[int]:
    offsets = [0]
    for line in text.split("\n"):
        offsets.append(offsets[-1] + len(line) + 1)
    return offsets


def _setup_cfg(text: str) -> Iterator[Found]:
    section, key, offset = "", "", 0
    for line in text.split("\n"):
        stripped = line.strip()
        item = stripped
        if stripped.startswith("["):
            section, key, item = stripped.strip("[]"), "", ""
        elif line[:1] not in (" ", "\t", "#", ";", ""):
            match = _CFG_KEY.match(stripped)
            key, item = (match.group("key"), match.group("value")) if match else ("", "")
        listed = (section == "options" and key in _SETUP_KEYWORDS) or section == "options.extras_require"
        parsed = requirement(item) if listed and item and not item.startswith(("#", ";")) else None
        if parsed:
            yield Found(*parsed, offset + line.rindex(item), "" if section == "options" else key)
        offset += len(line) + 1


def _conda(text: str) -> Iterator[Found]:
    inside, pip_indent, offset = False, -1, 0
    for line in text.split("\n"):
        item = _CONDA_ITEM.match(line)
        if line[:1].isalpha():
            inside, pip_indent = line.startswith("dependencies:"), -1
        elif inside and item:
            entry = item.group("item").strip().strip("'\"")
            indent = len(item.group("indent"))
            if entry in ("pip:", "pip :"):
                pip_indent = indent
            else:
                if indent <= pip_indent:
                    pip_indent = -1
                parsed = requirement(entry) if pip_indent >= 0 else conda_requirement(entry)
                if parsed:
                    yield Found(*parsed, offset + line.index(entry))
        offset += len(line) + 1
