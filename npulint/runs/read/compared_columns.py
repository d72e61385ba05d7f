"""Column layouts of comparison tables, for every tool and release.

Headings are compared without blanks, case and punctuation. Duplicate headings (``DataType`` for each side) are
distinguished by order."""

from __future__ import annotations

import msgspec

_SPELLINGS: dict[str, tuple[str, ...]] = {
    "name": ("leftop", "npudump", "npuname", "myoutput"),
    "reference": ("rightop", "groundtruth", "benchname"),
    "index": ("index",),
    "sequence": ("opsequence",),
    "type": ("optype",),
    "tensor": ("tensorindex",),
    "npu_dtype": ("nputensordtype", "npudtype", "datatype"),
    "reference_dtype": ("benchtensordtype", "benchdtype", "datatype"),
    "npu_shape": ("nputensorshape",),
    "reference_shape": ("benchtensorshape",),
    "cosine": ("cosinesimilarity", "cosine"),
    "max_abs": ("maxabsoluteerror", "maxabserr", "maxdiff"),
    "max_relative": ("maxrelativeerror", "maxrelativeerr"),
    "overflow": ("overflow",),
    "precision_error": ("isprecisionerror",),
    "verdict": ("result", "accuracyreachedornot"),
    "reason": ("comparefailreason", "errmessage"),
    "npu_max": ("npumax",),
    "npu_min": ("npumin",),
    "reference_max": ("benchmax",),
    "reference_min": ("benchmin",),
    "stack": ("npustackinfo",),
}

_WORDS = ("overflow", "precision_error", "verdict", "reason")
_ENDS = ("npu_max", "npu_min")
_NOTHING = frozenset(("", "N/A", "n/a", "NA", "None", "none", "[]", "*"))
_SILENT = _NOTHING | {"NO", "no", "False", "false", "pass", "Pass", "PASS", "0"}
_MARKS = ("n", "N", "655", "6.55")  # NaN, infinities, and the end of float16
_CUT = 1000


class Layout(msgspec.Struct, frozen=True):
    """A parsed header: the tool that wrote it, what was compared (``tensor``, ``summary`` or ``md5``), the number of
    cells, and column positions. `suspect`: columns that may indicate a problem (True: extreme values on the NPU side),
    `pairs`: columns that should agree."""

    family: str
    mode: str
    width: int
    at: dict[str, int]
    suspect: list[tuple[int, bool]]
    pairs: list[tuple[int, int]]

    def cell(self, row: list[str], column: str) -> str:
        """The text of a column in a row; empty if the column is missing or ``N/A``."""
        position = self.at.get(column)
        if position is None or position >= len(row):
            return ""
        text = row[position].strip()
        return "" if text in _NOTHING else text[:_CUT]

    def is_unsuspicious(self, row: list[str]) -> bool:
        """Whether no column of a row, apart from measured numbers, indicates a problem."""
        return all(
            (text := row[position].strip()) in _SILENT or (bounds and not any(mark in text for mark in _MARKS))
            for position, bounds in self.suspect
        ) and all(row[npu] == row[reference] for npu, reference in self.pairs)


def layout(header: list[str]) -> Layout | None:
    """The layout of a header; None if it is not that of a comparison."""
    names = ["".join(filter(str.isalnum, cell.lower())) for cell in header]
    at: dict[str, int] = {}
    taken: set[int] = set()
    for column, spellings in _SPELLINGS.items():
        positions = [i for spelling in spellings for i, name in enumerate(names) if name == spelling and i not in taken]
        if positions:
            at[column] = positions[0]
            taken.add(positions[0])
    judged = at.keys() & {"cosine", "max_abs", "verdict"} or "npumd5" in names
    if not ("name" in at and "reference" in at and judged):
        return None
    mode = "md5" if "npumd5" in names else "tensor" if "cosine" in at else "summary"
    suspect = [(at[column], column in _ENDS) for column in (*_WORDS, *_ENDS) if column in at]
    shapes = [at[column] for column in ("npu_shape", "reference_shape") if column in at]
    pairs = [(shapes[0], shapes[1])] if len(shapes) == 2 else []
    return Layout(_family(set(names)), mode, len(header), at, suspect, pairs)


def _family(names: set[str]) -> str:
    if "leftop" in names:
        return "msaccucmp_5"
    if names & {"isnpuops", "isoutputnode", "isprecisionerror"}:
        return "msquickcmp"
    if names & {"npudump", "myoutput"}:
        return "msaccucmp"
    return "ptdbg" if "nputensordtype" in names else "msprobe"
