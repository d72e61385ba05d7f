"""The code in TorchScript archives: a small language that looks like Python."""
