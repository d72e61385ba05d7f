"""Runs the npulint of this extension: ``python -I run.py WORDS``. Older Pythons read this file too."""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TAG = "cp%d%d" % sys.version_info[:2]  # noqa: UP031


def main():
    native = os.path.join(HERE, "libs", TAG)
    if sys.version_info < (3, 10):  # noqa: UP036
        sys.exit("Python 3.10 or newer is needed, this is " + sys.version.split()[0])
    if sys.implementation.name != "cpython" or not os.path.isdir(native):
        sys.exit("this extension has no libraries for " + sys.implementation.name + " " + sys.version.split()[0])
    sys.path[:0] = [native, os.path.join(HERE, "libs", "any")]

    from npulint.__main__ import main as npulint

    return npulint()


if __name__ == "__main__":
    sys.exit(main())
