"""Gives every new check its number in message ids of pylint: ``npulint/data/pylint_numbers.txt``.

    python -m scripts.pylint_numbers

A code keeps its line, and thus its number, also when its check is removed. A test asks for this after a new check.
"""

from __future__ import annotations

from pathlib import Path

from npulint.data.pylint_numbers import recorded
from npulint.judge.catalogue.load import load_catalogue
from npulint.judge.postprocess.engine import ENGINE_RULES

FILE = Path(__file__).parent.parent / "npulint" / "data" / "pylint_numbers.txt"
HEADER = "# Codes in the order in which they got their numbers in message ids of pylint; only append.\n"


def codes() -> set[str]:
    """The codes of all checks that npulint comes with."""
    return {check.code for check in load_catalogue().checks} | {rule.code for rule in ENGINE_RULES}


def main() -> None:
    """Append the codes that have no number."""
    known = recorded() if FILE.exists() else ()
    new = sorted(codes().difference(known))
    FILE.write_text(HEADER + "".join(f"{code}\n" for code in (*known, *new)), encoding="ascii")
    print(f"{len(new)} new, {len(known) + len(new)} in all")


if __name__ == "__main__":
    main()
