"""Project roots: a model zoo holds hundreds of projects, and one program must not be split."""

from __future__ import annotations

from pathlib import Path

import pytest

from npulint.discover import discover, group, project_root


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def put(root: Path, *names: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()


def roots(*named: str) -> dict[str, list[str]]:
    return {root: [file.path for file in files] for root, files in group(discover(named or ["."]).files).items()}


@pytest.mark.parametrize(
    ("mark", "root"),
    [
        ("proj/.git/HEAD", "proj"),
        ("proj/pyproject.toml", "proj"),
        ("proj/setup.py", "proj"),
        ("proj/requirements.txt", "proj"),
        ("proj/requirements-npu.txt", "proj"),
        ("proj/README.md", "proj"),
        ("proj/ReadMe_zh.md", "proj"),
        ("proj/modelzoo_level.txt", "proj"),
        ("proj/npulint.toml", "proj"),
        ("proj/LICENSE", "."),
        ("README.md", "."),
    ],
)
def test_the_nearest_marked_folder_is_the_root(tree: Path, mark: str, root: str) -> None:
    put(tree, mark, "proj/train.py", "proj/models/net.py")
    assert project_root("proj/models/net.py", ".") == root


@pytest.mark.parametrize(
    ("required", "root"),
    [
        ("torch==1.13.1\n", "."),
        ("# all\ntensorflow-gpu >= 1.15\n", "."),
        ("mkdocs\ntorchlog\n", "scripts"),
        (None, "scripts"),
    ],
)
@pytest.mark.parametrize("files", [("train.py",), ("crawl.py", "training/train.py", "training/run.sh")])
def test_requirements_of_a_framework_are_those_of_described_programs(
    tree: Path, required: str | None, root: str, files: tuple[str, ...]
) -> None:
    put(tree, ".git/HEAD", "README.md", "scripts/README.md", *(f"scripts/{name}" for name in files))
    if required is not None:
        (tree / "requirements.txt").write_text(required)
    assert project_root(f"scripts/{files[-1]}", ".") == root
    put(tree, "scripts/requirements.txt")
    assert project_root(f"scripts/{files[-1]}", ".") == "scripts"


def test_the_root_is_never_above_the_stop(tree: Path) -> None:
    put(tree, "README.md", "train.py", "proj/src/net.py")
    assert project_root("proj/src/net.py", "proj") == "proj"


def test_every_project_of_a_zoo_stands_alone(tree: Path) -> None:
    put(tree, ".git/HEAD", "README.md", "requirements.txt", "TensorFlow/README.md")
    for name in ("A_ID0001", "B_ID0002"):
        put(tree, *(f"TensorFlow/contrib/cv/{name}/{inner}" for inner in ("README.md", "requirements.txt", "train.py")))
        put(tree, f"TensorFlow/contrib/cv/{name}/test/train_full_1p.sh", f"TensorFlow/contrib/cv/{name}/nets/vgg.py")
    found = roots()
    assert [root for root in found if root != "."] == [
        "TensorFlow/contrib/cv/A_ID0001",
        "TensorFlow/contrib/cv/B_ID0002",
    ]
    assert found["TensorFlow/contrib/cv/A_ID0001"] == [
        "TensorFlow/contrib/cv/A_ID0001/nets/vgg.py",
        "TensorFlow/contrib/cv/A_ID0001/requirements.txt",
        "TensorFlow/contrib/cv/A_ID0001/test/train_full_1p.sh",
        "TensorFlow/contrib/cv/A_ID0001/train.py",
    ]


def test_a_readme_below_a_shelf_makes_a_project_without_a_script_of_a_usual_name(tree: Path) -> None:
    put(tree, ".git/HEAD", "README.md", "zoo/README.md", "zoo/x/README.md", "zoo/x/trainer_v2_final.py")
    assert "zoo/x" in roots()


@pytest.mark.parametrize(
    "part",
    ["models", "utils", "data", "docs/api"],
)
def test_a_readme_in_a_part_of_a_project_does_not_split_it(tree: Path, part: str) -> None:
    put(tree, "proj/README.md", "proj/train.py", f"proj/{part}/README.md", f"proj/{part}/net.py")
    assert list(roots()) == ["proj"]


@pytest.mark.parametrize(
    ("text", "root"),
    [
        ("from setuptools import setup\nsetup(name='p')\n", "proj/runtime"),
        ("import numpy\nfrom numpy.distutils.core import setup\n", "proj/runtime"),
        ("import tensorflow as tf\ndef set_flags(params):\n    tf.random.set_seed(1)\n", "proj"),
    ],
)
def test_a_module_that_sets_up_a_run_is_no_sign_of_a_project(tree: Path, text: str, root: str) -> None:
    put(tree, "proj/README.md", "proj/model.py", "proj/runtime/run.py")
    (tree / "proj/runtime/setup.py").write_text(text)
    assert project_root("proj/runtime/run.py", ".") == root


@pytest.mark.parametrize("mark", ["README.md", "requirements.txt", "setup.py"])
def test_a_package_is_not_a_root(tree: Path, mark: str) -> None:
    put(tree, "proj/README.md", "proj/train.py", "proj/model/__init__.py", f"proj/model/{mark}", "proj/model/train.py")
    assert list(roots()) == ["proj"]


def test_a_project_that_is_itself_a_package_is_found_when_nothing_else_is(tree: Path) -> None:
    put(tree, "zoo/README.md", "zoo/p/__init__.py", "zoo/p/README.md", "zoo/p/run_squad.py")
    put(tree, "zoo/q/README.md", "zoo/q/train.py")
    assert list(roots()) == ["zoo/p", "zoo/q"]


def test_a_declared_project_holds_all_programs_below_it(tree: Path) -> None:
    put(tree, "p/modelzoo_level.txt", "p/train.py", "p/demo/README.md", "p/demo/train.py", "p/x/requirements.txt")
    put(tree, "p/x/main.py", "q/modelzoo_level.txt", "q/__init__.py", "q/train.py")
    assert list(roots()) == ["p", "q"]


@pytest.mark.parametrize("script", ["runner.py", "train_1p.py", "main.py"])
def test_a_library_copied_with_its_requirements_belongs_to_the_program_around_it(tree: Path, script: str) -> None:
    put(tree, f"port/{script}", "port/upstream/requirements.txt", "port/upstream/scripts/train.py")
    put(tree, "port/upstream/core/net.py")
    assert list(roots("port")) == ["port"]


def test_a_repository_below_a_script_stands_alone(tree: Path) -> None:
    put(tree, "port/run.py", "port/other/.git/HEAD", "port/other/requirements.txt", "port/other/train.py")
    assert list(roots("port")) == ["port", "port/other"]


def test_a_script_in_a_described_subfolder_belongs_to_the_program_around_it(tree: Path) -> None:
    put(tree, "pointnet/README.md", "pointnet/train.py", "pointnet/sem_seg/README.md", "pointnet/sem_seg/train.py")
    assert list(roots()) == ["pointnet"]


def test_examples_side_by_side_are_projects_of_their_own(tree: Path) -> None:
    put(tree, "README.md", "bert/README.md", "bert/run_squad.py", "resnet/README.md", "resnet/main.py")
    assert list(roots()) == ["bert", "resnet"]


def test_a_part_named_alone_belongs_to_the_same_project_as_in_a_whole_run(tree: Path) -> None:
    put(tree, "proj/requirements.txt", "proj/train.py", "proj/models/net.py")
    assert list(roots("proj/models")) == ["proj"]
    assert list(roots("proj/models/net.py", "proj/train.py")) == ["proj"]


def test_without_any_mark_the_named_folder_is_the_root(tree: Path) -> None:
    put(tree, "a/train.py", "a/lib/net.py", "b/train.py")
    assert list(roots("a", "b")) == ["a", "b"]
    assert list(roots()) == ["."]
    assert list(roots("a/train.py", "b/train.py")) == ["."], "files named one by one, as pre-commit does"


def test_a_folder_outside_the_working_directory_is_its_own_limit(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tree, "README.md", "train.py", "other/train.py", "here/x.py")
    monkeypatch.chdir(tree / "here")
    assert list(roots("../other")) == ["../other"]
    assert list(roots(str(tree / "other"))) == [(tree / "other").as_posix()]


def test_both_views_agree(tree: Path) -> None:
    put(tree, "p/README.md", "p/train.py", "p/nets/a.py", "q/setup.py", "q/q/__init__.py", "q/q/main.py")
    for root, files in group(discover(["."]).files).items():
        assert {project_root(file.path, ".") for file in files} == {root}


def test_a_described_package_belongs_to_the_program_around_it_that_nothing_describes(tree: Path) -> None:
    put(tree, "train.py", "tools/ptool/README.md", "tools/ptool/tf_config.py")
    assert list(roots()) == ["."]


@pytest.mark.parametrize(
    ("package", "script", "root"),
    [
        ("pyproject.toml", "examples/ppo/run.sh", "."),
        ("setup.py", "examples/ppo/run.sh", "."),
        ("pyproject.toml", "examples/ppo/train.py", "examples/ppo"),
        (".git/HEAD", "examples/ppo/run.sh", "examples/ppo"),
    ],
)
def test_described_launchers_below_a_package_belong_to_it(tree: Path, package: str, script: str, root: str) -> None:
    put(tree, package, "README.md", "pkg/__init__.py", "pkg/net.py", "examples/ppo/README.md", script)
    assert project_root(script, ".") == root


@pytest.mark.parametrize(
    ("package", "script", "root"),
    [
        ("pyproject.toml", "src/pkg/train/train.py", "."),
        ("setup.py", "src/pkg/train/train.py", "."),
        ("pyproject.toml", "srcs/train/train.py", "srcs/train"),
        (".git/HEAD", "src/pkg/train/train.py", "src/pkg/train"),
    ],
)
def test_described_scripts_below_the_sources_of_a_package_belong_to_it(
    tree: Path, package: str, script: str, root: str
) -> None:
    put(tree, package, "README.md", "src/pkg/model/net.py", f"{script.rpartition('/')[0]}/README.md", script)
    assert project_root(script, ".") == root


@pytest.mark.parametrize(
    ("script", "text", "root"),
    [
        ("scripts/train/train.py", "from pkg.net import fit\nfit()\n", "."),
        ("scripts/train/train.py", "import torch\n", "scripts/train"),
        ("pkg/data/build.py", "from pkg.net import fit\n", "."),
    ],
)
def test_described_code_belongs_to_the_program_around_it_whose_packages_it_imports(
    tree: Path, script: str, text: str, root: str
) -> None:
    put(tree, "setup.py", "pkg/__init__.py", "pkg/net.py", f"{script.rpartition('/')[0]}/README.md", script)
    (tree / script).write_text(text)
    assert project_root(script, ".") == root
