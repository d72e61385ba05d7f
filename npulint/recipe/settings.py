"""Settings: everything that has a name and decides how a program trains, with the value that a start gives it."""

from __future__ import annotations

from npulint.recipe.setting_parts import setting_part

__all__ = ["setting_part"]
