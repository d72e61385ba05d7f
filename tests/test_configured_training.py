"""Training that configuration files and command lines start: what is recognized, and at which places."""

from __future__ import annotations

import textwrap

import pytest

from npulint.commands.build import assemble
from npulint.commands.check.temp_project import materialize
from npulint.model.programs.configured.arguments import ArgumentMeaning
from npulint.read.files import load, read
from npulint.recognizers.programs import Program
from tests.project_support import Project

SFT = """\
model_name_or_path: Qwen/Qwen2.5-7B-Instruct
stage: sft
finetuning_type: lora
"""


def programs(files: dict[str, str]) -> list[Program]:
    """The programs of a project with these files."""
    with materialize({path: textwrap.dedent(text) for path, text in files.items()}) as (_, sources):
        return assemble(".", [read(load(source)) for source in sources])


def told(files: dict[str, str]) -> set[tuple[str, int, str, str, str]]:
    """(path, line, argument, value, cause) of each argument that the NPU does not take as it is."""
    facts = [fact for program in programs(files) for fact in program.index.of_kind("training_argument")]
    return {
        (fact.path, fact.span.line, fact.name, fact.value, fact.cause)
        for fact in facts
        if isinstance(fact, ArgumentMeaning) and fact.effect != "fine" and not fact.chips
    }


OWN_LOOP = """\
    import torch
    from transformers import HfArgumentParser

    args = HfArgumentParser(Arguments).parse_args_into_dataclasses()
    for x in loader:
        model(x).backward()
        optimizer.step()
"""
ARGUMENTS = "output_dir: out\nper_device_train_batch_size: 1\nnum_train_epochs: 3\n"
LIGHTNING = "model:\n  width: 3\ntrainer:\n  accelerator: cuda\n"
HYDRA = """\
    import torch
    from hydra.utils import instantiate

    if __name__ == "__main__":
        instantiate(cfg.trainer, _recursive_=False).run()
"""


MM_BASE = "default_scope = 'mmdet'\n"
MM_TRAIN = """\
    import sys

    import torch
    from mmengine.config import Config
    from mmengine.runner import Runner

    Runner.from_cfg(Config.fromfile(sys.argv[1])).train()
"""
GPU_KERNELS = "gpu-kernel-library"
LIGER = "liger-needs-triton-ascend"
EIGHT_BIT = "bitsandbytes-optimizer"

