"""The state of a program at one point of its execution: what all objects hold.

A state is a chain of layers. A branch writes into a layer of its own above the state that it begins with; where
branches meet, what they wrote is joined. A layer is never changed while a captured state stands on it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

from npulint.model.abstract_values.value import UNKNOWN, Obj

Cell = tuple[Obj, object]


class Content(Protocol):
    """What a cell may hold."""

    def joined(self, other: object) -> Content:
        """What it may be where this branch or another was taken; None: the other has no such cell."""

    def covers(self, other: object) -> bool:
        """Whether whatever the other may be, it may be as well."""


class Layer:
    """The cells that were written since the state of `parent`. Objects with a `serial` number below its own existed
    then. With `forgets`, objects up to that number may hold anything. `inherited` keeps what was looked up in the
    layers below, which do not change while this one stands on them."""

    __slots__ = ("cells", "depth", "forgets", "inherited", "parent", "pins", "serial")

    def __init__(self, parent: Layer | None, serial: int) -> None:
        self.parent = parent
        self.serial = serial
        self.depth: int = 0 if parent is None else parent.depth + 1
        self.cells: dict[Cell, Content] = {}
        self.inherited: dict[Cell, Content | None] = {}
        self.pins = 0
        self.forgets = -1


class Region:
    """What was written in a part of the program that exceptions may leave at any time."""

    __slots__ = ("cells", "forgets", "serial")

    def __init__(self, serial: int) -> None:
        self.serial = serial  # of the first object made in it
        self.cells: dict[Cell, Content] = {}
        self.forgets = -1


class Store:
    """The current state."""

    def __init__(self) -> None:
        self.serial = 1  # of the next object; what libraries have, and modules, have 0: they were always there
        self.work = 0  # cells that were joined
        self.layer = Layer(None, 1)
        self.regions: list[Region] = []

    def new_serial(self) -> int:
        """The number of a new object."""
        self.serial += 1
        return self.serial - 1

    # -- cells

    def read(self, owner: Obj, key: object) -> Content | None:
        """What a cell holds; None if it was never written."""
        cell = (owner, key)
        layer = self.layer
        content = layer.cells.get(cell)
        if content is not None:
            return content
        if owner.serial >= layer.serial:  # it did not exist when the layers below were written
            return None
        if layer.forgets >= owner.serial >= 0:
            return UNKNOWN
        if cell in layer.inherited:
            return layer.inherited[cell]
        return self._inherited(cell, layer)

    @staticmethod
    def _inherited(cell: Cell, top: Layer) -> Content | None:
        """What the layers below one hold; all of them keep the answer."""
        passed = [top]
        content: Content | None = None
        layer = top.parent
        while layer is not None:
            content = layer.cells.get(cell)
            if content is not None or cell[0].serial >= layer.serial:
                break
            if layer.forgets >= cell[0].serial >= 0:
                content = UNKNOWN
                break
            if cell in layer.inherited:
                content = layer.inherited[cell]
                break
            passed.append(layer)
            layer = layer.parent
        for passed_layer in passed:
            passed_layer.inherited[cell] = content
        return content

    def write(self, owner: Obj, key: object, content: Content) -> None:
        cell = (owner, key)
        for region in self.regions:
            before = region.cells.get(cell)
            if before is not None:
                region.cells[cell] = before.joined(content)
            else:
                before = self.read(owner, key)
                is_new = before is None and owner.serial >= region.serial
                region.cells[cell] = content if is_new else content.joined(before)
        self.layer.cells[cell] = content

    def forget(self) -> None:
        """Let all objects made until now hold anything."""
        for region in self.regions:
            region.forgets = self.serial - 1
        self.layer = Layer(self.layer, self.serial)
        self.layer.forgets = self.serial - 1

    # -- branches

    def fork(self) -> Layer:
        """Begin a branch above the current state, which is returned and kept until `meet`."""
        base = self.layer
        base.pins += 1
        self.layer = Layer(base, self.serial)
        return base

    def other_branch(self, base: Layer) -> None:
        """Begin another branch above the state that `fork` gave."""
        self.layer = Layer(base, self.serial)

    def meet(self, base: Layer, ends: Sequence[Layer]) -> None:
        """Continue where the branches above `base` meet."""
        base.pins -= 1
        self.join(ends)

    def resume(self, layer: Layer) -> None:
        """Continue from a state; a captured state may stand on it."""
        self.layer = Layer(layer, self.serial) if layer.pins else layer

    def captured(self) -> Layer:
        """The current state, to be joined later."""
        layer: Layer | None = self.layer
        while layer is not None:
            layer.pins += 1
            layer = layer.parent
        return self.layer

    def release(self, layers: Iterable[Layer]) -> None:
        """Give up states that were captured."""
        for captured in layers:
            layer: Layer | None = captured
            while layer is not None:
                layer.pins -= 1
                layer = layer.parent

    def join(self, layers: Sequence[Layer]) -> None:
        """Continue where all of these states, which nobody else holds, meet."""
        if len(layers) == 1:
            self.resume(layers[0] if layers[0].pins else _folded(layers[0]))
            return
        base = layers[0]
        for other in layers[1:]:
            base = _common(base, other)
        deltas = [_delta(layer, base) for layer in layers]
        forgets = max(delta.forgets for delta in deltas)
        cells = self._joined(base, deltas)
        if base.pins or forgets >= 0:
            base = Layer(base, self.serial)
            base.forgets = forgets
        base.cells.update(cells)
        self.layer = base

    def _joined(self, base: Layer, deltas: list[_Delta]) -> dict[Cell, Content]:
        self.layer = base
        born = min(delta.serial for delta in deltas)
        joined: dict[Cell, Content] = {}
        for cell in dict.fromkeys(cell for delta in deltas for cell in delta.cells):
            if cell[0].kind == "left":
                continue
            self.work += 1
            result: Content | None = None
            missing = False
            for delta in deltas:
                content = delta.cells.get(cell)
                if content is None:
                    content = UNKNOWN if delta.forgets >= cell[0].serial >= 0 else self.read(*cell)
                if content is None:
                    missing = True
                else:
                    result = content if result is None or result is content else result.joined(content)
            assert result is not None
            joined[cell] = result.joined(None) if missing and cell[0].serial < born else result
        return joined

    def overlay(self, base: Layer, region: Region) -> Layer:
        """The state in which an exception leaves a region that was entered with `base`."""
        layer = Layer(base, self.serial)
        layer.cells.update(region.cells)
        layer.forgets = region.forgets
        return layer

    def changed(self, base: Layer, later: Layer) -> list[Cell]:
        """The cells of objects of `base` that may hold something else in a state that stands on it."""
        delta = _delta(later, base)
        current, self.layer = self.layer, base
        changed: list[Cell] = []
        for cell, content in delta.cells.items():
            before = self.read(*cell)
            if before is None:
                if cell[0].serial < delta.serial:
                    changed.append(cell)
            elif content is not before and not before.covers(content):
                changed.append(cell)
        self.layer = current
        return changed


class _Delta(NamedTuple):
    """What was written since a state: the number of the first object made since, and up to which they are forgotten."""

    cells: dict[Cell, Content]
    serial: int
    forgets: int


def _folded(layer: Layer) -> Layer:
    """The state written into the layers below it, as far as nobody holds them."""
    parent = layer.parent
    while parent is not None and not parent.pins and layer.forgets < 0:
        parent.cells.update(layer.cells)
        layer, parent = parent, parent.parent
    return layer


def _common(layer: Layer, other: Layer) -> Layer:
    """The last state on which both stand."""
    while layer is not other:
        if layer.depth >= other.depth:
            assert layer.parent is not None
            layer = layer.parent
        else:
            assert other.parent is not None
            other = other.parent
    return layer


def _delta(layer: Layer, base: Layer) -> _Delta:
    chain = []
    while layer is not base:
        chain.append(layer)
        assert layer.parent is not None
        layer = layer.parent
    cells: dict[Cell, Content] = {}
    forgets = -1
    for layer in reversed(chain):
        if layer.forgets >= 0:
            forgets = max(forgets, layer.forgets)
            cells = {cell: content for cell, content in cells.items() if not layer.forgets >= cell[0].serial >= 0}
        cells.update(layer.cells)
    return _Delta(cells, chain[-1].serial if chain else layer.serial, forgets)
