"""Discovery: which files a run reads, which it leaves out, and which it cannot read."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from npulint.core.texts import known
from npulint.discover import DiscoverOptions, Discovery, discover
from npulint.discover.kinds import kinds_by_content, kinds_of
from tests.growth import assert_linear, ended_if_stuck


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working directory inside its own git repository."""
    (tmp_path / ".git").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def put(root: Path, name: str, text: str = "x = 1\n") -> Path:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def paths(found: Discovery) -> list[str]:
    return [file.path for file in found.files]


def problems(found: Discovery) -> dict[str, str]:
    return {problem.path: problem.reason for problem in found.problems}


@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("train.py", ("python",)),
        ("setup.py", ("python", "dependency")),
        ("Untitled.ipynb", ("notebook",)),
        ("train_full_1p.sh", ("shell",)),
        ("ops_info.json", ("mixlist",)),
        ("requirements.txt", ("dependency",)),
        ("requirements-gpu.txt", ("dependency",)),
        ("environment.yaml", ("dependency",)),
        ("Pipfile", ("dependency",)),
        ("Dockerfile", ("dockerfile",)),
        ("Dockerfile.npu", ("dockerfile",)),
        ("npu.dockerfile", ("dockerfile",)),
        ("notes.txt", ()),
        ("data.yaml", ()),
        ("py", ()),
        ("model.pyc", ()),
    ],
)
def test_a_name_tells_the_kinds_of_a_file(name: str, kinds: tuple[str, ...]) -> None:
    assert kinds_of(name) == kinds


@pytest.mark.parametrize(
    ("head", "kinds"),
    [
        (b"#!/usr/bin/env python3\n", ("python",)),
        (b"#!/usr/bin/python3.7 -u\n", ("python",)),
        (b"#!/bin/bash\n", ("shell",)),
        (b"#!/usr/bin/perl\n", ()),
        (b"\x7fELF", ()),
    ],
)
def test_a_first_line_tells_the_kind_of_a_script_without_a_telling_name(head: bytes, kinds: tuple[str, ...]) -> None:
    assert kinds_by_content(head) == kinds


def test_results_are_sorted_and_relative_to_the_working_directory(tree: Path) -> None:
    for name in ("b/z.py", "b/a.py", "a.py", "b.sh"):
        put(tree, name)
    expected = ["a.py", "b.sh", "b/a.py", "b/z.py"]
    assert paths(discover(["."])) == expected
    assert paths(discover([str(tree)])) == expected
    assert paths(discover(["./b/../b", "a.py", "b.sh"])) == expected


def test_paths_outside_the_working_directory_stay_as_given(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tree, "other/train.py")
    (tree / "here").mkdir()
    monkeypatch.chdir(tree / "here")
    assert paths(discover(["../other"])) == ["../other/train.py"]
    assert paths(discover([str(tree / "other")])) == [(tree / "other/train.py").as_posix()]


def test_setup_py_is_listed_as_python_and_as_a_dependency_file(tree: Path) -> None:
    put(tree, "setup.py")
    assert [(file.path, file.kind) for file in discover(["."]).files] == [
        ("setup.py", "dependency"),
        ("setup.py", "python"),
    ]


@pytest.mark.parametrize(
    ("content", "read"),
    [
        (b"# syntax=docker/dockerfile:1\nARG TAG\nFROM base:$TAG\nRUN pip install torch\n", True),
        (b"{% include 'head.j2' %}\nFROM base\n", True),
        (b"N\xf3`EQ\x0e\x00\x91i\n\x00RUN x\n", False),
        (b"U2FsdGVkX1+run/0kq5Zb3kzq9zM\n", False),
        (b"--- a/Dockerfile\n+++ b/Dockerfile\n@@ -1,2 +1,3 @@\n FROM base\n+RUN pip install torch\n", False),
    ],
    ids=["instructions", "a template", "encrypted", "encrypted text", "a patch"],
)
def test_a_file_called_as_a_dockerfile_is_one_by_its_instructions(tree: Path, content: bytes, read: bool) -> None:
    (tree / "Dockerfile.npu.patch").write_bytes(content)
    found = discover(["."])
    assert paths(found) == (["Dockerfile.npu.patch"] if read else []) and not found.problems


