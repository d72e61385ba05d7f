"""``npulint test``: runs the examples of checks and of checklist items."""

from __future__ import annotations

import msgspec

from npulint.commands.settings.config import load
from npulint.core.texts import count
from npulint.hosts.cli.catalogue import known_options, load_all
from npulint.hosts.cli.host import Host
from npulint.judge.findings import Comparison, Finding, ProgramSummary
from npulint.report.terminal import escape_control_chars


def run(words: list[str], options: dict[str, list[str] | bool], host: Host, lang: str) -> int:
    """Run the examples of the named files, or of all checks; returns 1 when one fails."""
    from npulint.judge.catalogue.examples import run_examples, run_item_examples, run_pretuning_examples
    from npulint.judge.catalogue.load import load_files

    settings = load([], known_options(options), host.environ)
    catalogue = load_all(msgspec.structs.replace(settings, checks=(*settings.checks, *words)))
    tested = load_files(words) if words else catalogue
    catalogue = catalogue.with_opt_in()

    def judge(files: dict[str, str], target: dict[str, str]) -> list[Finding]:
        return host.review(files, target, catalogue).findings

    def programs(files: dict[str, str], target: dict[str, str]) -> list[ProgramSummary]:
        return host.review(files, target, catalogue).programs

    def compare(files: dict[str, str], target: dict[str, str]) -> Comparison | None:
        return host.review(files, target, catalogue).comparison

    def apply_fixes(files: dict[str, str], target: dict[str, str], code: str) -> tuple[dict[str, str], list[str]]:
        from npulint.commands.check.fix_command import fixed_example

        return fixed_example(files, target, code, catalogue)

    outcomes = run_examples(tested.checks, catalogue.checks, judge, apply_fixes) + run_item_examples(
        tested.items, programs
    )
    outcomes += run_pretuning_examples(tested.pretuning, compare)
    wrong = [outcome for outcome in outcomes if not outcome.ok]
    host.write("".join(f"{escape_control_chars(line)}\n" for outcome in wrong for line in str(outcome).split("\n")))
    examples = len({(outcome.code, outcome.name, outcome.example) for outcome in outcomes})
    failed = len({(outcome.code, outcome.name, outcome.example) for outcome in wrong})
    lang = settings.language()
    summary = count(lang, "test.failed", examples, failed=failed) if failed else count(lang, "test.held", examples)
    host.write(summary + "\n")
    return 1 if wrong else 0
