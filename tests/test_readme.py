"""The READMEs show what npulint really prints."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from npulint.data.releases import torch_releases
from npulint.judge.catalogue.load import load_catalogue

ROOT = Path(__file__).resolve().parent.parent


@pytest.mark.slow
def test_the_output_in_the_readmes_is_the_real_one() -> None:
    done = subprocess.run([sys.executable, "scripts/fill_readme.py", "--check"], cwd=ROOT, check=False)
    assert done.returncode == 0, "run scripts/fill_readme.py"


def test_both_readmes_name_the_two_commands() -> None:
    for name in ("README.md", "README.zh.md"):
        text = (ROOT / name).read_text(encoding="utf-8")
        assert "./run-example" in text and "./check" in text
        assert (ROOT / "run-example").exists() and (ROOT / "check").exists()


def _parts(name: str) -> tuple[list[str], list[str], set[str]]:
    """The levels of the headings of a README, the languages of its code blocks, and the pages that it links to."""
    text = (ROOT / name).read_text(encoding="utf-8")
    links = {re.sub(r"docs/(?:en|zh)/", "", link) for link in re.findall(r"\]\(([^)]+)\)", text)}
    pages = {link for link in links if not link.startswith(("README", "docs/images"))}
    return re.findall(r"^(#+) ", text, re.MULTILINE), re.findall(r"^```(\w+)", text, re.MULTILINE), pages


def test_both_readmes_have_the_same_parts() -> None:
    english, chinese = _parts("README.md"), _parts("README.zh.md")
    assert english == chinese
    assert len(english[0]) > 8 and len(english[2]) > 12


def test_the_pictures_of_the_readmes_are_there_and_small() -> None:
    for name in ("README.md", "README.zh.md"):
        found = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", (ROOT / name).read_text(encoding="utf-8"))
        assert len(found) == 1
        assert (ROOT / found[0]).stat().st_size < 200_000


def test_the_figures_of_the_readmes_are_those_of_the_tables() -> None:
    checks = load_catalogue().checks
    assert len(checks) > 800 and all(check.references for check in checks)
    assert sum(1 for check in checks if check.fixes) > 200
    major, minor = torch_releases("kernels")[-1]
    for name, figures in (("README.md", "than 800 .* than 200 "), ("README.zh.md", "800 多个.*200 多个")):
        text = (ROOT / name).read_text(encoding="utf-8")
        assert re.search(figures, text)
        assert f"{major}.{minor}" in text