def test_json_counts_only_when_it_speaks_of_operator_lists(tree: Path) -> None:
    put(tree, "ops_info.json", '{"black-list": {}}')
    put(tree, "rank_table.json", "{}")
    put(tree, "big.json", '{"black-list": {}}' + " " * 300_000)
    assert paths(discover(["."])) == ["ops_info.json"]
    assert paths(discover(["rank_table.json"])) == ["rank_table.json"], "a named file is meant"


@pytest.mark.parametrize(
    ("name", "text", "read"),
    [
        ("trainer_state.json", '{"epoch": 3, "log_history": []}', False),
        ("list.json", '{"blacklist": {"to-add": ["Conv2D"]}}', True),
        ("list.json", '{"gray-list": {}}', True),
        ("ops_info.json", '{"Conv2D": "black"}', True),
        ("list.json", '["Conv2D"]', True),
        ("broken.json", "{", True),
    ],
)
def test_a_named_json_file_that_is_no_list_is_not_taken_for_one(tree: Path, name: str, text: str, read: bool) -> None:
    put(tree, name, text)
    found = discover([name])
    assert (paths(found), problems(found)) == (([name], {}) if read else ([], {name: "unsupported"}))


def test_an_empty_folder_gives_nothing_and_no_problem(tree: Path) -> None:
    found = discover(["."])
    assert (found.files, found.problems) == ([], [])


# -- what cannot be read


def test_a_named_path_that_is_missing_is_a_problem_of_the_command_line(tree: Path) -> None:
    put(tree, "train.py")
    found = discover(["train.py", "trian.py", "x\0y"])
    assert paths(found) == ["train.py"]
    assert problems(found) == {"trian.py": "missing", "x\0y": "missing"}
    assert "trian.py" in found.named


def test_a_named_file_of_no_known_kind_is_a_problem_and_a_script_is_not(tree: Path) -> None:
    put(tree, "notes.md")
    put(tree, "train", "#!/usr/bin/env python3\n")
    found = discover(["notes.md", "train"])
    assert [(file.path, file.kind) for file in found.files] == [("train", "python")]
    assert problems(found) == {"notes.md": "unsupported"}


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("net.keras", "model-keras"),
        ("weights.H5", "model-keras"),
        ("net.tflite", "model-lite"),
        ("model.safetensors", "model-weights"),
        ("last.ckpt", "model-weights"),
        ("net.om", "model-compiled"),
        ("net.mindir", "model-mindspore"),
        ("net.engine", "model-tensorrt"),
        ("net.plan", "model-tensorrt"),
        ("om", "unsupported"),
        ("net.npy", "unsupported"),
    ],
)
def test_who_names_a_model_without_a_graph_learns_what_to_export(tree: Path, name: str, reason: str) -> None:
    put(tree, name, "content")
    assert problems(discover([name])) == {name: reason}
    assert (paths(discover(["."])), problems(discover(["."]))) == ([], {})
    assert known(f"problem.{reason}") and known(f"short.{reason}") and known(f"fix.{reason}")


def test_a_named_file_without_content_is_said_to_be_empty(tree: Path) -> None:
    put(tree, "train.log", "")
    assert problems(discover(["train.log"])) == {"train.log": "empty"}


def test_a_dangling_link_is_named_once_and_its_siblings_are_read(tree: Path) -> None:
    put(tree, "good.py")
    (tree / "x.py").symlink_to("nowhere.py")
    (tree / "x.json").symlink_to("nowhere.json")
    found = discover(["."])
    assert paths(found) == ["good.py"]
    assert problems(found) == {"x.py": "not-a-file"}
    assert problems(discover(["x.py"])) == {"x.py": "missing"}


def test_links_that_form_a_loop_end(tree: Path) -> None:
    put(tree, "pkg/good.py")
    (tree / "pkg/loop").symlink_to("..", target_is_directory=True)
    (tree / "a.py").symlink_to("b.py")
    (tree / "b.py").symlink_to("a.py")
    found = discover(["."])
    assert paths(found) == ["pkg/good.py"]
    assert set(problems(found)) == {"a.py", "b.py"}


def test_a_linked_folder_is_followed_only_when_named(tree: Path) -> None:
    put(tree, "real/good.py")
    (tree / "link").symlink_to("real", target_is_directory=True)
    assert paths(discover(["."])) == ["real/good.py"]
    assert paths(discover(["link"])) == ["link/good.py"]


