"""Launches of Triton kernels: the size of the grid, and the arguments that only other backends know."""

from __future__ import annotations

from math import prod

from npulint.data.triton_limits import is_foreign_argument
from npulint.facts.attributes import attribute
from npulint.facts.kinds import fact_kind
from npulint.model.running.code_facts import CallFact
from npulint.model.values.cursors import Expr, Scope
from npulint.recognizers.registry import recognizes_in_modules
from npulint.recognizers.triton.code import (
    Sizes,
    TritonLaunch,
    configurations,
    has_version_for_npu,
    in_grid,
    launches,
    number,
)


@fact_kind("triton_launch")
class TritonLaunchFact(CallFact):
    """A Triton kernel of the project is launched; the name is the kernel's. Checks can also use its arguments."""

    _launch: TritonLaunch

    @attribute
    def programs(self) -> int:
        """The number of programs in the grid, or the least that it can be; 0 if unknown. Of a tuned kernel the number
        in the configuration with the fewest."""
        return _programs(self._launch)

    @attribute
    def foreign(self) -> str:
        """The launch arguments that triton-ascend rejects, separated by commas; empty without one."""
        given = [name for name in self._launch.call.keywords if is_foreign_argument(name)]
        return ", ".join(name for name in given if name not in self._launch.kernel.parameters)


@recognizes_in_modules
def triton_launches(module: Scope) -> list[TritonLaunchFact]:
    """The launches in one module."""
    own = [launch for launch in launches(module.context) if launch.call.path == module.path]
    own = [triton_launch for triton_launch in own if not has_version_for_npu(triton_launch.kernel.at(0))]
    return [
        TritonLaunchFact(triton_launch.call, triton_launch.kernel.last_name, triton_launch) for triton_launch in own
    ]


def _programs(launch: TritonLaunch) -> int:
    tuned = configurations(launch.kernel)
    variants = [launch.sizes] if not tuned else [{**launch.sizes, **triton_config.sizes} for triton_config in tuned]
    return min(_of_grid(launch.grid, {} if tuned is None else in_grid(sizes)) for sizes in variants)


def _of_grid(grid: Expr, sizes: Sizes) -> int:
    """The least number of programs in a grid: a dimension that is unknown has at least one."""
    functions = [expr.function for expr in (grid, *grid.sources) if expr.function is not None]
    if functions:
        returned = functions[0].returns if len(functions) == 1 else []
        return _of_grid(returned[0], sizes) if len(returned) == 1 else 0
    shapes = grid.displays
    if len(shapes) == 1 and shapes[0].is_display:
        dimensions = [size for item in shapes[0].items if (size := number(item, sizes)) is not None]
        return prod(dimensions) if dimensions and min(dimensions) > 0 else 0
    return number(grid, sizes) or 0 if grid.operator != "[]" and not shapes else 0
