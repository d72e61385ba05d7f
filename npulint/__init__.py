"""npulint: tells before any NPU hour is spent whether a training project is ready for Ascend NPUs."""

__version__ = "0.1.0"
