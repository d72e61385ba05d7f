"""Kinds of facts about the log of a run: what it is, and the messages in it."""

from __future__ import annotations

from npulint.catalogue.vocabulary.words import ANY, FLAG, Kinds, plain, words

LOGS: Kinds = {
    "run_log": plain(
        form=words("console plog"),
        npu=FLAG,
        lines=ANY,
        rank=ANY,
        debug_lines=ANY,
        info_lines=ANY,
        warning_lines=ANY,
        error_lines=ANY,
        error_module=ANY,
        error_modules=ANY,
        error_text=ANY,
    ),
    "run_event": plain(
        kind=words("fatal error warning info"),
        count=ANY,
        first_line=ANY,
        last_line=ANY,
        text=ANY,
        code=ANY,
        module=ANY,
        subject=ANY,
        time=ANY,
        rank=ANY,
        umbrella=FLAG,
        shown=FLAG,
        root=FLAG,
        echo=FLAG,
        noise=FLAG,
        followed=FLAG,
        known=FLAG,
        cause_en=ANY,
        cause_zh=ANY,
        fix_en=ANY,
        fix_zh=ANY,
        check=ANY,
        said_cause=ANY,
        said_solution=ANY,
        trace=ANY,
    ),
}
