"""A project whose folder is a package, which its modules import by a name that the folder does not have any more."""

from __future__ import annotations

import pytest

from npulint.commands.build import assembled
from tests.support import programs, read_sources

_MODEL = "import tensorflow as tf\n\ndef step(loss):\n    return tf.train.AdamOptimizer(0.1).minimize(loss)\n"
_TRAIN = """
import tensorflow as tf
from smith import model
from smith.nets.layers import dense

if __name__ == "__main__":
    with tf.Session() as sess:
        sess.run(model.step(dense()))
"""
_FILES = {"__init__.py": "", "model.py": _MODEL, "nets/__init__.py": "", "nets/layers.py": "def dense():\n    pass\n"}


def test_its_modules_are_those_of_the_project() -> None:
    (first, *_) = programs({**_FILES, "train.py": _TRAIN})
    assert first.paths == ["model.py", "nets/__init__.py", "nets/layers.py", "train.py"]
    assert first.fact.trains


@pytest.mark.parametrize(
    ("files", "source"),
    [
        ({name: text for name, text in _FILES.items() if name != "__init__.py"}, _TRAIN),
        (_FILES, f"from smith.other import x\n{_TRAIN}"),  # of another package of this name
    ],
)
def test_other_packages_are_foreign(files: dict[str, str], source: str) -> None:
    project = assembled("", read_sources({**files, "train.py": source})).context.project
    assert dict(project.uses("train.py")) == {}
