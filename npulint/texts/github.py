"""Sentences that only the GitHub report has."""

from __future__ import annotations

TEXTS: dict[str, tuple[str, str]] = {
    "github.group": ("{n} npulint annotation|{n} npulint annotations", "npulint 注解 {n} 条"),
    "github.rest": (
        "{n} of {total} findings has no annotation, because GitHub keeps {limit} per severity and step. "
        "The log of this step lists them all."
        "|{n} of {total} findings have no annotation, because GitHub keeps {limit} per severity and step. "
        "The log of this step lists them all.",
        "{total} 个问题中有 {n} 个没有注解：GitHub 对每个步骤的每种严重程度只保留 {limit} 条。全部问题见此步骤的日志。",
    ),
}
