"""Every row of the table of training arguments: put into a configuration or a command line, it is found at its line."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from npulint.commands.build import assemble
from npulint.commands.check.temp_project import materialize
from npulint.model.programs.configured.arguments import TrainingArgument
from npulint.read.files import load, read

TABLE = Path(__file__).parent.parent / "data-src" / "framework_arguments.csv"
ROWS = [row for row in csv.DictReader(TABLE.read_text(encoding="utf-8").splitlines()) if row["cause"]]

# framework: (file, lines before the argument, how an argument is written there)
YAML, JSON, SHELL = "yaml", "json", "shell"
COMMANDS = {
    "llamafactory": "llamafactory-cli train sft.yaml",
    "swift": "swift sft --model x",
    "trl": "trl sft --model_name_or_path x",
    "transformers": "trl sft --model_name_or_path x",
    "axolotl": "axolotl train axolotl.yaml",
    "torchtune": "tune run full_finetune_single_device",
    "openrlhf": "deepspeed --module openrlhf.cli.train_sft",
    "megatron": "torchrun pretrain_gpt.py",
    "mindspeed": "torchrun posttrain_gpt.py",
    "verl": "python -m verl.trainer.main_ppo",
    "vllm": "vllm serve x",
}
LAUNCHERS = {"torchrun": "torchrun", "deepspeed_launch": "deepspeed", "accelerate_launch": "accelerate launch"}
WORDS = frozenset(("llamafactory", "torchtune", "verl"))  # they take name=value
PLACES = {
    "deepspeed": {"zero_optimization": {"stage": 2}},
    "accelerate": {"distributed_type": "NO", "compute_environment": "LOCAL_MACHINE"},
    "lightning": {"trainer": {"accelerator": "auto"}, "model": {"name": "x"}},
    "nemo": {"exp_manager": {"name": "x"}, "model": {"name": "x"}, "trainer": {"num_nodes": 1}},
    "sentence_transformers": {"output_dir": "out", "batch_sampler": "no_duplicates"},
}


def value_of(pattern: str) -> str:
    """A value that a pattern of the table matches."""
    if pattern == "set":
        return "value"
    if pattern[:1] in "<>":
        number = float(pattern[1:])
        return str(int(number + 1 if pattern[0] == ">" else number - 1))
    return pattern.replace("*", "x") if pattern != "*" else "value"


def arguments_of(row: dict[str, str]) -> dict[str, str]:
    """The argument of a row, and those that it depends on, with values; an argument left out is not among them."""
    found = {}
    for condition in row["when"].split():
        name, _, patterns = condition.partition("=")
        usable = [one for one in patterns.split("|") if one != "unset"]
        if usable and "unset" not in patterns.split("|"):
            found[name.replace("*", "x")] = value_of(usable[0])
    if row["values"] != "unset":
        found[row["argument"].replace("*", "x")] = value_of((row["values"] or "value").split("|")[0])
    return found


def requirements_of(row: dict[str, str]) -> str:
    """Requirements that pin releases before those borders that a row needs."""
    lines = []
    for condition in row["versions"].split():
        package, _, border = condition.partition("<")
        if border:
            lines.append(f"{package}<{border}")
        elif ">=" not in condition:
            lines.append(package)
    return "".join(f"{line}\n" for line in lines)


def project_of(row: dict[str, str]) -> dict[str, str]:
    """A project with the arguments of a row."""
    framework, arguments = row["framework"], arguments_of(row)
    files = {"requirements.txt": requirements_of(row)}
    if framework in COMMANDS:
        passed = [f"{name}={text}" if framework in WORDS else f"--{name} {text}" for name, text in arguments.items()]
        scripts = {"pretrain_gpt.py": "from megatron.training import pretrain\n"} if framework == "megatron" else {}
        return files | scripts | {"run.sh": " \\\n".join([COMMANDS[framework], *passed]) + "\n"}
    if framework in LAUNCHERS:
        passed = [f"--{name} {text}" for name, text in arguments.items()]
        return files | {"run.sh": " \\\n".join([LAUNCHERS[framework], *passed, "train.py"]) + "\n"}
    tree = json.loads(json.dumps(PLACES[framework]))
    for name, text in arguments.items():
        *above, last = [*(["trainer"] if framework == "lightning" else []), *name.split(".")]
        table = tree
        for key in above:
            table = table.setdefault(key, {})
        table[last] = json.loads(text) if text in ("true", "false") or text.isdigit() else text
    return files | {"config.json": json.dumps(tree, indent=1) + "\n"}


def shown(row: dict[str, str]) -> str:
    return "-".join((row["framework"], row["argument"], row["values"][:20], row["when"][:20], row["cause"]))


TRIED = [row for row in ROWS if row["framework"] in {*COMMANDS, *LAUNCHERS, *PLACES}]


@pytest.mark.parametrize("row", TRIED, ids=shown)
def test_the_argument_of_a_row_is_found(row: dict[str, str]) -> None:
    if row["values"] == "unset" and not row["when"]:
        pytest.skip("what is left out has no place")
    files = project_of(row)
    with materialize(files) as (_, sources):
        programs = assemble(".", [read(load(source)) for source in sources])
    facts = [fact for program in programs for fact in program.index.of_kind("training_argument")]
    found = {(fact.name, fact.cause): fact for fact in facts if isinstance(fact, TrainingArgument)}
    fact = found.get((row["argument"].replace("*", "x"), row["cause"]))
    assert fact is not None, (files, list(found))
    if row["values"] != "unset":
        line = files[fact.path].split("\n")[fact.span.line - 1]
        assert row["argument"].replace("*", "x").rpartition(".")[2] in line
