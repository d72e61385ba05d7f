"""Parses the code in TorchScript archives, a small language similar to Python."""
