"""Programs that live checks are tried on: modules of a project that are imported as a user's process does."""

from __future__ import annotations

import importlib.util
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

from tests.tools import missing


def installed(name: str) -> None:
    """End the test where TensorFlow or torch is not installed."""
    if importlib.util.find_spec(name) is None:
        missing(name)


def framework(name: str) -> Any:
    """TensorFlow or torch, without the warnings of their imports. Ends the test where it is not installed."""
    installed(name)
    with quiet():
        return __import__(name)


@contextmanager
def quiet() -> Iterator[None]:
    """Warnings of frameworks about themselves are none of ours."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def loaded(path: Path) -> ModuleType:
    """The module in a file, imported under a name that no other test has."""
    name = f"{path.stem}_{abs(hash(str(path)))}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    with quiet():
        spec.loader.exec_module(module)
    return module


def line_of(path: Path, text: str) -> int:
    """The number of the only line that holds `text`."""
    found = [number for number, line in enumerate(path.read_text().split("\n"), 1) if text in line]
    assert len(found) == 1, (text, found)
    return found[0]
