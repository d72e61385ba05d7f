"""Fixtures that several test modules share."""

from __future__ import annotations

import os
from pathlib import Path

import hypothesis
import pytest

from tests.project_support import Project

hypothesis.settings.register_profile("server", derandomize=True, deadline=None)
if os.environ.get("NPULINT_TEST_ALL"):  # a server tries the same examples each time; developers try others
    hypothesis.settings.load_profile("server")


@pytest.fixture(scope="session")
def cache_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One cache for all projects, so that the catalogue is compiled once."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture
def project(tmp_path: Path, cache_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """An empty folder to write a project into, made the working directory."""
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("NPULINT_CACHE_DIR", str(cache_folder))
    return Project(folder)
