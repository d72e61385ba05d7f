"""Take the pictures of the extension that the guides show: ``python -m scripts.vscode_pictures VSIX``.

Needs Chromium, Playwright, and the folder that ``.ci/code-server.sh`` made in NPULINT_CODE_SERVER. Writes
``docs/images/vscode.png`` and ``docs/images/vscode.zh.png``.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from tests.vscode_support import Host, Window, chromium, until

ROOT = Path(__file__).resolve().parent.parent
PICTURES = {"en": ROOT / "docs/images/vscode.png", "zh": ROOT / "docs/images/vscode.zh.png"}
_WORDS = {
    "Explorer": "资源管理器",
    "Problems": "问题",
    "Output": "输出",
    "Debug Console": "调试控制台",
    "Terminal": "终端",
    "Ports": "端口",
    "Outline": "大纲",
    "Timeline": "时间线",
    "Filter (e.g. text, **/*.ts, !**/node_modules/**)": "筛选器（例如 text、**/*.ts、!**/node_modules/**）",
    "Quick Fix": "快速修复",
    "Focus on {0} View": "聚焦到“{0}”视图",
    "Ln {0}, Col {1}": "行 {0}，列 {1}",
    "Spaces: {0}": "空格：{0}",
}


def main() -> int:
    """Take both pictures."""
    folder = Path(tempfile.mkdtemp(prefix="npulint-pictures-"))
    project = Path(shutil.copytree(ROOT / "examples/classifier", folder / "classifier"))
    host = Host(folder / "host", Path(sys.argv[1]))
    with chromium() as browser:
        for lang, picture in PICTURES.items():
            if lang == "zh":
                host.speak_chinese(_WORDS)
            with host:
                window = Window(browser, host.address(project), locale={"en": "en-US", "zh": "zh-CN"}[lang])
                _pose(window, picture)
    shutil.rmtree(folder)
    return 0


def _pose(window: Window, picture: Path) -> None:
    window.page.set_viewport_size({"width": 1100, "height": 640})
    window.trust("Yes, I trust the authors")
    window.open("main.py")
    until(lambda: window.page.query_selector(".squiggly-error, .squiggly-warning") is not None)
    window.go_to(48, 1)
    window.press("Control+Shift+m")
    window.page.wait_for_timeout(3000)
    window.picture(picture)


if __name__ == "__main__":
    raise SystemExit(main())
