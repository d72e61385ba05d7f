"""What a session or an Estimator is used for, told by what it runs: does anything that it runs update variables?"""

from __future__ import annotations

import builtins
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.attributes import Flag
from npulint.model.code.module import Module
from npulint.model.code.reached import IMPORTED, STARTED, Place, home
from npulint.model.running.reach import reached_from
from npulint.model.running.surroundings import surroundings_of
from npulint.model.values.context import Context, once
from npulint.model.values.cursors import CallSite, Expr, Scope, module_scopes, scope_at
from npulint.model.values.script_role import Purpose, purpose, purpose_of_name
from npulint.model.values.walker import memoized, walker
from npulint.recognizers.tensorflow.estimator_classes import EXPERIMENT, is_copier

TRAINING_NAME = lazy_compile(r"train|optim|minimi|apply|(?:^|[._])(?:step|opt|update|solver)(?:_?op)?$")
"""What an operation that updates variables is usually called."""
_UPDATING = frozenset("minimize apply_gradients create_train_op optimize_loss gan_train_ops".split())
_TRAINING = _UPDATING | frozenset("fit fit_generator train_on_batch train train_and_evaluate gan_train".split())
_GROUPING = frozenset(("tensorflow.group", "tensorflow.tuple", "tensorflow.identity"))
_CHANGING = lazy_compile(r"(?:^|[._])(?:assign|scatter)(?:_\w+)?$|\.no_op$|\.get_collection(?:_ref)?$|\.apply$")
_ASSIGNING = lazy_compile(r"(?:^|[._])(?:assign|scatter)(?:_\w+)?$")
_GRADIENTS = ("gradients", "compute_gradients", "gradient")
_BY_NAME = lazy_compile(r"get_(?:operation|tensor)_by_name$|as_graph_element$|import_graph_def$")
_LOADING = frozenset("restore import_graph_def import_meta_graph load_model load_weights init_from_checkpoint".split())
_WRITING = frozenset("write_graph convert_variables_to_constants export_meta_graph simple_save freeze_graph".split())
_COPIES = 3  # of an Estimator, each of another one
_RUNS = ("run", "eval", "partial_run")
_LIBRARIES = ("tensorflow", "tf_slim.", "keras.", "numpy.")
_BUILT_IN = frozenset(dir(builtins))
_FITTING = frozenset(("train", "train_and_evaluate"))
_OTHER_WORK: dict[str, Purpose] = {
    "evaluate": "evaluate",
    "predict": "evaluate",
    "export_savedmodel": "export",
    "export_saved_model": "export",
    "experimental_export_all_saved_models": "export",
}


def session_purpose(session: CallSite) -> Purpose:
    """What a session is for: what it is seen to run decides, then its own name, then the names around it."""
    answer, named = updates(session), _own_purpose(session)
    if answer == "yes" and (named in ("train", "unknown") or not _has_others_beside(session)):
        return "train"
    if named == "unknown":
        named = purpose(session.scope)
    if answer != "no" or named not in ("train", "unknown"):
        return named
    called = _called_in(_region(session))
    if not called.isdisjoint(_WRITING):
        return "export"
    return "evaluate" if not called.isdisjoint(_LOADING) else "data"


def _own_purpose(session: CallSite) -> Purpose:
    """The role that the name of a session indicates: ``eval_sess``."""
    named = {purpose_of_name(assignment.target.rpartition(".")[2].lower()) for assignment in session.assignments}
    return named.pop() if len(named) == 1 else "unknown"


def _has_others_beside(session: CallSite) -> bool:
    """Whether its function makes other sessions too, so that what runs there may run in these."""
    return any(call != session and call.name == session.name for call in session.scope.routine.calls)


def estimator_purpose(estimator: CallSite) -> Purpose:
    """What an Estimator is for: the methods that are seen to be called of it decide, then the names around it."""
    work = _estimator_work(estimator.context).get(estimator, frozenset())
    if not work.isdisjoint(_FITTING):
        return "train"
    named = purpose(estimator.scope)
    if not work or named not in ("train", "unknown"):
        return named
    return next((_OTHER_WORK[last] for last in sorted(work)), named)


@once
def _estimator_work(context: Context) -> dict[CallSite, frozenset[str]]:
    """The methods that are called of each Estimator, by the call that makes it."""
    methods: dict[CallSite, frozenset[str]] = {}
    for module in module_scopes(context):
        for call in module.calls_named(*_FITTING, *_OTHER_WORK):
            holder = call.argument("estimator", 0) if call.name.endswith(".train_and_evaluate") else call.receiver
            for site in () if holder is None else made_by(holder):
                methods[site] = methods.get(site, frozenset()) | {call.last}
        for call in module.calls_named("Experiment"):
            holder = call.argument("estimator", 0) if call.name == EXPERIMENT else None
            for site in () if holder is None else made_by(holder):
                methods[site] = methods.get(site, frozenset()) | _FITTING
    return methods


