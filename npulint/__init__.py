"""npulint: checks NPU readiness of TensorFlow and PyTorch training projects before you spend NPU time."""

__version__ = "0.1.0"
