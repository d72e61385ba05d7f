"""Executes the forms and the fixed programs, and writes what their probes see to `data`.

python -m tests.oracle.record             what has changed since the last time
python -m tests.oracle.record --all       everything again
python -m tests.oracle.record --state     how the engine answers now: its faults, and the shares that it knows
python -m tests.oracle.record --show dict forms whose titles contain this, with the verdicts; nothing is written
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from typing import Any

from tests.oracle import grammars
from tests.oracle.execution import executed
from tests.oracle.judging import UNKNOWN, WRONG, judged
from tests.oracle.notation import all_forms
from tests.oracle.respondents import analysed
from tests.oracle.state import current, write_state
from tests.oracle.truth import DATA, as_line, digest, from_record, records


def record_forms(again: bool) -> int:
    """Write the truth of the forms; returns how many were executed."""
    before = _before("forms", again)
    count = 0
    lines = []
    for form in all_forms():
        record = before.get(form.title)
        if record is None or record["digest"] != digest(form):
            truth = executed(form)
            count += 1
        else:
            truth = from_record(record)
        lines.append(as_line(form, truth))
    _write("forms", lines)
    return count


def record_programs(again: bool) -> int:
    """Write the truth of the fixed programs, with the attempt that gave each; returns how many were executed."""
    before = _before("programs", again)
    count = 0
    lines = []
    for grammar, seed in grammars.fixed():
        record = before.get(f"{grammar.name}/{seed}")
        if record is not None:
            program = grammar.attempt(seed, record["attempt"])
            if program is not None and digest(program) == record["digest"]:
                lines.append(as_line(program, from_record(record), attempt=record["attempt"]))
                continue
        made = grammar.program(seed)
        lines.append(as_line(made.program, made.truth, attempt=made.attempt))
        count += 1
    _write("programs", lines)
    return count


def _before(name: str, again: bool) -> dict[str, dict[str, Any]]:
    return {} if again or not (DATA / f"{name}.jsonl").exists() else records(name)


def _write(name: str, lines: Iterable[str]) -> None:
    (DATA / f"{name}.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def show(part: str) -> None:
    """Print what the probes of forms see, and the verdicts on the engine's answers."""
    for form in all_forms():
        if part not in form.title:
            continue
        truth = executed(form)
        print(f"#### {form.title}  {form.start}  exit {truth.statuses}")
        for error in filter(None, truth.errors):
            print("     ", error.strip().splitlines()[-1])
        analysis = analysed(form)
        for verdict in judged(form, truth, analysis.answers):
            print(f"   {'!!' if verdict.name == WRONG else '? ' if verdict.name == UNKNOWN else '  '} {verdict}")
        if analysis.limits:
            print("   ended by", *analysis.limits)


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--all", action="store_true", help="execute everything again")
    parser.add_argument("--state", action="store_true", help="also write how the engine answers now")
    parser.add_argument("--show", metavar="PART", help="print forms and verdicts instead")
    options = parser.parse_args()
    if options.show is not None:
        show(options.show)
        return
    print(f"{record_forms(options.all)} forms executed")
    print(f"{record_programs(options.all)} programs executed")
    if options.state:
        write_state(current())


if __name__ == "__main__":
    main()
