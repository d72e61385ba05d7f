"""``npulint test``: do the examples of check files hold?"""

from __future__ import annotations

import msgspec

from npulint.cli.catalogue import known_options, load_all
from npulint.cli.host import Host
from npulint.config import load
from npulint.findings import Finding
from npulint.report.terminal import harmless
from npulint.texts import count


def run(words: list[str], options: dict[str, list[str] | bool], host: Host, lang: str) -> int:
    """Run the examples of the files, or of all checks; 1 when one does not hold."""
    from npulint.catalogue.examples import run_examples
    from npulint.catalogue.load import load_checks

    settings = load([], known_options(options), host.environ)
    catalogue = load_all(msgspec.structs.replace(settings, checks=(*settings.checks, *words)))
    checks = load_checks(words) if words else catalogue.checks

    def judge(files: dict[str, str], target: dict[str, str]) -> list[Finding]:
        return host.judge(files, target, catalogue)

    outcomes = run_examples(checks, catalogue.checks, judge)
    wrong = [outcome for outcome in outcomes if not outcome.ok]
    host.write("".join(f"{harmless(str(outcome))}\n" for outcome in wrong))
    examples = len({(outcome.code, outcome.example) for outcome in outcomes})
    failed = len({(outcome.code, outcome.example) for outcome in wrong})
    lang = settings.language()
    summary = count(lang, "test.failed", examples, failed=failed) if failed else count(lang, "test.held", examples)
    host.write(summary + "\n")
    return 1 if wrong else 0