def test_a_fifo_is_reported_and_never_opened(tree: Path) -> None:
    put(tree, "good.py")
    os.mkfifo(tree / "x.py")
    os.mkfifo(tree / "x.json")
    found = discover(["."])
    assert paths(found) == ["good.py"]
    assert problems(found) == {"x.py": "not-a-file"}
    assert problems(discover(["x.json"])) == {"x.json": "not-a-file"}


def test_a_folder_called_like_a_module_is_a_folder(tree: Path) -> None:
    put(tree, "x.py/inner.py")
    found = discover(["."])
    assert (paths(found), problems(found)) == (["x.py/inner.py"], {})


def test_unreadable_files_and_folders_are_reported(tree: Path) -> None:
    put(tree, "x.py").chmod(0)
    put(tree, "closed/y.py")
    (tree / "closed").chmod(0)
    try:
        if os.access(tree / "x.py", os.R_OK):
            pytest.skip("this user, root, reads everything")
        assert problems(discover(["."])) == {"x.py": "unreadable", "closed": "unreadable"}
    finally:
        (tree / "closed").chmod(0o700)


def test_a_sparse_file_of_50_mb_is_too_large(tree: Path) -> None:
    put(tree, "good.py")
    with open(tree / "huge.py", "wb") as stream:
        stream.truncate(50 * 1024 * 1024)
    found = discover(["."])
    assert paths(found) == ["good.py"]
    assert problems(found) == {"huge.py": "too-large"}


def test_the_size_limit_is_the_callers_and_notebooks_may_be_ten_times_as_large(tree: Path) -> None:
    put(tree, "a.py", "#" * 101)
    put(tree, "a.ipynb", " " * 1000)
    put(tree, "b.ipynb", " " * 1001)
    found = discover(["."], DiscoverOptions(max_bytes=100))
    assert paths(found) == ["a.ipynb"]
    assert problems(found) == {"a.py": "too-large", "b.ipynb": "too-large"}


def test_a_name_that_is_no_utf8_can_be_shown_and_opened(tree: Path) -> None:
    location = os.fsdecode(b"tr\xe4in.py")
    try:
        put(tree, location)
    except OSError:
        pytest.skip("the file system wants UTF-8 names")
    (file,) = discover(["."]).files
    assert file.path == "tr\\xe4in.py"
    assert os.path.exists(file.location)


# -- one file, several ways


def test_a_file_reached_twice_is_listed_once_under_its_own_name(tree: Path) -> None:
    put(tree, "z_common/utils.py")
    (tree / "a_link.py").symlink_to("z_common/utils.py")
    found = discover([".", "z_common", "z_common/utils.py"])
    assert paths(found) == ["z_common/utils.py"]
    assert found.aliases == {"a_link.py": "z_common/utils.py"}


def test_a_link_to_a_file_of_the_same_repository_is_read(tree: Path) -> None:
    put(tree, "outside/utils.py")
    (tree / "proj").mkdir()
    (tree / "proj/utils.py").symlink_to("../outside/utils.py")
    assert paths(discover(["proj"])) == ["proj/utils.py"]


# -- what is left out


@pytest.mark.parametrize(
    "place",
    [
        "__pycache__",
        ".venv",
        "venv",
        "node_modules",
        ".tox",
        ".mypy_cache",
        ".eggs",
        "x.egg-info",
        ".ipynb_checkpoints",
    ],
)
def test_folders_that_hold_no_sources_are_left_out(tree: Path, place: str) -> None:
    put(tree, f"{place}/lib/a.py")
    found = discover(["."])
    assert (paths(found), found.excluded) == ([], 2), "the folder and .git"


def test_an_environment_of_any_name_is_left_out(tree: Path) -> None:
    put(tree, "py37/pyvenv.cfg", "")
    put(tree, "py37/lib/a.py")
    assert paths(discover(["."])) == []


def test_build_is_left_out_beside_a_setup_file_only(tree: Path) -> None:
    put(tree, "pkg/pyproject.toml", "")
    put(tree, "pkg/build/lib/a.py")
    put(tree, "build/b.py")
    assert paths(discover(["."])) == ["build/b.py", "pkg/pyproject.toml"]


