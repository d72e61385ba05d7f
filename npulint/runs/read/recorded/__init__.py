"""The values of a training run by step, for comparing two runs: unlike the facts of a run, they are not summarised."""

from npulint.runs.read.recorded.files import recorded_values

__all__ = ["recorded_values"]