CASES = {
    "a configuration by its keys": (
        {"sft.yaml": f"{SFT}use_unsloth: true\n"},
        {("sft.yaml", 4, "use_unsloth", "true", GPU_KERNELS)},
    ),
    "an inherited argument of the Trainer": (
        {"sft.yaml": f"{SFT}optim: paged_adamw_8bit\n"},
        {("sft.yaml", 4, "optim", "paged_adamw_8bit", EIGHT_BIT)},
    ),
    "a configuration in JSON": (
        {"sft.json": '{"stage": "sft", "finetuning_type": "lora",\n "use_unsloth": true}\n'},
        {("sft.json", 2, "use_unsloth", "true", GPU_KERNELS)},
    ),
    "a command line": (
        {"run.sh": "swift sft --model x \\\n  --use_liger_kernel true\n"},
        {("run.sh", 2, "use_liger_kernel", "true", LIGER)},
    ),
    "an override beside a configuration": (
        {"a/sft.yaml": SFT, "run.sh": "llamafactory-cli train a/sft.yaml \\\n  use_unsloth=true\n"},
        {("run.sh", 2, "use_unsloth", "true", GPU_KERNELS)},
    ),
    "an override that takes the argument back": (
        {"a/sft.yaml": f"{SFT}use_unsloth: true\n", "run.sh": "llamafactory-cli train a/sft.yaml use_unsloth=false\n"},
        set(),
    ),
    "an array of arguments": (
        {"run.sh": "ARGS=(\n  --model x\n  --use_liger_kernel true\n)\nswift sft ${ARGS[@]}\n"},
        {("run.sh", 3, "use_liger_kernel", "true", LIGER)},
    ),
    "a recipe of a Makefile": (
        {"Makefile": "ARGS := --model x \\\n  --use_liger_kernel true\n\ntrain:\n\tswift sft $(ARGS)\n"},
        {("Makefile", 2, "use_liger_kernel", "true", LIGER)},
    ),
    "a file that a configuration names": (
        {
            "sft.yaml": f"{SFT}deepspeed: ds/z3.json\n",
            "ds/z3.json": '{"zero_optimization": {"stage": 3},\n "optimizer": {"type": "Lamb"}}\n',
        },
        {("ds/z3.json", 2, "optimizer.type", "Lamb", "deepspeed-cuda-operator")},
    ),
    "the command line of a script with the Trainer's arguments": (
        {
            "train.py": """\
                from transformers import HfArgumentParser, Trainer, TrainingArguments

                args, = HfArgumentParser(TrainingArguments).parse_args_into_dataclasses()
                Trainer(args=args).train()
            """,
            "run.sh": "torchrun --nproc_per_node 8 train.py \\\n  --optim adamw_bnb_8bit\n",
        },
        {("run.sh", 2, "optim", "adamw_bnb_8bit", EIGHT_BIT)},
    ),
    "the command line of a script that extends the Trainer's arguments": (
        {
            "start.py": "from train import main\n\nmain()\n",
            "train.py": """\
                from dataclasses import dataclass

                import transformers

                @dataclass
                class Arguments(transformers.TrainingArguments):
                    length: int = 512

                def main():
                    args, = transformers.HfArgumentParser(Arguments).parse_args_into_dataclasses()
                    transformers.Trainer(args=args).train()
            """,
            "run.sh": "torchrun --nproc_per_node 8 start.py \\\n  --optim adamw_bnb_8bit\n",
        },
        {("run.sh", 2, "optim", "adamw_bnb_8bit", EIGHT_BIT)},
    ),
    "an argument in code": (
        {
            "train.py": """\
                from transformers import Trainer, TrainingArguments

                args = TrainingArguments(
                    output_dir="out",
                    optim="adamw_bnb_8bit",
                )
                Trainer(args=args).train()
            """
        },
        {("train.py", 5, "optim", "adamw_bnb_8bit", EIGHT_BIT)},
    ),
    "an argument from a dict": (
        {
            "train.py": """\
                from transformers import Trainer, TrainingArguments

                OPTIONS = {"output_dir": "out", "optim": "adamw_bnb_8bit"}
                args = TrainingArguments(**OPTIONS)
                Trainer(args=args).train()
            """
        },
        {("train.py", 4, "optim", "adamw_bnb_8bit", EIGHT_BIT)},
    ),
    "a default in a dataclass": (
        {
            "train.py": """\
                from dataclasses import dataclass, field

                import transformers

                @dataclass
                class Arguments(transformers.TrainingArguments):
                    optim: str = field(default="adamw_bnb_8bit")

                transformers.Trainer(args=Arguments("out")).train()
            """
        },
        {("train.py", 7, "optim", "adamw_bnb_8bit", EIGHT_BIT)},
    ),
    "a module of assignments that MMEngine reads": (
        {
            "configs/det.py": f"{MM_BASE}model = dict(test_cfg=dict(\n    nms=dict(type='soft_nms')))\n",
            "train.py": MM_TRAIN,
        },
        {("configs/det.py", 3, "model.test_cfg.nms.type", "soft_nms", "mmcv-operator-on-cpu")},
    ),
    "only the modules that launchers name, if they name some": (
        {
            "configs/det.py": "_base_ = ['../base/norm.py']\n",
            "base/norm.py": f"{MM_BASE}norm_cfg = dict(type='MMSyncBN')\n",
            "configs/other.py": f"{MM_BASE}model = {{'nms': {{'type': 'soft_nms'}}}}\n",
            "train.py": MM_TRAIN,
            "run.sh": "python3 train.py configs/det.py --launcher slurm\n",
        },
        {
            ("base/norm.py", 2, "norm_cfg.type", "MMSyncBN", "mmcv-operator"),
            ("run.sh", 1, "launcher", "slurm", "mmengine-launcher"),
        },
    ),
    "a module with other code": (
        {"det.py": f"{MM_BASE}model = dict(nms=dict(type='soft_nms'))\nimport build\n", "train.py": MM_TRAIN},
        set(),
    ),
    "a condition on an argument with a computed value": (
        {"run.sh": "swift sft --model x --fp16 true \\\n  --deepspeed $CONFIG\n"},
        set(),
    ),
    "a condition on an argument with a default in a dataclass": (
        {
            "train.py": """\
                import transformers

                class Arguments(transformers.TrainingArguments):
                    optim: str = "adamw_torch"

                args, = transformers.HfArgumentParser(Arguments).parse_args_into_dataclasses()
                transformers.Trainer(args=args).train()
            """,
            "run.sh": "torchrun --nproc_per_node 8 train.py --fp16 True\n",
        },
        set(),
    ),
    "a computed value": (
        {"run.sh": "swift sft --model x --use_liger_kernel $LIGER\n"},
        set(),
    ),
    "a file with keys of no framework": (
        {"config.yaml": "stage: sft\nuse_unsloth: true\n"},
        set(),
    ),
}


