"""The parameters of torch_npu's operators."""

from __future__ import annotations

from functools import lru_cache

import msgspec

from npulint.data import lazy_table

_table = lazy_table("npu_signatures.json", dict[str, str])
_KEYWORDS = "*"
# One idea under several names: those of other libraries, and of other operators.
_SYNONYMS = tuple(
    frozenset(words.split())
    for words in (
        "atten_mask attn_mask attention_mask mask",
        "keep_prob dropout_p dropout dropout_prob p",
        "epsilon eps variance_epsilon",
        "scale scale_value softmax_scale sm_scale",
        "head_num num_heads num_query_heads heads n_heads",
        "pre_tockens pre_tokens",
        "next_tockens next_tokens",
        "input_layout layout qkv_layout",
        "sparse_mode causal is_causal",
        "actual_seq_qlen actual_seq_lengths actual_seq_lengths_q cu_seqlens_q",
        "actual_seq_kvlen actual_seq_lengths_kv cu_seqlens_k cu_seqlens_kv",
        "num_key_value_heads kv_head_num num_kv_heads",
        "gamma weight",
    )
)
_ALIKE = 0.8  # minimum similarity of a misspelling; below, it may be a parameter of a newer release


class Signature(msgspec.Struct, frozen=True):
    """The parameters of an operator, in their order."""

    positional: tuple[str, ...]
    """Those that can be given by position."""
    keywords: tuple[str, ...]
    """Those that are given by keyword only."""
    needed: frozenset[str]
    """Those without a default."""

    def takes(self, keyword: str) -> bool:
        """Whether a parameter has this name; the first one, ``self``, is called ``input`` in Python."""
        return keyword in self.positional or keyword in self.keywords or (keyword == "input" and self.takes("self"))

    def meant(self, keyword: str) -> str:
        """The parameter that an unknown keyword probably stands for; empty for none."""
        from difflib import get_close_matches  # expensive, and only needed for wrong names

        names = (*self.positional, *self.keywords)
        for group in _SYNONYMS:
            if keyword in group and (synonyms := [name for name in names if name in group]):
                return synonyms[0]
        close = get_close_matches(keyword, names, n=1, cutoff=_ALIKE)
        return close[0] if close else ""


@lru_cache(maxsize=256)
def signature(operator: str) -> Signature | None:
    """The signature of an operator, by its name without a module; None for an unrecorded one."""
    written = _table().get(operator)
    if written is None:
        return None
    before, _, after = written.partition(f" {_KEYWORDS} ")
    positional, keywords = before.split(), after.split()
    if before.startswith(f"{_KEYWORDS} "):
        positional, keywords = [], positional[1:]
    needed = frozenset(parameter[:-1] for parameter in (*positional, *keywords) if parameter.endswith("!"))
    return Signature(tuple(map(_name, positional)), tuple(map(_name, keywords)), needed)


def _name(written: str) -> str:
    return written.removesuffix("!")


__all__ = ["Signature", "signature"]
