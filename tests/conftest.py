"""Fixtures that several test modules share."""

from __future__ import annotations

import functools
import gc
import os
import shutil
import signal
import zlib
from collections import defaultdict
from pathlib import Path

import hypothesis
import pytest

from npulint.judge.catalogue import collect, load, messages
from npulint.judge.catalogue.sources import builtin_directory
from npulint.judge.catalogue.tables import parse_checks
from scripts.measured_tests import limits
from tests import fix_checks
from tests.project_support import Project

SLOW, NIGHTLY = Path(__file__).parent / "slow.txt", Path(__file__).parent / "nightly.txt"

# machines are busy, and no test is about a deadline
hypothesis.settings.register_profile("repeatable", derandomize=True, database=None, deadline=None)
hypothesis.settings.register_profile("random", print_blob=True, deadline=None)
hypothesis.settings.load_profile("random" if os.environ.get("NPULINT_TEST_NIGHTLY") else "repeatable")


def pytest_configure(config: pytest.Config) -> None:
    """Read neither a check file nor a compiled catalogue twice in a process: the readers are functions of bytes, or of
    files with their times, that give values nobody changes, and most tests, and the collection of many, begin with the
    catalogue."""
    # a shell that starts the tests in the background lets them, and the programs that they start, ignore interrupts
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    patch = pytest.MonkeyPatch()
    patch.setattr(collect, "parse_checks", functools.lru_cache(maxsize=2048)(parse_checks))
    patch.setattr(messages, "parse_table", functools.lru_cache(maxsize=256)(messages.parse_table))
    collected = functools.lru_cache(maxsize=64)(load._collect)
    patch.setattr(load, "_collect", lambda files: collected(tuple(files)))
    patch.setattr(load, "decode", functools.lru_cache(maxsize=16)(load.decode))
    config.add_cleanup(patch.undo)
    config.add_cleanup(functools.partial(shutil.rmtree, fix_checks.FOLDER, ignore_errors=True))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what opens a browser, what was measured to be slow, and what of it runs at night only."""
    listed = frozenset(SLOW.read_text(encoding="utf-8").split())
    daily = limits(NIGHTLY.read_text(encoding="utf-8"))
    costly: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        function = item.nodeid.partition("[")[0]
        if function in listed:
            item.add_marker(pytest.mark.slow)
        if isinstance(item, pytest.Function) and "browser" in item.fixturenames:
            item.add_marker(pytest.mark.browser)
        if function in daily and not any(mark.name in ("nightly", "daily") for mark in item.iter_markers()):
            costly[function].append(item)
    for function, cases in costly.items():
        for case in sorted(cases, key=lambda case: zlib.crc32(case.nodeid.encode()))[daily[function] :]:
            case.add_marker(pytest.mark.nightly)


def pytest_collection_finish() -> None:
    """Leave what was collected out of all garbage collections: it is much, and stays until the end."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def cache_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One cache for all projects, so that the catalogue is compiled once."""
    folder = tmp_path_factory.mktemp("cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NPULINT_CACHE_DIR", str(folder))
        load.load_catalogue()
    return folder


@pytest.fixture
def new_cache(tmp_path: Path, cache_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache that remembers no project, only the compiled catalogue, for programs that tests start."""
    folder = tmp_path / "cache"
    folder.mkdir(mode=0o700)
    with monkeypatch.context() as patch:
        patch.setenv("NPULINT_CACHE_DIR", str(cache_folder))
        compiled_catalogue = Path(load.cache_path([builtin_directory()]) or "")
    os.link(compiled_catalogue, folder / compiled_catalogue.name)  # it is replaced, never written into
    return folder


@pytest.fixture
def project(tmp_path: Path, cache_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """An empty folder to write a project into, made the working directory."""
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("NPULINT_CACHE_DIR", str(cache_folder))
    return Project(folder)
