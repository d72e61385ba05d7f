"""One object for equal texts and records of many results: those of thousands of projects are mostly alike."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec.structs import force_setattr

from npulint.judge.postprocess.record import RawResults

_NONE: list[Any] = []  # results are not changed


class Pool:
    """Replaces what it has seen before by the first of its kind."""

    def __init__(self) -> None:
        self._seen: dict[Any, Any] = {}
        self._fields: dict[type, tuple[str, ...]] = {}

    def shared(self, results: RawResults) -> RawResults:
        """The same results, made of objects that earlier results have where these are equal."""
        for name in results.__struct_fields__:
            if not getattr(results, name):
                force_setattr(results, name, ())
        for part in (results.findings, results.programs, results.files, results.graphs, results.chips):
            for record in part:
                self._inside(record)
        return results

    def _inside(self, record: msgspec.Struct) -> None:
        """Replaces the values of a record, which is nobody else's yet."""
        kind = type(record)
        fields = self._fields.get(kind)
        if fields is None:
            fields = self._fields[kind] = kind.__struct_fields__
        for name in fields:
            value = getattr(record, name)
            shared = self._one(value)
            if shared is not value:
                force_setattr(record, name, shared)

    def _one(self, value: Any) -> Any:
        kind = type(value)
        if kind is str:
            return self._seen.setdefault(value, value)
        if kind is list and not value:
            return _NONE
        if kind is tuple and value:
            return self._of_all(tuple(map(self._one, value)))
        if isinstance(value, msgspec.Struct):
            self._inside(value)
            return self._of_all(value)
        return value

    def _of_all(self, value: Any) -> Any:
        """The first object equal to `value`; itself if it cannot be compared with others quickly."""
        try:
            return self._seen.setdefault((type(value), value), value)
        except TypeError:
            return value
