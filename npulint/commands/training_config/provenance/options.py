"""The values of a program's command line options in one start."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cached_property

from npulint.commands.training_config.followed import Followed, option_default
from npulint.commands.training_config.provenance.launch_values import default_of, defined
from npulint.commands.training_config.provenance.passing import Passed
from npulint.commands.training_config.provenance.plain import Found, joined
from npulint.commands.training_config.provenance.variables import Evaluator, Variables
from npulint.core.lazy_regex import lazy_compile
from npulint.model.code.module import Module
from npulint.model.launches.options import HOLDERS, Option
from npulint.model.values.cursors import AssignmentSite, CallSite, Expr, scope_at
from npulint.model.values.walker import walker

_PARSED = lazy_compile(r"parse_(?:known_)?(?:intermixed_)?args(?:_into_dataclasses)?\(\)|(?:^|\.)FLAGS$")
_CALLS = 4  # functions that parsed options are passed on through
_CALLERS = 4  # callers of a function that are visited
_PARAMETERS = frozenset(("hparams", "hps", "params"))


class OptionValues:
    """Evaluates options."""

    def __init__(self, tracer: Evaluator, variables: Variables) -> None:
        self._tracer = tracer
        self._variables = variables

    def named(self, head: str, last: str, here: Followed, binds: Sequence[AssignmentSite] = ()) -> Found | None:
        """The value of ``args.last``; None if that is no option of the program."""
        expr = here.expr
        if last not in here.context.options.table or any(bind.scope.module is not expr.module for bind in binds):
            return None
        if not _are_options(expr.scope.named(head, expr.line), self._tracer.passed):
            return None
        options = self._tracer.start.options(last, expr.module)
        ours = head.rpartition(".")[2] in _PARAMETERS
        options = [option for option in options if (option.kind == "parameter") == ours] or options
        parts = [self.of(option, here) for option in options]
        return joined(parts) if parts else None

    def of(self, option: Option, here: Followed) -> Found:
        """The value that the launcher passes for an option, else its default."""
        passed = self._tracer.start.passed(option)
        if passed is not None:
            return passed
        replaced = [self._tracer.found(here.to(value)) for value in self._defaults(option, here)]
        default = joined(replaced) if replaced else self._tracer.found(here.to(option_default(here.context, option)))
        default = default_of(option, default)
        return default.through(defined(option)) if default.values else default

    def _defaults(self, option: Option, here: Followed) -> Iterator[Expr]:
        """Defaults set by other code: ``FLAGS.set_default("lr", 0.1)``, ``set_defaults(lr=0.1)``."""
        for site in self._defaulting.get(option.name, ()):
            value = site.argument(option.name, 1)
            if value is not None and self._variables.hold(site.scope, here.calls) is not False:
                yield value

    @cached_property
    def _defaulting(self) -> dict[str, list[CallSite]]:
        """The calls that set defaults, by option name."""
        defaulting: dict[str, list[CallSite]] = defaultdict(list)
        context = self._tracer.context
        for path in sorted(self._tracer.start.modules):
            for site in scope_at(context, context.project.modules[path], 0).calls_named("set_default", "set_defaults"):
                names = [key for key, _ in site.record.keywords if site.last == "set_defaults"]
                for name in (*names, *(first.text for first in site.args[:1] if first.text)):
                    defaulting[name].append(site)
        return defaulting

    def passed(self, name: str, module: Module) -> list[Found]:
        """The values that the launcher passes for the options of that name."""
        start = self._tracer.start
        return [passed for option in start.options(name, module) if (passed := start.passed(option)) is not None]


@walker(_CALLS, bool)
def _are_options(holder: Expr, passed: Passed) -> bool:
    """Whether a name refers to the parsed options; also a parameter that receives them."""
    if HOLDERS.search(holder.written) or _PARSED.search(holder.name):
        return True
    function = holder.parameter_of
    callers = passed.of(function)[:_CALLERS] if function is not None else ()
    arguments = (caller.argument(holder.written) for caller in callers)
    return any(
        argument is not None and bool(argument.written) and _are_options(argument, passed) for argument in arguments
    )
