"""Differences for steps that only one of two programs has."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence

import msgspec

from npulint.commands.compare.insignificant_differences import branches, is_significant
from npulint.commands.compare.shown_values import is_only_shown
from npulint.commands.compare.side import Side
from npulint.commands.compare.step_pairs import Pairing, written
from npulint.commands.training_config.program import ASIDE, LEADING, TrainingConfig
from npulint.commands.training_config.steps.model import MODULE, CodeStep, Home
from npulint.facts.comparison.difference import Difference, SideValue, of_both, of_one
from npulint.model.values.cursors import Scope

# Removes unmatched steps that only repeat others.

_MOST = 0.6  # fraction of the steps of a function


def split_off(pairing: Pairing, *counterpart_tests: Callable[[Home], bool]) -> frozenset[Home]:
    """Unmatched functions whose steps are mostly matched: they were extracted from a function, and a call of them
    replaces inline code. `counterpart_tests` say, for the reference and for the migrated program, which functions have
    counterparts."""
    extracted: set[Home] = set()
    for side, (has_counterpart, unmatched) in enumerate(
        zip(counterpart_tests, (pairing.removed, pairing.added), strict=True)
    ):
        paired = Counter(pair[side].home for pair in (*pairing.pairs, *pairing.swapped))
        alone = Counter(step.home for step in unmatched)
        most = (home for home, count in paired.items() if count >= _MOST * (count + alone[home]))
        extracted.update(home for home in most if not has_counterpart(home))
    return frozenset(extracted)


def without_repeats(steps: Sequence[CodeStep]) -> list[CodeStep]:
    """The steps without ranks and sizes that are arguments of others (``shard(hvd.size(), hvd.rank())``), and without
    the applications of layers that are among them."""
    using = [step.site for step in steps if step.site is not None and step.part != "ranks"]
    arguments = {value.call for site in using for value in site.arguments}
    made = {(step.scope.path, f"{step.name}()") for step in steps if step.kind == "call"}
    rest = [step for step in steps if step.part != "ranks" or step.site is None or step.site not in arguments]
    return [step for step in rest if (step.scope.path, step.name) not in made]


def without_moved(
    gone: Sequence[CodeStep], new: Sequence[CodeStep], counterpart: Callable[[Home], Home | None]
) -> tuple[list[CodeStep], list[CodeStep]]:
    """Both lists without calls of functions and of their counterparts that only moved to another function."""
    theirs = {step.target for step in new if step.target is not None}
    moved = {
        (step.target, there)
        for step in gone
        if step.target is not None and (there := counterpart(step.target)) in theirs
    }
    left, right = {target for target, _ in moved}, {other for _, other in moved}
    return [step for step in gone if step.target not in left], [step for step in new if step.target not in right]


_MANY = 4  # steps of one part and function; so many are reported together
_TOGETHER = frozenset(
    ("operation", "seed", "update", "loss_scale", "initialisation", "checkpoint", "evaluation", "frozen", "ranks")
)
_ACTIVATIONS = frozenset(
    """relu relu6 leaky_relu prelu elu selu gelu sigmoid hardsigmoid tanh softmax log_softmax softplus silu swish mish
    ReLU ReLU6 LeakyReLU PReLU ELU SELU GELU Sigmoid Tanh Softmax LogSoftmax Softplus SiLU Hardswish Hardsigmoid
    Mish""".split()
)
_DISTRIBUTED = frozenset(("sampler", "reduction", "ranks"))
_REPLACED = frozenset(("layer", "transform", "initialisation"))


def of_unmatched(pairing: Pairing, removed: Side, added: Side) -> Iterator[Difference]:
    """The differences for unmatched steps: per step in matched functions, else per file."""
    apart = split_off(pairing, removed.knows, added.knows)
    gone = [step for step in pairing.removed if step.target not in apart and is_significant(step, removed)]
    new = [step for step in pairing.added if step.target not in apart and is_significant(step, added)]
    gone, new = without_moved(gone, new, removed.counterpart)
    for was, now in _replaced(gone, new, removed):
        yield _exchange(was, now)
    for at, (side, steps) in enumerate(((removed, gone), (added, new))):
        matched = [step for step in without_repeats(steps) if side.knows(step.home)]
        yield from _in_known_functions(side, matched, pairing)
        calling = [*steps, *(pair[at] for pair in pairing.replaced)]
        yield from _unmatched_calls(side, [step for step in steps if not side.knows(step.home)], calling)


def _in_known_functions(side: Side, steps: Sequence[CodeStep], pairing: Pairing) -> Iterator[Difference]:
    """The differences for unmatched steps of functions that have a counterpart."""
    for group in _grouped(steps):
        for step, count, names in _reported(group):
            near = pairing.neighbours.get(id(step))
            effect = _little_effect(step, side)
            sure = not effect and _is_sure(step, side)
            difference = _difference(side.change, step, count, names, near, certain=sure, effect=effect)
            told = frozenset(written(each) for each in (group if count > 1 else [step]))
            yield msgspec.structs.replace(difference, constants=told)


def _replaced(gone: list[CodeStep], new: list[CodeStep], removed: Side) -> list[tuple[list[CodeStep], list[CodeStep]]]:
    """Groups of operations, or of many layers or transformations, of matched functions that were replaced by others;
    removed from the lists."""
    here = {(group[0].home, group[0].part): group for group in _grouped(new)}
    replaced = []
    for group in _grouped(gone):
        part = group[0].part
        now = here.get((removed.counterpart(group[0].home) or ("", -1), part), [])
        if now and (part == "operation" or (part in _REPLACED and min(len(group), len(now)) >= _MANY)):
            replaced.append((group, now))
    taken = {id(step) for pair in replaced for group in pair for step in group}
    gone[:] = [step for step in gone if id(step) not in taken]
    new[:] = [step for step in new if id(step) not in taken]
    return replaced


def _exchange(was: list[CodeStep], now: list[CodeStep]) -> Difference:
    names = [_listed(list(dict.fromkeys(step.shown for step in group))) for group in (was, now)]
    sides = [SideValue(name, group[0].scope.path, group[0].span) for name, group in zip(names, (was, now), strict=True)]
    return of_both(
        was[0].part,
        False,
        names[0],
        "",
        *sides,
        certain=was[0].part != "operation",
        count=max(len(was), len(now)),
        function=now[0].function,
    )


def _little_effect(step: CodeStep, side: Side) -> str:
    """Why an unmatched step has little effect on the loss; empty if it may have one."""
    if is_only_shown(step):
        return "shown"
    alone = side.change == "added" and step.part in _DISTRIBUTED and step.site is not None
    return "idle" if alone and not side.running.may(step) else ""


def _is_sure(step: CodeStep, side: Side) -> bool:
    """Whether an unmatched step certainly changes numbers: a formula may be rewritten, an operation replaced, a
    variable become a constant."""
    last = step.shown.rpartition(".")[2]
    if step.kind == "expression":
        return step.part == "arithmetic"
    if step.name == "?.float" and side.change == "added":  # a cast to float32 loses nothing
        return False
    return last in _ACTIVATIONS if step.part == "operation" else last not in ("Variable", "get_variable")


def _unmatched_calls(side: Side, steps: Sequence[CodeStep], all_of_them: Sequence[CodeStep]) -> Iterator[Difference]:
    """Unmatched functions, reported once per file; those called by a reported step are covered by it."""
    called = _called_by(side.config, [step for step in all_of_them if side.knows(step.home)])
    files: dict[str, list[CodeStep]] = defaultdict(list)
    for step in steps:
        aside = step.is_global and step.kind == "own"
        if not called(step.home) and not step.evaluates and not aside and not ASIDE.search(step.function.lower()):
            files[step.scope.path].append(step)
    for group in files.values():
        part = next((part for part in LEADING if any(step.part == part for step in group)), group[0].part)
        names = list(dict.fromkeys(step.function or step.shown for step in group))
        if part not in LEADING:  # the operations are more informative than an arbitrary function name
            group = [step for step in group if step.part == part]
            names = list(dict.fromkeys(step.shown for step in group))
        yield _difference(side.change, group[0], len(group), _listed(names), None, part, certain=False)


def _called_by(config: TrainingConfig, steps: Sequence[CodeStep]) -> Callable[[Home], bool]:
    """A predicate: whether a function, or a method of a class, is called by these steps."""
    reached: set[Home] = set()
    queue = [step.target for step in steps if step.target is not None]
    while queue:
        target = queue.pop()
        if target not in reached:
            reached.add(target)
            inner = (step for place, own in config.homes.items() if target in _own(config, place) for step in own)
            queue += [step.target for step in inner if step.target is not None]
    return lambda place: not reached.isdisjoint(_own(config, place))


def _own(config: TrainingConfig, place: Home) -> tuple[Home, ...]:
    """A function, and the class around it."""
    owner = config.scope(place).owner if place[1] != MODULE else None
    return (place,) if owner is None else (place, (owner.path, owner.block))


def _grouped(steps: Sequence[CodeStep]) -> list[list[CodeStep]]:
    """The steps by function and part. Steps for the loss scale are grouped by branch too; queries of ranks once per
    file."""
    groups: dict[tuple[Home, str, str, Scope | None], list[CodeStep]] = defaultdict(list)
    for step in steps:
        branch = next(reversed(branches(step)), None) if step.part == "loss_scale" else None
        what = step.name if step.part == "half_cast" else ""
        place = step.home if step.part != "ranks" else (step.scope.path, MODULE)
        groups[place, step.part, what, branch].append(step)
    return list(groups.values())


def _reported(group: list[CodeStep]) -> list[tuple[CodeStep, int, str]]:
    """(step, count, names) of a group: each step, or all together where they are many or always reported together."""
    if len(group) < _MANY and group[0].part not in _TOGETHER:
        return [(step, 1, step.text or step.shown) for step in group]
    return [(group[0], len(group), _listed(list(dict.fromkeys(step.shown for step in group))))]


def _listed(names: list[str]) -> str:
    return ", ".join(names[:_MANY]) + (", …" if len(names) > _MANY else "")


def _difference(
    change: str,
    step: CodeStep,
    count: int,
    names: str,
    near: CodeStep | None,
    part: str = "",
    certain: bool = True,
    effect: str = "",
) -> Difference:
    return of_one(
        part or step.part,
        change,
        step.shown if step.text else names,
        "",
        SideValue(names, step.scope.path, step.span),
        near=None if near is None else SideValue("", near.scope.path, near.span),
        certain=certain,
        adapter=step.recipe is not None and step.recipe.adapter,
        count=count,
        function=step.function,
        evaluates=step.evaluates,
        effect=effect,
    )
