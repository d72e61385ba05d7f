"""Model files from which no graph is read: why, so that a user who names one learns what to export instead."""

from __future__ import annotations

_REASONS = {
    "model-keras": (".keras", ".h5", ".hdf5"),
    "model-lite": (".tflite", ".lite"),
    "model-weights": (".safetensors", ".ckpt"),
    "model-compiled": (".om",),
    "model-mindspore": (".mindir", ".ms"),
    "model-tensorrt": (".engine", ".plan", ".trt"),
}
"""The ends of file names by the reason of a problem (a key of the engine's texts)."""

_BY_END = {end: reason for reason, ends in _REASONS.items() for end in ends}


def unsupported_reason(name: str) -> str:
    """Why a file of no supported kind is not read: what it contains by its name, or ``unsupported``."""
    _, dot, end = name.lower().rpartition(".")
    return _BY_END.get(dot + end, "unsupported")
