"""Commands that Python code starts: the same facts as a launcher's."""

from __future__ import annotations

from npulint.assemble.context import Context
from npulint.assemble.flow import argument
from npulint.assemble.module import Module
from npulint.facts.code import Const, SequenceDisplay, Value
from npulint.facts.model import Fact
from npulint.lazy_regex import lazy_compile

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


def matches(name: str) -> bool:
    """Functions that start a command."""
    return name in _STARTERS


def facts_for_call(context: Context, module: Module, index: int, name: str) -> list[Fact]:
    """A ``command`` fact for each program that the call certainly starts."""
    call = module.code.calls[index]
    value = argument(call, _STARTERS[name], 0)
    text = _text(context, module, value, index) if value is not None else ""
    words = [match[0] for match in map(_WORD.search, _PARTS.split(text)) if match]
    return [
        context.call_fact("command", word.rpartition("/")[2], module, index, line=text, via="python", guarded=False)
        for word in dict.fromkeys(words)
    ]


def _text(context: Context, module: Module, value: Value, index: int) -> str:
    call = module.code.calls[index]
    if isinstance(value, SequenceDisplay):
        first = value.items[0] if value.items else None
        return first.value if isinstance(first, Const) and isinstance(first.value, str) else ""
    known = context.known(module, value, call).single
    return known if isinstance(known, str) else ""
