"""The functions called by nodes of a TensorFlow graph, and which of them run in the input pipeline."""

from __future__ import annotations

from npulint.facts.graph import Node
from npulint.graphs.facts.tensorflow.flow import DataFlow

_CHOICES = ("Case", "StatelessCase")


def makes_dataset(node: Node) -> bool:
    """Whether the functions of a node run in the input pipeline."""
    return "Dataset" in node.op or node.op == "OneShotIterator"


def run_by(flow: DataFlow, node: Node) -> list[str]:
    """The functions that a node runs on a system without GPU: when a node selects a function by device, those for GPUs
    are omitted."""
    names = called(node)
    if node.op not in _CHOICES:
        return names
    chooser = flow.producer(node, 0)
    devices = chooser.attrs.get("device_names") if chooser is not None and chooser.op == "DeviceIndex" else None
    if not isinstance(devices, list):
        return names
    return [name for place, name in enumerate(names) if devices[place : place + 1] != ["GPU"]]


def called(node: Node) -> list[str]:
    """The names of the functions in a node's attributes. Readers mark them: ``{"function": name}``."""
    found = []
    for value in node.attrs.values():
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, dict) and "function" in one:
                found.append(one["function"])
    return found
