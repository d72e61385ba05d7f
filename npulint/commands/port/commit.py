"""Commits the steps of a port: a new branch with one commit for each step. Nothing is pushed.

Committing runs what the repository's configuration says that it runs: hooks, filters (without them the commit would
have other bytes than ``git add`` gives it), the program that signs. Everything else is without hooks, file system
monitor and pager."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence

from npulint.commands.port.model import PlannedStep, PortPlan
from npulint.core.errors import NpulintError
from npulint.core.texts import say
from npulint.fix.write import remove_left_over, write_together
from npulint.judge.fix_results import FileChange

BRANCH = "npulint-port"
_QUIET = {"GIT_TERMINAL_PROMPT": "0", "GIT_EDITOR": "true"}
_SAFE = ("--no-pager", "-c", "core.fsmonitor=false")
_WITHOUT_HOOKS = ("-c", f"core.hooksPath={os.devnull}")


class Repository:
    """The git repository around a folder. Raises `NpulintError`, as all its methods do."""

    def __init__(self, folder: str, lang: str) -> None:
        self._lang = lang
        self._folder = folder
        try:
            self._git("rev-parse", "--show-toplevel")
        except NpulintError:
            raise NpulintError(say(lang, "port.no-repository", path=folder)) from None

    def require_clean(self, paths: Sequence[str]) -> None:
        """Check that the tree has no uncommitted changes, that the files (`paths`) are tracked, and that there is an
        author."""
        changed = self._git("status", "--porcelain", "--untracked-files=no").splitlines()
        if changed:
            raise NpulintError(say(self._lang, "port.dirty", path=changed[0][3:]))
        for path in paths:
            if not self._git("ls-files", "--", os.path.abspath(path)):
                raise NpulintError(say(self._lang, "port.untracked", path=path))
        try:
            self._git("var", "GIT_AUTHOR_IDENT")
        except NpulintError:
            raise NpulintError(say(self._lang, "port.no-author")) from None

    def new_branch(self) -> str:
        """Create a branch at the current commit and switch to it; returns its name."""
        branches = set(self._git("branch", "--format=%(refname:short)").split())
        number, name = 1, BRANCH
        while name in branches:
            number += 1
            name = f"{BRANCH}-{number}"
        self._git("checkout", "-q", "-b", name)
        return name

    def commit(self, paths: Sequence[str], message: str) -> None:
        """Commit some files."""
        places = [os.path.abspath(path) for path in paths]
        self._git("add", "--", *places)
        self._git("commit", "-q", "-m", message, "--", *places)

    def _git(self, *words: str) -> str:
        options = _SAFE if words[0] == "commit" else (*_SAFE, *_WITHOUT_HOOKS)
        try:
            done = subprocess.run(
                ["git", *options, "--literal-pathspecs", *words],
                cwd=self._folder,
                env={**os.environ, **_QUIET},
                capture_output=True,
                check=False,
            )
        except OSError as error:
            raise NpulintError(say(self._lang, "port.git", command=words[0], detail=str(error))) from error
        if done.returncode:
            detail = (done.stderr or done.stdout).decode("utf-8", "replace").strip()
            raise NpulintError(say(self._lang, "port.git", command=words[0], detail=detail))
        return done.stdout.decode("utf-8", "replace").strip("\n")


def committed(plan: PortPlan, folder: str, lang: str) -> tuple[str, int]:
    """Write the port and commit it step by step; returns the branch and the number of commits. Raises `NpulintError`
    where git or a file refuses; commits that were made stay."""
    repository = Repository(folder, lang)
    repository.require_clean([file.location for file in plan.files if not file.new])
    remove_left_over(plan.fixes.folders)  # of a file left incomplete, the tree is not clean
    steps = [step for step in plan.steps if step.files]
    if not steps:
        return "", 0
    branch = repository.new_branch()
    for number, step in enumerate(steps, 1):
        _write(step.files)
        title = say(lang, f"port.step.{step.name}")
        subject = say(lang, "port.commit.title", number=number, all=len(steps), title=title)
        repository.commit([file.location for file in step.files], f"{subject}\n\n{_body(step)}")
    return branch, len(steps)


def _write(files: Sequence[FileChange]) -> None:
    for path, error in write_together(files).items():
        raise NpulintError(f"{path}: {error}") from error


def _body(step: PlannedStep) -> str:
    return "\n".join(f"- {item.title} ({item.name}): {len(item.places)}" for item in step.items)
