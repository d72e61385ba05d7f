"""The kinds of inputs, and the commands that are tried on them."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from hypothesis import strategies as st

from npulint.judge.settings import FORMATS
from scripts.fuzzing import binaries, configured, databases, lines, python_sources, tables, trees
from scripts.fuzzing.editor import conversations
from scripts.fuzzing.example import OUT, Example
from scripts.fuzzing.mutation import beside, mutants, nasty

Projects = st.SearchStrategy[dict[str, bytes]]


def _named(data: st.SearchStrategy[bytes], *names: str, seeds: tuple[str, ...] = ()) -> Projects:
    """A file with generated content under one of these names, or a seed with such an ending, damaged."""
    generated = st.builds(lambda name, content: {name: content}, st.sampled_from(names), data)
    return st.one_of(generated, generated, mutants(*seeds)) if seeds else generated


_LOADS = b"""import yaml, json, argparse, deepspeed, torch, torch_npu
from omegaconf import OmegaConf
config = yaml.safe_load(open("config.yaml"))
config.update(json.load(open("config.json")), **OmegaConf.load("conf/config.yaml"))
model, optimizer, _, _ = deepspeed.initialize(config="ds_config.json", model=torch.nn.Linear(1, 1))
torch.optim.AdamW(model.parameters(), lr=config["lr"], **config["optimizer"]["params"])
model.backward(model(x))
"""
_RUNS = b"deepspeed train.py --deepspeed_config ds_config.json\naccelerate launch --config_file config.yaml train.py\n"


def _loading(projects: Projects) -> Projects:
    """The files beside a program that loads such files."""
    return projects.map(lambda files: {"train.py": _LOADS, "run.sh": _RUNS, **files})


_JSON_NAMES = (
    "ds_config.json",
    "config.json",
    "ops_info.json",
    "hccl_8p.json",
    "trace_view.json",
    "communication.json",
)
_MORE_JSON = ("fusion_result.json", "fusion_switch.cfg", "dump.json", "info.json.0", "profiler_info.json", "graph.json")
_LOG_NAMES = (
    "train.log",
    "plog/plog-1_2.log",
    "log.txt",
    "worker-0.txt",
    "nohup.out",
    "x.txt",
    "train.log.1",
    "dmesg.txt",
)
_YAML_NAMES = ("config.yaml", "conf/config.yaml", "environment.yml", "job.yaml")


def _of_list(files: Mapping[str, bytes]) -> bytes:
    return next(data for name, data in files.items() if name.endswith("ops_info.json"))


PROJECTS: dict[str, Projects] = {
    "python": python_sources.projects(),
    "shell": _named(lines.line_files(lines.SHELL), "run.sh", "a.bash", "start", seeds=(".sh",)),
    "yaml": _loading(_named(trees.yaml_texts(), *_YAML_NAMES, seeds=(".yml", ".yaml"))),
    "json": _loading(_named(trees.json_texts(), *_JSON_NAMES, *_MORE_JSON, seeds=(".json",))),
    "protobuf": binaries.protobufs(),
    "onnx": binaries.onnx_models(),
    "archive": binaries.archives(),
    "csv": st.one_of(tables.tables(), tables.tables(), mutants(".csv")),
    "database": databases.databases(),
    "log": _named(lines.line_files(lines.LOGS), *_LOG_NAMES, seeds=(".log",)),
    "ignore": _named(lines.line_files(lines.IGNORE), ".gitignore", "sub/.gitignore").map(
        lambda files: {"sub/a/b/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab/train.py": b"x = 1\n", **files}
    ),
    "notebook": _named(
        trees.notebooks(st.one_of(python_sources.programs(), python_sources.bulky())), "train.ipynb", "sub/x.ipynb"
    ),
    "dockerfile": _named(lines.line_files(lines.DOCKER), "Dockerfile", "npu.dockerfile", seeds=("Dockerfile",)),
    "requirements": _named(
        lines.line_files(lines.REQUIREMENTS),
        "requirements.txt",
        "requirements-dev.txt",
        "setup.cfg",
        seeds=(".txt", ".toml"),
    ),
    "mixlist": _named(
        st.one_of(trees.json_texts(), mutants("ops_info.json").map(_of_list)),
        *("ops_info.json", "black_list.json"),
    ).map(lambda files: {**files, "run.sh": b"python train.py --list ops_info.json\n"}),
}


@st.composite
def commands(draw: st.DrawFn, files: Mapping[str, bytes]) -> Example:
    """One of the ways to ask about a project."""
    form = draw(st.integers(0, 11))
    name = draw(st.sampled_from(sorted(files)))
    more = draw(
        st.lists(st.sampled_from(["--lang=zh", "--verbose", "--statistics", "--show-fixes", "--min-severity=note"]))
    )
    written = draw(st.sampled_from(FORMATS))
    project = dict(files)
    if form < 6:
        words = [
            "check",
            "--no-cache",
            f"--format={draw(st.sampled_from(FORMATS))}",
            f"--output={written}={OUT}/report",
        ]
        return Example(project, (*words, *dict.fromkeys(more)))
    if form < 8:
        port = draw(st.sampled_from(["explicit", "transfer", "agnostic"]))
        return Example(project, ("check", "--no-cache", "--diff", "--unsafe-fixes", f"--torch-port={port}"))
    if form == 8:
        return Example(project, ("check", f"--format={written}", "--exclude=", "--no-respect-gitignore"))
    if form == 9:
        return Example(project, ("facts", f"./{name}", f"--format={draw(st.sampled_from(['text', 'json']))}"))
    if form == 10:
        return Example(project, ("check", "-", f"--stdin-filename={name}", f"--format={written}"), files[name])
    both = {f"{side}/{path}": data for side in ("old", "new") for path, data in files.items()}
    if draw(st.booleans()):
        both[f"old/{name}"] = both[f"old/{name}"].replace(b"1", b"2")
    return Example(both, ("compare", "old", "new", "--no-cache", f"--format={written}", *dict.fromkeys(more)))


@st.composite
def _strange_names(draw: st.DrawFn, projects: Projects) -> dict[str, bytes]:
    """The files of a project, now and then one with a name that no one gives."""
    files = draw(projects)
    if draw(st.integers(0, 24)) == 0:
        odd = "".join(c for c in draw(nasty) if c not in "/\0" and not "\ud800" <= c < "\udc80")[:60]
        name = draw(st.sampled_from(sorted(files)))
        files = {**files, f"{odd}x{name.rpartition('/')[2]}": files[name]}
    return files


def _examples(projects: Projects) -> st.SearchStrategy[Example]:
    return _strange_names(projects).map(beside).flatmap(commands)


KINDS: dict[str, st.SearchStrategy[Example]] = {
    **{kind: _examples(projects) for kind, projects in PROJECTS.items()},
    "toml": configured.configurations().flatmap(lambda example: _same_files(example)),
    "checks": configured.checks(),
    "editor": conversations(),
}
"""Every kind of input by its name."""


def _same_files(example: Example) -> st.SearchStrategy[Example]:
    formats = st.sampled_from(["text", "json", "sarif"])
    return formats.map(lambda one: msgspec.structs.replace(example, words=("check", "--no-cache", f"--format={one}")))
