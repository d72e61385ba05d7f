"""Live checks of PyTorch: a step that really runs, recorded operator by operator. All modules import torch."""
