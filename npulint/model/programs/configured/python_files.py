"""Configuration files that are Python modules of assignments, as those of MMEngine and of MMCV before it."""

from __future__ import annotations

from collections.abc import Iterator

from npulint.facts.code import CallResult, Code, Const, Ref, SequenceDisplay, Table, Value
from npulint.facts.model import FileFacts, Span
from npulint.model.programs.configured.settings import Setting

FRAMEWORK = "mmengine"
_KEYS = frozenset(
    "_base_ default_hooks default_scope dist_params env_cfg lr_config optim_wrapper optimizer_config".split()
)
_MAKERS = ("dict", "list", "tuple", "set")
_DEEP = 12
_MOST = 2000  # values of one file


def python_settings(file: FileFacts) -> tuple[Setting, ...]:
    """The settings in a module that is a configuration; empty for other code."""
    code = file.code
    if code is None or not _is_configuration(code):
        return ()
    settings: list[Setting] = []
    for name, value, span in _Leaves(code).all():
        if len(settings) == _MOST:
            break
        settings.append(Setting(FRAMEWORK, name, value, file.path, span, "file"))
    return tuple(settings)


def _is_configuration(code: Code) -> bool:
    """Whether a module only assigns values, and names what such a configuration has."""
    if len(code.blocks) != 1 or code.imports or _KEYS.isdisjoint(assignment.target for assignment in code.assignments):
        return False
    return all(isinstance(call.callee, Ref) and call.callee.name in _MAKERS for call in code.calls)


class _Leaves:
    """The values of a module by dotted keys, each at the innermost dict that has it."""

    def __init__(self, code: Code) -> None:
        self._code = code

    def all(self) -> Iterator[tuple[str, object, Span]]:
        for assignment in self._code.assignments:
            if assignment.target.isidentifier():
                span = Span(assignment.line, assignment.column, assignment.end_line, assignment.end_column)
                yield from self._below(assignment.target, assignment.value, span, _DEEP)

    def _below(self, name: str, value: Value, span: Span, depth: int) -> Iterator[tuple[str, object, Span]]:
        if isinstance(value, Const):
            yield name, value.value, span
            return
        for key, inner, place in self._entries(value, span) if depth else ():
            yield from self._below(f"{name}.{key}", inner, place, depth - 1)

    def _entries(self, value: Value, span: Span) -> Iterator[tuple[str, Value, Span]]:
        """The members of a dict or list."""
        if isinstance(value, CallResult):
            call = self._code.calls[value.call]
            here = Span(call.line, call.column, call.end_line, call.end_column)
            places = [Span(*keyword_span) for keyword_span in call.keyword_spans] or [here] * len(call.keywords)
            for (key, inner), place in zip(call.keywords, places, strict=True):
                yield key, inner, place
            for inner in call.args:
                yield from self._entries(inner, here)
        elif isinstance(value, SequenceDisplay):
            for number, inner in enumerate(value.items):
                yield str(number), inner, span
        elif isinstance(value, Table):
            places = [Span(*one) for one in value.places] or [span] * len(value.values)
            for written, inner, place in zip(value.keys, value.values, places, strict=True):
                if isinstance(written, Const) and isinstance(written.value, str):
                    yield written.value, inner, place
