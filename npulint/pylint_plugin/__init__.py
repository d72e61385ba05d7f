"""The pylint plugin (``load-plugins=npulint.pylint_plugin``): each check is a message of pylint.

Findings are those of npulint's own engine, which runs once for all files that pylint was given. With several jobs it
runs before pylint starts its workers, which get the findings with the linter.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from astroid import modutils, nodes
from pylint.checkers import BaseChecker

from npulint.commands.settings.config import language, load
from npulint.core.errors import NpulintError
from npulint.core.texts import say
from npulint.data.pylint_numbers import FIRST, numbers
from npulint.hosts.linter_findings import LinterFindings, check_files, check_text, message_of
from npulint.judge.catalogue.check import Check
from npulint.judge.catalogue.load import load_catalogue
from npulint.judge.postprocess.engine import ENGINE_RULES, EngineRule
from npulint.judge.settings import Settings

if TYPE_CHECKING:
    from pylint.lint import PyLinter
    from pylint.typing import MessageDefinitionTuple

    Messages = dict[str, MessageDefinitionTuple]

_FINDINGS = "npulint_findings"  # attribute of the linter, which pylint sends to its workers
_NOT_CHECKED, _OTHER = "npu-not-checked", "npu-other-check"
_LETTERS = {"error": "E", "warning": "W", "note": "I"}


class NpulintChecker(BaseChecker):
    """Reports findings as messages. pylint wants the numbers of a checker to begin with the same two digits, so there
    are several of it, each with the messages of one hundred. `symbols` are the symbols of all, `notes` the names of
    checks that are notes: pylint decides about these."""

    name = "npulint"

    def __init__(self, linter: PyLinter, messages: Messages, symbols: frozenset[str], notes: frozenset[str]) -> None:
        self.msgs = messages
        self._own = {definition[1] for definition in messages.values()}
        self._known = symbols
        self._notes = notes
        super().__init__(linter)

    def visit_module(self, node: nodes.Module) -> None:
        """Report what npulint has found in this file."""
        linter_findings = _findings(self.linter, node)
        if linter_findings.error and _NOT_CHECKED in self._own:
            self.add_message(_NOT_CHECKED, line=1, node=node, args=(linter_findings.error,))
        for finding in linter_findings.of(node.file, self._notes):
            symbol = f"npu-{finding.name}"
            symbol = symbol if symbol in self._known else _OTHER
            if symbol in self._own:
                span = finding.span
                self.add_message(
                    symbol,
                    line=span.line,
                    node=_frame(node, span.line),
                    args=(message_of(finding),),
                    col_offset=span.column - 1,
                    end_lineno=span.end_line,
                    end_col_offset=span.end_column - 1,
                )


def register(linter: PyLinter) -> None:
    """Register the messages of all checks, with the project's own checks; pylint calls this."""
    settings = _settings()
    messages = _messages(settings)
    symbols = frozenset(definition[1] for definition in messages.values())
    notes = frozenset(
        definition[1].removeprefix("npu-") for number, definition in messages.items() if number.startswith("I")
    )
    for _, some in groupby(sorted(messages.items(), key=lambda pair: pair[0][1:]), lambda pair: pair[0][1:3]):
        linter.register_checker(NpulintChecker(linter, dict(some), symbols, notes))


def load_configuration(linter: PyLinter) -> None:
    """Run npulint before pylint starts its workers; pylint calls this once its options are known, in workers too."""
    if linter.config.jobs != 1 and linter.config.files and not linter.config.from_stdin:
        _findings(linter)


def _findings(linter: PyLinter, node: nodes.Module | None = None) -> LinterFindings:
    """What npulint finds in all that pylint was given; `node` is the module that comes from standard input."""
    linter_findings: LinterFindings | None = getattr(linter, _FINDINGS, None)
    if linter_findings is None:
        if node is not None and linter.config.from_stdin:
            linter_findings = check_text(node.file, node.stream().read(), os.environ)
        else:
            linter_findings = check_files([_path(file) for file in linter.config.files], os.environ)
        setattr(linter, _FINDINGS, linter_findings)
    return linter_findings


def _path(given: str) -> str:
    """The path of what pylint was given: a file, a folder or a module."""
    if os.path.exists(given):
        return given
    try:
        path = modutils.file_from_modpath(given.split("."))
    except ImportError:
        return given
    return os.path.dirname(path) if path and os.path.basename(path) == "__init__.py" else path or given


def _frame(module: nodes.Module, line: int) -> nodes.NodeNG:
    """The innermost function or class around a line, whose name pylint shows."""
    frame: nodes.NodeNG = module
    inner: Sequence[nodes.NodeNG] = module.body
    while inner:
        around = next((node for node in inner if node.fromlineno <= line <= node.tolineno), None)
        if isinstance(around, nodes.FunctionDef | nodes.ClassDef):
            frame = around
        inner = tuple(around.get_children()) if around is not None else ()
    return frame


def _settings() -> Settings:
    """The settings of the working directory, whose checks are registered; those of the run tell what is wrong."""
    try:
        return load([], {}, os.environ)
    except NpulintError:
        return Settings(lang=language(os.environ))


def _messages(settings: Settings) -> Messages:
    lang = settings.language()
    try:
        catalogue = load_catalogue(settings.checks, whole=False)
    except NpulintError:
        catalogue = load_catalogue(whole=False)
    rules: list[Check | EngineRule] = [*catalogue.checks, *ENGINE_RULES]
    number = numbers(rule.code for rule in rules)
    messages: Messages = dict(_about_npulint(lang))
    for rule in rules:
        shown = rule.severity != "note" or settings.min_severity == "note"
        place = number[rule.code]
        names = [(f"F{place}", rule.code)]  # pylint accepts the code where it accepts the symbol
        messages[f"{_LETTERS[rule.severity]}{place}"] = (
            "%s",
            f"npu-{rule.name}",
            _description(rule, lang),
            {"old_names": names, "default_enabled": shown},
        )
    return messages


def _about_npulint(lang: str) -> Iterator[tuple[str, MessageDefinitionTuple]]:
    yield f"E{FIRST}", ("%s", _NOT_CHECKED, say(lang, "linter.not-checked"))
    yield f"W{FIRST + 1}", ("%s", _OTHER, say(lang, "linter.other-check"))


def _description(rule: Check | EngineRule, lang: str) -> str:
    if isinstance(rule, EngineRule):
        return say(lang, f"title.{rule.name}")
    text = rule.text[lang]
    return "\n".join((text.title, text.why, text.fix)).replace("%", "%%")
