"""``--force-exclude``: whoever hands over thousands of names means no more than a walk would have found."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from npulint.discover import projects
from npulint.discover.context_files import context_files
from npulint.discover.files import DiscoverOptions, discover
from tests.git_support import git
from tests.project_support import Project

FORCED = DiscoverOptions(force_exclude=True)


def found(*paths: str, options: DiscoverOptions = FORCED) -> list[str]:
    seen = discover(paths, options)
    assert seen.problems == []
    return [file.path for file in seen.files]


@pytest.fixture
def tree(project: Project) -> Project:
    git(project.folder, "init", "-q")
    rules = {".gitignore": "/generated/\n*_pb2.py\n!kept_pb2.py\n", "sub/.gitignore": "local.py\n"}
    files = dict.fromkeys(
        ["a.py", "x_pb2.py", "kept_pb2.py", "local.py", "sub/local.py", "sub/b.py", "generated/deep/c.py"], "x = 1\n"
    )
    return project.write({**rules, **files})


NAMED = {
    "an ordinary file": ("a.py", True),
    "a file that git ignores by its name": ("x_pb2.py", False),
    "a file that git ignores not, after all": ("kept_pb2.py", True),
    "a name that is ignored in another folder": ("local.py", True),
    "the same in that folder": ("sub/local.py", False),
    "its neighbour": ("sub/b.py", True),
    "a file far below a folder that git ignores": ("generated/deep/c.py", False),
    "such a folder": ("generated", False),
}


@pytest.mark.parametrize(("path", "read"), NAMED.values(), ids=NAMED)
def test_what_git_ignores(tree: Project, path: str, read: bool) -> None:
    assert found(path) == ([path] if read else [])
    if path.endswith(".py"):
        assert found(path, options=DiscoverOptions()) == [path]
        assert found(path, options=DiscoverOptions(force_exclude=True, respect_gitignore=False)) == [path]


def test_rules_of_a_repository_end_where_another_begins(tree: Project) -> None:
    tree.write({"generated/inner/d.py": ""})
    git(tree.folder / "generated/inner", "init", "-q")
    assert found("generated/inner/d.py") == ["generated/inner/d.py"]


def test_outside_a_repository_nothing_is_ignored(project: Project) -> None:
    project.write({".gitignore": "*.py\n", "a.py": "", "deep/er/b.py": ""})
    assert found("a.py", "deep/er/b.py") == ["a.py", "deep/er/b.py"]


def test_the_rules_that_only_this_clone_has_count_too(tree: Project) -> None:
    (tree.folder / ".git/info").mkdir(exist_ok=True)
    (tree.folder / ".git/info/exclude").write_text("a.py\n")
    assert found("a.py", "sub/b.py") == ["sub/b.py"]


@pytest.mark.parametrize("folder", ["venv", ".git", "node_modules", "site-packages", "__pycache__"])
def test_usual_exclusions(tree: Project, folder: str) -> None:
    tree.write({f"sub/{folder}/deep/e.py": ""})
    assert found(f"sub/{folder}/deep/e.py") == []


STRANGE = {
    "notes.txt": "data",
    "Rakefile": "task :all",
    "config.yaml": "a: 1",
    "package.json": "{",
    "kernel.cpp": "int main() {}",
}


@pytest.mark.parametrize("name", STRANGE)
def test_files_of_other_kinds_are_no_matter(project: Project, name: str) -> None:
    project.write({name: STRANGE[name]})
    assert found(name) == []
    seen = discover([name], DiscoverOptions())
    assert seen.problems or seen.files  # named alone they are, because somebody typed it


def test_mixed_precision_lists_are_read(project: Project) -> None:
    project.write({"ops_info.json": '{"black-list": {"to-add": ["Conv2D"]}}', "kernel.cu": "__global__ void f() {}"})
    assert found("ops_info.json", "kernel.cu") == ["kernel.cu", "ops_info.json"]


def test_a_path_that_is_not_there_is_still_a_problem(project: Project) -> None:
    assert [problem.reason for problem in discover(["gone.py"], FORCED).problems] == ["missing"]


def test_nothing_is_said_about_nothing(project: Project) -> None:
    project.write({"notes.txt": "x"})
    answer = project.run("check", "--force-exclude", "notes.txt")
    assert (answer.code, answer.err) == (0, "")


def test_many_files_of_a_folder_cost_one_look_at_it(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[str] = []

    def look(folder: str, real: Callable[[str], object] = projects._look) -> object:
        looked.append(folder)
        return real(folder)

    names = [f"models/part/m{number}.py" for number in range(300)]
    project.write({"requirements.txt": "torch\n", **dict.fromkeys(names, "x = 1\n")})
    monkeypatch.setattr(projects, "_look", look)
    near = discover(names, FORCED)
    context_files(near, FORCED)
    assert len(near.files) == 300
    assert len(looked) < 20
