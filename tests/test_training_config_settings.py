"""What is set by name: to which part of a training config it belongs, and which value a start gives it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npulint.commands.training_config.setting_parts import _RULES
from npulint.commands.training_config.settings import setting_part, settings
from npulint.commands.training_config.tracer import Tracer
from npulint.facts.recipe import ITEM_OF, TrainingSetting
from tests.config_support import Laid
from tests.provenance_support import Started

# Names as people give them, the frequent ones of real projects first.
_PARTS: dict[str, str] = {
    "learning_rate": """
        lr learning_rate LEARNING_RATE base_lr BASE_LR baseLR learning-rate learningRate lr0 blr TRAIN.LR
        init_lr initial_lr base_learning_rate g_lr lr_d
    """,
    "schedule": """
        warmup_proportion warmup_epochs warmup_steps num_warmup_steps warm_up_epochs warmup warmup_lr min_lr
        decay_rate decay_steps decay_epochs lr_decay gamma milestones t_max sched lr_scheduler lr_noise
        lr_step_size patience_epochs cooldown_epochs learning_rate_decay_factor end_learning_rate
        num_epochs_per_decay lr_policy step_size LR_STEPS eta_min lrf lr_gamma
    """,
    "batch_size": """
        batch_size train_batch_size batchsize batch-size bs BATCH_SIZE batch mini_batch_size
        batch_size_per_gpu per_gpu_train_batch_size samples_per_gpu imgs_per_gpu
    """,
    "epochs": "epochs num_train_epochs train_epochs max_epoch n_epochs nEpochs NUM_EPOCHS epoch total_epochs",
    "steps": "max_steps num_train_steps train_steps iterations max_iter stop_step num_steps steps_per_epoch niter",
    "weight_decay": "weight_decay wd WEIGHT_DECAY weightDecay weight_decay_rate",
    "momentum": "momentum beta1 beta2 opt_betas adam_beta1 nesterov",
    "seed": "seed random_seed manualSeed manual_seed SEED",
    "dropout": "dropout dropout_rate drop keep_prob drop_path drop_block attention_dropout hidden_dropout_prob",
    "drop_remainder": "drop_last drop_remainder",
    "loss_scale": """
        loss_scale loss_scale_value init_loss_scale_value npu_bert_loss_scale static_loss_scale lossScale
        dynamic_loss_scale
    """,
    "precision_mode": "precision_mode precision",
    "autocast": "amp fp16 use_fp16 opt_level apex apex_amp native_amp use_amp",
    "mix_list": "use_mixlist mixlist_file",
    "iterations_per_loop": "iterations_per_loop iterations_per_training_loop",
    "clipping": "clip_grad max_grad_norm clip grad_clip clip_norm",
    "update": "gradient_accumulation_steps accumulation_steps n_critic update_freq",
    "average": "moving_average_decay model_ema ema_decay",
    "optimizer": "optimizer opt optimizer_type adam_epsilon opt_eps",
    "checkpoint": "pretrained init_checkpoint resume finetune initial_checkpoint pretrained_model",
    "dataset": "dataset dataset_name data_set task_name",
    "split": "train_split val_split",
    "shuffle": "shuffle SHUFFLE_BUFFER_SIZE",
    "transform": """
        image_size img_size crop_size hflip color_jitter mixup cutmix mean std max_seq_length do_lower_case
        masked_lm_prob interpolation resize train_interpolation
    """,
    "loss": "label_smoothing smoothing temperature loss_weight focal_gamma",
    "layer": """
        arch model num_classes num_layers hidden_size vocab_size sync_bn bn_momentum embed_dim backbone
        model_name
    """,
    "evaluation": "eval_batch_size predict_batch_size test_batch_size conf_thres n_best_size max_eval_steps",
    "determinism": "deterministic cudnn_benchmark",
    "initialisation": "init_std weight_init",
    "setting": "alpha scale threshold k use_extra_trick",
    "": """
        data_url train_url output_dir data_path data_dir local_rank device workers world_size dist_url
        start_epoch gpu print_freq vocab_file profiling over_dump over_dump_path dist_backend num_workers
        model_dir rank addr use_tpu mode model_path master do_train tpu_zone evaluate device_list device_id
        data_dump_flag num_gpus save_checkpoints_steps bert_config_file log_interval
        multiprocessing_distributed eval config tpu_name distributed ckpt_path npu save_dir verbose log_dir
        fusion_off_flag work_dir debug show onnx log_steps auto_tune name obs_dir no_cuda port num_threads
        log_freq save_freq rank_size hcom_parallel tensorboard checkpoint_dir
    """,
}


@pytest.mark.parametrize(("name", "part"), [(n, part) for part, names in _PARTS.items() for n in names.split()])
def test_parts_by_name(name: str, part: str) -> None:
    assert setting_part(name) == part


def test_the_table_holds_the_frequent_names() -> None:
    assert sum(len(names.split()) for names in _PARTS.values()) >= 200


def test_every_part_is_a_word_of_the_recipe() -> None:
    assert {part for part, _ in _RULES} <= {"", *ITEM_OF}


@given(st.text(max_size=200))
def test_every_name_has_a_part(name: str) -> None:
    assert setting_part(name) in {"", *ITEM_OF}


def _shown(found: list[TrainingSetting]) -> dict[str, str]:
    return {one.what: f"{one.part} {one.traced.text}" for one in found}


_TRAIN = """
    import argparse
    import torch
    from options import Options
    WARMUP_STEPS = 500
    EVAL_LOG = 'eval.txt'
    parser = argparse.ArgumentParser()
    parser.add_argument('data', metavar='DIR')
    parser.add_argument('-b', '--batch-size', type=int, default=32)
    parser.add_argument('--lr', type=float, default=0.1)
    parser.add_argument('--workers', type=int, default=4)
    parser.add_argument('--pretrained', default='')
    parser.add_argument('--note')
    args = parser.parse_args()
    config = {'momentum': 0.9, 'sizes': {'crop_size': 224, 'log_dir': 'x'}}
    def helper():
        local_momentum = 0.5
