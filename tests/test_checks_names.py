"""Every framework name that a check asks about is spelt canonically and really exists."""

from __future__ import annotations

import csv
import importlib
from collections.abc import Iterator
from pathlib import Path

import pytest

from npulint.data.names import canonical, star_exports
from npulint.judge.catalogue.check import Check, Query
from npulint.judge.catalogue.load import load_catalogue
from tests.tables import for_all

_SOURCES = Path(__file__).resolve().parent.parent / "data-src"
# Public since TensorFlow 2.x; the recorded tables are those of 1.15.
_LATER = {
    "tensorflow.keras.mixed_precision.set_global_policy",
    "tensorflow.keras.mixed_precision.Policy",
    "tensorflow.keras.activations.gelu",
    "tensorflow.keras.utils.set_random_seed",
    "tensorflow.config.run_functions_eagerly",
    "tensorflow.config.experimental.enable_op_determinism",
    "tensorflow.config.set_logical_device_configuration",
    "tensorflow.config.set_visible_devices",
    "tensorflow.config.list_logical_devices",
    "tensorflow.config.list_physical_devices",
    "tensorflow.python.client.device_lib.list_local_devices",  # private in every release, and used everywhere
}
# What PyTorch once had, or only the NPU's builds of it.
_FORMER = {
    "torch.backends.cudnn.fastest",
    "torch.backends.cudnn.verbose",
    "torch.copy_memory_",
    "torch.empty_with_format",
    "torch.fast_gelu",
    "torch.get_npu_format",
    "torch.set_deterministic",
    "torch.utils.ffi.create_extension",
}
_CHECKS = load_catalogue(use_cache=False).checks
every_check = for_all({check.name: check for check in _CHECKS})
_KINDS = ("call", "mention", "optimizer", "session", "lookup_table", "variable", "control_flow", "distribution")


def _queries(query: Query | None) -> Iterator[Query]:
    if query is None:
        return
    yield query
    for part in (*query.all, *query.any, query.negated):
        yield from _queries(part)


def _names(check: Check, framework: str = "tensorflow") -> set[str]:
    """The literal framework names in the questions of a check."""
    found: set[str] = set()
    for root in (check.find, check.needs, check.unless, check.related):
        for query in _queries(root):
            if query.kind in _KINDS:
                found.update(n for n in query.names if "*" not in n and "(" not in n and n.startswith(f"{framework}."))
    return found


def _is_there(name: str) -> bool:
    """Whether the installed library has a member of this name."""
    parts = name.split(".")
    for end in range(len(parts), 0, -1):
        try:
            found: object = importlib.import_module(".".join(parts[:end]))
        except ImportError:
            continue
        for part in parts[end:]:
            if not hasattr(found, part):
                return False
            found = getattr(found, part)
        return True
    return False


def _known() -> set[str]:
    """Canonical names of the recorded TensorFlow 1.15 and 2.x interfaces."""
    found = {canonical(f"tensorflow.{name}") for name in star_exports("tensorflow")}
    for table in ("tf115_api.csv", "tf_spellings.csv", "tf_private.csv", "tf_v2_separate.csv"):
        with open(_SOURCES / table, encoding="utf-8", newline="") as rows:
            for row in csv.reader(rows):
                for cell in row:
                    name = cell.replace("tf.", "tensorflow.", 1) if cell.startswith("tf.") else cell
                    found.add(canonical(name))
    return found


_KNOWN = _known()


@every_check
def test_names_are_spelt_canonically(check: Check) -> None:
    names = _names(check) | _names(check, "torch") | _names(check, "apex")
    assert [name for name in sorted(names) if canonical(name) != name] == []


@every_check
def test_names_exist(check: Check) -> None:
    unknown = [n for n in sorted(_names(check)) if n not in _KNOWN | _LATER and not n.startswith("tensorflow.contrib.")]
    assert unknown == []


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_names_of_pytorch_exist() -> None:
    pytest.importorskip("torch")
    named = {name for check in _CHECKS for name in _names(check, "torch") if not name.startswith("torch.npu.")}
    assert len(named) > 50
    assert [name for name in sorted(named - _FORMER) if not _is_there(name)] == []
