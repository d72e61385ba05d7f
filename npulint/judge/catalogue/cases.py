"""Reads the examples of a check: sources with ``# expect`` markers."""

from __future__ import annotations

import re

from npulint.core.errors import suggestion
from npulint.judge.catalogue.check import SIDES, Example
from npulint.judge.catalogue.codes import PATTERN
from npulint.judge.catalogue.yaml_tree import Fields, Keys, Mapping, YamlNode, YamlScalar

TARGETS = ("framework", "tensorflow", "torch", "adapter", "cann", "soc")

_DEFAULT_FILE = "train.py"
_SHELL = re.compile(r"#!\S*/(?:env +)?(?:ba|da|z)?sh\b|export +\w+=")
CODE = re.compile(rf"{PATTERN}\Z")
"""The code of a check."""
_EXPECT = re.compile(r"(.+):([1-9][0-9]{0,6})\Z")
_UNSAFE = re.compile(r"[\x00-\x1f\x7f\\:*?\"<>|]")
Mark = tuple[str, int]


def read_examples(fields: Fields, node: YamlNode) -> tuple[Example, ...]:
    """The examples in file order."""
    examples = [
        _example(fields, item, f"examples[{place}]") for place, item in enumerate(fields.items(node, "examples"))
    ]
    return tuple(example for example in examples if example is not None)


def _example(fields: Fields, node: YamlNode, what: str) -> Example | None:
    keys = fields.mapping(node, what, (), ("bad", "good", "file", "target", "also", "fixed"))
    sides = [side for side in ("bad", "good") if side in keys]
    if len(sides) != 1:
        if isinstance(node, Mapping):
            fields.problem(node, f"{what} must have either 'bad' or 'good'")
        return None
    bad = sides[0] == "bad"
    files, expect = read_files(fields, keys, sides[0], what)
    if bad and files and not expect:
        fields.problem(keys["bad"], f"{what}: no line is marked with '# expect'")
    if not bad and expect:
        fields.problem(keys["good"], f"{what}: a good example must not expect findings")
    fixed = _fixed(fields, keys, files, what) if "fixed" in keys else {}
    if fixed and not bad:
        fields.problem(keys["fixed"], f"{what}: a good example must not have 'fixed'")
    also = fields.words(keys["also"], f"{what}.also") if "also" in keys else ()
    for code in also:
        if not CODE.match(code):
            fields.problem(keys["also"], f"{what}.also: '{code}' is not a code")
    return Example(bad, files, read_target(fields, keys, what), expect, also, fixed)


def _fixed(fields: Fields, keys: Keys, files: dict[str, str], what: str) -> dict[str, str]:
    """The expected files after fixes, by name: changed or new ones."""
    body = keys["fixed"]
    if isinstance(body, Mapping):
        fixed, _ = _several(fields, body, f"{what}.fixed")
        return fixed
    if len(files) != 1:
        fields.problem(body, f"{what}: 'fixed' must name its files, because the example has several")
        return {}
    (name,) = files
    return {name: _text(fields, body, name, f"{what}.fixed")[0]}


def read_files(fields: Fields, keys: Keys, side: str, what: str) -> tuple[dict[str, str], tuple[Mark, ...]]:
    """The files of an example by name, without markers, and the marked lines."""
    body = keys[side]
    if isinstance(body, Mapping):
        if "file" in keys:
            fields.problem(keys["file"], f"{what}: 'file' names a single text; with 'files' the names are given there")
        return _several(fields, body, f"{what}.{side}")
    name = _name(fields, keys["file"], f"{what}.file") if "file" in keys else _DEFAULT_FILE
    text, marks = _text(fields, body, name, f"{what}.{side}")
    if "file" not in keys and _SHELL.match(text):
        fields.problem(body, f"{what}: this looks like shell; add 'file: train.sh'")
    return ({name: text}, marks) if name else ({}, ())


def _several(fields: Fields, node: Mapping, what: str) -> tuple[dict[str, str], tuple[Mark, ...]]:
    files: dict[str, str] = {}
    expect: list[Mark] = []
    sides = SIDES if any(side in node.entries for side in SIDES) else ()
    keys = fields.mapping(node, what, sides or ("files",), ("expect",))
    for part in sides or ("files",):
        if part in keys:
            expect += _folder(fields, keys[part], f"{what}.{part}", f"{part}/" if sides else "", files)
    for item in fields.items(keys["expect"], f"{what}.expect") if "expect" in keys else ():
        expect += _expected(fields, item, files, f"{what}.expect")
    return files, tuple(sorted(set(expect)))


def _folder(fields: Fields, node: YamlNode, what: str, prefix: str, files: dict[str, str]) -> list[Mark]:
    """Add the files of one folder to `files` and return their marked lines; a plain text is one file with the default
    name."""
    if prefix and isinstance(node, YamlScalar):
        name = prefix + _DEFAULT_FILE
        files[name], marks = _text(fields, node, name, what)
        return list(marks)
    folder: list[Mark] = []
    for key, value in fields.open_mapping(node, what).values():
        if name := _name(fields, key, what):
            files[prefix + name], marks = _text(fields, value, prefix + name, f"{what}.{name}", empty=True)
            folder += marks
    return folder


def _text(fields: Fields, node: YamlNode, name: str, what: str, empty: bool = False) -> tuple[str, tuple[Mark, ...]]:
    """A source without its markers, and the marked lines."""
    if not isinstance(node, YamlScalar) or not (isinstance(node.value, str) or (empty and not node.text)):
        fields.problem(node, f"{what} must be the text of a file")
        return "", ()
    if not empty and not node.text.strip():
        fields.problem(node, f"{what} is empty")
    lines = [_unmarked(line) for line in node.text.split("\n")]
    marks = tuple((name, number) for number, (_, marked) in enumerate(lines, 1) if marked)
    return "\n".join(line for line, _ in lines), marks


def _unmarked(line: str) -> tuple[str, bool]:
    """A line without a trailing ``# expect``, and whether it had one."""
    before, word, after = line.rpartition("expect")
    before = before.rstrip(" \t")
    if word and not after.strip(" \t") and before.endswith("#"):
        return before[:-1].rstrip(" \t"), True
    return line, False


def _expected(fields: Fields, node: YamlNode, files: dict[str, str], what: str) -> list[Mark]:
    text = fields.text(node, what)
    match = _EXPECT.match(text)
    if match is None:
        if text:
            fields.problem(node, f"{what}: '{text}' is not file:line")
        return []
    name, line = match[1], int(match[2])
    if name not in files:
        fields.problem(node, f"{what}: no file '{name}' in this example{suggestion(name, files)}")
    elif line > len(files[name].rstrip("\n").split("\n")):
        fields.problem(node, f"{what}: '{name}' has no line {line}")
    return [(name, line)]


def _name(fields: Fields, node: YamlNode, what: str) -> str:
    """A relative file name that does not leave its folder."""
    name = node.text if isinstance(node, YamlScalar) else ""
    parts = name.split("/")
    if not name or _UNSAFE.search(name) or any(part in ("", ".", "..") for part in parts):
        fields.problem(node, f"{what}: '{name}' is not a plain relative file name")
        return ""
    return name


def read_target(fields: Fields, keys: Keys, what: str) -> dict[str, str]:
    """The target of an example: versions and SoC."""
    if "target" not in keys:
        return {}
    target = fields.mapping(keys["target"], f"{what}.target", (), TARGETS)
    return {name: fields.text(value, f"{what}.target.{name}") for name, value in target.items()}
