"""A real Visual Studio Code for tests: its server, the extension in it, and its window in Chromium."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.tools import missing, needed

ROOT = Path(__file__).resolve().parent.parent
EXTENSION = ROOT / "editors" / "vscode"
FLAGS = "--no-sandbox --disable-gpu --disable-background-networking --disable-component-update --disable-sync".split()
_QUIET = {
    "workbench.startupEditor": "none",
    "workbench.tips.enabled": False,
    "telemetry.telemetryLevel": "off",
    "extensions.autoCheckUpdates": False,
    "editor.minimap.enabled": False,
    "terminal.integrated.gpuAcceleration": "off",  # rows are elements then, not a drawing
}
_UNREACHABLE = ("ENOTFOUND", "EAI_AGAIN", "ETIMEDOUT", "ECONNRESET", "ECONNREFUSED", "E503", "E502", "E504")
_VSIX = """\
<?xml version="1.0" encoding="utf-8"?>
<PackageManifest Version="2.0.0" xmlns="http://schemas.microsoft.com/developer/vsx-schema/2011">
  <Metadata><Identity Language="en-US" Id="language-zh" Version="1.0.0" Publisher="test"/></Metadata>
  <Installation><InstallationTarget Id="Microsoft.VisualStudio.Code"/></Installation>
  <Dependencies/>
  <Assets>
    <Asset Type="Microsoft.VisualStudio.Code.Manifest" Path="extension/package.json" Addressable="true"/>
  </Assets>
