"""Codes of checks: NPU, a digit for the family, one for the category, and a number of two characters.

The numbers are 01 to 99, then A0 to Z9. Codes of one length sort in the order of assignment, and no code is a prefix of
another: ``NPU11`` selects all checks of a category, ``NPU1110`` one check.
"""

from __future__ import annotations

_LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ"  # I and O look like digits
PATTERN = rf"NPU[0-9]{{2}}(?:[0-9]|[{_LETTERS}])[0-9]"
"""The regular expression of a code."""
LAST = 99 + 10 * len(_LETTERS)
"""The highest number of a family and category."""


def code_of(prefix: str, number: int) -> str:
    """The code of that number, from 1 to `LAST`, behind the digits of a family and category.

    >>> code_of("NPU11", 7), code_of("NPU11", 99), code_of("NPU11", 100)
    ('NPU1107', 'NPU1199', 'NPU11A0')
    """
    if number <= 99:
        return f"{prefix}{number:02}"
    letter, digit = divmod(number - 100, 10)
    return f"{prefix}{_LETTERS[letter]}{digit}"


def number_of(code: str) -> int:
    """The number of a code within its family and category."""
    letter, digit = code[5], int(code[6])
    return 10 * int(letter) + digit if letter.isdigit() else 100 + 10 * _LETTERS.index(letter) + digit


def distance(code: str, other: str) -> int:
    """The distance of two codes, 100 per category; near codes are about similar problems."""
    number, other_number = (100 * int(each[3:5]) + number_of(each) for each in (code, other))
    return abs(number - other_number)
