"""Slips in adapter options and their values are told from what merely looks alike."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npulint.data.options import MECHANISMS, OptionUse, counterpart, legal_keys, meant_key, meant_value, options

_KEYS = {
    "precison_mode": "precision_mode",
    "precision_modes": "precision_mode",
    "Precision_Mode": "precision_mode",
    "iteration_per_loop": "iterations_per_loop",
    "sfusion_switch_file": "fusion_switch_file",
    "precision_mode_v3": None,
    "mode": None,
    "my_option": None,
    "": None,
}
_VALUES = {
    ("precision_mode", "allow_mixed_precision"): "allow_mix_precision",
    ("precision_mode", "Allow_Mix_Precision"): "allow_mix_precision",
    ("precision_mode", "mixed_float16"): "allow_mix_precision",
    ("precision_mode_v2", "allow_mix_precision"): "mixed_float16",
    ("precision_mode", "allow_mix_precision_fp8"): None,
    ("precision_mode", "fast"): None,
    ("dump_mode", "ALL"): "all",
    ("dump_mode", "in"): None,
    ("dump_step", "0,5, 10"): "0|5|10",
    ("dump_step", "five"): None,
    ("aoe_mode", "3"): None,
    ("jit_compile", "True"): "true",
}


@pytest.mark.parametrize(("key", "wanted"), _KEYS.items(), ids=_KEYS)
def test_a_key_is_a_slip_of_one_option_or_of_none(key: str, wanted: str | None) -> None:
    assert meant_key(key, "session_key") == wanted


@pytest.mark.parametrize(("given_value", "wanted"), _VALUES.items(), ids=[" ".join(key) for key in _VALUES])
def test_a_value_is_a_slip_of_one_that_is_legal_or_of_none(given_value: tuple[str, str], wanted: str | None) -> None:
    key, value = given_value
    use = next(one for one in options() if one.key == key).uses["session_key"]
    assert meant_value(value, use) == wanted


def test_an_unknown_mechanism_is_refused() -> None:
    with pytest.raises(KeyError):
        meant_key("precison_mode", "telepathy")


def test_values_of_the_two_precision_options_answer_each_other() -> None:
    for key in ("precision_mode", "precision_mode_v2"):
        use = next(one for one in options() if one.key == key).uses["session_key"]
        for value in map(str, use.values):
            other = counterpart(value)
            assert other is None or counterpart(other) == value


@given(st.sampled_from(MECHANISMS), st.data())
def test_one_letter_too_much_never_means_another_option(mechanism: str, data: st.DataObject) -> None:
    key = data.draw(st.sampled_from(sorted(legal_keys(mechanism))))
    place = data.draw(st.integers(0, len(key)))
    typed = key[:place] + data.draw(st.sampled_from("aeiost")) + key[place:]
    if typed not in legal_keys(mechanism):
        assert meant_key(typed, mechanism) in (key, None)


def test_what_is_meant_is_always_legal() -> None:
    use = OptionUse("mode", "str", ("low", "high", "highest"))
    assert meant_value("hihgest", use) == "highest"
    assert meant_value("higher", use) is None
