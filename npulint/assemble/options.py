"""Options: argparse, tf.flags, absl and HParams definitions of a project, with their defaults."""

from __future__ import annotations

from typing import Protocol

from npulint.assemble.module import Module
from npulint.assemble.names import Names
from npulint.facts.code import UNKNOWN, Call, Const, Items, Ref, Value
from npulint.facts.values import Known, merge
from npulint.later import regex

# Names that hold parsed options by custom; anything else must come from parse_args() or FLAGS itself.
_HOLDERS = regex(r"(?:^|\.)(?:FLAGS|flags|args|arg|opts?|hparams|hps|params|cfg|config|conf|options|parsed|argv|a)$")


_DEFINING = frozenset(("add_argument", "mark_flag_as_required", "mark_flags_as_required", "HParams"))


class Evaluator(Protocol):
    """What tells the value of a default (`npulint.assemble.flow.Flow`)."""

    def known(self, module: Module, value: Value, block: int, line: int, depth: int = 0) -> Known:
        """The scalars that `value` may have at `line` in `block`."""


class Option:
    """One option: its name, its definition's place and its default value."""

    def __init__(self, name: str, module: Module, call: Call, default: Value) -> None:
        self.name = name
        self.module = module
        self.call = call
        self.value = default


class Options:
    """The options of a project by name; the launchers' values replace the defaults they override."""

    def __init__(self, names: Names) -> None:
        self.table: dict[str, list[Option]] = {}
        self.launched: dict[str, list[str | None]] = {}
        self._short: dict[str, str] = {}
        self._required: set[str] = set()
        self._busy: set[str] = set()
        for module in names.project.modules.values():
            for index in module.calls_where(_defines):
                call = module.code.calls[index]
                if isinstance(call.callee, Ref):
                    self._define(names, module, index, call, module.written(index))

    def launch(self, written: str, value: str | None) -> None:
        """A launcher passes `value` (None: computed) for an option, by its long or short name."""
        name = written.lstrip("-").replace("-", "_")
        self.launched.setdefault(self._short.get(name, name), []).append(value)

    def _define(self, names: Names, module: Module, index: int, call: Call, last: str) -> None:
        if last == "add_argument":
            self._argparse(module, call)
        elif last.startswith("DEFINE_"):
            self._flag(module, call)
        elif last in ("mark_flag_as_required", "mark_flags_as_required"):
            named = call.args[0].items if call.args and isinstance(call.args[0], Items) else call.args
            self._required.update(str(a.value) for a in named if isinstance(a, Const))
        elif last == "HParams" and names.of_call(module, index).startswith("tensorflow."):
            for key, value in call.keywords:
                self._add(key, module, call, value)

    def _flag(self, module: Module, call: Call) -> None:
        keywords = dict(call.keywords)
        name = call.args[0] if call.args else keywords.get("name", keywords.get("flag_name"))
        default = call.args[1] if len(call.args) > 1 else keywords.get("default", keywords.get("default_value"))
        if isinstance(name, Const):
            required = keywords.get("required") == Const(True)
            self._add(str(name.value), module, call, UNKNOWN if required else default or Const(None))

    def _argparse(self, module: Module, call: Call) -> None:
        flags = [a.value for a in call.args if isinstance(a, Const) and isinstance(a.value, str)]
        keywords = dict(call.keywords)
        dest = keywords.get("dest")
        if isinstance(dest, Const):
            name = str(dest.value)
        elif flags:
            name = next((f for f in flags if f.startswith("--")), flags[0]).lstrip("-").replace("-", "_")
        else:
            return
        self._short.update((flag.lstrip("-").replace("-", "_"), name) for flag in flags)
        given = keywords.get("required") == Const(True) or not any(f.startswith("-") for f in flags)
        default: Value = keywords.get("default", UNKNOWN if given else Const(None))
        action = keywords.get("action")
        if isinstance(action, Const) and "default" not in keywords:
            if action.value == "store_true":
                default = Const(False)
            elif action.value == "store_false":
                default = Const(True)
        self._add(name, module, call, default)

    def _add(self, name: str, module: Module, call: Call, default: Value) -> None:
        self.table.setdefault(name, []).append(Option(name, module, call, default))

    def default(self, module: Module, dotted: str, flow: Evaluator) -> Known | None:
        """The value of ``FLAGS.x``, ``args.x`` and the like, or None when it is no option. It counts as
        exact: it is what runs unless somebody says otherwise."""
        holder, _, name = dotted.rpartition(".")
        options = self.table.get(name)
        if not options or not holder or not _HOLDERS.search(holder) or name in self._busy:
            return None
        near = [o for o in options if o.module is module] or options
        self._busy.add(name)
        parts = [flow.known(o.module, o.value, o.call.block, o.call.line, 2) for o in near[:4]]
        self._busy.discard(name)
        parts += [_launched(text) for text in self.launched.get(name, ())]
        merged = merge(parts)
        return Known(merged.values, merged.exact and name not in self._required, name)


def _defines(last: str) -> bool:
    return last in _DEFINING or last.startswith("DEFINE_")


def _launched(text: str | None) -> Known:
    """A value as a launcher passes it; the words for true and false are those values."""
    if text is None:
        return Known()
    lowered = text.lower()
    if lowered in ("true", "false"):
        return Known((lowered == "true",), True)
    return Known((text,), True)
