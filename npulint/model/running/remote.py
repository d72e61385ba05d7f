"""Which process runs code: actors, tasks and training functions of Ray run in processes of their own, with or without a
device. These load the module of such a class or function, and not the script that was started."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from npulint.facts.code import Const, Table, nested, written_values
from npulint.model.code.module import Module
from npulint.model.code.reached import Place
from npulint.model.running.code_places import imports_package
from npulint.model.values.context import Context, once
from npulint.model.values.cursors import CallSite, Expr, Scope, module_scopes, scope_named

_REMOTE = "ray.remote"
_HOOK = Const("worker_process_setup_hook")
_TRAINER = "ray.train.torch.TorchTrainer"


def is_of_ray(call: CallSite) -> bool:
    """Whether a call starts a task, makes an actor, or calls a method of one: ``actor.fit.remote()``."""
    return call.last == "remote" and imports_package(call.scope, "ray")


def starts_elsewhere(call: CallSite) -> bool:
    """Whether a call is one of Ray itself, which starts other processes: ``TorchTrainer(...).fit()``."""
    return call.name.startswith("ray.")


@once
def remote_scopes(context: Context) -> frozenset[Scope]:
    """The classes, with their bases, and the functions that Ray runs in processes of their own."""
    scopes = set[Scope]()
    for module in module_scopes(context):
        for defined in module.blocks_of("class", "function"):
            if any(_is_remote(decorator) for decorator in defined.decorators):
                scopes |= _with_bases(defined)
        for call in module.calls_named("remote", "TorchTrainer"):
            handed = call.argument("train_loop_per_worker", 0) if call.name == _TRAINER else None
            if call.name == _REMOTE or call.written == _REMOTE:
                handed = next(iter(call.args), None)
            target = None if handed is None or ":" not in handed.name else scope_named(context, handed.name)
            scopes |= set() if target is None else _with_bases(target)
    return frozenset(scopes)


def _is_remote(decorator: Expr) -> bool:
    call = decorator.call
    return (decorator.written if call is None else call.written) == _REMOTE


@once
def remote_places(context: Context) -> frozenset[Place]:
    """What `remote_scopes` consist of: the classes with their methods, and the functions."""
    scopes = remote_scopes(context)
    methods = (method for scope in scopes for method in scope.blocks_of("function") if method.parent in scopes)
    return frozenset((scope.path, scope.block) for scope in (*scopes, *methods))


def loaded_remotely(context: Context, entry: str) -> frozenset[str]:
    """The files that the processes of Ray load: the modules of what they run, with all that these import. The script
    that is started is none: what it defines is sent to them, and they load what it imports of the project."""

    def loaded() -> frozenset[str]:
        homes: set[str] = {scope.path for scope in remote_scopes(context)}
        if entry in homes:
            homes.update(context.project.uses(entry))
        return frozenset(path for home in homes - {entry} for path in context.project.reached_from(home)) - {entry}

    return context.memoize(("loaded remotely", entry), loaded)


def set_up_remotely(context: Context, paths: Iterable[str]) -> bool:
    """Whether code names a function that the processes of Ray call first, which may import anything."""
    return any(context.project.modules[path].derive(_names_hook) for path in paths)


def _names_hook(module: Module) -> bool:
    values = (part for value, _, _ in written_values(module.code) for part in nested(value))
    return any(key == _HOOK for part in values if isinstance(part, Table) for key in part.keys)


@once
def without_device(context: Context) -> frozenset[Scope]:
    """The classes of processes without a device, with their bases: of a project that gives other actors devices
    (``@ray.remote(num_gpus=1)``), those that get none."""
    given: dict[bool, set[Scope]] = {True: set(), False: set()}
    for owner, has_device in _actors(context):
        given[has_device].update(_with_bases(owner))
    return frozenset(given[False] - given[True]) if given[True] else frozenset()


def _actors(context: Context) -> Iterator[tuple[Scope, bool]]:
    """The classes of actors, and whether they are given a device."""
    for module in module_scopes(context):
        for owner in module.blocks_of("class"):
            for decorator in owner.decorators:
                call = decorator.call
                if _is_remote(decorator):
                    count = None if call is None else call.argument("num_gpus")
                    yield owner, count is not None and count.single != 0


def _with_bases(owner: Scope) -> set[Scope]:
    """A class and those of the project that it derives from."""
    scopes, queue = set[Scope](), [owner]
    while queue:
        scope = queue.pop()
        if scope not in scopes:
            scopes.add(scope)
            bases = (scope_named(scope.context, base.name) for base in scope.bases)
            queue += [base for base in bases if base is not None and base.kind == "class"]
    return scopes
