"""Dependencies declared by a project: requirements, pyproject, setup, conda, Pipfile and Dockerfiles."""

from __future__ import annotations

import ast
import re
import sys
import warnings
from collections.abc import Iterable, Iterator
from typing import Any

from npulint.facts.attributes import flag
from npulint.facts.model import Fact
from npulint.lazy_regex import lazy_compile
from npulint.read.json_tree import Lines
from npulint.read.packages import Dependency, PackageIndex, Via
from npulint.read.requirement import canonical, conda_requirement, cuda_index, is_wheel, release, requirement

_SETUP_KEYWORDS = frozenset(("install_requires", "tests_require", "setup_requires", "extras_require"))
_CFG_KEY = lazy_compile(r"(?P<key>[\w.-]+)[ \t]*[=:][ \t]*(?P<value>.*)")
_CONDA_ITEM = lazy_compile(r"(?P<indent>[ \t]*)-[ \t]+(?P<item>[^#\n]*)")

Found = tuple[str, str, int]  # name, version, offset of its text


def read_dependency(text: str, path: str) -> list[Fact]:
    """The `Dependency` facts of one file, whose name determines the format, and a `PackageIndex` for each index of CUDA
    builds.

    Files that do not parse give no facts. For a Dockerfile, the dependencies of its shell commands."""
    return _paired(_read(text, path, path.rsplit("/", 1)[-1]))


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


def _paired(facts: list[Fact]) -> list[Fact]:
    """The facts; that of torch_npu gets the torch release requested in the same file (`torch`) and whether the two
    releases are compatible (`pairs`); all get whether torch_npu is among them (`beside_npu`)."""
    packages = [fact for fact in facts if isinstance(fact, Dependency)]
    if any(fact.name == "torch-npu" for fact in packages):
        for fact in packages:
            fact.beside_npu = True
    torch = next((fact for fact in packages if fact.name == "torch"), None)
    for fact in packages:
        if fact.name == "torch-npu" and torch is not None:
            adapter, framework = release(fact.version), release(torch.version)
            fact.torch = torch.version
            fact.pairs = flag(adapter == framework if adapter and framework else None)
    return facts


def _facts(text: str, path: str, via: Via, found: Iterable[Found]) -> list[Fact]:
    lines = Lines(text)
    facts: list[Fact] = []
    for name, version, offset in found:
        facts.append(Dependency(name, path, lines.span(offset, offset + len(name)), version, via))
    facts += _indexes(text, path, via, lines)
    return sorted(facts, key=lambda fact: fact.span)


def _indexes(text: str, path: str, via: Via, lines: Lines) -> Iterator[Fact]:
    """Sources of CUDA builds: pip's options, wheel URLs, indexes of Poetry and uv."""
    if "://" not in text or "/cu" not in text:
        return
    offset = 0
    for line in text.split("\n"):
        found = None if line.lstrip().startswith("#") else cuda_index(line[:2000])
        if found:
            url, cuda, start = found
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
        found = requirement(stripped.rstrip("\\").rstrip())
        if stripped and not stripped.startswith(("#", "-")) and found:
            yield *found, offset + line.index(stripped)
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
    groups = [project.get("dependencies")]
    groups += _table(project.get("optional-dependencies")).values()
    groups += _table(document.get("dependency-groups")).values()
    for group in groups:
        for item in group if isinstance(group, list) else ():
            found = requirement(item) if isinstance(item, str) else None
            if found:
                yield *found, _offset(text, item)
    for table in _named_tables(document):
        for name, entry in table.items():
            version = entry if isinstance(entry, str) else _table(entry).get("version", "")
            if name != "python" and isinstance(version, str):
                yield canonical(name), "" if version == "*" else version, _offset(text, name)


def _named_tables(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Tables whose keys are packages: those of Poetry and Pipfile."""
    poetry = _table(_table(document.get("tool")).get("poetry"))
    yield _table(poetry.get("dependencies"))
    yield _table(poetry.get("dev-dependencies"))
    for group in _table(poetry.get("group")).values():
        yield _table(_table(group).get("dependencies"))
    yield _table(document.get("packages"))
    yield _table(document.get("dev-packages"))


def _table(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _offset(text: str, item: str) -> int:
    """The offset of `item` as a string or key; 0 if it is spelled differently."""
    match = re.search(r"(?m)(?:^[ \t]*|[\"'])(" + re.escape(item) + r")(?=[\"' \t=])", text)
    return match.start(1) if match else 0


def _setup_py(text: str) -> Iterator[Found]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
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
            for item in ast.walk(value):
                if isinstance(item, ast.Constant) and isinstance(item.value, str):
                    found = requirement(item.value)
                    if found and not _is_key(item, value):
                        yield *found, starts[item.lineno - 1] + item.col_offset + 1


def _is_key(item: ast.Constant, value: ast.expr) -> bool:
    """Whether a string is the name of an extra (``extras_require={"gpu": […]}``), not a package."""
    return isinstance(value, ast.Dict) and any(key is item for key in value.keys)


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
        found = requirement(item) if listed and item and not item.startswith(("#", ";")) else None
        if found:
            yield *found, offset + line.rindex(item)
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
                found = requirement(entry) if pip_indent >= 0 else conda_requirement(entry)
                if found and found[0] != "python":
                    yield *found, offset + line.index(entry)
        offset += len(line) + 1
