"""What goes on over time in a run, from its console log or its event files: loss scale, loss, times, graphs."""

from npulint.read.artifacts.series.events import read_events
from npulint.read.artifacts.series.watcher import SeriesWatcher

__all__ = ["SeriesWatcher", "read_events"]
