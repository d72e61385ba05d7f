"""What becomes of a program when one of its imports fails: the handlers of the ``try`` around it decide."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from npulint.model.values.cursors import CallSite, Scope
from npulint.model.values.walker import memoized

Failure = Literal["stops", "handled", "unnoticed"]
_IMPORT_ERRORS = frozenset(("ImportError", "ModuleNotFoundError", "Exception", "BaseException"))
_FUNCTIONS = ("function", "lambda")
_REPORTING = frozenset("print warn warning error info debug exception critical log write format".split())
_LEAVING = frozenset(("exit", "_exit", "quit", "abort"))
_REFUSED = "argparse.ArgumentParser().error"


def on_failure(scope: Scope) -> Failure:
    """What follows where an import in a block fails: the program ``stops``, the failure is ``handled``, or it passes
    ``unnoticed`` until something uses the missing name."""
    for around in scope.ancestors:
        if around.kind in _FUNCTIONS:
            break
        if around.kind == "try":
            failure = after_failure(around)
            if failure != "stops":
                return failure
    return "stops"


def is_optional(scope: Scope) -> bool:
    """Whether the module of an import in a block goes on where it fails, or the import stands in for another one."""
    return any(
        around.kind == "except" or (around.kind == "try" and after_failure(around) != "stops")
        for around in scope.ancestors
    )


@memoized(meanwhile=lambda: "handled")
def after_failure(tried: Scope) -> Failure:
    """The same for what a ``try`` imports directly."""
    handler = next((scope for scope in _handlers(tried) if _catches_imports(scope)), None)
    if handler is None or _leaves(handler):
        return "stops"
    return "unnoticed" if _only_reports(handler) and not _binds(tried) else "handled"


def _handlers(tried: Scope) -> Iterator[Scope]:
    """The handlers of a ``try``, in order."""
    for block in range(tried.block + 1, len(tried.module.blocks)):
        record = tried.module.blocks[block]
        if record.parent == tried.record.parent:
            if record.kind == "except":
                yield tried.at(block)
            elif record.kind == "try":
                return


def _catches_imports(handler: Scope) -> bool:
    """Whether a handler is entered when an import fails."""
    caught = {name.rpartition(".")[2] for name in handler.test.written_names}
    return not caught or not caught.isdisjoint(_IMPORT_ERRORS)


@memoized(meanwhile=lambda: False)
def _leaves(block: Scope) -> bool:
    """Whether a handler or an own function surely ends the program: it does not return, and raises, exits, or calls an
    own function that does."""
    inside, exits = _inside(block), block.module.code.exits
    if any(exit_record.kind == "return" and exit_record.block in inside for exit_record in exits):
        return False
    if any(exit_record.kind == "raise" and exit_record.block == block.block for exit_record in exits):
        return True
    return any(map(_ends, (call for call in block.routine.calls if call.scope.block == block.block)))


def _ends(call: CallSite) -> bool:
    """Whether a call surely ends the program."""
    if call.last in _LEAVING or call.name == _REFUSED:
        return True
    target = call.target
    return target is not None and target.kind == "function" and _leaves(target)


def _only_reports(handler: Scope) -> bool:
    """Whether all that a handler does is to print or log something."""
    module, inside = handler.module, _inside(handler)
    code = module.code
    blocks = (
        *(assignment.block for assignment in code.assignments),
        *(import_record.block for import_record in code.imports),
        *(exit_record.block for exit_record in code.exits),
    )
    if not inside.isdisjoint(blocks):
        return False
    called = (index for index, call in enumerate(code.calls) if call.block in inside)
    return all(module.callee_name(index) in _REPORTING for index in called)


def _binds(tried: Scope) -> bool:
    """Whether a ``try`` notes by an assignment that its imports have succeeded."""
    inside = _inside(tried)
    return any(assignment.block in inside for assignment in tried.module.code.assignments)


def _inside(scope: Scope) -> set[int]:
    """The blocks within a block, itself included."""
    blocks = scope.module.blocks
    inside = {scope.block}
    for block in range(scope.block + 1, len(blocks)):
        if blocks[block].parent in inside:
            inside.add(block)
    return inside
