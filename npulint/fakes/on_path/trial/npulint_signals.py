"""Refuses signals of a program under ``npulint try`` to processes that do not belong to its trial."""

import errno
import os
import signal

import npulint_programs

_PROCESSES = "/proc"
_ROOT = os.environ.get("NPULINT_TRIAL_ROOT", "")


def install():
    """Replace the function that sends signals by handles of processes, which Python does not report."""
    original = getattr(signal, "pidfd_send_signal", None)
    if original is not None:

        def pidfd_send_signal(pidfd, sig, *others):
            check(_behind(pidfd), sig)
            return original(pidfd, sig, *others)

        signal.pidfd_send_signal = npulint_programs.NoMethod(pidfd_send_signal)


def check(number, sig):
    """Raise `PermissionError` for a signal to a process, or to the group of a negative number, outside of the trial.
    Where the system lists no processes nothing is refused."""
    if not sig or number == 0 or not _ROOT or not os.path.isdir(_PROCESSES):
        return  # asking whether it runs, or its own group
    if number == -1 or not all(_is_below(process) for process in (_members(-number) if number < 0 else [number])):
        raise PermissionError(errno.EPERM, "npulint try: signals to processes of others", str(number))


def _is_below(number):
    """Whether a process, if there is one, belongs to the trial."""
    number = str(number)
    if not os.path.isdir(os.path.join(_PROCESSES, number)):
        return True  # ProcessLookupError follows
    while number not in ("0", "1", ""):
        number = _field(number, 1)
        if number == _ROOT:
            return True
    return False


def _members(group):
    return [name for name in os.listdir(_PROCESSES) if name.isdigit() and _field(name, 2) == str(group)]


def _field(number, place):
    """A field of the status of a process, after its name; empty if it has ended."""
    try:
        with open(os.path.join(_PROCESSES, number, "stat"), "rb") as file:
            return file.read().rpartition(b")")[2].split()[place].decode()
    except (OSError, IndexError):
        return ""


def _behind(pidfd):
    """The number of the process of a handle; that of all processes where it is not known."""
    try:
        with open(os.path.join(_PROCESSES, "self", "fdinfo", str(pidfd))) as file:
            fields = dict(line.split(":", 1) for line in file if ":" in line)
        return int(fields["Pid"])
    except (OSError, KeyError, ValueError):
        return -1
