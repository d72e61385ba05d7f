"""The table of removed PyTorch interfaces agrees with the installed PyTorch; skipped without one."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable

import pytest

from npulint.data.torch_removed import removed_interfaces

pytestmark = pytest.mark.slow


def test_the_installed_pytorch_asks_for_the_argument() -> None:
    torch = pytest.importorskip("torch")
    assert [name for name, removed in removed_interfaces().items() if removed.argument] == ["torch.stft"]
    with pytest.raises(RuntimeError, match="return_complex"):
        torch.stft(torch.ones(8), 4, window=torch.ones(4))


@pytest.mark.parametrize("name", sorted(name for name, row in removed_interfaces().items() if not row.argument))
def test_the_installed_pytorch_lacks_it(name: str) -> None:
    torch = pytest.importorskip("torch")
    found = _member(name)
    if found is None or inspect.ismodule(found):  # torch.fft is a module by now
        return
    matrix = torch.eye(2)
    assert callable(found)
    with pytest.raises(RuntimeError, match="removed"):
        _called(found, matrix)


def _called(function: Callable[..., object], matrix: object) -> None:
    """Call a function of one or of two matrices."""
    try:
        function(matrix)
    except TypeError:
        function(matrix, matrix)


def _member(name: str) -> object | None:
    """What a dotted name is; None if there is no such thing."""
    owner, _, last = name.rpartition(".")
    try:
        return getattr(importlib.import_module(owner), last, None) or importlib.import_module(name)
    except ImportError:
        return None
