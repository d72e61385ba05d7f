"""Models and tokenizers of the Hugging Face Hub that are missing: a model of the same class with random weights, and a
tokenizer of single bytes."""

from __future__ import annotations

import functools
import importlib
from types import ModuleType
from typing import Any

from npulint.fakes.torch.errors import Missing
from npulint.fakes.torch.synthetic.absent import is_absent
from npulint.fakes.torch.synthetic.said import say

_TYPES = {  # the beginning of a name without its owner: the type of the model; the longest one counts
    **{"bert": "bert", "roberta": "roberta", "distilbert": "distilbert", "albert": "albert", "electra": "electra"},
    **{"xlm-roberta": "xlm-roberta", "deberta": "deberta", "deberta-v2": "deberta-v2", "deberta-v3": "deberta-v2"},
    **{"chinese-bert": "bert", "chinese-roberta": "bert", "distilroberta": "roberta", "ernie": "ernie"},
    **{"mdeberta": "deberta-v2", "tinybert": "bert", "scibert": "bert", "finbert": "bert", "biobert": "bert"},
    **{"gpt2": "gpt2", "distilgpt2": "gpt2", "dialogpt": "gpt2", "gpt-neo": "gpt_neo", "gpt-neox": "gpt_neox"},
    **{"pythia": "gpt_neox", "gpt-j": "gptj", "opt": "opt", "bloom": "bloom", "bloomz": "bloom", "falcon": "falcon"},
    **{"llama": "llama", "meta-llama": "llama", "tinyllama": "llama", "vicuna": "llama", "smollm": "llama"},
    **{"open_llama": "llama", "deepseek-llm": "llama", "yi": "llama", "mistral": "mistral", "zephyr": "mistral"},
    **{"mixtral": "mixtral", "qwen2": "qwen2", "qwen2.5": "qwen2", "qwen1.5": "qwen2", "qwen3": "qwen3"},
    **{"gemma": "gemma", "gemma-2": "gemma2", "phi": "phi", "phi-3": "phi3", "t5": "t5", "flan-t5": "t5"},
    **{"mt5": "mt5", "byt5": "t5", "codet5": "t5", "bart": "bart", "mbart": "mbart", "pegasus": "pegasus"},
    **{"opus-mt": "marian", "vit": "vit", "deit": "deit", "beit": "beit", "swin": "swin", "convnext": "convnext"},
    **{"resnet": "resnet", "clip": "clip", "wav2vec2": "wav2vec2", "hubert": "hubert", "whisper": "whisper"},
    **{"segformer": "segformer", "mit": "segformer", "detr": "detr", "longformer": "longformer"},
}
_LAYERS = "num_hidden_layers n_layer num_layers encoder_layers decoder_layers num_decoder_layers n_layers".split()
_LETTERS = 100  # entries of the smallest vocabulary
_FEW = 2  # layers
_WIDEST = 1024  # wider models are made narrow
_NARROW = {
    **{"hidden_size": 256, "intermediate_size": 512, "head_dim": 32},
    **{"num_attention_heads": 8, "num_key_value_heads": 8},
}
_OF_THE_HUB = frozenset(
    "_commit_hash _from_auto cache_dir code_revision force_download gguf_file local_files_only proxies resume_download "
    "revision subfolder token trust_remote_code use_auth_token".split()
)


def type_of(name: str) -> str:
    """The type of the model of this name; empty if it is not known."""
    last = name.rstrip("/").rpartition("/")[2].lower()
    fitting = [
        prefix for prefix in _TYPES if last == prefix or last.startswith((f"{prefix}-", f"{prefix}_", f"{prefix}."))
    ]
    return _TYPES[max(fitting, key=len)] if fitting else ""


