"""What names mean is kept in files that an edit of another file cannot concern, and looked up anew in all others."""

from __future__ import annotations

import random

import pytest

from npulint.facts.model import FileFacts
from npulint.model.code.project import Project
from npulint.model.values.context import Context
from tests.support import read_sources

_FILES = {
    "a.py": "import torch\nfrom b import make\nmake().step()\n",
    "b.py": "from c import make\n",
    "c.py": "import torch\ndef make():\n    return torch.optim.SGD()\n",
    "d.py": "import torch\ntorch.zeros(1)\n",
    "pkg/__init__.py": "",
    "pkg/part.py": "import torch\ndef make():\n    return torch.optim.SGD()\n",
    "e.py": "import torch\nimport pkg\npkg.part.make().step()\n",
}
_ADAM = "import torch\ndef make():\n    return torch.optim.Adam()\n"


class _Editor:
    """A project whose files are read once, and again when they are edited."""

    def __init__(self) -> None:
        self.texts = dict(_FILES)
        self.files: dict[str, FileFacts] = {file.path: file for file in read_sources(_FILES)}

    def edit(self, path: str, text: str) -> None:
        self.texts[path] = text
        [self.files[path]] = read_sources({path: text})

    def names(self) -> dict[str, list[str]]:
        """The canonical names of all calls by file, as the project is now."""
        context = Context(Project("", self.files.values()))
        return {path: context.names.of_calls(module) for path, module in context.project.modules.items()}


def _fresh(editor: _Editor) -> dict[str, list[str]]:
    """The names of the same files, read anew."""
    again = _Editor()
    for path, text in editor.texts.items():
        again.edit(path, text)
    return again.names()


@pytest.mark.parametrize("path", ["c.py", "pkg/part.py"])
def test_names_through_an_edited_file_are_new(path: str) -> None:
    editor = _Editor()
    assert "torch.optim.SGD().step" in editor.names()["a.py" if path == "c.py" else "e.py"]
    editor.edit(path, _ADAM)
    names = editor.names()
    assert names["a.py"][-1] == ("torch.optim.Adam().step" if path == "c.py" else "torch.optim.SGD().step")
    assert names["e.py"][-1] == ("torch.optim.SGD().step" if path == "c.py" else "torch.optim.Adam().step")


def test_names_of_others_are_kept() -> None:
    editor = _Editor()
    before = {path: one.callees for path, one in _project(editor).modules.items()}
    editor.edit("c.py", _ADAM)
    after = {path: one.callees for path, one in _project(editor).modules.items()}
    assert {path for path in before if after[path] is before[path]} == {
        "d.py",
        "pkg/__init__.py",
        "pkg/part.py",
        "e.py",
    }


def test_a_new_file_changes_all_names() -> None:
    editor = _Editor()
    before = _project(editor).modules["d.py"].callees
    editor.files.update({file.path: file for file in read_sources({"torch_tools.py": "x = 1\n"})})
    assert _project(editor).modules["d.py"].callees is not before


def test_a_file_that_was_away_for_an_edit_counts_as_edited() -> None:
    editor = _Editor()
    first = editor.files["c.py"]
    assert editor.names()["a.py"][-1] == "torch.optim.SGD().step"
    editor.edit("c.py", _ADAM)
    assert editor.names()["a.py"][-1] == "torch.optim.Adam().step"
    editor.files["c.py"] = first
    assert editor.names()["a.py"][-1] == "torch.optim.SGD().step"


def test_after_any_edits_names_are_those_of_a_fresh_project() -> None:
    rng = random.Random(5)
    texts = [
        *_FILES.values(),
        _ADAM,
        "import torch\nfrom a import *\nmake().step()\n",
        "import torch\nimport c\nc.make().step()\n",
    ]
    editor = _Editor()
    for _ in range(60):
        editor.edit(rng.choice(list(_FILES)), rng.choice(texts))
        names = editor.names()
        assert names == _fresh(editor)


def _project(editor: _Editor) -> Project:
    return Project("", editor.files.values())
