"""Seeds that training frameworks set on their own."""

from __future__ import annotations

from npulint.commands.training_config.program import TrainingConfig
from npulint.commands.training_config.steps.model import CodeStep

_ARGUMENTS = """TrainingArguments Seq2SeqTrainingArguments SentenceTransformerTrainingArguments SFTConfig DPOConfig
PPOConfig GRPOConfig KTOConfig ORPOConfig RewardConfig""".split()
_SEEDS = {
    f"{library}.{name}": 42 for library in ("transformers", "trl", "sentence_transformers") for name in _ARGUMENTS
}
"""The seed that a trainer sets by default, by the class of its arguments."""


def repeats_framework(step: CodeStep, other: TrainingConfig) -> bool:
    """Whether a step sets the seed that the trainer of the other program sets by default."""
    if step.part != "seed" or not step.arguments:
        return False
    wanted = {
        _SEEDS[all_step.name] for all_step in other.all_steps() if all_step.name in _SEEDS and not _has_seed(all_step)
    }
    values = step.arguments[0].expr.known
    return bool(wanted) and values.exact and set(values.values) == wanted


def _has_seed(step: CodeStep) -> bool:
    return step.is_open or any(argument.name == "seed" for argument in step.arguments)
