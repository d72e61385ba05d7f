import torch


class FusedAdam(torch.optim.AdamW):
    """FusedAdam decays weights as AdamW does, by 0 if nothing is said."""

    def __init__(self, params, lr=1e-3, weight_decay=0.0):
        super().__init__(params, lr=lr, weight_decay=weight_decay)