def made_by(estimator: Expr) -> list[CallSite]:
    """The calls that made an Estimator; ``add_metrics`` gives a copy of another one."""
    calls = estimator.sites
    for _ in range(_COPIES):
        inner = [(site, site.argument("estimator", 0) if is_copier(site.name) else None) for site in calls]
        calls = [call for site, value in inner for call in ([site] if value is None else value.sites)]
    return calls


class _Region(NamedTuple):
    """The code that may use a session, the same for all sessions of a function that no ``with`` block opens: the
    module, the ``with`` block or -1, and the function, `IMPORTED` or `STARTED` around it."""

    module: Scope
    opened: int
    around: int

    @property
    def context(self) -> Context:
        """The project that it belongs to."""
        return self.module.context


def updates(session: CallSite) -> Flag:
    """Whether something that runs in a session updates the variables of a model: yes if it fetches such an operation,
    no if all that it fetches is known and it cannot get anywhere else."""
    if _is_local(session):
        return _updates_in(_region(session))
    return "yes" if _fetched_beside(session.scope.routine) == "yes" else "unknown"


@memoized(meanwhile=lambda: "unknown")
def _updates_in(region: _Region) -> Flag:
    """The same of a session that stays in its region."""
    answer = _any(map(_updating, _fetches(_calls_of(region))))
    if answer != "no":
        return answer
    return "unknown" if any(_may_train(call) for call in _calls_of(region)) else "no"


@memoized(meanwhile=lambda: "unknown")
def _fetched_beside(routine: Scope) -> Flag:
    """The same of what any session runs in a function or module."""
    return _any(map(_updating, _fetches(routine.calls)))


@memoized(meanwhile=frozenset)
def _called_in(region: _Region) -> frozenset[str]:
    return frozenset(call.last for call in _calls_of(region))


def _region(session: CallSite) -> _Region:
    opened = next(iter(_blocks_at(session)), None)
    around = home(session.module, session.scope.block)
    return _Region(session.scope.at(0), -1 if opened is None else opened.block, around)


def _calls_of(region: _Region) -> Iterator[CallSite]:
    """The calls that may use a session: those in its ``with`` block, or else in its whole function, then those in what
    they reach."""
    inside = _calls_beside(region)
    yield from inside
    routine = region.module.path, region.around
    starts = {routine} if region.opened < 0 else {_place(call) for call in inside}
    places = {place for start in starts if start is not None for place in reached_from(region.context, start)}
    for path, block in places - {routine}:
        module = region.context.project.modules[path]
        yield from _calls_in(scope_at(region.context, module, 0), block)


@memoized(meanwhile=list)
def _calls_beside(region: _Region) -> list[CallSite]:
    """The calls in the ``with`` block of a session, or else in its whole function."""
    if region.opened < 0:
        return list(_calls_in(region.module, region.around))
    inside = region.module.module.derive(_calls_in_with).get(region.opened, ())
    return [call for call in map(region.module.call, inside) if _runs_in(call, region.around)]


def _calls_in_with(module: Module) -> dict[int, list[int]]:
    """The calls in each ``with`` block of a module, in text order."""
    indices: dict[int, list[int]] = {}
    for index, call in enumerate(module.code.calls):
        for block in module.ancestors(call.block):
            if module.blocks[block].kind == "with":
                indices.setdefault(block, []).append(index)
    return indices


def _runs_in(call: CallSite, block: int) -> bool:
    """Whether a call is one of a function, or of `IMPORTED` or `STARTED`."""
    if block in (IMPORTED, STARTED):
        return home(call.module, call.scope.block) == block
    return call.scope.routine.block == block


def _place(call: CallSite) -> Place | None:
    """Where a call of the project's own code leads to."""
    target = call.target
    made = target.called_block if target is not None and target.kind == "class" else target
    return None if made is None else (made.path, made.block)


def _calls_in(module: Scope, block: int) -> Iterable[CallSite]:
    if block in (IMPORTED, STARTED):
        return [call for call in module.all_calls if _runs_in(call, block)]
    return module.at(block).calls


def _fetches(calls: Iterable[CallSite]) -> Iterator[Expr]:
    """What calls that run a session fetch."""
    for call in calls:
        if call.last not in _RUNS or call.target is not None or call.receiver is None:
            continue
        if call.last == "eval" or call.has_keyword("session"):
            yield call.receiver
        elif call.args or call.has_keyword("fetches"):
            fetched = call.argument("fetches", 0)
            if fetched is not None:
                yield fetched


