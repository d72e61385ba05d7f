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
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from string import Template
from typing import Any
from urllib.parse import urlsplit

import yaml

from npulint.core.errors import NpulintError
from npulint.judge.catalogue.check import Catalogue
from scripts.docsite import hooks
from scripts.docsite.generate import navigation, pages, redirects
from scripts.docsite.guides import DOCS
from scripts.docsite.words import LANGUAGE_NAMES, LANGUAGES, say

HOME = DOCS / "site"
WORDS = ("skip", "sections", "search", "none", "some", "more", "dark", "crumbs", "around", "toc")
"""What the template says in the language of a page."""


def build(out: Path, catalogue: Catalogue, address: str, retired: dict[str, str], renamed: dict[str, str]) -> None:
    """Write the whole site into the folder `out`, which may exist; what it holds of an earlier site is replaced.
    `address` is where the site will be published. Raises `NpulintError` when MkDocs finds fault with a page."""
    with ProcessPoolExecutor(len(LANGUAGES), get_context("spawn")) as executor:
        parts = [executor.submit(_language, out, lang, catalogue, address, retired, renamed) for lang in LANGUAGES]
        for part in parts:
            part.result()
    root = urlsplit(address).path.rstrip("/") + "/"  # a page for what is not there may be shown at any depth
    _write(out, {"index.html": _page("index.html"), "404.html": _page("404.html", root=root), ".nojekyll": ""})


def _language(
    out: Path, lang: str, catalogue: Catalogue, address: str, retired: dict[str, str], renamed: dict[str, str]
) -> None:
    """Write the part of the site in one language."""
    with tempfile.TemporaryDirectory(prefix="npulint-site-") as folder:
        work = Path(folder)
        _write(work / "docs", pages(catalogue, lang, retired))
        shutil.copytree(HOME / "assets", work / "docs" / "assets")
        _copy_pictures(work / "docs")
        settings = _settings(work, navigation(catalogue, lang), lang, address)
        (work / "mkdocs.yml").write_text(json.dumps(settings, ensure_ascii=False), encoding="utf-8")
        _mkdocs(work, lang)
        shutil.rmtree(out / lang, ignore_errors=True)
        shutil.copytree(work / "site", out / lang)
        redirecting = {
            f"{old}/index.html": _page("redirect.html", check=new) for old, new in redirects(catalogue, renamed).items()
        }
        _write(out / lang / "checks", redirecting)


def _write(folder: Path, texts: Mapping[str, str]) -> None:
    for name, text in texts.items():
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8", newline="\n")


def _copy_pictures(folder: Path) -> None:
    """Copy the pictures that guides show, next to the folder of the guides as in the repository."""
    texts = "".join(page.read_text(encoding="utf-8") for page in (folder / "guides").glob("*.md"))
    for picture in (DOCS / "images").iterdir():
        if f"](../images/{picture.name})" in texts:
            (folder / "images").mkdir(exist_ok=True)
            shutil.copy2(picture, folder / "images")


def _settings(work: Path, nav: list[dict[str, Any]], lang: str, address: str) -> dict[str, Any]:
    settings: dict[str, Any] = yaml.safe_load((HOME / "mkdocs.yml").read_text(encoding="utf-8"))
    settings["theme"] |= {"custom_dir": str(HOME / "theme")}
    settings["extra"] = {
        "lang": lang,
        "alternate": [{"lang": one, "name": LANGUAGE_NAMES[one]} for one in LANGUAGES],
        "docs_url": address,
        "words": {name: say(lang, f"page.{name}") for name in WORDS},
    }
    return settings | {
        "site_url": f"{address}/{lang}/",
        "hooks": [str(Path(hooks.__file__))],
        "site_description": say(lang, "about"),
        "docs_dir": str(work / "docs"),
        "site_dir": str(work / "site"),
        "nav": nav,
    }


def _mkdocs(work: Path, lang: str) -> None:
    """Run MkDocs. The epoch of the build keeps dates out of what it writes."""
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "-f", str(work / "mkdocs.yml")]
    environ = {**os.environ, "SOURCE_DATE_EPOCH": "0", "PYTHONHASHSEED": "0", "PYTHONUTF8": "1"}
    done = subprocess.run(
        command,
        cwd=work,
        env=environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        errors="replace",
        check=False,
    )
    if done.returncode:
        raise NpulintError(f"mkdocs ({lang}):\n{done.stdout}")


def _page(name: str, **values: str) -> str:
    """A page that no theme makes, its ``$values`` filled in."""
    text = (HOME / "pages" / name).read_text(encoding="utf-8")
    return Template(text).substitute({key: html.escape(value, quote=True) for key, value in values.items()})