@pytest.mark.parametrize(("files", "expected"), CASES.values(), ids=CASES.keys())
def test_an_argument_is_found_where_it_is_written(
    files: dict[str, str], expected: set[tuple[str, int, str, str, str]]
) -> None:
    assert told(files) == expected


RELEASES = {
    "transformers==4.48.3": True,
    "transformers>=4.40,<4.50": True,
    "transformers==4.56.2": False,
    "transformers": False,
}


@pytest.mark.parametrize(("requirement", "refused"), RELEASES.items())
def test_a_rule_about_old_releases_needs_one(requirement: str, refused: bool) -> None:
    found = told(
        {
            "requirements.txt": f"{requirement}\n",
            "train.py": """\
                from transformers import AutoModel, Trainer

                model = AutoModel.from_pretrained("x", attn_implementation="flash_attention_2")
                Trainer(model=model).train()
            """,
        }
    )
    assert (("train.py", 3, "attn_implementation", "flash_attention_2", "flash-attn-package") in found) is refused


def test_each_start_without_a_script_of_the_project_is_a_program() -> None:
    files = {
        "a.yaml": SFT,
        "b.yaml": SFT,
        "run.sh": "llamafactory-cli train a.yaml\n",
        "swift.sh": "swift sft --model x\n",
        "ds.json": '{"zero_optimization": {"stage": 2}}\n',
    }
    found = {program.entry: program.fact.configured for program in programs(files) if program.entry}
    assert found == {"run.sh": True, "b.yaml": True, "swift.sh": True}


def test_a_module_that_a_configuration_names_is_part_of_the_program() -> None:
    files = {
        "main.py": """\
            import importlib

            import torch

            def make(config):
                module, name = config["target"].rsplit(".", 1)
                return getattr(importlib.import_module(module), name)()

            if __name__ == "__main__":
                make(load("cfg.yaml"))
        """,
        "models/unet.py": "import torch\n\nclass UNet(torch.nn.Module):\n    pass\n",
        "models/other.py": "import torch\n\nclass Other(torch.nn.Module):\n    pass\n",
        "cfg.yaml": "model:\n  target: models.unet.UNet\n",
    }
    main = next(program for program in programs(files) if program.entry == "main.py")
    assert main.paths == ["main.py", "models/unet.py"]


def test_an_argument_that_is_left_out_is_one_of_the_framework_that_has_it() -> None:
    files = {
        "run.sh": "torchrun --nproc_per_node 8 pretrain_gpt.py --context-parallel-algo hybrid_cp_algo\n",
        "pretrain_gpt.py": "import mindspeed.megatron_adaptor\nfrom megatron.training import pretrain\npretrain()\n",
    }
    facts = [fact for program in programs(files) for fact in program.index.of_kind("training_argument")]
    found = {(fact.name, fact.framework, fact.others) for fact in facts if isinstance(fact, ArgumentMeaning)}
    assert ("context_parallel_algo", "MindSpeed", "ulysses_degree_in_cp=unset") in found
    assert {framework for name, framework, _ in found if name != "nproc_per_node"} == {"MindSpeed"}


