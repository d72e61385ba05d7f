"""Facts of a file as bytes and back, for the cache."""

from __future__ import annotations

from functools import cache
from importlib import import_module

import msgspec

from npulint.facts.model import Fact, FileFacts

_FILE = msgspec.msgpack.Decoder(tuple[FileFacts, list[tuple[str, msgspec.Raw]]])


def encode(file: FileFacts) -> bytes:
    """The bytes of a file's facts. Readers make instances of `FileFact`, whose fields are plain; each is stored with
    the name of its class."""
    named = [(f"{type(fact).__module__}:{type(fact).__qualname__}", fact) for fact in file.facts]
    return msgspec.msgpack.encode((msgspec.structs.replace(file, facts=[]), named))


def decode(data: bytes) -> FileFacts:
    """The facts of bytes from `encode`, each as an instance of its class. Raises `msgspec.MsgspecError` for others."""
    file, named = _FILE.decode(data)
    return msgspec.structs.replace(file, facts=[_decoder(name).decode(fact) for name, fact in named]) if named else file


@cache
def _decoder(name: str) -> msgspec.msgpack.Decoder[Fact]:
    """The decoder of a class, whose module is imported when the cache has a fact of it."""
    module, _, cls = name.partition(":")
    found = getattr(import_module(module), cls, None) if module.startswith("npulint.") else None
    if not (isinstance(found, type) and issubclass(found, Fact)):
        raise msgspec.ValidationError(f"not a class of facts: {name}")
    return msgspec.msgpack.Decoder(found)
