"""Reports: one module per output format, each with ``render(result, view) -> str``."""
