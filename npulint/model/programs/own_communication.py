"""The module in which a project wraps torch.distributed for all of its code: ``from deepspeed import comm as dist``."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

import msgspec

from npulint.model.code.module import Module
from npulint.model.values.context import Context, once
from npulint.model.values.script_role import is_test_file

_FUNCTIONS = frozenset(
    "all_reduce broadcast barrier all_gather reduce reduce_scatter gather scatter send recv isend irecv all_to_all "
    "all_to_all_single all_gather_into_tensor reduce_scatter_tensor get_rank get_world_size init_process_group".split()
)
_ENOUGH = 5  # of these functions
_USERS = 2


class OwnCommunication(msgspec.Struct, frozen=True):
    """A module that has functions of torch.distributed: its dotted name, as others import it, and these functions;
    `place` is its path, or the folder of a package that consists of it."""

    name: str
    functions: frozenset[str]
    place: str

    def covers(self, path: str, function: str) -> bool:
        """Whether code in a file should use it for a function of torch.distributed: it is not part of the wrapper."""
        return function in self.functions and not f"{path}/".startswith(f"{self.place}/")


@once
def own_communication(context: Context) -> OwnCommunication | None:
    """The wrapper that most modules of the project import; None without one."""
    wrappers = [wrapper for module in context.project.modules.values() for wrapper in _wrappers(context, module)]
    return max(wrappers, key=lambda counted: counted[0])[1] if wrappers else None


def _wrappers(context: Context, module: Module) -> Iterator[tuple[int, OwnCommunication]]:
    if is_test_file(module.path):
        return
    own = {block.name for block in module.blocks if block.kind == "function"} & _FUNCTIONS
    if len(own) < _ENOUGH or not any(record.module.startswith("torch") for record in module.code.imports):
        return
    project = context.project
    package = posixpath.join(posixpath.dirname(module.path), "__init__.py")
    users = {
        path
        for path in (*project.users.get(module.path, ()), *project.users.get(package, ()))
        if path not in (module.path, package) and not is_test_file(path)
    }
    home = project.modules.get(package)
    passed_on = home is not None and any(record.name == "*" for record in home.code.imports)
    name, place = module.name, module.path
    if home is not None and passed_on:
        name, place = home.name, posixpath.dirname(module.path)
    if len(users) >= _USERS:
        yield len(users), OwnCommunication(name, frozenset(own), place)
