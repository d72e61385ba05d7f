import torch
from megatron.core.enums import ModelType
from megatron.core.models.gpt import GPTModel
from megatron.core.models.gpt.gpt_layer_specs import get_gpt_layer_with_transformer_engine_spec
from megatron.training import get_args, pretrain
from megatron.training.arguments import core_transformer_config_from_args

from corpus import datasets, forward_step


def model_provider(pre_process=True, post_process=True):
    args = get_args()
    return GPTModel(
        core_transformer_config_from_args(args),
        get_gpt_layer_with_transformer_engine_spec(),
        args.padded_vocab_size,
        args.max_position_embeddings,
        pre_process=pre_process,
        post_process=post_process,
    )


if __name__ == "__main__":
    pretrain(datasets, model_provider, ModelType.encoder_or_decoder, forward_step)
