"""Steps that only one of two programs has."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence

import msgspec

from npulint.assemble.module import Module
from npulint.compare.devices import says_nothing
from npulint.compare.difference import Difference, Mark
from npulint.compare.repeats import without_moved, without_repeats
from npulint.compare.running import Running
from npulint.compare.split import split_off
from npulint.compare.step_pairs import Pairing
from npulint.compare.steps import function_of
from npulint.facts.code import Const, Ref
from npulint.recipe.program import ASIDE, LEADING, Home, Recipe
from npulint.recipe.steps.collect import home_of
from npulint.recipe.steps.model import MODULE, Step
from npulint.recipe.steps.purposes import METRIC

_SPEAKING = ("call", "own", "switch")  # a literal without counterpart says nothing by itself: what it is used for does
_CALCULATED = ("arithmetic", "loss", "schedule", "learning_rate")
_MANY = 4  # steps of one part and function; so many are told together
_TOGETHER = frozenset(
    ("operation", "seed", "update", "loss_scale", "initialisation", "checkpoint", "evaluation", "frozen", "ranks")
)
_ACTIVATIONS = frozenset(
    """relu relu6 leaky_relu prelu elu selu gelu sigmoid hardsigmoid tanh softmax log_softmax softplus silu swish mish
    ReLU ReLU6 LeakyReLU PReLU ELU SELU GELU Sigmoid Tanh Softmax LogSoftmax Softplus SiLU Hardswish Hardsigmoid
    Mish""".split()
)
_ARRAYS = ("numpy.", "ndarray.", "?.")  # in an evaluation they count hits, and prepare nothing
_REPLACED = frozenset(("layer", "transform", "initialisation"))
_WITH_MORE = frozenset(
    "sampler reduction ranks shard drop_remainder precision_mode autocast loss_scale half_cast".split()
)
"""Parts that count though the starts that are compared may not come to them: others, for more devices, do."""
_DEVICE_SEEDS = frozenset(("cuda.manual_seed", "cuda.manual_seed_all", "npu.manual_seed", "npu.manual_seed_all"))
_ONCE = frozenset(("update", "loss_scale", "autocast", "checkpoint", "frozen", "determinism"))
_SHAPING = frozenset(
    """reshape cast transpose squeeze expand_dims constant concat stack unstack identity split slice strided_slice tile
    shape size rank zeros ones zeros_like ones_like fill range convert_to_tensor to_float to_int32 to_int64 placeholder
    view permute unsqueeze flatten contiguous expand expand_as type type_as float long int half to chunk cat arange
    tensor from_numpy numpy detach item clone t repeat eye linspace full full_like new_zeros new_ones view_as
    reshape_as narrow select placeholder_with_default get_shape set_shape group no_op print
    Print variable_scope name_scope""".split()
)


class Side(msgspec.Struct, frozen=True, eq=False):
    """One of the programs: which change its lonely steps are, its recipe and that of the other, which counterparts its
    functions have, and what of it runs."""

    change: str
    recipe: Recipe
    other: Recipe
    counterpart: Callable[[Home], Home | None]
    running: Running

    def known(self, home: Home) -> bool:
        """Whether a function has a counterpart that does something too."""
        return self.counterpart(home) is not None


def of_lonely(pairing: Pairing, removed: Side, added: Side) -> Iterator[Difference]:
    """What only one of two programs does: in functions that both have step by step, else file by file."""
    apart = split_off(pairing, removed.known, added.known)
    gone = [step for step in pairing.removed if step.target not in apart and _speaks(step, removed)]
    new = [step for step in pairing.added if step.target not in apart and _speaks(step, added)]
    gone, new = without_moved(gone, new, removed.counterpart)
    for was, now in _replaced(gone, new, removed):
        yield _exchange(was, now)
    for side, steps in ((removed, gone), (added, new)):
        for group in _grouped([step for step in without_repeats(steps) if side.known(_home(step))]):
            for step, count, names in _told(group):
                near = pairing.neighbours.get(id(step))
                yield _difference(side.change, step, count, names, near, certain=_is_sure(step, side))
        yield from _strangers(side, [step for step in steps if not side.known(_home(step))], steps)


def _replaced(gone: list[Step], new: list[Step], removed: Side) -> list[tuple[list[Step], list[Step]]]:
    """Operations, or many layers or transformations, of functions that now do with others; they are taken out of the
    lists."""
    here = {(_home(group[0]), group[0].part): group for group in _grouped(new)}
    found = []
    for group in _grouped(gone):
        part = group[0].part
        now = here.get((removed.counterpart(_home(group[0])) or ("", -1), part), [])
        if now and (part == "operation" or (part in _REPLACED and min(len(group), len(now)) >= _MANY)):
            found.append((group, now))
    taken = {id(step) for pair in found for group in pair for step in group}
    gone[:] = [step for step in gone if id(step) not in taken]
    new[:] = [step for step in new if id(step) not in taken]
    return found


def _exchange(was: list[Step], now: list[Step]) -> Difference:
    names = [_listed(list(dict.fromkeys(step.shown for step in group))) for group in (was, now)]
    return Difference(
        part=was[0].part,
        change="changed",
        what=names[0],
        reference=Mark(names[0], was[0].module.path, was[0].span),
        migrated=Mark(names[1], now[0].module.path, now[0].span),
        certain=was[0].part != "operation",
        count=max(len(was), len(now)),
        function=function_of(now[0]),
    )


def _speaks(step: Step, side: Side) -> bool:
    """Whether it says something that a step has no counterpart."""
    if step.kind == "expression":
        told = step.part in _CALCULATED and side.known(_home(step)) and side.running.may(step)
        return told and not _is_alternative(step, side)
    if step.kind not in _SPEAKING or not step.counts or (step.part == "operation" and _measures(step)):
        return False
    if step.shown in _DEVICE_SEEDS and _seeds_device(step, side):
        return False
    if step.part == "operation" and step.kind == "call" and step.shown.rpartition(".")[2] in _SHAPING:
        return False
    if step.evaluates and step.known is not None and step.known.host and step.name.startswith(_ARRAYS):
        return False
    if step.part == "half_cast" and step.kind == "call" and not _halves(step):
        return False
    if step.kind == "own" and (_is_handed_over(step, side) or _is_body(step, side)):
        return False
    if step.known is not None and step.known.adapter and step.part in ("reduction", "ranks"):
        return False
    if step.part in ("reduction", "ranks") and says_nothing(step, side.recipe, side.other):
        return False
    if step.part == "initialisation" and not step.arguments and step.shown.rpartition(".")[2] in _SHAPING:
        return False
    if _is_branch(step, side) or _is_unresolved(step, side) or _is_alternative(step, side):
        return False
    resumes = step.part == "checkpoint" and side.change == "removed" and side.known(_home(step))
    return resumes or step.part in _WITH_MORE or side.running.may(step)


def _seeds_device(step: Step, side: Side) -> bool:
    """Whether the counterpart of the function seeds the devices in another way."""
    other = side.counterpart(_home(step))
    return any(one.shown in _DEVICE_SEEDS for one in side.other.homes.get(other, ())) if other is not None else False


def _measures(step: Step) -> bool:
    """Whether a step works out how good a model is."""
    return step.evaluates or bool(METRIC.search(function_of(step).lower()))


def _is_body(step: Step, side: Side) -> bool:
    """Whether a call runs what stands outside functions in the other program."""
    other = side.counterpart(step.target) if step.target is not None else None
    return other is not None and other[1] == MODULE and step.home == MODULE


def _is_alternative(step: Step, side: Side) -> bool:
    """Whether the opposite branch does the same, and so does the counterpart of the function."""
    other = side.counterpart(_home(step))
    if other is None or not any(_does_same(one, step) for one in side.other.homes.get(other, ())):
        return False
    branches = _branches(step)
    return any(
        _does_same(one, step) and any(_are_opposite(step.module, a, b) for a in branches for b in _branches(one))
        for one in side.recipe.homes[_home(step)]
    )


def _does_same(one: Step, other: Step) -> bool:
    same = one.name == other.name or (one.kind == "own" and one.shown == other.shown)
    return one.kind == other.kind and one.part == other.part and same


def _branches(step: Step) -> list[int]:
    """The branches of conditions that a step stands in, within its function."""
    around = step.module.ancestors(step.block)
    return [block for block in around if block > step.home and step.module.blocks[block].kind in ("if", "else")]


def _are_opposite(module: Module, one: int, other: int) -> bool:
    first, second = module.blocks[one], module.blocks[other]
    return first.kind != second.kind and first.parent == second.parent and first.test == second.test


def _is_branch(step: Step, side: Side) -> bool:
    """Whether the counterpart of the function does the same elsewhere: in the other branch of a condition, or, of what
    is done once in a function, anywhere."""
    other = side.counterpart(_home(step))
    steps = side.other.homes.get(other, ()) if other is not None else ()
    conditional = any(
        step.module.blocks[b].kind in ("if", "else", "try", "except")
        for b in step.module.ancestors(step.block)
        if b > step.home
    )
    if step.part == "reduction":
        return any(one.part == step.part for one in steps)
    if not conditional and step.part not in _ONCE:
        return False
    return any(one.kind == step.kind and _spelled(one) == _spelled(step) for one in steps)


def _spelled(step: Step) -> object:
    """A step as it is written: what is called on what, and with which names and constants."""
    if step.call < 0:
        return step.name
    call = step.module.code.calls[step.call]
    by_name = call.callee.name if isinstance(call.callee, Ref) and step.name.startswith("?") else step.name
    given = (*call.args, *(value for _, value in call.keywords))
    return by_name, tuple(value if isinstance(value, Const | Ref) else None for value in given)


def _is_unresolved(step: Step, side: Side) -> bool:
    """Whether the counterpart of the function has more calls by that name of which it is not known what they are."""
    other = side.counterpart(_home(step))
    if other is None or step.call < 0:
        return False
    wanted = step.module.written(step.call)
    return _unknown(side.other, other, wanted) > _unknown(side.recipe, _home(step), wanted)


def _unknown(recipe: Recipe, home: Home, name: str) -> int:
    """How many calls by a name a function has that are no steps."""
    module = recipe.context.project.modules[home[0]]
    told = {step.call for step in recipe.homes.get(home, ())}
    calls = (index for index in module.calls_of(name) if index not in told)
    return sum(home_of(module, module.code.calls[index].block) == home[1] for index in calls)


def _halves(step: Step) -> bool:
    """Whether a cast is one between float16 and float32."""
    types = [argument.value.name for argument in step.arguments if isinstance(argument.value, Ref)]
    last = step.shown.rpartition(".")[2]
    return last in ("half", "float", "bfloat16") or any("16" in name or "half" in name for name in types)


def _is_handed_over(step: Step, side: Side) -> bool:
    """Whether the counterpart of the function gives the called function itself to something, or returns it: ``map(f)``
    is ``map(lambda x: f(x))``."""
    other = side.counterpart(_home(step))
    if other is None:
        return False
    module = side.other.context.project.modules[other[0]]
    calls = (call for call in module.code.calls if home_of(module, call.block) == other[1])
    names = {step.shown, step.module.written(step.call)} if step.call >= 0 else {step.shown}
    given = [value for call in calls for value in call.args if isinstance(value, Ref)]
    returned = (one.value for one in module.code.returns if home_of(module, one.block) == other[1])
    given += [value for value in returned if isinstance(value, Ref)]
    return any(value.name.rpartition(".")[2] in names for value in given)


def _is_sure(step: Step, side: Side) -> bool:
    """Whether it surely changes numbers that one program lacks a step: a formula may be written otherwise, an operation
    done by another one, a variable be a constant."""
    last = step.shown.rpartition(".")[2]
    if step.kind == "expression":
        return step.part == "arithmetic"
    if step.name == "?.float" and side.change == "added":  # float32 takes nothing away
        return False
    return last in _ACTIVATIONS if step.part == "operation" else last not in ("Variable", "get_variable")


def _strangers(side: Side, steps: Sequence[Step], all_of_them: Sequence[Step]) -> Iterator[Difference]:
    """Functions without counterpart, once for each file; what is called by a step that is told already is told with
    it."""
    told = _entered(side.recipe, [step for step in all_of_them if side.known(_home(step))])
    files: dict[str, list[Step]] = defaultdict(list)
    for step in steps:
        aside = step.home == MODULE and step.kind == "own"
        if not told(_home(step)) and not step.evaluates and not aside and not ASIDE.search(function_of(step).lower()):
            files[step.module.path].append(step)
    for group in files.values():
        part = next((part for part in LEADING if any(step.part == part for step in group)), group[0].part)
        names = list(dict.fromkeys(function_of(step) or step.shown for step in group))
        if part not in LEADING:  # what is done says more than the name of a function that may be called anything
            group = [step for step in group if step.part == part]
            names = list(dict.fromkeys(step.shown for step in group))
        yield _difference(side.change, group[0], len(group), _listed(names), None, part, certain=False)


def _entered(recipe: Recipe, steps: Sequence[Step]) -> Callable[[Home], bool]:
    """What the calls among these steps lead to: functions, and classes with all of their methods."""
    found: set[Home] = set()
    queue = [step.target for step in steps if step.target is not None]
    while queue:
        target = queue.pop()
        if target in found:
            continue
        found.add(target)
        module = recipe.context.project.modules[target[0]]
        for home in recipe.homes:
            if home == target or (home[0] == target[0] and module.class_of(home[1]) == target[1]):
                queue += [step.target for step in recipe.homes[home] if step.target is not None]

    def told(home: Home) -> bool:
        module = recipe.context.project.modules[home[0]]
        return home in found or (home[1] != MODULE and (home[0], module.class_of(home[1])) in found)

    return told


def _home(step: Step) -> Home:
    return step.module.path, step.home


def _grouped(steps: Sequence[Step]) -> list[list[Step]]:
    """The steps by function and part; what scales losses in different branches does so with different values. Who asks
    for ranks in one file is told once."""
    groups: dict[tuple[Home, str, str, int], list[Step]] = defaultdict(list)
    for step in steps:
        branch = next(reversed(_branches(step)), -1) if step.part == "loss_scale" else -1
        what = step.name if step.part == "half_cast" else ""
        home = _home(step) if step.part != "ranks" else (step.module.path, MODULE)
        groups[home, step.part, what, branch].append(step)
    return list(groups.values())


def _told(group: list[Step]) -> list[tuple[Step, int, str]]:
    """The steps of a group one by one, or together where they are many or go together anyway."""
    if len(group) < _MANY and group[0].part not in _TOGETHER:
        return [(step, 1, step.text or step.shown) for step in group]
    return [(group[0], len(group), _listed(list(dict.fromkeys(step.shown for step in group))))]


def _listed(names: list[str]) -> str:
    return ", ".join(names[:_MANY]) + (", …" if len(names) > _MANY else "")


def _difference(
    change: str, step: Step, count: int, names: str, near: Step | None, part: str = "", certain: bool = True
) -> Difference:
    mark = Mark(names, step.module.path, step.span)
    return Difference(
        part=part or step.part,
        change=change,
        what=step.shown if step.text else names,
        reference=mark if change == "removed" else None,
        migrated=mark if change == "added" else None,
        near=None if near is None else Mark("", near.module.path, near.span),
        certain=certain,
        adapter=step.known is not None and step.known.adapter,
        count=count,
        function=function_of(step),
        evaluates=step.evaluates,
    )
