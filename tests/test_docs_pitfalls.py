"""The checklist of pitfalls: its examples are reported as it says, in both languages."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.project_support import Project

ROOT = Path(__file__).parent.parent
_SECTION = re.compile(r"^## \d+\. .*? \{ #(?P<id>[\w-]+) \}\n(?P<text>.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
_CODE = re.compile(r"```(?P<kind>python|text)\n(?P<code>.*?)```", re.DOTALL)
_NAMED = re.compile(r"#\s*([a-z0-9]+(?:-[a-z0-9]+)+)$")
_LINK = re.compile(r"\.\./checks/([\w-]+)\.md")
_IMPORTS = "import tensorflow as tf\nimport torch\n"


def sections(lang: str) -> dict[str, str]:
    """The sections of the page by their anchors."""
    text = (ROOT / "docs" / lang / "tuning-checklist.md").read_text(encoding="utf-8")
    return {match["id"]: match["text"] for match in _SECTION.finditer(text)}


def examples() -> dict[str, str]:
    """The code of the sections that have some."""
    found = {name: _CODE.search(text) for name, text in sections("en").items()}
    return {name: match["code"] for name, match in found.items() if match and match["kind"] == "python"}


def test_both_languages_have_the_same_sections_checks_and_code() -> None:
    english, chinese = sections("en"), sections("zh")
    assert len(english) == 24
    assert list(english) == list(chinese)
    for name, text in english.items():
        assert _LINK.findall(text) == _LINK.findall(chinese[name]), name
        assert _CODE.findall(text) == _CODE.findall(chinese[name]), name


@pytest.mark.slow
@pytest.mark.parametrize("name", examples())
def test_the_lines_that_name_a_check_are_reported_by_it(project: Project, name: str) -> None:
    text = _IMPORTS + examples()[name]
    lines = text.split("\n")
    expected = {(match[1], at) for at, line in enumerate(lines, 1) if (match := _NAMED.search(line))}
    assert expected
    answer = project.write({"train.py": text}).run("check", "--format", "json", "--no-cache", "--min-severity", "note")
    found = {(one["name"], one["line"]) for one in answer.findings}
    assert expected <= found
    assert {check for check, _ in expected} <= set(_LINK.findall(sections("en")[name]))
