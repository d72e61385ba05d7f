"""What becomes of a program whose import of a GPU library fails, and what Ray is asked for."""

from __future__ import annotations

import pytest

from npulint.facts.values import NO, NOTHING
from npulint.model.running.npu_answers import answer
from tests.support import facts

_USE = "\n\ndef attend(q):\n    return flash_attn.run(q)\n"


@pytest.mark.parametrize(
    ("source", "failure", "placed"),
    [
        pytest.param("import flash_attn", "stops", "top", id="without a handler"),
        pytest.param("try:\n    import flash_attn\nexcept ImportError:\n    raise", "stops", "top", id="raised again"),
        pytest.param("try:\n    import flash_attn\nexcept ImportError:\n    exit(1)", "stops", "top", id="exits"),
        pytest.param("try:\n    import flash_attn\nexcept KeyError:\n    pass", "stops", "top", id="another error"),
        pytest.param("try:\n    import flash_attn\nexcept ImportError:\n    pass", "unnoticed", "try", id="ignored"),
        pytest.param("try:\n    import flash_attn\nexcept:\n    print('no')", "unnoticed", "try", id="printed"),
        pytest.param(
            "try:\n    import flash_attn\nexcept ImportError:\n    flash_attn = None", "handled", "try", id="replaced"
        ),
        pytest.param(
            "found = 0\ntry:\n    import flash_attn\n    found = 1\nexcept ImportError:\n    pass",
            "handled",
            "try",
            id="noted",
        ),
        pytest.param(
            "try:\n    import flash_attn\nexcept ImportError:\n    install()", "handled", "try", id="done otherwise"
        ),
    ],
)
def test_what_follows_a_failed_import(source: str, failure: str, placed: str) -> None:
    (found,) = facts(f"import torch\n{source}{_USE}", "library")
    assert (found.get("failure"), found.get("placed")) == (failure, placed)


def test_a_missing_name_that_is_used_beside_the_import_only_is_no_problem() -> None:
    source = "import torch\ntry:\n    import flash_attn\n    flash_attn.warm_up()\nexcept ImportError:\n    pass\n"
    (found,) = facts(source, "library")
    assert found.get("failure") == "handled"


def test_uses_of_a_library_are_those_of_the_name_that_its_import_binds() -> None:
    source = """\
        import torch

        def choose(small):
            if small:
                import bitsandbytes as bnb
                optimizer = bnb.optim.AdamW8bit
            return optimizer

        def other(bnb):
            bnb.optim()
    """
    assert [fact.span.line for fact in facts(source, "library_use")] == [6]


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("transformers.utils.is_xformers_available()", NO),
        ("transformers.utils.is_bitsandbytes_available()", NOTHING),
        ("project.tools.is_flash_attn_available()", NO),
        ("transformers.utils.is_peft_available()", NOTHING),
        ("transformers.utils.is_torch_scatter_available()", NOTHING),
    ],
)
def test_a_helper_for_a_gpu_library_finds_none(name: str, wanted: object) -> None:
    assert answer(name, transferred=False) == wanted


@pytest.mark.parametrize(
    ("source", "wanted"),
    [
        ("@ray.remote(num_gpus=1)\nclass A:\n    pass", ["task"]),
        ("@ray.remote(num_gpus=0)\nclass A:\n    pass", []),
        ("@ray.remote\nclass A:\n    pass", []),
        ("a = A.options(num_gpus=n).remote()", ["task"]),
        ("a = A.options(num_cpus=1).remote()", []),
        ("b = [{'GPU': 1, 'CPU': 1} for _ in range(8)]", ["bundle"]),
        ("b = [{'GPU': 0}]", []),
        ("b = [{'CPU': 1}]", []),
        ("a = client.remote(num_gpus=1)", []),
    ],
)
def test_what_ray_is_asked_for(source: str, wanted: list[str]) -> None:
    assert [fact.get("what") for fact in facts(f"import ray\nimport torch\n{source}\n", "ray_resource")] == wanted


def test_other_code_asks_ray_for_nothing() -> None:
    assert facts("import torch\nsizes = {'GPU': 1}\n", "ray_resource") == []
