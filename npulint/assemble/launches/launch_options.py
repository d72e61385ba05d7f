"""Facts about the scripts of a project that launchers start, and about the options that they pass."""

from __future__ import annotations

import posixpath
from functools import cached_property, partial

from npulint.assemble.context import Context
from npulint.assemble.launches.arguments import converted
from npulint.assemble.launches.command_line import CommandLine, command_line
from npulint.assemble.launches.options import Option
from npulint.assemble.launches.project_launches import Launch
from npulint.data.options import option
from npulint.facts.code import Const, Ref, SequenceDisplay
from npulint.facts.model import Fact, Span
from npulint.facts.values import PossibleValues

NONE = "-"  # stands in messages where there is nothing to name
_CLOSE = 0.75
_NOTHING = (None, "", "None", "0", "true", "True", "false", "False")  # "not given", or a switch
_MECHANISMS = ("session_key", "run_config", "npu_options")


def launch_options(context: Context) -> dict[str, list[Fact]]:
    """By started script, a ``start`` fact for each start, with the attributes of the launcher's ``launch`` fact, and
    a ``launch_option`` fact for each option that is passed."""
    found = {}
    for entry, launches in context.options.passed.launches.by_entry.items():
        line = partial(_line, context, entry)
        facts: list[Fact] = []
        for launch in launches:
            if launch.sure:
                fact = launch.fact
                fact.attrs["target"] = launch.target
                facts.append(Fact("start", posixpath.basename(entry), fact.path, fact.span, fact.attrs))
                facts += _facts(launch, line)
        found[entry] = facts
    return found


def relate_settings(passed: list[Fact], settings: list[Fact]) -> None:
    """Tell of passed options which adapter settings take them (`feeds`), and which of these refuses the value
    (`refused_by`, with what is `legal`); of settings, whether launchers decide them (`launched`). Nothing is worked
    out before a check asks."""
    related = _Related(passed, [fact for fact in settings if fact.get("via") in _MECHANISMS])
    for fact in passed:
        for name in ("feeds", "refused_by", "legal"):
            fact.attrs[name] = partial(getattr(related, name), fact)
    for fact in related.settings:
        fact.attrs["launched"] = partial(related.launched, fact) if passed else "no"


class _Related:
    """The options that launchers pass, and the settings that take them."""

    def __init__(self, passed: list[Fact], settings: list[Fact]) -> None:
        self.settings = settings
        self._passed = passed

    @cached_property
    def _takers(self) -> dict[str, list[Fact]]:
        """The settings by the option that decides them."""
        found: dict[str, list[Fact]] = {}
        for fact in self.settings:
            value = fact.get("value")
            if isinstance(value, PossibleValues) and value.symbol:
                found.setdefault(value.symbol, []).append(fact)
        return found

    @cached_property
    def _launched(self) -> set[int]:
        """The settings that take an option which launchers pass."""
        return {id(setting) for fact in self._passed for setting in self._taking(fact)}

    def _taking(self, fact: Fact) -> list[Fact]:
        """The settings that take a passed option, in the modules that the started script comes to."""
        takers = self._takers.get(str(fact.get("option")), ()) if self._takers else ()
        return [setting for setting in takers if setting.path in fact.get("modules")]

    def feeds(self, fact: Fact) -> str:
        """The keys of the settings that a passed option decides."""
        return " ".join(sorted({setting.name for setting in self._taking(fact)})) or NONE

    def refused_by(self, fact: Fact) -> str:
        """The setting that does not accept the value."""
        return self._refusal(fact)[0]

    def legal(self, fact: Fact) -> str:
        """What that setting accepts."""
        return self._refusal(fact)[1]

    def launched(self, fact: Fact) -> str:
        """Whether launchers pass the option that decides a setting."""
        return "yes" if id(fact) in self._launched else "no"

    def _refusal(self, fact: Fact) -> tuple[str, str]:
        text = fact.get("value")
        for setting in self._taking(fact) if text not in _NOTHING else ():
            known = option(setting.name)
            use = known.uses.get(str(setting.get("via"))) if known is not None else None
            if use is not None and use.values and not use.accepts(text):
                return setting.name, " | ".join(str(v) for v in use.values)
        return NONE, NONE


def _line(context: Context, entry: str) -> CommandLine:
    return context.memoize(("command line", entry), lambda: command_line(context, entry))


