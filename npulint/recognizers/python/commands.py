"""Commands that Python code runs: the same facts as for shell scripts."""

from __future__ import annotations

from typing import Literal

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.attributes import attribute
from npulint.facts.kinds import fact_kind
from npulint.model.running.code_facts import CallFact
from npulint.model.running.guards import is_handled
from npulint.model.values.cursors import CallSite, Expr, Scope
from npulint.model.values.walker import walker
from npulint.recognizers.registry import recognizes

_STARTERS = {
    "os.system": "command",
    "os.popen": "cmd",
    "subprocess.call": "args",
    "subprocess.run": "args",
    "subprocess.Popen": "args",
    "subprocess.check_call": "args",
    "subprocess.check_output": "args",
    "subprocess.getoutput": "cmd",
    "subprocess.getstatusoutput": "cmd",
}
_PARTS = lazy_compile(r"[|;&\n]+")
_WORD = lazy_compile(r"[\w./+-]+")


@fact_kind("command")
class StartedCommand(CallFact):
    """Python code starts a program; the name is the program."""

    line: str
    """The command, or the first word of a list."""
    via: Literal["python"] = "python"

    @attribute
    def guarded(self) -> bool:
        """Whether it runs in a `try` statement with a handler, which may catch that the program is missing, also of all
        that call its function."""
        return _is_caught(self.scope)


@recognizes(*_STARTERS)
def commands(call: CallSite) -> list[StartedCommand]:
    """The programs that a call certainly starts."""
    command = call.argument(_STARTERS[call.name], 0)
    line = "" if command is None else _text(command)
    words = [match[0] for match in map(_WORD.search, _PARTS.split(line)) if match]
    return [StartedCommand(call, word.rpartition("/")[2], line) for word in dict.fromkeys(words)]


@walker(depth=4, otherwise=bool)
def _is_caught(scope: Scope) -> bool:
    if any(map(is_handled, scope.ancestors)):
        return True
    callers = [] if scope.function is None else scope.function.callers
    return bool(callers) and all(_is_caught(call.scope) for call in callers)


def _text(command: Expr) -> str:
    """A command as text; for a list its first element."""
    if command.is_display:
        return command.items[0].text if command.items else ""
    return command.single if isinstance(command.single, str) else ""
