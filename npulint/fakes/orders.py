"""What ``npulint try`` and the process of the program tell each other, as files in one folder."""

from __future__ import annotations

import msgspec

ORDER, RECORDING, ENDED = "order.json", "step.json", "ended.json"
RELEASE = "NPULINT_FAKE_TORCH"
"""Names the release of PyTorch whose kernels the fake NPU has; by default that of the process."""


class Order(msgspec.Struct):
    """The program to run: a script, or a `module` by its name. It ends after a number of `steps` or `seconds`; `memory`
    is a limit in bytes (0: none). `transfer`: as with transfer_to_npu imported."""

    program: str
    arguments: list[str] = []
    module: bool = False
    steps: int = 3
    seconds: int = 300
    memory: int = 0
    transfer: bool = False


class Ended(msgspec.Struct):
    """How a program ended: after its steps (``steps``, ``backward`` passes or ``batches``), by itself (``end``,
    ``exit`` with a code), by an ``error``, or by the ``time`` limit. `text` and `place` are of the error, `known`: it
    says something about the NPU. `lines` are those that the program reached, by file."""

    how: str
    steps: int = 0
    text: str = ""
    place: str = ""
    known: bool = False
    torch: str = ""
    lines: dict[str, list[int]] = {}
