"""The TensorFlow that wrote a graph, from the version in every GraphDef (tensorflow/core/framework/versions.proto).

TensorFlow counts it up since 2019, once a day: 1.15 and its patches write 134, which TensorFlow 2.0 may have written
as well."""

from __future__ import annotations

_OF_BOTH = 134  # the last version of TensorFlow 1


def release_of(producer: int) -> str:
    """The release line of TensorFlow, ``1.x`` or ``2.x``, that writes graphs of this version; empty if unknown."""
    if producer > _OF_BOTH:
        return "2.x"
    return "1.x" if 0 < producer < _OF_BOTH else ""
