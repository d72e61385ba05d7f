"""Faults put one by one into configurations that run on the NPU: each is found at its line, and nothing else is."""

from __future__ import annotations

import textwrap
from functools import cache
from pathlib import Path

import pytest

from npulint.commands.check.pipeline import run
from npulint.judge.findings import Finding
from npulint.judge.settings import Settings

pytestmark = pytest.mark.slow

TORCH = "torch==2.7.1\ntorch_npu==2.7.1\n"
PROGRAMS = {
    "llamafactory": {
        "requirements.txt": TORCH + "llamafactory==0.9.4\ntransformers==4.57.1\ndeepspeed==0.16.9\n",
        "conf/qwen3_lora.yaml": """\
            ### model
            model_name_or_path: Qwen/Qwen3-8B
            trust_remote_code: true
            flash_attn: fa2

            ### method
            stage: sft
            do_train: true
            finetuning_type: lora
            lora_rank: 16
            lora_target: all
            deepspeed: conf/ds_z3.json

            ### dataset
            dataset: alpaca_zh
            template: qwen3
            cutoff_len: 4096
            packing: false

            ### train
            output_dir: saves/qwen3
            per_device_train_batch_size: 1
            gradient_accumulation_steps: 8
            learning_rate: 1.0e-4
            num_train_epochs: 3.0
            optim: adamw_torch
            bf16: true
            ddp_timeout: 180000000
        """,
        "conf/ds_z3.json": """\
            {
              "train_batch_size": "auto",
              "train_micro_batch_size_per_gpu": "auto",
              "gradient_clipping": "auto",
              "bf16": {"enabled": "auto"},
              "zero_optimization": {
                "stage": 3,
                "overlap_comm": true,
                "offload_optimizer": {"device": "cpu", "pin_memory": true},
                "contiguous_gradients": true,
                "stage3_gather_16bit_weights_on_model_save": true
              }
            }
        """,
        "train.sh": """\
            source /usr/local/Ascend/ascend-toolkit/set_env.sh
            export ASCEND_RT_VISIBLE_DEVICES=0,1,2,3
            llamafactory-cli train conf/qwen3_lora.yaml
        """,
    },
    "llamafactory dpo": {
        "requirements.txt": TORCH + "llamafactory==0.9.4\ntransformers==4.57.1\n",
        "dpo.yaml": """\
            model_name_or_path: Qwen/Qwen2.5-7B-Instruct
            stage: dpo
            do_train: true
            finetuning_type: full
            pref_beta: 0.1
            dataset: dpo_zh
            template: qwen
            output_dir: saves/dpo
            per_device_train_batch_size: 1
            learning_rate: 5.0e-6
            pure_bf16: true
        """,
    },
    "swift": {
        "requirements.txt": TORCH + "ms-swift==3.10.0\ntransformers==4.57.1\nvllm-ascend==0.11.0\n",
        "sft.sh": """\
            export ASCEND_RT_VISIBLE_DEVICES=0,1,2,3
            NPROC_PER_NODE=4 \\
            swift sft \\
                --model Qwen/Qwen3-8B \\
                --dataset swift/self-cognition \\
                --train_type lora \\
                --torch_dtype bfloat16 \\
                --attn_impl sdpa \\
                --per_device_train_batch_size 1 \\
                --learning_rate 1e-4 \\
                --gradient_accumulation_steps 16 \\
                --deepspeed zero2 \\
                --output_dir output
        """,
    },
    "megatron swift": {
        "requirements.txt": TORCH + "ms-swift==3.10.0\ntransformers==4.57.1\n",
        "megatron.sh": """\
            source /usr/local/Ascend/nnal/atb/set_env.sh
            megatron sft \\
                --load Qwen3-30B-A3B-mcore \\
                --dataset AI-ModelScope/alpaca-gpt4-data-zh \\
                --tensor_model_parallel_size 2 \\
                --expert_model_parallel_size 4 \\
                --moe_grouped_gemm true \\
                --moe_token_dispatcher_type alltoall \\
                --attention_backend flash \\
                --gradient_accumulation_fusion false \\
                --micro_batch_size 1 \\
                --global_batch_size 16
        """,
    },
    "verl": {
        "requirements.txt": TORCH + "verl==0.7.0\nvllm==0.11.0\nvllm-ascend==0.11.0\n",
        "grpo.sh": """\
            set -x
            python3 -m verl.trainer.main_ppo \\
                algorithm.adv_estimator=grpo \\
                data.train_files=gsm8k/train.parquet \\
                data.train_batch_size=1024 \\
                actor_rollout_ref.model.path=Qwen/Qwen3-8B \\
                actor_rollout_ref.model.use_remove_padding=True \\
                actor_rollout_ref.actor.strategy=fsdp2 \\
                actor_rollout_ref.actor.use_torch_compile=False \\
                actor_rollout_ref.rollout.name=vllm \\
                actor_rollout_ref.rollout.tensor_model_parallel_size=2 \\
                actor_rollout_ref.rollout.gpu_memory_utilization=0.6 \\
                trainer.n_gpus_per_node=8 \\
                trainer.nnodes=1 \\
                trainer.device=npu
        """,
    },
    "accelerate": {
        "requirements.txt": TORCH + "accelerate==1.11.0\ndiffusers==0.35.2\ntransformers==4.57.1\n",
        "accelerate.yaml": """\
            compute_environment: LOCAL_MACHINE
            distributed_type: MULTI_NPU
            mixed_precision: bf16
            num_machines: 1
            num_processes: 8
            use_cpu: false
        """,
        "run.sh": """\
            accelerate launch --config_file accelerate.yaml train.py \\
                --train_batch_size 4 \\
                --gradient_checkpointing
        """,
        "train.py": """\
            import argparse

            import torch
            import torch_npu
            from accelerate import Accelerator

            parser = argparse.ArgumentParser()
            parser.add_argument("--train_batch_size", type=int)
            parser.add_argument("--gradient_checkpointing", action="store_true")
            args = parser.parse_args()
            accelerator = Accelerator()
            model = torch.nn.Linear(8, 8)
            optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
            model, optimizer = accelerator.prepare(model, optimizer)
            for _ in range(100):
                loss = model(torch.randn(args.train_batch_size, 8, device=accelerator.device)).mean()
                accelerator.backward(loss)
                optimizer.step()
                optimizer.zero_grad()
        """,
    },
    "trainer": {
        "requirements.txt": TORCH + "transformers==4.57.1\naccelerate==1.11.0\n",
        "finetune.py": """\
            import torch_npu
            from transformers import AutoModelForCausalLM, Trainer, TrainingArguments

            model = AutoModelForCausalLM.from_pretrained(
                "Qwen/Qwen3-8B",
                attn_implementation="sdpa",
                dtype="auto",
            )
            args = TrainingArguments(
                output_dir="out",
                per_device_train_batch_size=2,
                optim="adamw_torch",
                bf16=True,
                ddp_backend="hccl",
            )
            Trainer(model=model, args=args, train_dataset=[]).train()
        """,
    },
    "trl": {
        "requirements.txt": TORCH + "trl==0.24.0\ntransformers==4.57.1\n",
        "sft.yaml": """\
            model_name_or_path: Qwen/Qwen2.5-1.5B
            dataset_name: trl-lib/Capybara
            output_dir: out
            per_device_train_batch_size: 2
            attn_implementation: sdpa
            dtype: bfloat16
            bf16: true
            optim: adamw_torch
        """,
        "run.sh": "trl sft --config sft.yaml\n",
    },
    "deepspeed": {
        "requirements.txt": TORCH + "deepspeed==0.16.9\n",
        "ds.json": """\
            {
              "train_micro_batch_size_per_gpu": 4,
              "optimizer": {
                "type": "AdamW",
                "params": {"lr": 1e-4}
              },
              "bf16": {"enabled": true},
              "zero_optimization": {
                "stage": 2,
                "offload_optimizer": {"device": "cpu"}
              }
            }
        """,
        "train.py": """\
            import deepspeed
            import torch
            import torch_npu

            deepspeed.init_distributed(dist_backend="hccl")
            model = torch.nn.Linear(8, 8)
            engine, *_ = deepspeed.initialize(model=model, model_parameters=model.parameters(), config="ds.json")
            for _ in range(10):
                engine.backward(engine(torch.randn(4, 8, device="npu", dtype=torch.bfloat16)).mean())
                engine.step()
        """,
    },
    "mindspeed": {
        "requirements.txt": TORCH + "mindspeed\n",
        "pretrain_gpt.py": """\
            import torch
            import mindspeed.megatron_adaptor
            from megatron.training import pretrain

            pretrain(None, None, None, None)
        """,
        "pretrain.sh": """\
            source /usr/local/Ascend/ascend-toolkit/set_env.sh
            export CUDA_DEVICE_MAX_CONNECTIONS=1
            torchrun --nproc_per_node 8 pretrain_gpt.py \\
                --tensor-model-parallel-size 2 \\
                --sequence-parallel \\
                --num-layers 32 \\
                --hidden-size 4096 \\
                --num-attention-heads 32 \\
                --position-embedding-type rope \\
                --use-flash-attn \\
                --use-fused-rmsnorm \\
                --no-gradient-accumulation-fusion \\
                --micro-batch-size 1 \\
                --global-batch-size 64 \\
                --bf16
        """,
    },
    "axolotl": {
        "requirements.txt": TORCH + "axolotl==0.12.2\n",
        "lora.yaml": """\
            base_model: NousResearch/Llama-3.2-1B
            datasets:
              - path: teknium/GPT4-LLM-Cleaned
                type: alpaca
            adapter: lora
            lora_r: 16
            sequence_len: 2048
            micro_batch_size: 2
            optimizer: adamw_torch
            attn_implementation: eager
            bf16: auto
            tf32: false
        """,
    },
    "torchtune": {
        "requirements.txt": TORCH + "torchtune==0.6.1\n",
        "lora.yaml": """\
            model:
              _component_: torchtune.models.qwen2_5.lora_qwen2_5_7b_instruct
            tokenizer:
              _component_: torchtune.models.qwen2_5.qwen2_5_tokenizer
            optimizer:
              _component_: torch.optim.AdamW
              lr: 2e-5
            device: npu
            dtype: bf16
            compile: false
            enable_activation_offloading: false
        """,
    },
}

