"""``python -m npulint.fakes script.py args``: run a migrated program without an NPU."""

from __future__ import annotations

import argparse
import sys

from npulint.fakes.launch import FRAMEWORKS, run


def main(arguments: list[str] | None = None) -> int:
    """Run the script that the arguments name; returns its exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m npulint.fakes", description="Run a migrated program without an NPU."
    )
    parser.add_argument("--framework", choices=FRAMEWORKS, default="torch", help="the framework of the program")
    parser.add_argument("--python", default=sys.executable, help="the interpreter that has the framework")
    parser.add_argument("--record", default="", help="append to this file what the program configures, as JSON")
    parser.add_argument("script", help="the program")
    parser.add_argument("rest", nargs=argparse.REMAINDER, metavar="...", help="its arguments")
    given = parser.parse_args(arguments)
    return run(given.framework, [given.python, given.script, *given.rest], given.record).returncode


if __name__ == "__main__":
    sys.exit(main())