def change(module: ModuleType) -> None:
    """Let ``from_pretrained`` make up what is missing."""
    utilities: Any = importlib.import_module("transformers.modeling_utils")
    configurations: Any = importlib.import_module("transformers.configuration_utils")
    tokens: Any = importlib.import_module("transformers.tokenization_utils_base")
    auto: Any = importlib.import_module("transformers.models.auto")
    _wrap(utilities.PreTrainedModel, _model)
    base = getattr(configurations, "PreTrainedConfig", None) or configurations.PretrainedConfig
    _wrap(base, _config)
    _wrap(auto.AutoConfig, _config)
    _wrap(tokens.PreTrainedTokenizerBase, _tokenizer)
    _wrap(auto.AutoTokenizer, _tokenizer)
    for name in ("AutoImageProcessor", "AutoFeatureExtractor", "AutoProcessor"):
        _wrap(getattr(auto, name), _processor)
    bases = {"image_processing_base": "ImageProcessingMixin", "feature_extraction_utils": "FeatureExtractionMixin"}
    for path, name in bases.items():
        _wrap(getattr(importlib.import_module(f"transformers.{path}"), name, None), _processor)


def _wrap(cls: Any, make: Any) -> None:
    """Let ``cls.from_pretrained`` call `make` where the files are missing."""
    if cls is None:
        return
    original = vars(cls)["from_pretrained"].__func__

    @functools.wraps(original)
    def from_pretrained(kind: Any, name: Any = None, *args: Any, **kwargs: Any) -> Any:
        try:
            loaded = original(kind, name, *args, **kwargs)
            return make(kind, name, kwargs, Exception("no vocabulary")) if _is_empty(loaded) else loaded
        except Missing:
            raise
        except Exception as error:
            if not isinstance(name, str) or not is_absent(error):
                raise
            return make(kind, name, kwargs, error)

    cls.from_pretrained = classmethod(from_pretrained)


def _is_empty(loaded: Any) -> bool:
    """Whether this is a tokenizer without a vocabulary, which some classes make of missing files."""
    return hasattr(loaded, "get_vocab") and len(loaded.get_vocab()) < _LETTERS


def _unknown(name: str, error: Exception) -> Missing:
    made = Missing(f"the kind of the model {name} is not known, so it is not made up")
    made.__cause__ = error
    return made


