"""Live checks of PyTorch: a step that really runs, recorded operator by operator. Everything here imports torch."""
