"""Take the pictures of the HTML report that the READMEs show: ``python scripts/report_picture.py``.

Needs Chromium and Playwright. Writes ``docs/images/report.png`` and ``docs/images/report.zh.png``.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PICTURES = {"en": ROOT / "docs/images/report.png", "zh": ROOT / "docs/images/report.zh.png"}
_WIDTH, _HEIGHT = 1200, 1130  # the verdict, what to do first, and the top of the overview


def write_report(lang: str, page: Path) -> None:
    """Check a copy of the sample projects and write the HTML report to `page`."""
    folder = page.with_name("examples")
    for name in ("denoiser", "classifier"):
        shutil.copytree(ROOT / "examples" / name, folder / name, dirs_exist_ok=True)
    options = ["--lang", lang, "--format", "html", "--no-cache", "--exit-zero"]
    command = [sys.executable, "-m", "npulint", "check", "denoiser", "classifier", *options]
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    page.write_bytes(subprocess.run(command, cwd=folder, env=environ, stdout=subprocess.PIPE, check=True).stdout)


def main() -> int:
    """Take both pictures; 2 without a browser."""
    from playwright.sync_api import sync_playwright

    browser_path = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if browser_path is None:
        print("Chromium is not installed", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=["--no-sandbox", "--disable-gpu"])
        for lang, picture in PICTURES.items():
            page = Path(folder) / f"{lang}.html"
            write_report(lang, page)
            tab = browser.new_page(viewport={"width": _WIDTH, "height": _HEIGHT}, color_scheme="light")
            tab.goto(page.as_uri())
            tab.screenshot(path=picture)
        browser.close()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
