"""What ``npulint try`` and the processes of the program tell each other, as files in one folder. Each process has a
folder of its own in it."""

from __future__ import annotations

import msgspec

from npulint.facts.graph import NodeFrame

ORDER, RECORDING, ENDED, CALLED = "order.json", "step.json", "ended.json", "collectives.jsonl"
HERE, IDLE, END = "here", "idle", "end"
"""The names of the files. `HERE`: the process works on the NPU. `IDLE`: it waits for other ranks. `END` tells all
processes to end, and says why."""
RELEASE = "NPULINT_FAKE_TORCH"
"""Names the release of PyTorch whose kernels the fake NPU has; by default that of the process."""
DEVICES = "NPULINT_FAKE_DEVICES"
"""The number of NPUs of the server; one unless given."""
RECORD = "NPULINT_TRIAL_RECORD"
"""Names the folder of a trial in the processes that the program starts."""


class Order(msgspec.Struct):
    """The program to run: a script, or a `module` by its name. It ends after a number of `steps` or `seconds`; `memory`
    is a limit in bytes (0: none). `transfer`: as with transfer_to_npu imported; `ranks` run it; `synthetic`: data and
    weights that are missing are made up."""

    program: str
    arguments: list[str] = []
    module: bool = False
    steps: int = 3
    seconds: int = 300
    memory: int = 0
    transfer: bool = False
    ranks: int = 1
    synthetic: bool = False


class Ended(msgspec.Struct):
    """How a program ended: after its steps (``steps``, ``backward`` passes or ``batches``), by itself (``end``,
    ``exit`` with a code), by an ``error``, by the ``time`` limit, since all ranks wait for each other (``stuck``), with
    ``others`` of its ranks, or without a word (``lost``). `text` and `place` are of the error, `about_npu`: it says
    something about the NPU; `unjudged`: the fake lacks what the program uses. `lines` are those that the program
    reached, by file. `standing` is where the main thread of this `rank`, one of `world`, was. `made_up` is what
    synthetic data replaced."""

    how: str
    steps: int = 0
    text: str = ""
    place: str = ""
    about_npu: bool = False
    torch: str = ""
    lines: dict[str, list[int]] = {}
    rank: int = 0
    world: int = 1
    standing: tuple[NodeFrame, ...] = ()
    unjudged: bool = False
    made_up: list[str] = []


class Called(msgspec.Struct, array_like=True):
    """A collective that a rank called: its group by name and `members`, and the `size` and `dtype` of its tensor where
    those are the same on all ranks (otherwise -1). `backward`: a gradient calls it."""

    group: str
    members: tuple[int, ...]
    rank: int
    name: str
    size: int = -1
    dtype: str = ""
    backward: bool = False
    frames: tuple[NodeFrame, ...] = ()
