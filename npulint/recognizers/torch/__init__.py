"""Recognizers for PyTorch code: devices, optimizers, training steps, loaders …; one module per area."""
