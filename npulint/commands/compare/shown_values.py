"""Values that are only shown: averages for a progress bar, a log or TensorBoard."""

from __future__ import annotations

from npulint.commands.training_config.steps.model import CodeStep, home_of
from npulint.model.running.code_places import returned_values
from npulint.model.values.cursors import CallSite, Expr

_SHOWING = frozenset(
    """print info debug warning log write writelines format set_postfix set_description set_postfix_str add_scalar
    add_scalars add_summary scalar update_progress append round float str item numpy""".split()
)


def is_only_shown(step: CodeStep) -> bool:
    """Whether the value of a formula is assigned to a name that its function only passes to calls that show it."""
    name, home = step.shown, step.home
    if step.kind != "expression" or not name.isidentifier() or name in ("return", "if"):
        return False
    module = step.scope.module
    if any(home_of(value.scope) == home and _names(value, name) for value in returned_values(step.scope)):
        return False
    sites = [site for site in step.scope.all_calls if home_of(site.scope) == home and _uses(site, name)]
    binds = [bind for bind in step.scope.assignments if home_of(bind.scope) == home and _names(bind.value, name)]
    shown = all(site.last in _SHOWING for site in sites)
    return bool(sites) and shown and not binds and not module.code.light


def _uses(site: CallSite, name: str) -> bool:
    receiver = site.callee.written.rpartition(".")[0]
    return receiver.partition(".")[0] == name or any(_names(value, name) for value in site.arguments)


def _names(value: Expr, name: str) -> bool:
    return any(part.written.partition(".")[0] == name for part in value.nested)
