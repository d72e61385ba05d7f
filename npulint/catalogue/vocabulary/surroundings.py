"""Fact kinds outside of code: launchers, environment, dependencies, operator lists."""

from __future__ import annotations

from npulint.catalogue.vocabulary.words import ANY, FLAG, Kinds, plain, words

_LAUNCH = plain(
    options=ANY,
    launcher=ANY,
    interpreter=ANY,
    loop=FLAG,
    rounds=ANY,
    port=ANY,
    prepared=FLAG,
    guarded=ANY,
    along=ANY,
    size=ANY,
    short=ANY,
    use_env=FLAG,
    target=words("npu gpu other unknown"),
)

KINDS: Kinds = {
    "command": plain(line=ANY, guarded=ANY, via=ANY, loop=FLAG),
    "launch": _LAUNCH,
    "start": _LAUNCH,
    "shell_problem": plain(variable=ANY, exported=FLAG, via=ANY),
    "dependency": plain(version=ANY, build=ANY, via=ANY, torch=ANY, pairs=FLAG),
    "package_index": plain(cuda=ANY, wheel=FLAG, via=ANY),
    "base_image": plain(cuda=FLAG, stage=ANY),
    "chip": plain(written=ANY),
    "toolkit": plain(version=ANY, written=ANY),
    "mixlist_file": plain(valid=ANY, used=words("yes no several")),
    "mixlist_problem": plain(detail=ANY),
    "mixlist_entry": plain(list=ANY, action=words("to-add to-remove"), known=FLAG, nearest=ANY),
    "cuda_source": plain(what=words("kernel binding"), kernels=ANY),
}
