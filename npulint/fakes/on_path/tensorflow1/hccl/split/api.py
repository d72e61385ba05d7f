"""How gradients are divided among collective operations."""

from npulint_adapter.ranks import set_split_strategy_by_idx, set_split_strategy_by_size

__all__ = ["set_split_strategy_by_idx", "set_split_strategy_by_size"]