@pytest.mark.parametrize(
    ("patterns", "left"),
    [
        (("third_party",), ["a.py", "b_pb2.py", "docs/conf.py"]),
        (("*_pb2.py", "docs/"), ["a.py", "third_party/x.py"]),
        (("docs/conf.py",), ["a.py", "b_pb2.py", "third_party/x.py"]),
        (("/third_party/**",), ["a.py", "b_pb2.py", "docs/conf.py"]),
    ],
    ids=["name", "globs", "path", "anchored"],
)
def test_exclusions_are_patterns_as_in_gitignore(tree: Path, patterns: tuple[str, ...], left: list[str]) -> None:
    for name in ("a.py", "b_pb2.py", "docs/conf.py", "third_party/x.py"):
        put(tree, name)
    assert paths(discover(["."], DiscoverOptions(extend_exclude=patterns))) == left


def test_exclude_replaces_the_usual_exclusions(tree: Path) -> None:
    put(tree, "venv/a.py")
    put(tree, "b.py")
    assert paths(discover(["."], DiscoverOptions(exclude=("b.py", ".git")))) == ["venv/a.py"]


def test_named_paths_are_read_although_excluded_unless_exclusion_is_forced(tree: Path) -> None:
    put(tree, "venv/a.py")
    put(tree, "b.py")
    options = DiscoverOptions(extend_exclude=("b.py",))
    assert paths(discover(["venv", "b.py"], options)) == ["b.py", "venv/a.py"]
    forced = DiscoverOptions(extend_exclude=("b.py",), force_exclude=True)
    found = discover(["venv/a.py", "b.py"], forced)
    assert (paths(found), found.excluded) == ([], 2)


def test_forced_exclusion_holds_for_what_lies_below_an_excluded_folder(tree: Path) -> None:
    put(tree, "lib/gen/deep/a.py")
    options = DiscoverOptions(extend_exclude=("lib/gen/",), force_exclude=True)
    assert paths(discover(["lib/gen/deep/a.py"], options)) == []
    assert paths(discover(["lib/gen"], options)) == []


# -- .gitignore


def test_gitignore_files_hold_at_every_level_and_the_nearest_wins(tree: Path) -> None:
    put(tree, ".gitignore", "*.gen.py\nout/\n# comment\n\n/only_top.py\n")
    put(tree, "sub/.gitignore", "!keep.gen.py\nlocal.py\n")
    for name in ("a.gen.py", "only_top.py", "sub/only_top.py", "sub/keep.gen.py", "sub/b.gen.py", "sub/local.py"):
        put(tree, name)
    put(tree, "sub/out/x.py")
    put(tree, "local.py")
    assert paths(discover(["."])) == ["local.py", "sub/keep.gen.py", "sub/only_top.py"]


def test_keeping_folders_does_not_keep_the_ignored_files_in_them(tree: Path) -> None:
    put(tree, ".gitignore", "*_pb2.py\n")
    put(tree, "sub/.gitignore", "!*/\n")
    put(tree, "sub/proto/x_pb2.py")
    put(tree, "sub/proto/y.py")
    assert paths(discover(["."])) == ["sub/proto/y.py"]


_NAMES = ("a", "b", "c.d", "lib", "x_pb2")
_PATTERNS = (
    *("a/", "/b", "*.py", "!a.py", "lib", "*_pb2.py", "a/b", "**/lib", "a/**", "!b/", "c.d", "/*/a.py", "[ab].py"),
    *("lib/*.py", "!lib/a.py", "?.py", " a", "a.py ", "\\!x", "a/**/b.py", "*", "!*/", "!/a/", "# a", ""),
)


@pytest.mark.skipif(shutil.which("git") is None, reason="git is the judge")
@pytest.mark.parametrize("seed", range(20))
def test_what_is_ignored_is_what_git_ignores(tree: Path, seed: int) -> None:
    choose = random.Random(seed)
    (tree / ".git").rmdir()
    subprocess.run(["git", "init", "-q"], check=True)
    for _ in range(25):
        folders = [choose.choice(_NAMES) for _ in range(choose.randint(0, 3))]
        put(tree, "/".join([*folders, choose.choice(_NAMES) + ".py"]))
    for folder in [tree, *(place for place in sorted(tree.rglob("*")) if place.is_dir() and ".git" not in place.parts)]:
        if folder == tree or choose.random() < 0.3:
            lines = [choose.choice(_PATTERNS) for _ in range(choose.randint(1, 4))]
            (folder / ".gitignore").write_text("\n".join(lines) + "\n")
    command = ["git", "ls-files", "-co", "--exclude-standard"]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split("\n")
    assert paths(discover(["."])) == sorted(path for path in told if path.endswith(".py"))


