"""Time series of a run, from its console log or event files: loss scale, loss, step times, graph compilations."""

from npulint.runs.read.series.events import read_events
from npulint.runs.read.series.watcher import SeriesWatcher

__all__ = ["SeriesWatcher", "read_events"]