def _facts(launch: Launch, line: partial[CommandLine]) -> list[Fact]:
    attrs = launch.fact.attrs
    places = attrs.get("places") or {}
    chosen = set(attrs.get("defaults") or ())
    found = []
    for written, text in launch.options.items():
        place = places.get(written)
        span = Span(*place) if place else launch.fact.span
        passed = _Passed(launch, written, text, line)
        known = {
            "value": text,
            "script": posixpath.basename(launch.entry),
            "guarded": launch.fact.get("guarded"),
            "target": launch.target,
            "ranks": partial(_is_size, launch.fact, text),
            "modules": passed.modules,
            "by_caller": "yes" if written in chosen else "no",
        }
        for ask in (
            passed.option,
            passed.known,
            passed.effect,
            passed.nearest,
            passed.fits,
            passed.allowed,
            passed.detached,
            passed.default,
        ):
            known[ask.__name__] = ask
        found.append(Fact("launch_option", written, launch.fact.path, span, known))
    return found


def _is_size(launch: Fact, text: str | None) -> str:
    """Whether an option is passed the number of ranks that the launcher starts."""
    return "yes" if text and launch.get("size") == text else "no"


class _Passed:
    """One option as it is passed, beside what the script makes of it."""

    def __init__(self, launch: Launch, written: str, text: str | None, line: partial[CommandLine]) -> None:
        self._make = line
        self._written = written
        self._text = text
        self._apart = written in (launch.fact.attrs.get("apart") or ())
        self._alone = written in (launch.fact.attrs.get("flags") or ())

    @cached_property
    def _line(self) -> CommandLine:
        return self._make()

    @cached_property
    def _found(self) -> list[Option]:
        """The options of the script that may be meant."""
        return self._line.find(self._written)

    def modules(self) -> frozenset[str]:
        """The modules that the script comes to."""
        return self._line.modules

    def option(self) -> str:
        """The name by which the script asks for it."""
        return self._found[0].name if self._found else self._written

    def known(self) -> str:
        """Whether the script has such an option."""
        return "yes" if self._found else "no" if self._line.refuses(self._written) else "unknown"

    def effect(self) -> str:
        """What becomes of an option that the script does not have: it aborts, or ignores it."""
        return {"argparse": "aborts", "absl": "aborts", "tolerant": "ignored"}.get(self._line.by, "unknown")

    def nearest(self) -> str:
        """The option of the script that is probably meant."""
        from difflib import get_close_matches  # only mistakes pay for it

        close = [] if self._found else get_close_matches(self._written, list(self._line.options), 1, _CLOSE)
        return close[0] if close else NONE

    def fits(self) -> str:
        """Whether the script's parser takes the value."""
        answers = {self._fits(option) for option in self._found}
        return answers.pop() if len(answers) == 1 else "unknown"

    def allowed(self) -> str:
        """What the parser would take."""
        if not self._found:
            return NONE
        found = self._found[0]
        if found.kind in ("true", "false"):
            return "no value"
        choices = _choices(found)
        return " | ".join(choices) if choices else {"int": "an integer", "float": "a number"}.get(found.kind, NONE)

    def detached(self) -> str:
        """Whether the value of a boolean flag of absl stands apart, where it is not taken."""
        flags = bool(self._found) and all(option.kind == "flag" for option in self._found)
        return "yes" if flags and self._apart and self._line.by in ("absl", "tolerant") else "no"

    def default(self) -> str:
        """The default that the option has in the script, where it is written down."""
        values = [dict(option.call.keywords).get("default") for option in self._found]
        values += [option.value for option in self._found]
        written = next((value for value in values if isinstance(value, Const)), None)
        return str(written.value) if written is not None else NONE

    def _fits(self, option: Option) -> str:
        if self._line.by == "unknown" or (not self._text and not self._alone):
            return "unknown"  # an empty text waits for what the caller gives
        if option.kind in ("true", "false"):
            if self._alone:
                return "yes"
            return "unknown" if self._apart and (self._line.positionals or not self._line.closed) else "no"
        choices = _choices(option)
        if choices:
            return "yes" if self._text in choices else "no"
        if option.kind in ("int", "float") and not self._alone:
            return "yes" if converted(self._text, option.kind).values else "no"
        return "unknown"


def _choices(option: Option) -> list[str]:
    """The values that an option may have, as texts; none where that is not known."""
    keywords = dict(option.call.keywords)
    listed = keywords.get("choices", keywords.get("enum_values"))
    if listed is None and isinstance(option.call.callee, Ref) and option.call.callee.name.endswith("DEFINE_enum"):
        listed = option.call.args[2] if len(option.call.args) > 2 else None
    if not isinstance(listed, SequenceDisplay) or option.kind not in ("text", "int"):
        return []
    values = [str(item.value) for item in listed.items if isinstance(item, Const)]
    return values if len(values) == len(listed.items) else []