def _config(kind: Any, name: str, given: dict[str, Any], error: Exception) -> Any:
    """A configuration with the defaults of its class, but few layers, and narrow if it is wide."""
    mapping: Any = importlib.import_module("transformers.models.auto").CONFIG_MAPPING
    if getattr(kind, "model_type", ""):
        cls = kind
    elif type_of(name) in mapping:
        cls = mapping[type_of(name)]
    else:
        raise _unknown(name, error)
    made = cls()
    small: dict[str, Any] = {key: _FEW for key in _LAYERS if isinstance(getattr(made, key, None), int)}
    if getattr(made, "hidden_size", 0) > _WIDEST and hasattr(made, "intermediate_size"):
        small |= {key: size for key, size in _NARROW.items() if getattr(made, key, None) is not None}
    if hasattr(made, "attention_types"):
        small["attention_types"] = [[["global", "local"], _FEW // 2]]
    made = cls(**small)
    return_unused = given.pop("return_unused_kwargs", False)
    left = {}
    for key, value in given.items():
        if hasattr(made, key) or key in ("num_labels", "id2label", "label2id"):
            setattr(made, key, value)
        elif key not in _OF_THE_HUB:
            left[key] = value
    made.name_or_path = name
    return (made, left) if return_unused else made


def _model(kind: Any, name: str, given: dict[str, Any], error: Exception) -> Any:
    config = given.pop("config", None)
    if config is None or isinstance(config, str):
        config, given = _config(kind.config_class, name, {**given, "return_unused_kwargs": True}, error)
    dtype = given.get("dtype", given.get("torch_dtype"))
    if isinstance(dtype, str):
        dtype = None if dtype == "auto" else getattr(importlib.import_module("torch"), dtype)
    layers = next((getattr(config, key) for key in _LAYERS if isinstance(getattr(config, key, None), int)), 0)
    say(f"model {name}: {kind.__name__} of {layers} layers with random weights")
    made = kind(config)
    if dtype is not None:
        made = made.to(dtype)
    made.eval()
    if given.get("output_loading_info"):
        return made, {"missing_keys": [], "unexpected_keys": [], "mismatched_keys": [], "error_msgs": []}
    return made


_SPECIAL = {  # by family: unknown, padding, start, end, mask
    "bert": ("[UNK]", "[PAD]", "[CLS]", "[SEP]", "[MASK]"),
    "roberta": ("<unk>", "<pad>", "<s>", "</s>", "<mask>"),
    "t5": ("<unk>", "<pad>", "", "</s>", ""),
    "llama": ("<unk>", "", "<s>", "</s>", ""),
    "gpt2": ("<|endoftext|>", "", "<|endoftext|>", "<|endoftext|>", ""),
    "qwen2": ("", "<|endoftext|>", "", "<|im_end|>", ""),
}
_FAMILY = {
    **dict.fromkeys("bert distilbert electra ernie albert deberta deberta-v2".split(), "bert"),
    **dict.fromkeys("roberta xlm-roberta bart mbart longformer marian pegasus".split(), "roberta"),
    **dict.fromkeys("t5 mt5".split(), "t5"),
    **dict.fromkeys("llama mistral mixtral gemma gemma2 phi3".split(), "llama"),
    **dict.fromkeys("qwen2 qwen3".split(), "qwen2"),
}
_AROUND = ("bert", "roberta")
_LENGTHS = {"bert": 512, "roberta": 512, "gpt2": 1024}


def _tokenizer(kind: Any, name: str, given: dict[str, Any], error: Exception) -> Any:
    """A tokenizer of bytes with the special tokens of the family."""
    if not type_of(name):
        raise _unknown(name, error)
    family = _FAMILY.get(type_of(name), "gpt2")
    unknown, padding, start, end, mask = _SPECIAL[family]
    named = {"unk_token": unknown, "pad_token": padding, "mask_token": mask}
    named |= {"cls_token": start, "sep_token": end} if family == "bert" else {"bos_token": start, "eos_token": end}
    inputs = ["input_ids", "attention_mask"]
    if family == "bert" and type_of(name) != "distilbert":
        inputs.insert(1, "token_type_ids")
    options = {"model_max_length": _LENGTHS.get(family, 4096)}
    options |= {key: value for key, value in given.items() if key in ("padding_side", "truncation_side", *options)}
    say(f"tokenizer {name}: of single bytes")
    return importlib.import_module("transformers").PreTrainedTokenizerFast(
        tokenizer_object=_bytes(family),
        model_input_names=inputs,
        **{key: token for key, token in named.items() if token},
        **options,
    )


def _bytes(family: str) -> Any:
    """The tokens of a text: its bytes, with the special tokens that the family puts around them."""
    library: Any = importlib.import_module("tokenizers")
    unknown, padding, start, end, mask = _SPECIAL[family]
    special = list(dict.fromkeys(token for token in (padding, unknown, start, end, mask) if token))
    letters = sorted(library.pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {token: number for number, token in enumerate([*special, *letters])}
    made = library.Tokenizer(library.models.BPE(vocabulary, []))
    made.pre_tokenizer = library.pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = library.decoders.ByteLevel()
    around = {"single": f"{start} $A {end}", "pair": f"{start} $A {end} $B:1 {end}:1"}
    after = {"single": f"$A {end}", "pair": f"$A {end} $B {end}"}
    template = around if family in _AROUND else after if family == "t5" else None
    if template is not None:
        ids = [(token, vocabulary[token]) for token in (start, end) if token]
        made.post_processor = library.processors.TemplateProcessing(**template, special_tokens=ids)
    return made


def _processor(kind: Any, name: str, given: dict[str, Any], error: Exception) -> Any:
    """The processor of images or sound of a model with its defaults."""
    auto: Any = importlib.import_module("transformers.models.auto")
    cls = kind
    if kind.__name__.startswith("Auto"):
        mappings = [getattr(auto, table, {}) for table in ("IMAGE_PROCESSOR_MAPPING", "FEATURE_EXTRACTOR_MAPPING")]
        configs: Any = auto.CONFIG_MAPPING
        if type_of(name) not in configs:
            raise _unknown(name, error)
        config = configs[type_of(name)]
        cls = next((mapping[config] for mapping in mappings if config in mapping), None)
        if isinstance(cls, (tuple, dict)):
            listed = list(cls.values()) if isinstance(cls, dict) else list(cls)
            cls = next((candidate for candidate in reversed(listed) if candidate is not None), None)
    if cls is None:
        raise _unknown(name, error)
    say(f"processor {name}: {cls.__name__} with its defaults")
    return cls()
