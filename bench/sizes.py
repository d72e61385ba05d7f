"""How long what is large takes, in CPU seconds of this machine: tests only hold that it grows in proportion.

    python bench/sizes.py

The exit status is 1 when the best of three runs misses its bar on a machine of usual speed.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from npulint.discover import discover  # noqa: E402
from npulint.report.view import ReportView, render  # noqa: E402
from tests.html_support import large, large_source  # noqa: E402

RUNS = 3


def walk(folder: Path) -> Callable[[], object]:
    """The walk over 5,000 files."""
    for number in range(5000):
        path = folder / f"p{number // 100}" / f"f{number}.py"
        path.parent.mkdir(exist_ok=True)
        path.touch()
    assert len(discover([str(folder)]).files) == 5000
    return lambda: discover([str(folder)])


def page(_: Path) -> Callable[[], object]:
    """The HTML report of 10,000 findings."""
    result = large(10_000)
    return lambda: render("html", result, ReportView(lines=large_source))


BARS: dict[str, tuple[Callable[[Path], Callable[[], object]], float]] = {
    "5,000 files found": (walk, 1.0),
    "10,000 findings as HTML": (page, 3.0),
}


def seconds(work: Callable[[], object]) -> float:
    """CPU seconds of the best run."""
    taken = []
    for _ in range(RUNS):
        begun = time.process_time()
        work()
        taken.append(time.process_time() - begun)
    return min(taken)


def main() -> int:
    """Print a line for each bar; returns the exit status."""
    missed = False
    for name, (make, most) in BARS.items():
        with tempfile.TemporaryDirectory() as folder:
            taken = seconds(make(Path(folder)))
        missed |= taken > most
        print(f"{name:30} {taken:6.2f} s, at most {most:.1f} s{'  MISSED' if taken > most else ''}")
    return int(missed)


if __name__ == "__main__":
    sys.exit(main())
