"""Graphs of PyTorch: exported programs and TorchScript archives."""
