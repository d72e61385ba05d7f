"""``python -m npulint`` and the ``npulint`` command. This file is read by interpreters that are too old."""

import sys

OLDEST = (3, 10)


def too_old(version: "tuple[int, ...]") -> str:
    """What to say to an interpreter of this version; nothing when it will do."""
    if tuple(version[:2]) >= OLDEST:
        return ""
    return (
        "npulint needs Python {}.{} or newer; this is Python {}.{}.\n".format(*OLDEST, *version[:2])
        + "It reads projects for any Python without running them, so let it live in an environment of its own:\n"
        + "    uv tool install npulint    or    pipx install npulint\n"
    )


def main() -> int:
    """Run the command line; returns the exit code."""
    message = too_old(sys.version_info[:2])
    if message:
        sys.stderr.write(message)
        return 2
    import gc

    gc.disable()  # a run collects between projects, when it has read many files
    from npulint.cli.main import main as run

    try:
        return run()
    finally:
        gc.freeze()  # or the interpreter would walk over everything once more before it ends
        gc.enable()


if __name__ == "__main__":
    sys.exit(main())
