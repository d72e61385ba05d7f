"""The steps of the GitHub action: ``install`` npulint into an environment of its own, and ``check``.

The inputs come through the environment (see action.yml). Whatever lies in the working directory is only read: every
Python is started with ``-I``, else a ``venv.py`` or ``pip.py`` of the project would be imported. This file is read by
older interpreters too, so that they can say that they are too old.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import tempfile

OLDEST = (3, 10)
COUNTS = ("findings", "errors", "warnings", "notes")


class Refused(Exception):
    """An input or a surrounding that the action cannot work with."""


def main(words: list[str], environ: dict[str, str]) -> int:
    """Run one step; the exit code is that of npulint, or 2."""
    try:
        if sys.version_info < OLDEST:
            raise Refused(f"npulint needs Python 3.10 or newer, this is {sys.version_info[0]}.{sys.version_info[1]}")
        if words == ["install"]:
            return install(environ)
        if words == ["check"]:
            return check(environ)
        raise Refused("run_action.py install|check")
    except Refused as refused:
        print("::error title=npulint::" + escaped(str(refused)), flush=True)
        return 2


def escaped(text: str) -> str:
    """`text` as the message of a workflow command."""
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def needed(environ: dict[str, str], name: str) -> str:
    """A variable that the runner sets; raises `Refused` without it."""
    value = environ.get(name, "")
    if not value or "\n" in value or "\r" in value:
        raise Refused(name + " is not set as the runner of GitHub sets it")
    return value


def environment(environ: dict[str, str]) -> str:
    """The folder of the environment that npulint is installed in."""
    return os.path.join(needed(environ, "RUNNER_TEMP"), "npulint-environment")


def program(folder: str, name: str) -> str:
    """A program of a virtual environment."""
    return os.path.join(folder, "Scripts", name + ".exe") if os.name == "nt" else os.path.join(folder, "bin", name)


def install(environ: dict[str, str]) -> int:
    """Create the environment and install the requested version; raises `Refused`."""
    folder = environment(environ)
    if subprocess.call([sys.executable, "-I", "-m", "venv", "--clear", folder]):
        raise Refused("this Python makes no virtual environment: install its venv package, or name another as `python`")
    pip = [program(folder, "python"), "-I", "-m", "pip", "install", "--quiet", "--no-input"]
    package = requirement(environ)
    if subprocess.call([*pip, "--disable-pip-version-check", "--", package]):
        raise Refused("pip could not install " + package)
    return 0


def requirement(environ: dict[str, str]) -> str:
    """The requirement for pip: this action, a version of npulint, or the requested package."""
    version = environ.get("NPULINT_VERSION", "").strip()
    if not version.isprintable():
        raise Refused("version is a version of npulint, or one thing that pip installs")
    if not version:
        return needed(environ, "GITHUB_ACTION_PATH")
    return "npulint==" + version if version[0].isdigit() else version


def check(environ: dict[str, str]) -> int:
    """Run npulint once with all its reports and tell the outputs of the step; raises `Refused`."""
    folder = tempfile.mkdtemp(prefix="npulint-", dir=needed(environ, "RUNNER_TEMP"))
    reports = {"json": os.path.join(folder, "npulint.json")}
    if flag(environ, "NPULINT_SARIF"):
        reports["sarif"] = os.path.join(folder, "npulint.sarif")
    further = dict(reports)
    if flag(environ, "NPULINT_STEP_SUMMARY") and environ.get("GITHUB_STEP_SUMMARY"):
        further["markdown"] = environ["GITHUB_STEP_SUMMARY"]
    command = [program(environment(environ), "npulint"), "check", *options(environ)]
    command += [f"--output={name}={path}" for name, path in sorted(further.items())]
    if "sarif" in reports:  # code scanning would open an alert for each suppressed finding
        command.append("--no-silenced")
    sys.stdout.flush()
    code = subprocess.call([*command, "--", *paths(environ)])
    tell(environ, code, {name: path for name, path in reports.items() if os.path.exists(path)})
    return code


def options(environ: dict[str, str]) -> list[str]:
    """The options of `npulint check` that the inputs stand for; raises `Refused`."""
    pairs = (("format", "FORMAT"), ("fail-on", "FAIL_ON"), ("baseline", "BASELINE"), ("lang", "LANGUAGE"))
    values = [(key, environ.get("NPULINT_" + name, "").strip()) for key, name in pairs]
    try:
        words = shlex.split(environ.get("NPULINT_ARGS", ""))
    except ValueError as error:
        raise Refused(f"args: {error}") from error
    if "--" in words:
        raise Refused("args: files and folders are named in `paths`")
    return [f"--{key}={value}" for key, value in values if value] + words


def paths(environ: dict[str, str]) -> list[str]:
    """The paths to check, one from each line."""
    return [line.strip() for line in environ.get("NPULINT_PATHS", "").splitlines() if line.strip()] or ["."]


def flag(environ: dict[str, str], name: str) -> bool:
    """An input that is true or false; raises `Refused` for anything else."""
    value = environ.get(name, "").strip().lower()
    if value not in ("true", "false", ""):
        raise Refused(f"{name[8:].lower().replace('_', '-')} is true or false, not {value}")
    return value == "true"


def tell(environ: dict[str, str], code: int, reports: dict[str, str]) -> None:
    """Write the outputs of the step."""
    outputs = {"exit-code": str(code), "sarif": reports.get("sarif", ""), "json": reports.get("json", "")}
    if "json" in reports:
        with open(reports["json"], encoding="utf-8") as stream:
            summary = json.load(stream)["summary"]
        outputs.update((name, str(int(summary[name]))) for name in COUNTS)
    with open(needed(environ, "GITHUB_OUTPUT"), "a", encoding="utf-8") as stream:
        stream.writelines(f"{name}={value}\n" for name, value in sorted(outputs.items()))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], dict(os.environ)))