"""
_OPTIONS = """
    import torch
    class Options:
        weight_decay = 1e-4
        def __init__(self):
            self.dropout = 0.1 * 2
            self.epochs = None
"""
_RUN = "python train.py /data -b 64 --pretrained /models/r50.pth"


def test_options_constants_and_dictionaries() -> None:
    started = Started({"train.py": _TRAIN, "options.py": _OPTIONS, "run.sh": _RUN}, script="run.sh")
    assert _shown(settings(started.tracer)) == {
        "--batch_size": "batch_size 64",
        "--lr": "learning_rate 0.1",
        "--pretrained": "checkpoint r50.pth",
        "WARMUP_STEPS": "schedule 500",
        "momentum": "momentum 0.9",
        "sizes.crop_size": "transform 224",
        "weight_decay": "weight_decay 0.0001",
        "dropout": "dropout 0.2",
    }


def test_settings_stand_where_they_are_written() -> None:
    started = Started({"train.py": _TRAIN, "options.py": _OPTIONS, "run.sh": _RUN}, script="run.sh")
    found = {one.what: one for one in settings(started.tracer)}
    first = {name: one.traced.provenance[0] for name, one in found.items()}
    assert (first["--batch_size"].path, first["--batch_size"].name) == ("run.sh", "-b 64")
    assert (first["--lr"].path, first["--lr"].span.line, first["--lr"].name) == ("train.py", 10, "--lr")
    assert (first["WARMUP_STEPS"].span.line, first["WARMUP_STEPS"].name) == (5, "WARMUP_STEPS")
    assert first["sizes.crop_size"].span.column > first["momentum"].span.column
    assert (first["dropout"].path, first["dropout"].span.line) == ("options.py", 6)


def test_a_name_with_several_values_is_not_known() -> None:
    files = {
        "train.py": "import a, b, torch\nprint(a.MOMENTUM, b.MOMENTUM)",
        "a.py": "MOMENTUM = 0.9",
        "b.py": "MOMENTUM = 0.5",
        "c.py": "MOMENTUM = 1",
    }
    started = Started(files)
    (found,) = settings(Tracer(started.context, entry="train.py"))
    assert (found.traced.known, found.traced.text) == (False, "0.9 / 0.5")


def test_the_entrys_own_options_count() -> None:
    option = "import argparse, torch\np = argparse.ArgumentParser()\np.add_argument('--lr', type=float, default={})\n"
    files = {"train.py": "import test\n" + option.format(0.1), "test.py": option.format(0.2)}
    assert _shown(settings(Started(files).tracer)) == {"--lr": "learning_rate 0.1"}


def test_values_of_configuration_files(tmp_path: Path) -> None:
    train = (
        "import argparse, torch, yaml\np = argparse.ArgumentParser()\n"
        "p.add_argument('--config', default='small.yaml')\n"
        "args = p.parse_args()\ncfg = yaml.safe_load(open(args.config))\ntorch.optim.SGD([], lr=cfg['train']['lr'])\n"
    )
    laid = Laid(
        tmp_path,
        {
            "train.py": train,
            "run.sh": "python train.py --config big.yaml\n",
            "small.yaml": "train:\n  lr: 0.1\n  log_dir: out\n",
            "big.yaml": "train:\n  lr: 0.4\n",
        },
    )
    entry = laid.path("train.py")
    plain = settings(Tracer(laid.context, None, laid.configs, entry))
    assert _shown(plain) == {"train.lr": "learning_rate 0.1"}
    assert (plain[0].path, plain[0].span.line) == (laid.path("small.yaml"), 2)
    launched = settings(Tracer(laid.context, laid.launch("train.py", "run.sh"), laid.configs, entry))
    assert _shown(launched) == {"train.lr": "learning_rate 0.4"}


def test_counters_and_two_options_of_one_name() -> None:
    source = """
        import argparse
        import torch
        epoch_loss = 0
        batch_size = 16
        steps = 1
        steps = steps + 1
        p = argparse.ArgumentParser()
        p.add_argument('--shuffle', action='store_true', default=True)
        p.add_argument('--no_shuffle', action='store_false', dest='shuffle')
    """
    plain = Started({"train.py": source})
    assert _shown(settings(plain.tracer)) == {"--shuffle": "shuffle True", "batch_size": "batch_size 16"}
    started = Started({"train.py": source, "run.sh": "python train.py --no_shuffle"}, script="run.sh")
    found = _shown(settings(started.tracer))
    assert found == {"--shuffle": "shuffle False", "batch_size": "batch_size 16"}
