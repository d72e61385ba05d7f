"""Has npulint read hostile and odd projects, and reports where it crashes, hangs, or answers wrongly.

    python -m scripts.fuzz [--kind KIND ...] [--minutes M | --examples N] [--seed S] [--keep FOLDER] [--record]

Each example runs in a process of its own with limits on time and memory; a failing one is made smaller and written to
the folder, and with --record to the examples that the tests try each time. Exit code 1 if anything failed."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from scripts.fuzzing.kinds import KINDS
from scripts.fuzzing.recorded import record
from scripts.fuzzing.run import Tally, fuzz, save
from scripts.fuzzing.sandbox import Sandbox


def main(argv: Sequence[str] | None = None) -> int:
    """Fuzz all kinds, or those that are named."""
    parser = argparse.ArgumentParser(prog="scripts.fuzz", description=__doc__.partition("\n")[0])
    parser.add_argument("--kind", action="append", choices=sorted(KINDS), help="repeatable; all kinds without it")
    many = parser.add_mutually_exclusive_group()
    many.add_argument("--minutes", type=float, help="minutes for each kind")
    many.add_argument("--examples", type=int, default=100, help="examples of each kind")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path, help="folder for failing examples")
    parser.add_argument("--record", action="store_true", help="add failing examples to those of the tests")
    args = parser.parse_args(argv)
    failures = 0
    for kind in args.kind or KINDS:
        with Sandbox() as sandbox:
            tally = fuzz(kind, KINDS[kind], sandbox, args.seed, _more(args.minutes, args.examples))
        print(tally, flush=True)
        for number, found in enumerate(tally.found):
            print(f"    {found.failure}", flush=True)
            if args.keep:
                save(found, args.keep / f"{kind}-{args.seed}-{number}")
            if args.record:
                record(kind, found.example)
        failures += len(tally.found)
    return 1 if failures else 0


def _more(minutes: float | None, examples: int) -> Callable[[Tally], bool]:
    if minutes is not None:
        return lambda tally: tally.seconds < minutes * 60
    return lambda tally: tally.examples < examples


if __name__ == "__main__":
    sys.exit(main())
