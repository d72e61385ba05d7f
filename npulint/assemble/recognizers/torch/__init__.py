"""What only PyTorch projects are asked: devices, optimizers, training steps, loaders …, one module per area."""