@walker(depth=8, otherwise=lambda: "unknown")
def _updating(fetched: Expr) -> Flag:
    """Whether a fetched value is an operation that updates the variables of a model."""
    if fetched.is_literal:
        return "yes" if TRAINING_NAME.search(fetched.text) else "no"
    if fetched.is_display or fetched.is_dict or fetched.alternatives or fetched.operator == "+":
        inner = fetched.items or [value for _, value in fetched.entries] or fetched.alternatives or fetched.operands()
        return _together(inner)
    subscript = fetched.subscript
    if subscript is not None and fetched.sites == []:
        return _updating(subscript[0])
    sites = fetched.sites
    if sites:
        return _any(_made_updating(site) for site in sites)
    sources = [source for source in fetched.sources if source.is_display or source.is_dict or source.is_literal]
    if sources:
        return _together(sources)
    return "yes" if TRAINING_NAME.search(fetched.written.rpartition(".")[2]) else "unknown"


def _together(values: Iterable[Expr]) -> Flag:
    return _any(_updating(value) for value in values)


def _any(answers: Iterable[Flag]) -> Flag:
    """Yes if any of some answers is, looked for no further, else unknown if any is."""
    overall: Flag = "no"
    for answer in answers:
        if answer == "yes":
            return answer
        overall = answer if answer == "unknown" else overall
    return overall


def _made_updating(maker: CallSite) -> Flag:
    """Whether the result of a call is an operation that updates the variables of a model."""
    name = maker.name
    if maker.last in _UPDATING:
        return "yes"
    if _ASSIGNING.search(name) and not maker.scope.calls_named(*_GRADIENTS):
        return "no"  # weights are set to something else than what gradients say
    if name in _GROUPING:
        return _any(("unknown" if _waits(maker) else "no", *map(_updating, maker.arguments[:8])))
    if name.startswith("?") or ":" in name or _CHANGING.search(name) or _waits(maker):
        return "unknown"
    if _BY_NAME.search(name):
        texts = [str(value) for argument in maker.arguments for value in argument.known.values]
        return "yes" if any(map(TRAINING_NAME.search, texts)) else "no" if texts else "unknown"
    return "no"


def _waits(maker: CallSite) -> bool:
    """Whether an operation is made to wait for others, which then run with it."""
    return "control_dependencies" in surroundings_of(maker.scope).under


def _may_train(call: CallSite) -> bool:
    """Whether a call in the reach of a session may train: it does, it hands the session to something unknown, or it
    calls an unknown function or one of the project by an unknown object."""
    if call.last in _TRAINING:
        return True
    if call.target is not None or call.name.startswith(_LIBRARIES):
        return False
    if "." not in call.name:
        return call.name not in _BUILT_IN
    if call.name.startswith("?") and call.last in _own_names(call.context):
        return True
    return any(argument.name.endswith("ession()") for argument in call.arguments)


@once
def _own_names(context: Context) -> frozenset[str]:
    """The names of the project's functions that run something or train, themselves or by another one, which an unknown
    object may have as methods."""
    called = [
        function for module in context.project.modules.values() for function in module.derive(_called_by_functions)
    ]
    running = frozenset(_RUNS) | _TRAINING
    for _ in range(2):
        running |= {name for name, names in called if not names.isdisjoint(running)}
    return running


def _called_by_functions(module: Module) -> list[tuple[str, frozenset[str]]]:
    """The names of a module's functions, each with the last segments of what the function calls."""
    return [
        (module.blocks[block].name.rpartition(".")[2], frozenset(map(module.callee_name, calls)))
        for block, calls in module.calls_in.items()
        if block >= 0 and module.blocks[block].kind == "function"
    ]


def _is_local(session: CallSite) -> bool:
    """Whether a session stays in the function that makes it, and in what that calls."""
    if session.last == "InteractiveSession" or session.method is not None:
        return False
    kept = session.assignments
    names = {assignment.target for assignment in kept}
    routine = session.scope.routine
    if any("." in name or "[" in name for name in names):
        return False
    held = any(
        call.receiver is not None and call.receiver.written in names and call.scope.routine == routine
        for call in session.scope.at(0).calls_named("__enter__")
    )
    opened = any(session in scope.test.sites for scope in _blocks_at(session))
    return not held and names.isdisjoint(_given_back(routine)) and (bool(names) or opened)


@memoized(meanwhile=frozenset)
def _given_back(routine: Scope) -> frozenset[str]:
    """The names in what a function returns."""
    returned = routine.returns if routine.kind == "function" else ()
    return frozenset(part.written for value in returned for part in value.nested)


def _blocks_at(session: CallSite) -> list[Scope]:
    """The ``with`` blocks of the module that begin where a session is made."""
    return [session.scope.at(block) for block in session.module.derive(_with_lines).get(session.line, ())]


def _with_lines(module: Module) -> dict[int, list[int]]:
    """The ``with`` blocks of a module by the line where they begin."""
    lines: dict[int, list[int]] = {}
    for index, block in enumerate(module.blocks):
        if block.kind == "with":
            lines.setdefault(block.line, []).append(index)
    return lines
