"""The lines by which two runs of a program are compared: the parameters after each step of an optimizer."""

from __future__ import annotations

import msgspec

VARIABLE = "NPULINT_TRIAL_DIGESTS"
"""The seed of the generators in a program that says nothing about seeds; without it nothing is reported."""
_WORD = "npulint-digest"


class Digest(msgspec.Struct, frozen=True):
    """The `parameters` after a step as a digest, their sum and the time, and the `loss` of the first backward pass
    since the step before."""

    step: int
    parameters: str
    total: float
    time: float
    loss: float

    def line(self) -> str:
        """As it is printed."""
        return f"{_WORD} {self.step} {self.parameters} {self.total!r} {self.time:.3f} {self.loss!r}"


def digests_in(text: str) -> list[Digest]:
    """The digests in what a program printed."""
    digests = []
    for line in text.replace("\r", "\n").split("\n"):
        _, word, rest = line.partition(f"{_WORD} ")
        if word:
            step, parameters, total, when, loss = rest.split()[:5]
            digests.append(Digest(int(step), parameters, float(total), float(when), float(loss)))
    return digests
