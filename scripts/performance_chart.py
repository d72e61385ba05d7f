"""Draw the history of the speed, `bench/history.csv`, for the documentation: ``python -m scripts.performance_chart``.

Writes `docs/images/performance.svg`. Each release on each Python has a bar for a check with an empty cache and one
with a filled cache, as multiples of the time of `ast.parse`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

from bench.history import Row, read

ROOT = Path(__file__).resolve().parent.parent
CHART = ROOT / "docs" / "images" / "performance.svg"
_WIDTH, _LABELS, _BAR, _ROW = 640, 190, 14, 44
_STEPS = (1, 2, 5, 10, 20, 50)
_LINES = 6  # of the grid, at most
_SERIES = (("cold", "#c7000b"), ("cached", "#7a8699"))


def drawn(rows: Sequence[Row]) -> str:
    """The history as an SVG picture, newest rows at the bottom."""
    longest = max((max(row.cold, row.cached) for row in rows), default=1.0)
    height = 34 + _ROW * len(rows) + 22
    scale = (_WIDTH - _LABELS - 60) / longest
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" role="img"'
        ' font-family="sans-serif" font-size="12" fill="#7a8699">',
        "<title>CPU time of npulint check, as multiples of ast.parse</title>",
        *_legend(),
        *_grid(longest, scale, height),
    ]
    for number, row in enumerate(rows):
        parts += _bars(row, 40 + _ROW * number, scale)
    return "\n".join([*parts, "</svg>"]) + "\n"


def _legend() -> Iterator[str]:
    for place, (name, colour) in enumerate(_SERIES):
        left = _LABELS + 90 * place
        yield f'<rect x="{left}" y="10" width="12" height="12" fill="{colour}"/>'
        yield f'<text x="{left + 18}" y="20">{name}</text>'


def _grid(longest: float, scale: float, height: int) -> Iterator[str]:
    """Vertical lines at whole multiples of `ast.parse`."""
    step = next((one for one in _STEPS if longest / one <= _LINES), _STEPS[-1])
    for value in range(0, int(longest) + 1, step):
        at = _LABELS + value * scale
        yield f'<line x1="{at:.1f}" x2="{at:.1f}" y1="32" y2="{height - 20}" stroke="#7a8699" stroke-opacity="0.3"/>'
        yield f'<text x="{at:.1f}" y="{height - 6}" text-anchor="middle">{value}×</text>'


def _bars(row: Row, top: int, scale: float) -> Iterator[str]:
    label = escape(f"{row.version} · {row.date} · Python {row.python}")
    yield f'<text x="{_LABELS - 8}" y="{top + _BAR + 4}" text-anchor="end" font-size="10">{label}</text>'
    for place, (name, colour) in enumerate(_SERIES):
        value, at = getattr(row, name), top + (_BAR + 2) * place
        yield f'<rect x="{_LABELS}" y="{at}" width="{value * scale:.1f}" height="{_BAR}" fill="{colour}"/>'
        yield f'<text x="{_LABELS + value * scale + 6:.1f}" y="{at + 11}">{value:.1f}</text>'


def main() -> None:
    """Write the picture."""
    CHART.write_text(drawn(read()), encoding="utf-8")


if __name__ == "__main__":
    main()
