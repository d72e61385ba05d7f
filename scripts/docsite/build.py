"""From the pages to the site: writes them out, lets MkDocs make HTML of them, and adds what leads to them."""

from __future__ import annotations

import html
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from string import Template
from typing import Any
from urllib.parse import urlsplit

import yaml

from npulint.catalogue.check import Catalogue
from npulint.errors import NpulintError
from scripts.docsite.generate import navigation, pages, redirects
from scripts.docsite.guides import DOCS
from scripts.docsite.words import LANGUAGE_NAMES, LANGUAGES, say

HOME = DOCS / "site"


def build(out: Path, catalogue: Catalogue, address: str, retired: dict[str, str], renamed: dict[str, str]) -> None:
    """Write the whole site into the folder `out`, which may exist; what it holds of an earlier site is replaced.
    `address` is where the site will be published. Raises `NpulintError` when MkDocs finds fault with a page."""
    with tempfile.TemporaryDirectory(prefix="npulint-site-") as folder:
        running = []
        for lang in LANGUAGES:
            work = Path(folder) / lang
            _write(work / "docs", pages(catalogue, lang, retired))
            shutil.copytree(HOME / "assets", work / "docs" / "assets")
            shutil.copytree(DOCS / "images", work / "docs" / "images")
            settings = _settings(work, navigation(catalogue, lang), lang, address)
            (work / "mkdocs.yml").write_text(json.dumps(settings, ensure_ascii=False), encoding="utf-8")
            running.append((lang, _mkdocs(work)))
        for lang, process in running:
            output = process.communicate()[0]
            if process.returncode:
                raise NpulintError(f"mkdocs ({lang}):\n{output}")
        for lang in LANGUAGES:
            shutil.rmtree(out / lang, ignore_errors=True)
            shutil.copytree(Path(folder) / lang / "site", out / lang)
            _finish(out / lang, redirects(catalogue, renamed))
    root = urlsplit(address).path.rstrip("/") + "/"  # a page for what is not there may be shown at any depth
    _write(out, {"index.html": _page("index.html"), "404.html": _page("404.html", root=root), ".nojekyll": ""})


def _write(folder: Path, texts: Mapping[str, str]) -> None:
    for name, text in texts.items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8", newline="\n")


def _settings(work: Path, nav: list[dict[str, Any]], lang: str, address: str) -> dict[str, Any]:
    settings: dict[str, Any] = yaml.safe_load((HOME / "mkdocs.yml").read_text(encoding="utf-8"))
    settings["theme"] |= {"language": lang, "custom_dir": str(HOME / "overrides")}
    for palette, name in zip(settings["theme"]["palette"], ("palette.dark", "palette.light"), strict=True):
        palette["toggle"]["name"] = say(lang, name)
    settings["extra"] |= {
        "alternate": [{"lang": one, "link": "", "name": LANGUAGE_NAMES[one]} for one in LANGUAGES],
        "docs_url": address,
    }
    return settings | {
        "site_url": f"{address}/{lang}/",
        "site_description": say(lang, "about"),
        "docs_dir": str(work / "docs"),
        "site_dir": str(work / "site"),
        "nav": nav,
    }


def _mkdocs(work: Path) -> subprocess.Popen[str]:
    """MkDocs at work. The epoch of the build keeps dates out of what it writes."""
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "-f", str(work / "mkdocs.yml")]
    environ = {**os.environ, "SOURCE_DATE_EPOCH": "0", "PYTHONHASHSEED": "0", "PYTHONUTF8": "1"}
    return subprocess.Popen(
        command,
        cwd=work,
        env=environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        errors="replace",
    )


def _finish(site: Path, leading: Mapping[str, str]) -> None:
    """Redirects from codes and former names, and the search index for a copy that is opened from a folder."""
    _write(site / "checks", {f"{old}/index.html": _page("redirect.html", check=new) for old, new in leading.items()})
    index = (site / "search" / "search_index.json").read_text(encoding="utf-8")
    _write(site / "search", {"search_index.js": f"var __index = {index}"})


def _page(name: str, **values: str) -> str:
    """A page that no theme makes, its ``$values`` filled in."""
    text = (HOME / "pages" / name).read_text(encoding="utf-8")
    return Template(text).substitute({key: html.escape(value, quote=True) for key, value in values.items()})
