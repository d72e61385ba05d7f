"""What adaptors replace apart from the functions of CUDA: their own functions and classes in place of others."""

from __future__ import annotations

from npulint.data import lazy_table

patches = lazy_table("adaptor_patches.json", dict[str, dict[str, str]])
"""For each package of an adaptor the canonical names that it replaces, with what it puts there: a canonical name, or
``npu`` for code of its own that works on the NPU."""