FAULTS = (
    ("llamafactory", "flash_attn: fa2", "flash_attn: fa2\nuse_unsloth: true", "gpu-kernel-library-configured"),
    ("llamafactory", "bf16: true", "bf16: true\ntf32: true", "tf32-configured"),
    ("llamafactory", "optim: adamw_torch", "optim: adamw_bnb_8bit", "bitsandbytes-optimizer-configured"),
    ("llamafactory", "optim: adamw_torch", "optim: paged_adamw_8bit", "bitsandbytes-optimizer-configured"),
    ("llamafactory", "trust_remote_code: true", "quantization_bit: 4", "double-quantisation-configured"),
    ("llamafactory", "trust_remote_code: true", "fp8: true", "float8-configured"),
    ("llamafactory", "Qwen/Qwen3-8B", "Qwen/Qwen2.5-7B-Instruct-AWQ", "quantised-checkpoint-configured"),
    ("llamafactory", "ddp_timeout: 180000000", "ddp_backend: nccl", "nccl-configured"),
    ("llamafactory", "bf16: true", "bf16: true\nuse_cpu: true", "cpu-configured"),
    ("llamafactory", "bf16: true", "bf16: true\nuse_liger_kernel: true", "liger-kernel-configured"),
    (
        "llamafactory",
        '"stage": 3,',
        '"stage": 3,\n    "zero_quantized_weights": true,',
        "deepspeed-cuda-operator-configured",
    ),
    ("llamafactory", "adamw_torch", "adamw_torch_xla", "other-accelerator-configured"),
    ("llamafactory dpo", "pref_beta: 0.1", "infer_backend: vllm", "inference-engine-configured"),
    ("llamafactory dpo", "pure_bf16: true", "optim: galore_adamw_8bit", "bitsandbytes-optimizer-configured"),
    ("swift", "--attn_impl sdpa", "--attn_impl flash_attention_3", "flash-attention-without-npu-build"),
    ("swift", "--output_dir output", "--quant_method bnb", "bitsandbytes-quantisation-configured"),
    ("swift", "--output_dir output", "--quant_method hqq", "gpu-quantisation-configured"),
    ("swift", "--attn_impl sdpa", "--packing true", "packing-without-flash-attention"),
    ("swift", "--output_dir output", "--tf32 true", "tf32-configured"),
    ("swift", "--output_dir output", "--optim paged_adamw_32bit", "bitsandbytes-optimizer-configured"),
    ("swift", "--output_dir output", "--infer_backend sglang", "unsupported-inference-engine-configured"),
    ("swift", "--output_dir output", "--device_map cuda:0", "cuda-device-configured"),
    ("swift", "--output_dir output", "--ddp_backend nccl", "nccl-configured"),
    ("swift", "--output_dir output", "--tuner_backend unsloth", "gpu-kernel-library-configured"),
    ("swift", "Qwen/Qwen3-8B", "Qwen/Qwen3-8B-FP8", "quantised-checkpoint-configured"),
    ("megatron swift", "_type alltoall", "_type flex", "nvidia-communication-configured"),
    ("megatron swift", "backend flash", "backend unfused", "unfused-attention-configured"),
    ("megatron swift", "--micro_batch_size 1", "--fp8_format e4m3", "float8-configured"),
    ("megatron swift", "--micro_batch_size 1", "--moe_enable_deepep true", "nvidia-communication-configured"),
    ("megatron swift", "--micro_batch_size 1", "--cross_entropy_fusion_impl te", "transformer-engine-configured"),
    ("verl", "rollout.name=vllm", "rollout.name=trtllm", "unsupported-inference-engine-configured"),
    ("verl", "trainer.nnodes=1", "global_profiler.tool=nsys", "nvidia-profiler-configured"),
    ("verl", "use_torch_compile=False", "use_torch_compile=True", "inductor-configured"),
    ("verl", "actor.strategy=fsdp2", "actor.strategy=automodel", "gpu-only-framework-configured"),
    (
        "verl",
        "trainer.nnodes=1",
        "actor_rollout_ref.rollout.checkpoint_engine.backend=nccl",
        "nccl-configured",
    ),
    ("verl", "trainer.nnodes=1", "actor_rollout_ref.rollout.quantization=torchao", "gpu-quantisation-configured"),
    ("accelerate", "MULTI_NPU", "MULTI_XPU", "other-accelerator-configured"),
    ("accelerate", "MULTI_NPU", "MULTI_CPU", "cpu-configured"),
    ("accelerate", "mixed_precision: bf16", "mixed_precision: fp8", "float8-configured"),
    ("accelerate", "use_cpu: false", "use_cpu: true", "cpu-configured"),
    ("accelerate", "use_cpu: false", "enable_cpu_affinity: true", "argument-without-effect"),
    (
        "accelerate",
        "use_cpu: false",
        "dynamo_config:\n  dynamo_backend: TENSORRT",
        "compile-backend-configured",
    ),
    ("trainer", "bf16=True,", "tf32=True,", "tf32-configured"),
    ("trainer", 'optim="adamw_torch"', 'optim="adamw_8bit"', "bitsandbytes-optimizer-configured"),
    ("trainer", 'ddp_backend="hccl"', 'ddp_backend="nccl"', "nccl-configured"),
    ("trainer", '"sdpa"', '"flash_attention_3"', "flash-attention-without-npu-build"),
    ("trainer", 'dtype="auto"', 'device_map="cuda"', "cuda-device-configured"),
    ("trainer", "bf16=True,", "use_cpu=True,", "cpu-configured"),
    ("trl", "optim: adamw_torch", "optim: adamw_apex_fused", "apex-optimizer-configured"),
    (
        "trl",
        "attn_implementation: sdpa",
        "attn_implementation: kernels-community/flash-attn3",
        "flash-attention-without-npu-build",
    ),
    ("trl", "bf16: true", "padding_free: true", "padding-free-without-flash-attention"),
    ("trl", "bf16: true", "use_liger_kernel: true", "liger-kernel-configured"),
    ("deepspeed", '"AdamW"', '"FusedLamb"', "deepspeed-cuda-operator-configured"),
    ("deepspeed", '"AdamW"', '"OneBitAdam"', "nccl-configured"),
    ("deepspeed", '"stage": 2,', '"zero_quantized_gradients": true,', "deepspeed-cuda-operator-configured"),
    ("mindspeed", "--micro-batch-size 1", "--use-ascend-mc2 --use-ascend-coc", "mindspeed-options-conflict"),
    ("mindspeed", "--use-fused-rmsnorm", "--moe-token-dispatcher-type flex", "nvidia-communication-configured"),
    ("mindspeed", "--sequence-parallel", "--use-ascend-mc2", "mindspeed-options-conflict"),
    ("mindspeed", "--nproc_per_node 8", "--nproc_per_node gpu", "torchrun-process-count"),
    ("axolotl", "optimizer: adamw_torch", "optimizer: adamw_bnb_8bit", "bitsandbytes-optimizer-configured"),
    ("axolotl", "attn_implementation: eager", "flash_attention: true", "refused-by-axolotl"),
    ("axolotl", "tf32: false", "tf32: true", "tf32-configured"),
    ("axolotl", "lora_r: 16", "load_in_8bit: true", "bitsandbytes-quantisation-configured"),
    ("axolotl", "adapter: lora", "adapter: qlora", "bitsandbytes-quantisation-configured"),
    ("torchtune", "device: npu", "device: cuda", "cuda-device-configured"),
    ("torchtune", "compile: false", "compile: true", "compile-backend-configured"),
    ("torchtune", "torch.optim.AdamW", "bitsandbytes.optim.PagedAdamW8bit", "bitsandbytes-optimizer-configured"),
    ("torchtune", "offloading: false", "offloading: true", "cuda-device-configured"),
)


