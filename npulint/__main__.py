"""Entry point of ``npulint`` and ``python -m npulint``; must parse under Python versions that npulint does not
support."""

import os
import sys

OLDEST = (3, 10)


def too_old(version: "tuple[int, ...]") -> str:
    """The error message for an interpreter of this version; empty for a supported one."""
    if tuple(version[:2]) >= OLDEST:
        return ""
    return (
        "npulint needs Python {}.{} or newer; this is Python {}.{}.\n".format(*OLDEST, *version[:2])
        + "It reads projects for any Python without running them, so let it live in an environment of its own:\n"
        + "    uv tool install npulint    or    pipx install npulint\n"
    )


def leave_working_folder() -> None:
    """Drop the working folder from the search path (``python -m npulint`` puts it first), unless npulint itself is in
    it: what is checked there must not be imported."""
    try:
        folder = os.path.realpath(os.curdir)
    except OSError:  # it was removed
        return
    if folder != os.path.dirname(os.path.dirname(os.path.realpath(__file__))):
        sys.path[:] = [entry for entry in sys.path if os.path.realpath(str(entry)) != folder]


def main() -> int:
    """Run the command line; returns the exit code."""
    message = too_old(sys.version_info[:2])
    if message:
        sys.stderr.write(message)
        return 2
    leave_working_folder()
    import gc

    gc.disable()  # workers.py collects between projects instead
    from npulint.hosts.cli.main import main as run

    try:
        return run()
    finally:
        gc.freeze()  # spares the interpreter a full collection at exit
        gc.enable()


if __name__ == "__main__":
    sys.exit(main())
