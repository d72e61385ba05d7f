"""The pre-commit hooks name a command that exists, with options that it knows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from npulint.hosts.cli.commands import COMMANDS
from npulint.hosts.cli.parse import parse

HOOKS: list[dict[str, Any]] = yaml.safe_load((Path(__file__).parent.parent / ".pre-commit-hooks.yaml").read_text())
BY_ID = {hook["id"]: hook for hook in HOOKS}


@pytest.mark.parametrize("hook", HOOKS, ids=BY_ID)
def test_the_entry_is_a_command(hook: dict[str, Any]) -> None:
    program, verb, *words = hook["entry"].split()
    command = next(command for command in COMMANDS if command.name == verb)
    assert program == "npulint"
    parse(command, [*words, "a.py"] if hook.get("pass_filenames", True) else words, "en")


@pytest.mark.parametrize("hook", HOOKS, ids=BY_ID)
def test_kinds_of_files_are_alternatives(hook: dict[str, Any]) -> None:
    assert "types" not in hook and "python" in hook["types_or"]


def test_two_hooks_are_for_changed_files_and_one_for_the_project() -> None:
    assert set(BY_ID) == {"npulint", "npulint-fix", "npulint-project"}
    assert "--force-exclude" in BY_ID["npulint"]["entry"]
    assert BY_ID["npulint-fix"]["entry"].split() == [
        *BY_ID["npulint"]["entry"].split()[:2],
        "--fix",
        *BY_ID["npulint"]["entry"].split()[2:],
    ]
    assert BY_ID["npulint-project"]["pass_filenames"] is False