@cache
def sources(name: str) -> dict[str, str]:
    return {path: textwrap.dedent(text) for path, text in PROGRAMS[name].items()}


def mutated(name: str, old: str, new: str) -> tuple[dict[str, str], str, int]:
    """The files of a program with a text replaced, and where the last line of the new one is."""
    files = dict(sources(name))
    path, text = next((path, text) for path, text in files.items() if old in text and path != "requirements.txt")
    before, _, after = text.partition(old)
    indent = before.rpartition("\n")[2] if not before.rpartition("\n")[2].strip() else ""
    files[path] = before + new.replace("\n", f"\n{indent}") + after
    return files, path, (before + new).count("\n") + 1


def findings(files: dict[str, str], folder: Path) -> list[Finding]:
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    return run(Settings(paths=(".",), cache=False, jobs=1)).findings


def told(found: list[Finding]) -> set[tuple[str, int, str]]:
    return {(one.path, one.span.line, one.name) for one in found}


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_configuration_that_runs_on_the_npu_has_no_warning(name: str, tmp_path: Path) -> None:
    assert {
        (one.path, one.name, one.message) for one in findings(sources(name), tmp_path) if one.severity != "note"
    } == set()


@pytest.mark.parametrize(("name", "old", "new", "check"), FAULTS, ids=[f"{one[0]}: {one[2]}" for one in FAULTS])
def test_a_fault_is_found_at_its_line_alone(name: str, old: str, new: str, check: str, tmp_path: Path) -> None:
    known = told(findings(sources(name), tmp_path))
    files, path, line = mutated(name, old, new)
    fresh = {one for one in told(findings(files, tmp_path)) if one not in known}
    assert {(path, at, rule) for at, rule in [(line, check)]} == {one for one in fresh if one[:2] == (path, line)}
    moved = {(one[0], one[2]) for one in known}
    assert [one for one in fresh if one[:2] != (path, line) and (one[0], one[2]) not in moved] == []


def test_what_a_project_lacks_is_told_once(tmp_path: Path) -> None:
    text = "python3 -m verl.trainer.main_ppo trainer.device=npu actor_rollout_ref.rollout.name=vllm\n"
    found = findings({"a.sh": text, "b.sh": text}, tmp_path)
    assert [(one.name, one.path, one.places) for one in found] == [("inference-engine-configured", "a.sh", 2)]
    assert {one.path for one in found[0].related} == {"b.sh"}
