"""Adapter options: every key that the documents name, and the misspellings found in real projects."""

from __future__ import annotations

import pytest

from npulint.data.chips import generation
from npulint.data.options import MECHANISMS, arguments, legal_keys, near, option
from npulint.data.releases import standing

FIELDS = {
    "s": "precision_mode precision_mode_v2 modify_mixlist jit_compile dump_path dump_step dump_mode aoe_mode "
    "fusion_switch_file op_select_implmode profiling_options variable_placement auto_tune_mode HCCL_algorithm",
    "b": "mix_compile_mode use_off_line enable_data_pre_proc enable_dump enable_dump_debug profiling_mode "
    "hcom_parallel is_tailing_optimization dynamic_input variable_format_optimize external_weight",
    "i": "iterations_per_loop graph_run_mode op_debug_level enable_exception_dump deterministic hccl_timeout "
    "local_rank_id session_device_id export_compile_stat stream_sync_timeout",
}


@pytest.mark.parametrize(("field", "key"), [(f, k) for f, keys in FIELDS.items() for k in keys.split()])
def test_a_session_key_is_read_from_one_protobuf_field(field: str, key: str) -> None:
    found = option(key)
    assert found is not None and found.field == field
    assert key in legal_keys("session_key")


@pytest.mark.parametrize(
    ("typo", "mechanism", "meant"),
    [
        ("sfusion_switch_file", "session_key", "fusion_switch_file"),
        ("autotune_tune_mode", "session_key", "auto_tune_mode"),
        ("sump_mode", "session_key", "dump_mode"),
        ("sump_mode", "run_config", "DumpConfig.dump_mode"),
        ("dump_pth", "npu_options", "dump_config.dump_path"),
        ("allow_mix_compile", "session_key", "mix_compile_mode"),
        ("mix_compile", "session_key", "mix_compile_mode"),
        ("Precision_Mode", "npu_options", "precision_mode"),
        ("modify_mix_list", "run_config", "modify_mixlist"),
        ("fp_point", "session_key", "profiling_options"),
        ("bp_point", "run_config", "ProfilingConfig.profiling_options"),
        ("enable_auto_mix_precision", "session_key", None),
        ("master_slave_mode", "session_key", None),
        ("learning_rate", "run_config", None),
        ("x" * 5000, "session_key", None),
        ("", "session_key", None),
    ],
    ids=str,
)
def test_a_misspelt_key_leads_to_the_key_that_was_meant(typo: str, mechanism: str, meant: str | None) -> None:
    assert typo not in legal_keys(mechanism)
    assert near(typo, mechanism) == meant


@pytest.mark.parametrize(
    ("key", "status", "replacement"),
    [
        ("op_debug_level", "deprecated", "op_debug_config"),
        ("op_select_implmode", "deprecated", "op_precision_mode"),
        ("graph_memory_max_size", "deprecated", ""),
        ("dynamic_input", "deprecated", ""),
        ("auto_tune_mode", "removed", "aoe_mode"),
        ("es_cluster_config", "removed", ""),
        ("min_group_size", "dead", ""),
        ("enable_reduce_precision", "dead", ""),
        ("precision_mode", "active", ""),
    ],
    ids=str,
)
def test_the_state_of_an_option_is_known(key: str, status: str, replacement: str) -> None:
    found = option(key)
    assert found is not None
    assert (found.status, found.replacement) == (status, replacement)


@pytest.mark.parametrize(
    ("key", "mechanism", "value", "accepted"),
    [
        ("precision_mode", "session_key", "allow_mix_precision", True),
        ("precision_mode", "session_key", "allow_mixed_precision", False),
        ("precision_mode", "npu_options", "mixed_float16", False),
        ("precision_mode_v2", "run_config", "mixed_float16", True),
        ("dump_mode", "session_key", "ALL", False),
        ("jit_compile", "run_config", "auto", True),
        ("jit_compile", "run_config", True, False),
        ("aoe_mode", "session_key", "3", False),
        ("graph_run_mode", "session_key", 1, True),
        ("graph_run_mode", "session_key", 2, False),
        ("local_rank_id", "session_key", 7, True),
        ("local_rank_id", "session_key", 8, False),
        ("iterations_per_loop", "run_config", 0, False),
        ("work_path", "session_key", "anything", True),
    ],
    ids=str,
)
def test_a_value_outside_the_closed_list_is_refused(key: str, mechanism: str, value: object, accepted: bool) -> None:
    found = option(key)
    assert found is not None
    assert found.uses[mechanism].accepts(value) is accepted


