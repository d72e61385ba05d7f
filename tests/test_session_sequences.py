"""Any sequence of edits, saves and changes on disk leads a session to what a fresh run over the same contents says."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import msgspec
import pytest
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, precondition, rule

from npulint.commands.check.pipeline import run
from npulint.commands.session import Session
from npulint.discover.files import discover
from npulint.discover.kinds import SourceFile, kinds_of
from npulint.discover.projects import group
from npulint.judge.findings import Finding
from npulint.judge.postprocess.finalize import FOR_EDITORS
from npulint.judge.settings import Settings
from npulint.read.files import load, read
from tests.project_support import ROOT

pytestmark = pytest.mark.slow

SETTINGS = Settings(paths=(".",), cache=False)
SAMPLE = {
    str(path.relative_to(ROOT / "examples" / "migrated")): path.read_text(encoding="utf-8")
    for path in sorted((ROOT / "examples" / "migrated").rglob("*"))
    if path.is_file() and kinds_of(path.name)
}
NAMES = (*SAMPLE, "part/train.py", "part/helper.py", "Dockerfile", "requirements.txt")
PIECES = (
    "import tensorflow as tf\n",
    "import torch\nmodel = torch.nn.Linear(1, 1).cuda()\n",
    "from helper import step\nstep(tf.nn.dropout(x, 0.5))\n",
    "def step(x):\n    return tf.Variable(x)  # npulint: ignore[native-dropout]\n",
    "x = tf.data.Dataset.range(3).map(step)  # npulint: ignore[variable-in-dataset-map, nonsense]\n",
    "with tf.Session() as s:\n    s.run(x)\n",
    "if __name__ == '__main__':\n    train()\n",
    "def half(:\n",
    "export RANK_SIZE=8\npython train.py --batch 3\n",
    '{"black-list": {"to-add": ["Cast"]}}\n',
    "tensorflow==1.15\n",
)
NAME = st.sampled_from(NAMES)
TARGETS: tuple[dict[str, str], ...] = ({}, {"torch": "2.1.0"}, {"soc": "Ascend910B1"})


def broken(name: str, text: str) -> bool:
    """Whether nothing of it can be read."""
    data = text.encode()
    sources = [SourceFile(name, kind, name, ".", len(data)) for kind in kinds_of(name)]
    return any(problem.fatal for source in sources for problem in read(load(source, data)).problems)


def write(folder: str, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = Path(folder, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


class Editing(RuleBasedStateMachine):
    """A folder, what an editor has open of it, and what could be read of each file when it was last looked at."""

    settings = SETTINGS

    def __init__(self) -> None:
        super().__init__()
        self._home = os.getcwd()
        self._folder = tempfile.TemporaryDirectory(prefix="npulint-")
        os.chdir(self._folder.name)
        self.disk: dict[str, str] = {}
        self.open: dict[str, str] = {}
        self.good: dict[str, str] = {}

    def teardown(self) -> None:
        os.chdir(self._home)
        self._folder.cleanup()

    @initialize()
    def begin(self) -> None:
        self.disk = dict(SAMPLE)
        write(".", self.disk)
        self.session = Session(self.settings)

    @rule(name=NAME, piece=st.sampled_from(PIECES))
    def add(self, name: str, piece: str) -> None:
        self._edit(name, self._text(name) + piece)

    @rule(name=NAME, share=st.floats(0, 1))
    def take_a_line(self, name: str, share: float) -> None:
        lines = self._text(name).splitlines(keepends=True)
        if lines:
            del lines[int(share * (len(lines) - 1))]
        self._edit(name, "".join(lines))

    @rule(name=NAME, other=NAME)
    def copy(self, name: str, other: str) -> None:
        self._edit(name, self._text(other))

    @rule(name=NAME)
    def save(self, name: str) -> None:
        if name in self.open:
            self._save(name, self.open[name])

    @rule(name=NAME)
    def close(self, name: str) -> None:
        self.open.pop(name, None)
        self.session.change(name, None)

    @rule(name=NAME, piece=st.sampled_from(PIECES))
    def change_on_disk(self, name: str, piece: str) -> None:
        self._save(name, self.disk.get(name, "") + piece)

    @precondition(lambda self: self.disk)
    @rule(data=st.data())
    def delete(self, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(sorted(self.disk)))
        del self.disk[name]
        os.unlink(name)
        self.session.touched([name])

    @precondition(lambda self: self.disk)
    @rule(data=st.data(), name=NAME)
    def rename(self, data: st.DataObject, name: str) -> None:
        old = data.draw(st.sampled_from(sorted(self.disk)))
        text = self.disk.pop(old)
        os.unlink(old)
        self.session.touched([old])
        self._save(name, text)

    @rule(declared=st.sampled_from(TARGETS), ignore=st.sampled_from(((), ("native-dropout",))))
    def configure(self, declared: dict[str, str], ignore: tuple[str, ...]) -> None:
        self.settings = msgspec.structs.replace(self.settings, target=declared, ignore=ignore)
        self.session.reconfigure(self.settings)

    @rule(name=NAME)
    def check(self, name: str) -> None:
        contents = {**self.disk, **self.open}
        checked = self.session.check(name)
        now, projects = self._fresh(contents)
        mine = next((set(kinds) for kinds in projects if name in kinds), set())
        quiet = {
            path for kinds in projects for path, kind in kinds.items() if kind == "data"
        }  # listed with findings only
        named = "" if mine or name not in contents else name  # no part of a project: as if it was named alone
        if named:
            now, _ = self._fresh(contents, named)
        mine = mine or {name}
        unreadable = {path for path in mine if path in contents and broken(path, contents[path])}
        held = unreadable & set(self.good)
        expected, _ = self._fresh({**contents, **{path: self.good[path] for path in held}}, named)
        assert set(checked.findings) | quiet == mine | quiet
        for path in mine - held:
            told = [without(one, held) for one in expected.get(path, ())]
            assert checked.findings.get(path, [] if path in quiet else None) == told, path
        for path in held:
            assert checked.findings[path] == now.get(path, []), path
        self.good.update((path, contents[path]) for path in mine - unreadable if path in contents)

    def _text(self, name: str) -> str:
        return self.open.get(name, self.disk.get(name, ""))

    def _edit(self, name: str, text: str) -> None:
        self.open[name] = text
        self.session.change(name, text.encode())

    def _save(self, name: str, text: str) -> None:
        self.disk[name] = text
        write(".", {name: text})
        self.session.touched([name])

    def _fresh(
        self, contents: dict[str, str], named: str = ""
    ) -> tuple[dict[str, list[Finding]], list[dict[str, str]]]:
        """The findings of a run over these contents (or the `named` file), and the files of its projects with their
        kinds, but for those that an editor never shows. What an editor alone has makes no folder a project."""
        with tempfile.TemporaryDirectory(prefix="npulint-") as folder:
            write(folder, contents)
            os.chdir(folder)
            try:
                found: dict[str, list[Finding]] = {}
                for one in run(
                    msgspec.structs.replace(self.settings, cache=False, paths=(named or ".",)), order=FOR_EDITORS
                ).findings:
                    found.setdefault(one.path, []).append(one)
                groups = group([one for one in discover(["."]).files if one.kind not in ("graph", "artifact")])
            finally:
                os.chdir(self._folder.name)
        return found, [{file.path: file.kind for file in files} for files in groups.values()]


def without(one: Finding, paths: set[str]) -> Finding:
    """The finding without its places in files that cannot be read."""
    return msgspec.structs.replace(one, related=tuple(place for place in one.related if place.path not in paths))


class EditingWithCache(Editing):
    """The same with a cache that sessions share: they are ended and begun again, rest, and find runs' results."""

    settings = msgspec.structs.replace(SETTINGS, cache=True)

    def __init__(self) -> None:
        super().__init__()
        self._cache = tempfile.TemporaryDirectory(prefix="npulint-")
        self._before = os.environ.get("NPULINT_CACHE_DIR")
        os.environ["NPULINT_CACHE_DIR"] = self._cache.name

    def teardown(self) -> None:
        del os.environ["NPULINT_CACHE_DIR"]
        if self._before is not None:
            os.environ["NPULINT_CACHE_DIR"] = self._before
        self._cache.cleanup()
        super().teardown()

    @rule()
    def rest(self) -> None:
        self.session.rest()

    @rule()
    def reopen(self) -> None:
        self.session = Session(self.settings)
        self.good.clear()
        for name, text in self.open.items():
            self.session.change(name, text.encode())

    @rule()
    def run_with_the_cache(self) -> None:
        found: dict[str, list[Finding]] = {}
        for one in run(self.settings).findings:
            found.setdefault(one.path, []).append(one)
        assert found == self._fresh(self.disk)[0]


TestEditing = Editing.TestCase
TestEditing.settings = hypothesis_settings(max_examples=20, stateful_step_count=20, deadline=None)
TestEditingWithCache = pytest.mark.nightly(EditingWithCache.TestCase)
TestEditingWithCache.settings = hypothesis_settings(max_examples=15, stateful_step_count=20, deadline=None)