PPO = "python3 -m openrlhf.cli.train_ppo_ray --vllm.num_engines 4"
MAIN = "python3 -m verl.trainer.main_ppo"
OLD_VERL = {"requirements.txt": "verl==0.5.0\n"}


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"run.sh": f"{PPO}\n"}, ("vllm.sync_backend", "unset")),
        ({"run.sh": f"{PPO} --vllm.sync_backend nccl\n"}, ("vllm.sync_backend", "nccl")),
        ({"run.sh": f"{PPO} --vllm.sync_backend hccl\n"}, None),
        ({"run.sh": "python3 -m openrlhf.cli.train_sft --max_epochs 1\n"}, None),
        ({**OLD_VERL, "run.sh": f"{MAIN} trainer.nnodes=1\n"}, ("trainer.device", "unset")),
        ({**OLD_VERL, "run.sh": f"{MAIN} trainer.nnodes=1 trainer.device=npu\n"}, None),
        ({**OLD_VERL, "run.sh": f'{MAIN} trainer.nnodes=1 "$@"\n'}, None),
        ({**OLD_VERL, "run.sh": f"{MAIN} --config-name=ours trainer.nnodes=1\n"}, None),
        ({"run.sh": f"{MAIN} trainer.nnodes=1\n"}, None),
    ],
    ids=["default", "written", "given", "not one of it", "old", "old, given", "passed on", "configured", "new release"],
)
def test_what_the_default_of_an_argument_does(files: dict[str, str], expected: tuple[str, str] | None) -> None:
    assert {(name, value) for _, _, name, value, _ in told(files)} == ({expected} if expected else set())


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"train.py": "from megatron.training import pretrain\npretrain()\n"}, "installed"),
        ({"train.py": "import mindspeed.megatron_adaptor\nfrom megatron.training import pretrain\npretrain()\n"}, "no"),
        ({"train.py": "from megatron.core import parallel_state\nparallel_state.initialize()\n"}, "no"),
        (
            {
                "train.py": "from megatron.training import pretrain\npretrain()\n",
                "megatron/training.py": "import torch\ndef pretrain(): pass\n",
            },
            "copied",
        ),
    ],
    ids=["installed", "adapted", "only its groups", "copied"],
)
def test_whether_a_program_builds_its_model_with_megatron(files: dict[str, str], expected: str) -> None:
    assert {program.fact.megatron for program in programs(files)} == {expected}


