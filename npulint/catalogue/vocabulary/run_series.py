"""Fact kinds of time series: loss scale, loss, step times, device graphs."""

from __future__ import annotations

from npulint.catalogue.vocabulary.words import ANY, FLAG, Kind, Kinds, Values, words

_PLACES: dict[str, Values] = {"first_line": ANY, "last_line": ANY}

SERIES: Kinds = {
    "run_series": Kind(
        {
            "value": ANY,
            "form": words("apex torch_npu deepspeed fairseq megatron hook precision_tool script events table"),
            **dict.fromkeys(("scaler", "label", "points", "steps", "first", "last", "minimum", "maximum"), ANY),
            **dict.fromkeys(("skipped", "skipped_share", "drops", "late_drops", "share", "longest_run", "rises"), ANY),
            "static": FLAG,
            "limit_reached": words("yes no"),
            "bad_value": words("nan inf"),
            **dict.fromkeys(("bad", "bad_line", "bad_step", "numbers_before", "recovered", "scale_before"), ANY),
            **dict.fromkeys(("spread", "change", "end", "curve"), ANY),
            **_PLACES,
        },
        names=words("loss_scale loss accuracy"),
    ),
    "run_stall": Kind(
        {
            "value": ANY,
            **dict.fromkeys(("label", "points", "slow", "slow_share", "slowdown", "worst"), ANY),
            **dict.fromkeys(("median_rate", "median_seconds", "period", "phase", "events", "runs"), ANY),
            **dict.fromkeys(("lost_share", "lost_seconds", "lost_per_item"), ANY),
            **dict.fromkeys(("graph", "first_ms", "median_ms", "max_ms", "spikes", "spike_share", "output_bytes"), ANY),
            "small": words("yes no"),
            **_PLACES,
        },
        names=words("pace periodic graph_runs"),
    ),
    "run_compile": Kind(
        {"value": ANY, **dict.fromkeys(("graphs", "most", "ids", "last_id", "burst", "late"), ANY), **_PLACES},
        names=words("graph"),
    ),
    "run_rank_graphs": Kind(
        {"value": ANY, **dict.fromkeys(("ranks", "least", "most", "min", "max"), ANY)}, names=words("compiles")
    ),
}
"""The kinds, with their attributes (docs/writing-checks.md explains them)."""
