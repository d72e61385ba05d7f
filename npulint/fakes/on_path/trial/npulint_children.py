"""Puts the guards of ``npulint try`` into the processes that a program starts: their environment names the folder of
the guards, and Python is started so that it reads that. In Python 3.7, too."""

import functools
import os
import sys

import npulint_programs as programs

_HERE = os.path.dirname(os.path.abspath(__file__))
_NAMES = ("NPULINT_TRIAL_FOLDER", "NPULINT_TRIAL_ROOT", "NPULINT_TRIAL_CONFINED")
_VARIABLES = {name: os.environ[name] for name in _NAMES if name in os.environ}
_PATHS = "PYTHONPATH"
_ISOLATING = "IES"  # options of Python that leave out the environment, or the module that holds the guards


def install():
    """Replace the functions that start programs, for all modules that are imported from now on."""
    try:
        import _posixsubprocess
    except ImportError:
        return  # another system
    _posixsubprocess.fork_exec = _guarded_fork(_posixsubprocess.fork_exec)
    if hasattr(sys.modules.get("subprocess"), "_fork_exec"):
        sys.modules["subprocess"]._fork_exec = _posixsubprocess.fork_exec
    for name, has_variables in {"execv": False, "execve": True, "posix_spawn": True, "posix_spawnp": True}.items():
        original = getattr(os, name, None)
        if original is not None:
            _replace(name, _guarded(original, has_variables))
    _replace("system", _guarded_shell(os.system))


def _replace(name, function):
    for owner in (os, sys.modules["posix"]):
        setattr(owner, name, programs.NoMethod(function))


def guarded(file, words, variables):
    """The words and variables with which a file is started so that Python has its guards. `variables` is a mapping, of
    texts or bytes; without one (`None`) the process inherits those of this one, which get what is missing."""
    words = list(words)
    dropped = ""
    if programs.is_python(file):
        words, dropped = _unisolated(words)
    if variables is None and not dropped:
        os.environ.update(_missing(os.environ))
        return words, None
    given = os.environ if variables is None else variables
    passed = {os.fsdecode(name): os.fsdecode(value) for name, value in given.items()}
    if "I" in dropped or "E" in dropped:
        passed = {name: value for name, value in passed.items() if not name.startswith("PYTHON")}
    if "I" in dropped:
        passed["PYTHONSAFEPATH"] = "1"
        words.insert(1, "-s")
    passed.update(_missing(passed))
    return words, passed


def are_left_out(words):
    """Whether the options of a command of Python leave out the guards."""
    return bool(_unisolated(words)[1])


def missing(variables):
    """What the variables of a process, by default those of this one, lack for the guards."""
    given = os.environ if variables is None else variables
    return _missing({os.fsdecode(name): os.fsdecode(value) for name, value in given.items()})


def _missing(variables):
    """What the variables of a process lack."""
    missing = {name: value for name, value in _VARIABLES.items() if variables.get(name) != value}
    paths = variables.get(_PATHS, "")
    if paths.split(os.pathsep)[0] != _HERE:
        others = [path for path in paths.split(os.pathsep) if path and path != _HERE]
        missing[_PATHS] = os.pathsep.join((_HERE, *others))
    return missing


def _unisolated(words):
    """The words of a command of Python without options that leave out the guards, and the letters of these."""
    kept, dropped, place = list(words[:1]), "", 1
    while place < len(words):
        text = os.fsdecode(words[place])
        if not text.startswith("-") or text in ("-", "--") or text.startswith("--"):
            break
        letters, ends, takes = _letters(text[1:])
        dropped += "".join(letter for letter in letters if letter in _ISOLATING)
        rest = "".join(letter for letter in letters if letter not in _ISOLATING) + text[1 + len(letters) :]
        kept += ["-" + rest] if rest else []
        place += 1
        if ends:
            break
        kept += words[place : place + 1] if takes else []
        place += takes
    return kept + list(words[place:]), dropped


def _letters(text):
    """The options in a word without its dash, whether they are the last ones, and how many words follow as a value."""
    for place, letter in enumerate(text):
        if letter in "cm":
            return text[: place + 1], True, 0
        if letter in "WX":
            return text[: place + 1], False, int(place + 1 == len(text))
    return text, False, 0


def _guarded_fork(original):
    @functools.wraps(original)
    def fork_exec(words, files, close, kept, folder, variables, *others):
        file = next((file for file in map(os.fsdecode, files) if programs.executable(file, folder)), "")
        if variables is not None:
            variables = dict(pair.partition(b"=")[::2] for pair in variables)
        words, variables = guarded(programs.executable(file, folder), words, variables)
        if variables is not None:
            variables = [os.fsencode(name) + b"=" + os.fsencode(value) for name, value in variables.items()]
        return original(words, files, close, kept, folder, variables, *others)

    return fork_exec


def _guarded(original, has_variables):
    @functools.wraps(original)
    def started(path, words, *given, **named):
        variables = (given[0] if given else named.pop("env")) if has_variables else None
        words, variables = guarded(programs.found(path, None, variables), words, variables)
        if has_variables:
            return original(path, words, os.environ if variables is None else variables, *given[1:], **named)
        return original(path, words) if variables is None else os.execve(path, words, variables)

    return started


def _guarded_shell(original):
    @functools.wraps(original)
    def system(command):
        os.environ.update(_missing(os.environ))
        return original(command)

    return system
