"""What a repository cannot make npulint read: files outside of it, by links or by paths in its files."""

from __future__ import annotations

import inspect
import json
import os
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from npulint.commands.check.pipeline import run
from npulint.commands.session import Session
from npulint.commands.settings.config import load
from npulint.core.errors import ConfigError
from npulint.core.links import below, leads_out, repository
from npulint.discover import Discovery, discover, files
from npulint.discover.paths import Boundary
from npulint.hosts.cli.main import main
from npulint.hosts.server.configuration import ClientSettings, problems_of, settings_for
from npulint.judge.catalogue.sources import list_files
from npulint.judge.settings import FORMATS, Settings
from npulint.read.supported_ops import listed

ROOT = Path(__file__).parent.parent
posix = pytest.mark.skipif(os.name == "nt", reason="links need a privilege on Windows")
pytestmark = posix

SECRET = "hunter2"
FOREIGN = f'import torch\n\nx = torch.zeros(3).cuda()  # {SECRET}\ntorch.distributed.init_process_group("nccl")\n'
STACK = (
    "Name,Call Stack,Host Self Duration(us),Host Total Duration(us),Device Self Duration(us),Device Total Duration(us)"
)


@pytest.fixture
def world(tmp_path: Path, new_cache: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder ``world``: a project that is the working directory, and a folder ``outside`` that is not its own."""
    folder = tmp_path / "world"
    put(folder, "outside/train.py", FOREIGN)
    put(folder, "project/main.py", "import torch\nimport torch_npu\n\nx = torch.ones(1).npu()\n")
    put(folder, "project/sub/inside.py", "import torch\n")
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("NPULINT_CACHE_DIR", str(new_cache))
    monkeypatch.chdir(folder / "project")
    return folder


def put(root: Path, name: str, text: str | bytes = "x = 1\n") -> Path:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def link(root: Path, name: str, target: str) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(target)


def paths(found: Discovery) -> list[str]:
    return [file.path for file in found.files]


def reasons(found: Discovery) -> dict[str, str]:
    return {problem.path: problem.reason for problem in found.problems}


# -- links to files


def test_a_link_that_leads_out_is_named_and_not_read(world: Path) -> None:
    link(world, "project/out.py", "../outside/train.py")
    found = discover(["."])
    assert paths(found) == ["main.py", "sub/inside.py"]
    assert reasons(found) == {"out.py": "link-outside"}
    assert found.problems[0].detail == "../outside/train.py"


@pytest.mark.parametrize("target", ["../outside/train.py", "{outside}/train.py", "sub/hop.py"])
def test_however_it_leads_out(world: Path, target: str) -> None:
    link(world, "project/sub/hop.py", "../../outside/train.py")
    link(world, "project/out.py", target.replace("{outside}", str(world / "outside")))
    assert reasons(discover(["."]))["out.py"] == "link-outside"


def test_a_link_through_a_linked_folder_leads_out(world: Path) -> None:
    link(world, "project/far", "../outside")
    link(world, "project/out.py", "far/train.py")
    assert reasons(discover(["."])) == {"out.py": "link-outside"}


def test_a_folder_with_the_same_beginning_is_outside(world: Path) -> None:
    put(world, "project2/train.py", FOREIGN)
    link(world, "project/out.py", "../project2/train.py")
    assert reasons(discover(["."])) == {"out.py": "link-outside"}


def test_a_link_that_stays_inside_is_the_file_that_it_leads_to(world: Path) -> None:
    link(world, "project/in.py", "sub/inside.py")
    found = discover(["."])
    assert paths(found) == ["main.py", "sub/inside.py"]
    assert (found.aliases, found.problems) == ({"in.py": "sub/inside.py"}, [])


def test_a_link_that_is_named_is_read(world: Path) -> None:
    link(world, "project/out.py", "../outside/train.py")
    assert paths(discover(["out.py"])) == ["out.py"]
    both = discover([".", "out.py"])
    assert "out.py" in paths(both) and both.problems == []


def test_a_linked_folder_that_is_named_is_a_tree_of_its_own(world: Path) -> None:
    put(world, "outside/sub/b.py")
    link(world, "outside/b.py", "sub/b.py")
    link(world, "outside/c.py", "../project/main.py")
    link(world, "project/far", "../outside")
    found = discover(["far"])
    assert paths(found) == ["far/sub/b.py", "far/train.py"]
    assert reasons(found) == {"far/c.py": "link-outside"}


def test_a_link_to_another_named_folder_is_read(world: Path) -> None:
    link(world, "project/out.py", "../outside/train.py")
    assert discover([".", "../outside"]).problems == []


def test_the_repository_around_the_named_folder_is_inside(world: Path) -> None:
    put(world, "project/common/utils.py")
    link(world, "project/sub/utils.py", "../common/utils.py")
    assert reasons(discover(["sub"])) == {"sub/utils.py": "link-outside"}
    (world / "project/.git").mkdir()
    assert reasons(discover(["sub"])) == {}


def test_the_project_around_the_named_folder_is_inside(world: Path) -> None:
    put(world, "project/common/utils.py")
    put(world, "project/requirements.txt", "torch\n")
    link(world, "project/sub/utils.py", "../common/utils.py")
    assert reasons(discover(["sub"])) == {}


def test_a_repository_in_the_home_folder_makes_nothing_inside(world: Path) -> None:
    (world / ".git").mkdir()  # the home folder of the fixture
    link(world, "project/out.py", "../outside/train.py")
    assert reasons(discover(["."])) == {"out.py": "link-outside"}
    assert repository(str(world / "project")) == ""


@pytest.mark.parametrize("name", ["run.sh", "requirements.txt", "Dockerfile", "book.ipynb", "kernel.py"])
def test_links_of_every_certain_kind_are_named(world: Path, name: str) -> None:
    put(world, f"outside/{name}")
    link(world, f"project/{name}", f"../outside/{name}")
    assert reasons(discover(["."])) == {name: "link-outside"}


def test_links_to_folders_are_passed_over_as_before(world: Path) -> None:
    link(world, "project/far.py", "../outside")
    assert reasons(discover(["."])) == {}


def test_an_excluded_link_is_not_named(world: Path) -> None:
    link(world, "project/out.py", "../outside/train.py")
    assert reasons(discover(["."], files.DiscoverOptions(extend_exclude=("out.py",)))) == {}


def test_the_graph_of_a_named_saved_model_is_not_read_through_a_link(world: Path) -> None:
    put(world, "outside/saved_model.pbtxt", 'meta_graphs { graph_def { node { name: "x" op: "Const" } } }\n')
    link(world, "project/model/saved_model.pbtxt", "../../outside/saved_model.pbtxt")
    found = discover(["model"])
    assert (paths(found), reasons(found)) == ([], {"model/saved_model.pbtxt": "link-outside"})


@pytest.mark.parametrize("folder", ["PROF_000001_20240101000000000_AAAA", "logs"])
def test_run_artifacts_are_not_read_through_links(world: Path, folder: str) -> None:
    put(world, "outside/op_statistic_0.csv", "Device_id,OP Type,Core Type,Count,Total Time(us)\n0,MatMul,AI_CORE,1,1\n")
    put(world, f"project/{folder}/real_op_statistic.csv", (world / "outside/op_statistic_0.csv").read_bytes())
    link(world, f"project/{folder}/op_statistic_0.csv", "../../outside/op_statistic_0.csv")
    assert paths(discover([folder])) == [f"{folder}/real_op_statistic.csv"]


def test_ignore_files_that_are_links_are_not_followed(world: Path) -> None:
    put(world, "outside/rules", "main.py\n")
    put(world, "project/.git/HEAD", "")
    link(world, "project/.gitignore", "../outside/rules")
    link(world, "project/.git/info", "../../outside/info")
    put(world, "outside/info/exclude", "inside.py\n")
    assert paths(discover(["."])) == ["main.py", "sub/inside.py"]
    (world / "project/.git/info").unlink()
    put(world, "project/.git/info/exclude", "inside.py\n")
    assert paths(discover(["."])) == ["main.py"]


# -- what reports show


@pytest.mark.parametrize("format_name", FORMATS)
def test_no_report_shows_the_source_behind_a_link(
    world: Path, capsys: pytest.CaptureFixture[str], format_name: str
) -> None:
    link(world, "project/out.py", "../outside/train.py")
    main(["check", ".", "--no-cache", f"--format={format_name}", "--min-severity=note"])
    shown = capsys.readouterr().out
    assert "out.py" in shown
    assert SECRET not in shown and "zeros(3)" not in shown


def test_a_result_has_a_finding_at_the_link(world: Path) -> None:
    link(world, "project/out.py", "../outside/train.py")
    found = [one for one in run(Settings(cache=False)).findings if one.path == "out.py"]
    assert [one.code for one in found] == ["NPU0102"]
    assert "leads out of the checked folders" in found[0].message


def test_a_session_reads_no_link_that_leads_out(world: Path) -> None:
    link(world, "project/out.py", "../outside/train.py")
    session = Session(Settings(paths=(str(world / "project"),), cache=False))
    checked = session.check(str(world / "project/main.py"))
    assert [(one.path, one.reason) for one in checked.unread] == [("out.py", "link-outside")]


# -- everything that a command opens


def _hostile(world: Path) -> None:
    """Fill the project with links and paths that lead out, in every kind of file that may name one."""
    away = f"{world}/outside"
    outside = {
        "train.sh": "export TF_CPP_MIN_LOG_LEVEL=0\npython train.py\n",
        "env.sh": "export HCCL_WHITELIST_DISABLE=1\n",
        "ds.json": '{"fp16": {"enabled": true}}',
        "ops.json": '{"black-list": {"to-add": ["MatMul"]}}',
        "cfg.yaml": "lr: 0.1\n",
        "graph.pbtxt": 'node { name: "x" op: "PyFunc" }\n',
        "requirements.txt": "torch==2.1.0\n",
        "setup.py": "print(1)\n",
        "scripts/train.py": "x = 1\n",
        "kernel_details.csv": "Step Id,Name,Type,Duration(us)\n1,a,MatMul,1\n",
    }
    for name, text in outside.items():
        put(world, f"outside/{name}", text)
        link(world, f"project/linked/{name}", f"../../outside/{name}")
        link(world, f"project/PROF_000001_20240101000000000_AAAA/{name}", f"../../outside/{name}")
    put(world, "outside/.pre-commit-config.yaml", "repos: []\n")
    link(world, "project/.pre-commit-config.yaml", "../outside/.pre-commit-config.yaml")
    for name in ("setup.py", "scripts", "ops_info.json"):
        link(world, f"project/part/{name}", f"../../outside/{name}")
    put(world, "project/part/README.md", "# part\n")
    put(world, "project/part/model.py", "import torch\n")
    launcher = (
        f"cd ../outside\nsource ../outside/env.sh\n. {away}/env.sh\nbash {away}/train.sh\npython {away}/train.py\n"
    )
    launcher += f"python main.py --config {away}/cfg.yaml --deepspeed_config ../outside/ds.json\n"
    put(world, "project/run.sh", launcher)
    put(world, "project/requirements.txt", f"-r ../outside/requirements.txt\n-c {away}/requirements.txt\n")
    put(world, "project/Dockerfile", f"FROM x\nCOPY {away}/train.py /\nRUN bash ../outside/train.sh\n")
    code = f"""
        import argparse, sys, json, yaml, torch, deepspeed
        import tensorflow as tf
        sys.path.append("../outside")
        sys.path.insert(0, "{away}")
        import train
        from outside import train as other
        parser = argparse.ArgumentParser()
        parser.add_argument("--config", default="{away}/cfg.yaml")
        args = parser.parse_args()
        cfg = yaml.safe_load(open(args.config))
        ds = json.load(open("../outside/ds.json"))
        exec(open("{away}/train.py").read())
        net, opt, _, _ = deepspeed.initialize(args=args, config="../outside/ds.json")
        custom_op = tf.compat.v1.ConfigProto().graph_options.rewrite_options.custom_optimizers.add()
        custom_op.name = "NpuOptimizer"
        custom_op.parameter_map["modify_mixlist"].s = tf.compat.as_bytes("../outside/ops.json")
        custom_op.parameter_map["fusion_switch_file"].s = b"{away}/ops.json"
        tf.io.gfile.GFile("{away}/graph.pbtxt").read()
        torch.load("../outside/model.pt"); torch.jit.load("{away}/model.pt")
        """
    put(world, "project/main.py", dedent(code))
    cell = {"cell_type": "code", "metadata": {}, "outputs": [], "source": [f"%run {away}/train.py\n", "import train"]}
    put(world, "project/book.ipynb", json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    trace = f'  File "{away}/train.py", line 3, in forward\n  File "../outside/train.py", line 3, in f\n'
    node = {
        "target": "torch.ops.aten.huber_loss.default",
        "outputs": [{"as_tensor": {"name": "huber_loss"}}],
        "metadata": {"stack_trace": trace},
    }
    graph = {"nodes": [node], "inputs": [], "outputs": [], "tensor_values": {"huber_loss": {"dtype": 7, "sizes": []}}}
    exported = {"graph_module": {"graph": graph}, "schema_version": {"major": 8, "minor": 8}, "torch_version": "2.7.1"}
    put(world, "project/model.json", json.dumps(exported))
    rows = f'aten::item,"{away}/train.py(3): forward;\r\n../outside/train.py(3): f",1,900000,1,1\n' * 3
    put(world, "project/PROF_000001_20240101000000000_AAAA/operator_details.csv", f"{STACK}\n{rows}")
    put(world, "project/train.log", f'Traceback\n  File "{away}/train.py", line 3, in f\nRuntimeError: EZ9999\n' * 2)
    put(world, "project/.git", f"gitdir: {away}/repository\n")
    put(world, "outside/repository/info/exclude", "main.py\n")


def opened(world: Path, *words: str) -> list[str]:
    """The files that a command opened, and the folders that it listed, in the folder ``outside``."""
    report = world / "opened.txt"
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-m", "tests.opened_files", str(report), *words],
        capture_output=True, text=True, timeout=60, check=False, cwd=world / "project", env=environ,
    )  # fmt: skip
    assert "Traceback (most recent call last)" not in done.stderr, done.stderr
    assert SECRET not in done.stdout
    places = report.read_text(encoding="utf-8").split("\n")
    assert any(place.startswith(str(world / "project")) for place in places)
    return [place for place in places if below(place, str(world / "outside"))]


@pytest.mark.slow
@pytest.mark.parametrize(
    "words",
    [
        ("check", ".", "--no-cache", "--min-severity=note", "--verbose"),
        ("check", "main.py", "run.sh", "--no-cache", "--format=html"),
        ("check", ".", "--no-cache", "--diff", "--unsafe-fixes"),
        ("check", "PROF_000001_20240101000000000_AAAA", "--no-cache", "--format=sarif"),
        ("compare", ".", ".", "--no-cache"),
        ("facts", "main.py"),
        ("init", ".", "--dry-run"),
    ],
    ids=lambda words: " ".join(words[:2]),
)
def test_no_command_opens_a_file_outside(world: Path, words: tuple[str, ...]) -> None:
    _hostile(world)
    assert opened(world, *words) == []


@pytest.mark.slow
def test_the_list_of_opened_files_would_show_one(world: Path) -> None:
    link(world, "project/out.py", "../outside/train.py")
    assert opened(world, "check", "out.py", "--no-cache", "--format=concise") == [str(world / "outside/train.py")]


# -- configuration


@pytest.mark.parametrize(
    "line",
    [
        'reference = "../outside"',
        'reference = "/"',
        'baseline = "/etc/passwd"',
        'checks = ["sub", "/"]',
        'supported-ops = ["../outside"]',
        'baseline = "sub/../../outside/b.json"',
        'reference = "far"',
        'checks = ["far/deep"]',
        'baseline = "a\\u0000b"',
    ],
)
def test_a_configured_path_that_leads_out_is_an_error_with_its_line(world: Path, line: str) -> None:
    link(world, "project/far", "../outside")
    put(world, "project/npulint.toml", f'fail-on = "warning"\n{line}\n')
    with pytest.raises(ConfigError) as error:
        load(["."], {}, {})
    key = line.partition(" ")[0]
    assert str(error.value).startswith(f"npulint.toml:2: {key}: ")
    assert f"--{key}" in str(error.value)


def test_all_of_them_are_told_in_the_language_of_the_user(world: Path) -> None:
    put(world, "project/npulint.toml", 'checks = ["/a", "../b", "sub"]\nreference = "/c"\n')
    with pytest.raises(ConfigError) as error:
        load(["."], {}, {"NPULINT_LANG": "zh"})
    assert [line.partition(": ")[0] for line in str(error.value).split("\n")] == ["npulint.toml:1"] * 2 + [
        "npulint.toml:2"
    ]
    assert "只能在命令行中指定" in str(error.value)


def test_paths_below_the_configuration_are_accepted(world: Path) -> None:
    link(world, "project/near", "sub")
    text = 'reference = "."\nbaseline = "sub/../b.json"\nchecks = ["near"]\nsupported-ops = ["none/yet"]\n'
    put(world, "project/npulint.toml", text)
    settings = load(["."], {}, {})
    assert (settings.reference, settings.checks) == (".", ("near",))


def test_on_the_command_line_they_lead_anywhere(world: Path) -> None:
    put(
        world, "project/npulint.toml", 'reference = "../gone"\nchecks = ["/"]\nbaseline = "/b"\nsupported-ops = ["/"]\n'
    )
    words = {"reference": ["../outside"], "checks": ["../outside"], "baseline": ["/x"], "supported_ops": ["/opp"]}
    settings = load(["."], words, {})
    assert (settings.reference, settings.checks, settings.baseline) == ("../outside", ("../outside",), "/x")
    assert (settings.supported_ops, settings.supported_ops_within) == (("/opp",), "")


def test_the_environment_may_name_an_installation_anywhere(world: Path) -> None:
    assert load(["."], {}, {"ASCEND_OPP_PATH": "/usr/local/Ascend/opp"}).supported_ops == ("/usr/local/Ascend/opp",)


def test_a_named_configuration_is_held_to_its_own_folder(world: Path) -> None:
    put(world, "outside/npulint.toml", 'reference = "../project"\n')
    with pytest.raises(ConfigError, match=r"npulint\.toml:1: reference"):
        load(["."], {"config": ["../outside/npulint.toml"]}, {})


@pytest.mark.parametrize("name", ["npulint.toml", "pyproject.toml"])
def test_a_configuration_behind_a_link_must_be_named(world: Path, name: str) -> None:
    put(world, f"outside/{name}", 'lang = "zh"\n' if name == "npulint.toml" else '[tool.npulint]\nlang = "zh"\n')
    link(world, f"project/{name}", f"../outside/{name}")
    with pytest.raises(ConfigError, match=f"{name}: .*--config"):
        load(["."], {}, {})
    assert load(["."], {"config": [name]}, {}).lang == "zh"
    assert load(["."], {"isolated": True}, {}).lang == "en"


def test_an_editor_is_told_the_line_of_a_configured_path_that_leads_out(world: Path) -> None:
    config = put(world, "project/npulint.toml", '\nbaseline = "../outside/b.json"\n')
    folder = str(world / "project")
    with pytest.raises(ConfigError) as error:
        settings_for(folder, folder, ClientSettings(), {}, "en")
    assert [(one.path, one.line) for one in problems_of(error.value, [str(config)])] == [(str(config), 2)]
    chosen = settings_for(folder, folder, ClientSettings(words={"baseline": ["../outside/b.json"]}), {}, "en")[1]
    assert chosen.baseline.endswith("outside/b.json")


def test_an_editor_uses_no_usual_baseline_behind_a_link(world: Path) -> None:
    put(world, "outside/b.json", '{"version": 1, "findings": []}')
    link(world, "project/sub/npulint-baseline.json", "../../outside/b.json")
    folder = str(world / "project/sub")
    with pytest.raises(ConfigError, match="--baseline"):
        settings_for(folder, folder, ClientSettings(), {}, "en")


def test_a_configuration_behind_a_link_inside_the_repository_is_used(world: Path) -> None:
    (world / "project/.git").mkdir()
    put(world, "project/shared/npulint.toml", 'lang = "zh"\n')
    link(world, "project/sub/npulint.toml", "../shared/npulint.toml")
    assert load(["sub"], {}, {}).lang == "zh"


@pytest.mark.parametrize("words", [{}, {"write_baseline": True}])
def test_the_usual_baseline_is_not_read_or_written_through_a_link(world: Path, words: dict[str, bool]) -> None:
    precious = put(world, "outside/precious", "mine\n")
    link(world, "project/npulint-baseline.json", "../outside/precious")
    with pytest.raises(ConfigError, match="--baseline"):
        load(["."], words, {})
    assert main(["check", ".", "--no-cache", *(["--write-baseline"] if words else [])]) == 2
    assert precious.read_text() == "mine\n"


def test_every_configurable_path_is_held_to_the_folder() -> None:
    from npulint.commands.settings.options import OPTIONS

    named = {option.name for option in OPTIONS if option.config and option.metavar in ("DIR", "FILE", "PATH")}
    assert named == {option.name for option in OPTIONS if option.is_path}


def test_configured_operator_packages_are_not_read_through_links(world: Path) -> None:
    table = json.dumps({"Add": {"isGray": False}})
    put(world, "outside/npu_supported_ops.json", table)
    link(
        world,
        "project/opp/framework/built-in/tensorflow/npu_supported_ops.json",
        "../../../../../outside/npu_supported_ops.json",
    )
    put(world, "outside/config.ini", "load_priority=mine\n")
    found = listed(["opp"], ".")
    assert (found.ops, [one.reason for one in found.problems]) == (None, ["link-outside"])
    assert listed(["opp"]).ops is not None
    put(world, "project/npulint.toml", 'supported-ops = ["opp"]\n')
    settings = load(["."], {}, {})
    assert listed(settings.supported_ops, settings.supported_ops_within).ops is None


# -- checks


def test_a_check_file_is_not_read_through_a_link(world: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put(world, "outside/secret.yaml", f"password: {SECRET}\n")
    link(world, "project/mine/secret.yaml", "../../outside/secret.yaml")
    assert main(["check", ".", "--no-cache", "--checks=mine"]) == 2
    shown = capsys.readouterr().err
    assert "leads out of the folder of the checks" in shown and SECRET not in shown


def test_a_folder_of_checks_has_a_limit(
    world: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(6):
        put(world, f"project/mine/{number}/x.txt")
    monkeypatch.setattr("npulint.judge.catalogue.sources.MAX_ENTRIES", 10)
    assert main(["check", ".", "--no-cache", "--checks=mine"]) == 2
    assert "more than 10 files and folders" in capsys.readouterr().err


def test_a_deep_folder_of_checks_ends_in_no_traceback(world: Path) -> None:
    depth = 300
    (world / "project/mine" / "/".join("d" * depth)).mkdir(parents=True)
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(len(inspect.stack(0)) + 250)
    try:
        found = list_files([str(world / "project/mine")])
    finally:
        sys.setrecursionlimit(before)
    assert found == []


# -- limits of a walk


def test_a_walk_ends_at_a_limit_and_says_so(world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(30):
        put(world, f"project/many/{number}/x.dat")
    assert discover(["."]).problems == []
    monkeypatch.setattr(files, "MAX_ENTRIES", 20)
    found = discover(["."])
    assert [(one.path, one.reason, one.detail) for one in found.problems] == [(".", "too-many-files", "> 20")]


def test_files_that_are_read_have_a_limit(world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(30):
        put(world, f"project/many/m{number}.py")
    monkeypatch.setattr(files, "MAX_FILES", 20)
    found = discover(["."])
    assert len(found.files) == 21
    assert reasons(found) == {".": "too-many-files"}
    shown = run(Settings(cache=False)).findings
    assert [one.message for one in shown] == [
        "there are too many files below this folder, not all of them were read: > 20"
    ]


# -- the functions themselves


def test_a_setup_file_that_is_a_pipe_does_not_block(world: Path) -> None:
    os.mkfifo(world / "project/setup.py")
    assert "main.py" in paths(discover(["."]))


@pytest.mark.parametrize("path", ["a\0b", "x" * 5000, ""])
def test_odd_paths_are_outside(world: Path, path: str) -> None:
    holds = Boundary(["sub", path]).holds
    assert not holds("a\0b") and not holds("/etc/passwd")
    assert not below("a\0b", ".") and not leads_out("a\0b" if "\0" not in path else "x", ".")
