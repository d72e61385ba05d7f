"""What a trial has to say beside its findings: what was made up, and what is missing."""

from __future__ import annotations

from npulint.core.texts import say
from npulint.fakes.orders import Ended
from npulint.fakes.torch.synthetic.absent import says_absent
from npulint.report.terminal import escape_control_chars


def try_notes(ended: Ended, lang: str) -> list[str]:
    """The notes, as sentences."""
    notes = []
    if ended.made_up:
        listed = say(lang, "list.clause").join(map(escape_control_chars, ended.made_up))
        notes.append(say(lang, "try.made-up", list=listed))
    elif ended.how == "error" and not ended.known and says_absent(ended.text):
        notes.append(say(lang, "try.missing"))
    return notes