NCCL = "nccl-backend"
CALLS = {
    "a process group of Accelerate": (
        "from accelerate.utils import InitProcessGroupKwargs\nInitProcessGroupKwargs(backend='nccl')\n",
        {("InitProcessGroupKwargs.backend", 2, NCCL)},
    ),
    "the HCCL of Accelerate": (
        "from accelerate.utils import InitProcessGroupKwargs\nInitProcessGroupKwargs(backend='hccl')\n",
        set(),
    ),
    "a backend of Ray": (
        "from ray.train.torch import TorchConfig\nTorchConfig(backend='nccl')\n",
        {("TorchConfig.backend", 2, NCCL)},
    ),
    "workers of Ray with GPUs": (
        "from ray.train import ScalingConfig\nScalingConfig(num_workers=8, use_gpu=True)\n",
        {("ScalingConfig.use_gpu", 2, "gpu-resource")},
    ),
    "resources of workers": (
        "from ray.train import ScalingConfig\nScalingConfig(\n  num_workers=8,\n resources_per_worker={'GPU': 1},\n)\n",
        {("ScalingConfig.resources_per_worker.GPU", 4, "gpu-resource")},
    ),
    "NPUs of workers": (
        "from ray.train import ScalingConfig\nScalingConfig(num_workers=8, resources_per_worker={'NPU': 1})\n",
        set(),
    ),
    "a strategy of Lightning": (
        "from lightning.pytorch.strategies import DDPStrategy\nDDPStrategy(process_group_backend='nccl')\n",
        {("DDPStrategy.process_group_backend", 2, NCCL)},
    ),
    "a dict of DeepSpeed": (
        "import deepspeed\nds = {'zero_optimization': {'stage': 3, 'zero_quantized_weights': True}}\n"
        "deepspeed.initialize(model=None, config=ds)\n",
        {("zero_optimization.zero_quantized_weights", 3, "deepspeed-cuda-operator")},
    ),
    "a dict of DeepSpeed for the NPU": (
        "import deepspeed\nds = {'zero_optimization': {'stage': 3}, 'bf16': {'enabled': True}}\n"
        "deepspeed.initialize(model=None, config=ds)\n",
        set(),
    ),
    "one of two dicts": (
        "import sys\nimport deepspeed\nds = {'bf16': {'enabled': True}}\n"
        "if len(sys.argv) > 1:\n    ds = {'optimizer': {'type': 'FusedLamb'}}\n"
        "deepspeed.initialize(model=None, config=ds)\n",
        set(),
    ),
    "an engine": (
        "from vllm import LLM\nLLM(\n  model='Qwen/Qwen2.5-7B-Instruct',\n  quantization='awq_marlin',\n)\n",
        {("quantization", 4, "gpu-quantisation")},
    ),
    "an engine for the NPU": (
        "from vllm import LLM\nLLM(model='Qwen/Qwen2.5-7B-Instruct', quantization='ascend')\n",
        set(),
    ),
    "weights of an adapter": (
        "from peft import LoraConfig\nLoraConfig(r=8, init_lora_weights='loftq')\n",
        {("init_lora_weights", 2, "cuda-device")},
    ),
    "a usual adapter": ("from peft import LoraConfig\nLoraConfig(r=8, init_lora_weights='pissa')\n", set()),
    "Unsloth": (
        "from unsloth import FastLanguageModel\nFastLanguageModel.from_pretrained(model_name='m')\n",
        {("model_name", 2, GPU_KERNELS)},
    ),
    "a configuration of TRL": (
        "from trl import GRPOConfig\nGRPOConfig(\n  use_vllm=True,\n  tf32=True,\n)\n",
        {("use_vllm", 3, "inference-engine"), ("tf32", 4, "tf32")},
    ),
    "a pipeline of diffusers": (
        "from diffusers import FluxPipeline\nFluxPipeline.from_pretrained('m', device_map='cuda')\n",
        {("device_map", 2, "cuda-device")},
    ),
    "a pipeline of transformers": (
        "from transformers import pipeline\npipeline('text-generation', device='cuda:0')\n",
        {("device", 2, "cuda-device")},
    ),
    "a pipeline on the NPU": (
        "from transformers import pipeline\npipeline('text-generation', device='npu:0')\n",
        set(),
    ),
    "an encoder": (
        "from sentence_transformers import SentenceTransformer\nSentenceTransformer('m', device='cuda')\n",
        {("device", 2, "cuda-device")},
    ),
}


@pytest.mark.parametrize(("source", "expected"), CALLS.values(), ids=CALLS.keys())
def test_what_arguments_of_calls_mean(source: str, expected: set[tuple[str, int, str]]) -> None:
    facts = [
        one
        for program in programs({"train.py": f"{source}import torch\n"})
        for one in program.index.of_kind("training_argument")
    ]
    found = [one for one in facts if isinstance(one, ArgumentMeaning) and one.effect != "fine" and not one.chips]
    sure = [one for one in found if one.get("guarded") in (False, "no")]
    assert {(one.name, one.span.line, one.cause) for one in sure} == expected


def test_a_configuration_is_judged_beside_code_that_runs_on_the_npu() -> None:
    files = {
        "lora.yaml": "model:\n  _component_: m\noptimizer:\n  _component_: torch.optim.AdamW\ndevice: cuda\n",
        "evaluate.py": "import torch\nimport torch_npu\ntorch.ones(2).npu()\n",
    }
    assert [one.fact.migration for one in programs(files) if one.entry == "lora.yaml"] == ["none"]


