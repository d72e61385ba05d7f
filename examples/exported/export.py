"""Writes head.pt2: what PyTorch makes of the model, with the lines that it comes from."""

import torch
from model import Head

inputs = (torch.randn(2, 3, 8, 8), torch.randn(2, 4, 64), torch.eye(4))
torch.export.save(torch.export.export(Head(), inputs), "head.pt2")