@pytest.mark.parametrize("spelling", ["dump_path", "dump_config.dump_path", "DumpConfig.dump_path"])
def test_an_option_is_found_by_its_spelling_in_any_mechanism(spelling: str) -> None:
    found = option(spelling)
    assert found is not None and found.key == "dump_path"
    assert found.mechanisms == MECHANISMS


def test_when_an_option_came_and_went_is_recorded() -> None:
    tune, v2 = option("auto_tune_mode"), option("precision_mode_v2")
    assert tune is not None and tune.uses["run_config"].until == "r1.10.0"
    assert v2 is not None and v2.uses["run_config"].since == "r1.13.0"


def test_groups_of_tensorflow_2_options_are_legal_themselves() -> None:
    expected = {"dump_config", "experimental", "experimental.graph_memory_optimize_config", "precision_mode"}
    assert expected <= legal_keys("npu_options")
    assert "mix_compile_mode" not in legal_keys("npu_options")


def _typed(text: str, kind: str) -> object:
    return int(text) if kind == "int" else text.casefold() == "true" if kind in ("bool", "flag") else text


def test_replacements_are_options_and_uses_are_well_formed() -> None:
    for mechanism in MECHANISMS:
        for spelling in legal_keys(mechanism):
            found = option(spelling)
            if found is None or mechanism not in found.uses:  # a group
                assert any(k.startswith(spelling + ".") for k in legal_keys(mechanism))
                continue
            use = found.uses[mechanism]
            assert not found.replacement or option(found.replacement) is not None
            assert use.type in {"str", "int", "bool", "flag", "object", "any"}
            assert use.default is None or use.accepts(_typed(use.default, use.type))


def test_a_mechanism_that_does_not_exist_is_an_error() -> None:
    with pytest.raises(KeyError):
        legal_keys("environment")


@pytest.mark.parametrize(
    ("since", "until", "adapter", "cann", "expected"),
    [
        ("r1.13.0", "", "", "", "unknown"),
        ("r1.13.0", "", "1.12", "", "later"),
        ("r1.13.0", "", "r1.13.0", "", "yes"),
        ("r1.13.0", "", "1.12", "7.0.0", "later"),
        ("r1.14.1", "", "1.14", "", "unknown"),
        ("r1.14.1", "", "1", "", "unknown"),
        ("2026", "", "1.15", "", "later"),
        ("2026", "", "8.0", "", "unknown"),
        ("2026", "", "9.0", "", "yes"),
        ("r1.1.1", "r1.10.0", "1.10", "", "yes"),
        ("r1.1.1", "r1.10.0", "1.11", "", "gone"),
        ("r1.13.0", "", "", "6.3.RC2", "yes"),
        ("r1.13.0", "", "", "6.3.RC1", "later"),
        ("r1.13.0", "", "", "6.3", "unknown"),
        ("r1.8.0", "", "", "5.1.RC2", "yes"),
        ("r1.8.0", "", "", "5.0.4", "unknown"),
        ("2026", "", "", "8.1.RC1", "unknown"),
        ("2026", "", "", "9.0.0", "yes"),
        ("r1.1.1", "r1.15.0", "", "9.1", "gone"),
        ("", "", "1.5", "", "yes"),
    ],
    ids=str,
)
def test_a_declared_release_tells_whether_an_option_is_there(
    since: str, until: str, adapter: str, cann: str, expected: str
) -> None:
    assert standing(since, until, adapter, cann) == expected


def test_chips_have_generations_and_classes_their_arguments() -> None:
    socs = ("910A", "910", "910B", "910B2", "910C", "910_9391", "950PR", "310P", "")
    assert [generation(soc) for soc in socs] == ["A1", "A1", "A2", "A2", "A3", "A3", "950", "310P", ""]
    assert arguments("DumpConfig")[5] == "dump_debug_mode"
    assert arguments("")[0] == "iterations_per_loop"
    assert arguments("ProfilingConfig") == {0: "enable_profiling", 1: "profiling_options"}
    assert arguments("NoSuchConfig") == {}