def test_a_gitignore_above_the_named_path_holds_within_the_same_repository(tree: Path) -> None:
    put(tree, ".gitignore", "gen_*.py\n")
    put(tree, "a/b/gen_x.py")
    put(tree, "a/b/y.py")
    assert paths(discover(["a/b"])) == ["a/b/y.py"]


def test_a_nested_repository_does_not_hear_the_outer_gitignore(tree: Path) -> None:
    put(tree, ".gitignore", "*.py\n")
    (tree / "inner/.git").mkdir(parents=True)
    put(tree, "inner/a.py")
    put(tree, "outer/a.py")
    assert paths(discover(["."])) == ["inner/a.py"]


def test_an_ignored_folder_that_is_named_is_read(tree: Path) -> None:
    put(tree, ".gitignore", "gen/\n")
    put(tree, "gen/a.py")
    assert paths(discover(["."])) == []
    assert paths(discover(["gen"])) == ["gen/a.py"]


def test_gitignore_counts_neither_outside_a_repository_nor_when_switched_off(tree: Path) -> None:
    put(tree, ".gitignore", "*.py\n")
    put(tree, "a.py")
    assert paths(discover(["."], DiscoverOptions(respect_gitignore=False))) == ["a.py"]
    (tree / ".git").rmdir()
    assert paths(discover(["."])) == ["a.py"]


@pytest.mark.parametrize(
    "text",
    ["\xff\x00\n", "[z-a]\n!\n/\n", "*a*a*a*a*a*a*a*a*a*a*a*a*b.py\n", "\\\n"],
    ids=["bytes", "malformed", "slow", "escape"],
)
def test_a_strange_gitignore_neither_stops_nor_slows_the_walk(tree: Path, text: str) -> None:
    put(tree, ".gitignore", text)
    put(tree, "a" * 200 + ".py")
    with ended_if_stuck():
        assert len(discover(["."]).files) == 1


@pytest.mark.parametrize(
    "text",
    ["a/" + "**/a/" * 10 + "b\n", f"a/{'*a' * 9}b\n", "a/**/a/**/b\n" * 5000],
    ids=["many levels", "many wildcards in a path", "many such lines"],
)
def test_no_pattern_slows_the_walk_of_a_deep_tree(tree: Path, text: str) -> None:
    put(tree, ".gitignore", text)
    put(tree, "a/" * 40 + "a" * 100 + ".py")
    put(tree, "a/" + "a" * 200 + ".py")
    with ended_if_stuck():
        assert len(discover(["."]).files) == 2


def test_patterns_of_several_levels_hold(tree: Path) -> None:
    put(tree, ".gitignore", "**/gen/**/out/**\nbuild/*_*.py\n")
    for path in ("x/gen/y/out/a.py", "build/a_b.py", "x/gen/y/a.py", "build/ab.py"):
        put(tree, path)
    assert paths(discover(["."])) == ["build/ab.py", "x/gen/y/a.py"]


def test_pathspec_is_not_imported_without_a_pattern(tree: Path) -> None:
    put(tree, "a.py")
    code = "import sys; from npulint.discover import discover; discover(['.']); print('pathspec' in sys.modules)"
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True)
    assert run.stdout == "False\n"


@pytest.mark.slow
def test_many_files_take_work_in_proportion(tree: Path) -> None:
    def walked(count: int) -> str:
        place = f"{count}_files"
        put(tree, f"{place}/.gitignore", "\n".join(f"pattern_{n}*.py" for n in range(50)))
        for folder in range(count // 100):
            (tree / place / f"p{folder}").mkdir()
            for number in range(100):
                (tree / place / f"p{folder}/f{number}.py").touch()
        return place

    assert_linear(walked, lambda place: discover([place]), 800)
    assert len(discover(["800_files"]).files) == 800
