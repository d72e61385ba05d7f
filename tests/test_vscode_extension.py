"""The extension for Visual Studio Code: its tests, its package, and in a real Visual Studio Code."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from npulint.judge.settings import TARGET_KEYS
from scripts.bundle_vscode import bundle
from tests.vscode_support import EXTENSION, Host, Window, chromium, copied, npm, server_program, until

MANIFEST: dict[str, Any] = json.loads((EXTENSION / "package.json").read_text(encoding="utf-8"))
PROGRAM = """\
import torch
import torch_npu

model = torch.nn.Linear(2, 2).cuda()
"""


def test_the_problem_matcher_is_the_one_of_the_task_that_init_writes() -> None:
    tasks = json.loads(
        (EXTENSION.parent.parent / "npulint/hosts/integrations/vscode-tasks.json").read_text(encoding="utf-8")
    )
    (matcher,) = MANIFEST["contributes"]["problemMatchers"]
    assert tasks["tasks"][0]["problemMatcher"] == {k: v for k, v in matcher.items() if k not in ("name", "label")}


def test_the_settings_are_those_of_the_server() -> None:
    from npulint.hosts.server import configuration

    properties = MANIFEST["contributes"]["configuration"]["properties"]
    own = {"enable", "path", "args", "trace.server"}
    names = {name.removeprefix("npulint.") for name in properties} - own
    known = {re.sub("_(.)", lambda found: found[1].upper(), name) for name in configuration._OPTIONS}
    assert names <= known | set(configuration._OWN)
    assert tuple(properties["npulint.target"]["properties"]) == TARGET_KEYS
    for name, words in configuration._OWN.items():
        assert tuple(properties[f"npulint.{name}"]["enum"]) == words


def test_locked_packages_come_from_no_particular_place() -> None:
    lock = json.loads((EXTENSION / "package-lock.json").read_text(encoding="utf-8"))
    assert not [name for name, one in lock["packages"].items() if "resolved" in one]
    assert all("integrity" in one for name, one in lock["packages"].items() if name and not one.get("inBundle"))


@pytest.mark.nightly
@pytest.mark.slow
def test_types_style_and_units(tmp_path: Path) -> None:
    folder = copied(tmp_path)
    npm(folder, "run", "typecheck")
    npm(folder, "run", "lint")
    assert re.search(r"^# pass [1-9]\d*\n# fail 0$", npm(folder, "test"), re.MULTILINE)


@pytest.mark.slow
@pytest.mark.browser
def test_in_a_real_editor(tmp_path: Path) -> None:
    server_program()
    project = tmp_path / "project"
    (project / ".venv/bin").mkdir(parents=True)
    (project / "train.py").write_text(PROGRAM, encoding="utf-8")
    started = tmp_path / "started"  # by an interpreter that the project brings
    interpreter = project / ".venv/bin/python"
    interpreter.write_text(f'#!/bin/sh\ntouch "{started}"\nexec "{sys.executable}" "$@"\n', encoding="utf-8")
    interpreter.chmod(0o755)
    host = Host(tmp_path / "host", packed(tmp_path))
    with chromium() as browser:
        with host:
            window = Window(browser, host.address(project))
            restricted(window, started)
            trusted(window, started)
            in_the_terminal(window)
            previews(window)
            fixed(window, project / "train.py")
            switched_off(window, host)
        host.speak_chinese()
        with host:
            in_chinese(Window(browser, host.address(project), locale="zh-CN"), project / "train.py")


def packed(folder: Path) -> Path:
    """The package of the extension with an npulint of its own."""
    source = copied(folder)
    bundle(source, "linux-x64")
    npm(source, "run", "package", "--", "--target", "linux-x64")
    (vsix,) = source.glob("*.vsix")
    assert vsix.stat().st_size < 20_000_000
    return vsix


def restricted(window: Window, started: Path) -> None:
    """Findings are shown before the folder is trusted, and nothing of the folder has been run."""
    window.trust("No, I don't trust the authors")
    window.open("train.py")
    window.wait_status("Errors: 0, warnings: 1")
    assert window.page.query_selector(".squiggly-warning") is not None
    assert not started.exists()
    window.run("Problems: Focus on Problems View")
    until(lambda: "cuda-left-over" in window.text())


def trusted(window: Window, started: Path) -> None:
    """The virtual environment of the folder is used once the folder is trusted."""
    window.run("Workspaces: Manage Workspace Trust")
    window.page.locator(".workspace-trust-editor .monaco-button:has-text('Trust')").first.click()
    until(started.exists)
    window.open("train.py")
    window.wait_status("Errors: 0, warnings: 1")


def previews(window: Window) -> None:
    """The plan, the report and the page of the check at the cursor are shown."""
    window.run("npulint: Show Port Plan")
    until(lambda: "Port to Ascend NPUs: 1 edit" in window.frames(), window.frames)
    window.run("npulint: Open HTML Report")
    until(lambda: "Issues remain" in window.frames(), window.frames)
    window.open("train.py")
    window.go_to(4, 12)
    window.run("npulint: Explain a Check")
    until(lambda: "Why is this bad?" in window.frames(), window.frames)


def in_the_terminal(window: Window) -> None:
    """The report of the folder is printed."""
    window.run("npulint: Check Workspace in the Terminal")
    until(lambda: "Found 1 finding" in terminal(window), lambda: terminal(window))


def terminal(window: Window) -> str:
    """What the terminal shows, as a screen reader is told."""
    rows = window.page.query_selector_all(".xterm-rows > div, .xterm-accessibility-tree > div")
    return "\n".join(str(row.inner_text()).replace("\u00a0", " ") for row in rows)


def fixed(window: Window, file: Path) -> None:
    """A quick fix is applied and saved, and the finding is gone."""
    window.open("train.py")
    window.go_to(4, 12)
    window.press("Control+.")
    window.page.locator(".action-widget .monaco-list-row:has-text('Fix:')").first.wait_for()
    window.press("Enter")
    window.wait_status("No errors or warnings")
    window.press("Control+s")
    until(lambda: ".npu()" in file.read_text(encoding="utf-8"))


def switched_off(window: Window, host: Host) -> None:
    """Settings end the server and start it again, and a wrong path does not start another npulint."""
    host.configure(**{"npulint.enable": False})
    window.wait_status("switched off")
    host.configure(**{"npulint.path": "/nowhere/npulint"})
    window.wait_status("not found")
    host.configure()
    window.wait_status("No errors or warnings")


def in_chinese(window: Window, file: Path) -> None:
    """Commands, the status bar and findings are in the display language."""
    file.write_text(PROGRAM, encoding="utf-8")
    window.trust("Yes, I trust the authors")
    window.open("train.py")
    window.wait_status("错误：0，警告：1")
    window.run("Problems: Focus on Problems View")
    until(lambda: "依赖 CUDA" in window.text(), window.text)
    assert any("打开 HTML 报告" in row for row in window.offered("npulint"))