@pytest.mark.parametrize(
    ("files", "entries"),
    [
        ({"a.yaml": ARGUMENTS}, {"a.yaml"}),
        ({"a.yaml": ARGUMENTS, "train.py": OWN_LOOP}, {"train.py"}),
        ({"a.yaml": ARGUMENTS, "train.py": OWN_LOOP, "run.sh": "python train.py a.yaml\n"}, {"train.py"}),
        (
            {"a.yaml": ARGUMENTS, "train.py": OWN_LOOP, "sft.py": "from trl import SFTTrainer\nimport torch\n"},
            {"a.yaml", "train.py"},
        ),
        ({"a.yaml": LIGHTNING}, {"a.yaml"}),
        ({"a.yaml": "trainer:\n  accelerator: cpu\n"}, set()),
        ({"a.yaml": f"{LIGHTNING}  _target_: lightning.pytorch.Trainer\n"}, {"a.yaml"}),
        ({"a.yaml": f"{LIGHTNING}  _target_: training.trainer.Trainer\n"}, set()),
    ],
    ids=[
        "alone",
        "an own loop",
        "named by a launcher",
        "a Trainer",
        "Lightning",
        "a part of it",
        "its class",
        "another class",
    ],
)
def test_files_start_a_training_unless_others_read_them(files: dict[str, str], entries: set[str]) -> None:
    assert {one.entry for one in programs(files) if one.entry} - {"sft.py"} == entries


def test_hydra_makes_the_classes_that_configurations_name() -> None:
    files = {
        "train.py": HYDRA,
        "conf/a.yaml": f"{LIGHTNING}  _target_: training.trainer.Trainer\n",
        "training/__init__.py": "",
        "training/trainer.py": "import torch\n\nclass Trainer:\n    def run(self):\n        loss.backward()\n",
        "training/other.py": "import torch\n",
    }
    (program,) = (one for one in programs(files) if one.entry == "train.py")
    assert sorted(program.paths) == ["train.py", "training/trainer.py"]


TRAINS = """\
    import torch
    from megatron.training import pretrain

    pretrain(None, None, None, None)
"""
CONVERTS = """\
    import torch
    from megatron.training import get_args
    from megatron.training.initialize import initialize_megatron

    initialize_megatron()
    torch.save(get_args(), "weights.pt")
"""


def test_a_script_that_converts_beside_one_that_trains_is_a_tool() -> None:
    tool = {"convert.py": CONVERTS, "convert.sh": "python3 convert.py\n"}
    found = programs({"pretrain.py": TRAINS, **tool})
    assert {program.entry: program.is_tool for program in found if program.entry} == {
        "pretrain.py": False,
        "convert.py": True,
    }
    assert not any(program.is_tool for program in programs(tool))


def test_arguments_of_a_training_are_notes_where_a_tool_gets_them(project: Project) -> None:
    start = "torchrun --nproc_per_node 1 {}.py --transformer-impl transformer_engine\n"
    scripts = {"pretrain.py": TRAINS, "convert.py": CONVERTS}
    launchers = {f"{name}.sh": start.format(name) for name in ("pretrain", "convert")}
    answer = project.write({**scripts, **launchers}).check("--min-severity", "note")
    found = [one for one in answer.findings if one["name"] == "transformer-engine-configured"]
    assert {one["path"]: one["severity"] for one in found} == {"pretrain.sh": "warning", "convert.sh": "note"}


_LOOP = (
    "import torch, torch_npu\nmodel = torch.nn.Linear(3, 3).npu()\nfor x in range(3):\n    model(x).sum().backward()\n"
)
_PAGED = SFT + "optim: paged_adamw_8bit\n"


@pytest.mark.parametrize(
    ("files", "severity"),
    [
        pytest.param({"a.yaml": _PAGED}, "error", id="the only training"),
        pytest.param({"a.yaml": _PAGED, "b.yaml": SFT}, "error", id="nothing is started"),
        pytest.param({"a.yaml": _PAGED, "run.sh": "llamafactory-cli train a.yaml\n"}, "error", id="started"),
        pytest.param(
            {"a.yaml": _PAGED, "b.yaml": SFT, "run.sh": "llamafactory-cli train b.yaml\n"},
            "warning",
            id="another is started",
        ),
        pytest.param({"a.yaml": _PAGED, "train.py": _LOOP}, "warning", id="beside a script that trains"),
    ],
)
def test_a_configuration_that_nothing_starts_is_an_example(
    project: Project, files: dict[str, str], severity: str
) -> None:
    findings = project.write(files).check("--select=NPU7106").findings
    assert {finding["severity"] for finding in findings} == {severity}