</PackageManifest>
"""
_PATIENCE = 120.0  # seconds for anything in the window


def npm(folder: Path, *words: str) -> str:
    """What ``npm`` prints in a folder. The test is skipped if the registry cannot be reached, and fails otherwise."""
    ended = subprocess.run([needed("npm"), *words], cwd=folder, capture_output=True, text=True, check=False)
    text = ended.stdout + ended.stderr
    if ended.returncode and any(word in text for word in _UNREACHABLE):
        pytest.skip("the registry of npm cannot be reached")
    assert ended.returncode == 0, text
    return text


def copied(folder: Path) -> Path:
    """The sources of the extension with what they need for a build, in a folder."""
    needed("npm")
    left_out = shutil.ignore_patterns("node_modules", "dist", "out", "libs", "*.vsix")
    place = Path(shutil.copytree(EXTENSION, folder / "extension", ignore=left_out))
    npm(place, "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
    return place


def server_program() -> Path:
    """The program of the server of Visual Studio Code. The test is skipped without it."""
    folder = os.environ.get("NPULINT_CODE_SERVER", "")
    program = Path(folder) / "node_modules/code-server/lib/vscode/out/server-main.js"
    if not folder or not program.is_file():
        pytest.skip("no Visual Studio Code: `.ci/code-server.sh FOLDER`, then NPULINT_CODE_SERVER=FOLDER")
    return program


class Host:
    """The server of Visual Studio Code with an extension, its data in a folder. `settings` are those of the machine."""

    def __init__(self, folder: Path, vsix: Path, settings: Mapping[str, object] = {}) -> None:
        self.folder = folder
        self._words = [
            needed("node"),
            str(server_program()),
            "--accept-server-license-terms",
            "--disable-telemetry",
            f"--server-data-dir={folder / 'server'}",
            f"--extensions-dir={folder / 'extensions'}",
        ]
        # as on a machine without npulint: neither PATH nor the home has one
        python = str(Path(sys.base_prefix) / "bin")
        self._environ = {
            **{name: value for name, value in os.environ.items() if not name.startswith(("NPULINT", "PYTHON"))},
            "PATH": os.pathsep.join([python, str(Path(needed("node")).parent), "/usr/bin", "/bin"]),
            "HOME": str(folder),
            "EXTENSIONS_GALLERY": "{}",  # no extension is to be looked for elsewhere
        }
        self.configure(**settings)
        self._run(f"--install-extension={vsix}")
        self.port = _free_port()
        self._process: subprocess.Popen[bytes] | None = None

    def configure(self, **settings: object) -> None:
        """Set settings of the machine; the window notices."""
        file = self.folder / "server/data/Machine/settings.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps({**_QUIET, **settings}), encoding="utf-8")

    def speak_chinese(self, known: Mapping[str, str] = {}) -> None:
        """From the next start on the display language is Chinese. Of the texts of Visual Studio Code itself those in
        `known` are translated."""
        self._run(f"--install-extension={_language_pack(self.folder / 'zh.vsix', _by_key(known))}")
        texts = self.folder / "extensions/test.language-zh-1.0.0/main.i18n.json"
        extension = {"extensionIdentifier": {"id": "test.language-zh"}, "version": "1.0.0"}
        pack = {"hash": "test", "label": "中文", "extensions": [extension], "translations": {"vscode": str(texts)}}
        (self.folder / "server/data/languagepacks.json").write_text(json.dumps({"zh-cn": pack}), encoding="utf-8")
        self._words.append("--locale=zh-cn")

    def address(self, project: Path) -> str:
        """The address of a window with a project."""
        return f"http://127.0.0.1:{self.port}/?folder={project}"

    def __enter__(self) -> Host:
        words = [*self._words, "--host=127.0.0.1", f"--port={self.port}", "--without-connection-token"]
        log = (self.folder / "server.log").open("wb")
        self._process = subprocess.Popen(words, env=self._environ, stdout=log, stderr=log, start_new_session=True)
        log.close()
        until(self._answers)
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process is not None
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, 15)
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, 9)

    def _answers(self) -> bool:
        with socket.socket() as one:
            one.settimeout(1)
            return one.connect_ex(("127.0.0.1", self.port)) == 0

    def _run(self, *words: str) -> None:
        ended = subprocess.run([*self._words, *words], env=self._environ, capture_output=True, text=True, check=False)
        assert ended.returncode == 0, ended.stdout + ended.stderr


class Window:
    """A window of Visual Studio Code in a browser."""

    def __init__(self, browser: Any, address: str, **options: Any) -> None:
        self.page = browser.new_context(viewport={"width": 1200, "height": 750}, **options).new_page()
        self.page.set_default_timeout(_PATIENCE * 1000)
        self.page.goto(address)
        self.page.wait_for_selector(".monaco-workbench")

    def trust(self, button: str) -> None:
        """Answer the question whether the authors of the folder are trusted."""
        self.page.locator(f".monaco-dialog-box .monaco-button:has-text({json.dumps(button)})").click()
        self.page.wait_for_selector(".monaco-dialog-box", state="detached")

    def open(self, name: str) -> None:
        """Open a file of the top folder, and put the cursor into it."""
        self.page.locator(f'.explorer-folders-view .monaco-list-row[aria-label^="{name}"]').dblclick()
        self.page.wait_for_selector(f'.tab.active[data-resource-name="{name}"]')
        self.page.locator(".editor-instance .view-lines").first.click()

    def go_to(self, line: int, column: int) -> None:
        """Put the cursor at a place of the active editor."""
        self.page.keyboard.press("Control+g")
        self._type(f":{line}:{column}")

    def run(self, title: str) -> None:
        """Run a command of the palette."""
        self.page.keyboard.press("F1")
        self._type(title, row=title)

    def offered(self, text: str) -> list[str]:
        """The commands that the palette offers for a text."""
        self.page.keyboard.press("F1")
        self.page.locator(".quick-input-widget input").fill(f">{text}")
        until(lambda: text in " ".join(self._rows()))
        rows = self._rows()
        self.page.keyboard.press("Escape")
        return rows

    def press(self, keys: str) -> None:
        self.page.keyboard.press(keys)

    def status(self) -> str:
        """What the item in the status bar says to a screen reader; empty without one."""
        item = self.page.query_selector('.statusbar-item[id$="npulint.status"]')
        return str(item.get_attribute("aria-label") or "") if item is not None else ""

    def wait_status(self, text: str) -> None:
        until(lambda: text in self.status(), lambda: self.status())

    def frames(self) -> str:
        """The texts of all web views."""
        texts = []
        for frame in self.page.frames[1:]:
            with contextlib.suppress(Exception):  # a frame may go while it is read
                texts.append(frame.inner_text("body", timeout=1000))
        return "\n".join(texts)

    def text(self) -> str:
        """All text of the window but that of web views."""
        return str(self.page.inner_text(".monaco-workbench")).replace("\u00a0", " ")

    def picture(self, file: Path) -> None:
        self.page.screenshot(path=str(file))

    def _rows(self) -> list[str]:
        return [str(row.inner_text()) for row in self.page.query_selector_all(".quick-input-list .monaco-list-row")]

    def _type(self, text: str, row: str = "") -> None:
        box = self.page.locator(".quick-input-widget input").first
        box.wait_for(state="visible")
        box.fill(text if text.startswith(":") else f">{text}")
        if row:
            until(lambda: any(row in one for one in self._rows()[:1]), lambda: str(self._rows()))
        self.page.keyboard.press("Enter")


@contextlib.contextmanager
def chromium() -> Iterator[Any]:
    """A browser."""
    path = needed("chromium", "chromium-browser", "google-chrome")
    try:
        from playwright.sync_api import sync_playwright
    except ModuleNotFoundError:
        missing("playwright")
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=path, args=[*FLAGS, "--no-first-run"])
        yield running
        running.close()


def until(holds: Callable[[], bool], seen: Callable[[], str] = lambda: "") -> None:
    """Wait until a condition holds; fails with what was seen last."""
    end = time.monotonic() + _PATIENCE
    while not holds():
        assert time.monotonic() < end, f"waited in vain; seen last: {seen()}"
        time.sleep(0.1)


def _by_key(known: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """Translations of texts of Visual Studio Code, by the module and the key that each English text has there."""
    folder = server_program().parent
    keys = json.loads((folder / "nls.keys.json").read_text(encoding="utf-8"))
    english = iter(json.loads((folder / "nls.messages.json").read_text(encoding="utf-8")))
    texts = {module: {key: known.get(next(english), "") for key in names} for module, names in keys}
    return {module: {key: text for key, text in some.items() if text} for module, some in texts.items()}


def _language_pack(file: Path, texts: Mapping[str, Mapping[str, str]]) -> Path:
    """The package of an extension that adds Chinese as a display language."""
    translation = {"id": "vscode", "path": "./main.i18n.json"}
    language = {"languageId": "zh-cn", "localizedLanguageName": "中文", "translations": [translation]}
    manifest = {
        **{"name": "language-zh", "publisher": "test", "version": "1.0.0", "engines": {"vscode": "^1.85.0"}},
        "contributes": {"localizations": [language]},
    }
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("extension/package.json", json.dumps(manifest))
        archive.writestr("extension/main.i18n.json", json.dumps({"version": "1.0.0", "contents": texts}))
        archive.writestr("extension.vsixmanifest", _VSIX)
    return file


def _free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])
