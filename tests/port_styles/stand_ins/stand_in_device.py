"""The device that the packages beside this module choose."""

import torch


def device():
    if hasattr(torch, "npu") and torch.npu.is_available():
        return torch.device("npu:0")
    return torch.device("cuda:0" if torch.cuda.is_available() else "cpu")


def moved(batch, where):
    return [part.to(where) for part in batch]
