"""Trees: JSON, YAML and TOML, as configurations, operator lists, notebooks and artifacts hold them."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

from scripts.fuzzing.lines import NUMBERS
from scripts.fuzzing.mutation import encoded, mutated, nasty

KEYS = (
    *(
        "fp16",
        "bf16",
        "enabled",
        "loss_scale",
        "zero_optimization",
        "stage",
        "optimizer",
        "type",
        "params",
        "lr",
        "betas",
    ),
    *("train_batch_size", "gradient_accumulation_steps", "deepspeed_config", "compute_environment", "mixed_precision"),
    *(
        "num_processes",
        "distributed_type",
        "model",
        "data",
        "defaults",
        "_target_",
        "_base_",
        "seed",
        "epochs",
        "steps",
    ),
    *(
        "black-list",
        "white-list",
        "gray-list",
        "to-add",
        "to-remove",
        "to_add",
        "Cast",
        "MatMulV2",
        "dynamic_loss_scale",
    ),
    *("server_list", "device", "device_id", "device_ip", "rank_id", "server_id", "server_count", "status", "version"),
    *(
        "traceEvents",
        "ph",
        "ts",
        "dur",
        "name",
        "cat",
        "args",
        "pid",
        "tid",
        "bp",
        "id",
        "X",
        "M",
        "s",
        "f",
        "process_name",
    ),
    *(
        "graph_fusion",
        "ub_fusion",
        "match_times",
        "effect_times",
        "Switch",
        "GraphFusion",
        "UBFusion",
        "ALL",
        "on",
        "off",
    ),
    *(
        "Communication Time Info",
        "Communication Bandwidth Info",
        "Transport Type",
        "Transit Size(MB)",
        "Elapse Time(ms)",
    ),
    *("graph_module", "nodes", "target", "inputs", "outputs", "metadata", "tensor_values", "sizes", "schema_version"),
    *("cells", "cell_type", "source", "metadata", "nbformat", "code", "collective", "p2p", "step1", "dump_data_dir"),
    *("apiVersion", "kind", "spec", "containers", "resources", "limits", "nvidia.com/gpu", "image", "command", "env"),
    *("AI Core", "status", "L2 Atomic Add", "acc_list", "profiler_level", "ENV_VARIABLES", "ai_core_num", "hypothesis"),
)
keys = st.one_of(st.sampled_from(KEYS), st.sampled_from(KEYS), nasty)
_SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**30), 10**30),
    st.integers(0, 20),
    st.floats(),
    st.sampled_from(KEYS),
    NUMBERS,
    nasty,
)


@st.composite
def trees(draw: st.DrawFn, depth: int = 4) -> Any:
    """A value of mappings, lists and scalars."""
    form = draw(st.integers(0, 9)) if depth else 0
    if form < 3:
        return draw(_SCALARS)
    if form < 8:
        return {draw(keys): draw(trees(depth - 1)) for _ in range(draw(st.integers(1, 4)))}
    items = [draw(trees(depth - 1)) for _ in range(draw(st.integers(0, 3)))]
    return items * draw(st.sampled_from([1, 1, 1, 50, 2000])) if depth < 3 else items


def _json(draw: st.DrawFn, value: object) -> str:
    indent = draw(st.sampled_from([None, 1, 4]))
    return json.dumps(value, ensure_ascii=draw(st.booleans()), indent=indent)


@st.composite
def json_texts(draw: st.DrawFn) -> bytes:
    """JSON, some of it not quite, or too deep, or too long."""
    form = draw(st.integers(0, 9))
    count = draw(st.sampled_from([10, 500, 5000, 60000]))
    key = json.dumps(draw(keys))
    if form == 0:
        text = f"{{{key}: {'[' * count}{']' * count}}}"
    elif form == 1:
        text = f'{{"black-list": {f"{{{key}:" * count}1{"}" * count}}}'
    elif form == 2:
        text = f'{{"black-list": {{"to-add": [{", ".join([key] * min(count, 5000))}]}}}}'
    elif form == 3:  # the same key again
        text = f"{{{', '.join([f'{key}: {_json(draw, draw(trees(2)))}'] * min(count, 500))}}}"
    elif form == 4:
        text = _json(draw, draw(trees())).replace(",", draw(st.sampled_from([",,", ", // x\n", "", ",]"])))
    else:
        text = _json(draw, draw(trees()))
    data = encoded(text)
    return draw(mutated(data, data)) if draw(st.integers(0, 3)) == 0 else data


def _bomb(draw: st.DrawFn) -> str:
    """Anchors and aliases that double with each line."""
    levels, width = draw(st.sampled_from([3, 9, 30])), draw(st.sampled_from([1, 2, 9]))
    merge = draw(st.booleans())
    lines = ["a0: &a0 {x: 1}" if merge else "a0: &a0 [x]"]
    for level in range(1, levels):
        aliases = ", ".join([f"*a{level - 1}"] * width)
        lines.append(
            f"a{level}: &a{level} " + (f"{{<<: [{aliases}], k{level}: *a{level - 1}}}" if merge else f"[{aliases}]")
        )
    return "\n".join(lines) + "\n"


_YAML_LINES = (
    *(
        "@: @",
        "- @",
        "  @: @",
        "  - @",
        "@: &x",
        "@: *x",
        "<<: *x",
        "<<: [*x, *y]",
        "@: !!@ @",
        "!tag @",
        "--- # @",
        "...",
    ),
    *(
        "? @",
        ": @",
        "@: |",
        "@: >-",
        "    @",
        "@: {@: @, @}",
        "@: [@, @",
        "%YAML 1.@",
        "%TAG ! @",
        "&y @",
        "@: '@",
        "# @",
    ),
    *(
        "defaults:",
        "  - model: @",
        "  - override /@: @",
        "# @package _global_",
        "lr: ${@}",
        "x: ${oc.env:@}",
        "- - - @",
    ),
    *(
        "compute_environment: LOCAL_MACHINE",
        "mixed_precision: fp16",
        "num_processes: @",
        "key: !!python/object/apply:@ [@]",
    ),
    *(
        "- pip:",
        "    - torch==@",
        "dependencies:",
        "  - cudatoolkit=@",
        "on: @",
        "0o17: @",
        "1:30: @",
        "~: ~",
        "\t@: @",
    ),
)


@st.composite
def yaml_texts(draw: st.DrawFn) -> bytes:
    """YAML with all that makes it interesting."""
    from scripts.fuzzing.lines import line_files

    form = draw(st.integers(0, 9))
    count = draw(st.sampled_from([10, 90, 900, 20000]))
    if form == 0:
        text = _bomb(draw)
    elif form == 1:
        text = draw(st.sampled_from(["a: " + "[" * count, "- " * count, "? " * count, "{a: " * count, "&a " * count]))
    elif form == 2:
        text = "".join(f"{' ' * level}k:\n" for level in range(min(count, 700)))
    elif form == 3:
        text = "x: &x [*x, *x]\ny: &y {<<: *y, a: *x}\n" + "<<: *y\n" * min(count, 900)
    elif form < 6:
        text = _json(draw, draw(trees()))  # YAML as well
    else:
        words = st.one_of(st.sampled_from(KEYS), NUMBERS, nasty)
        return draw(line_files(_YAML_LINES, words))
    data = encoded(text)
    return draw(mutated(data, data)) if draw(st.integers(0, 3)) == 0 else data


@st.composite
def notebooks(draw: st.DrawFn, sources: st.SearchStrategy[str]) -> bytes:
    """A notebook; cells of any kind, sources as a text or as lines."""
    cells: list[object] = []
    for _ in range(draw(st.integers(0, 4))):
        text = draw(
            st.one_of(sources, st.sampled_from(["%%bash\npython train.py", "!pip install x", "%run a.py", "x?"]))
        )
        lines: object = draw(st.sampled_from([text, text.splitlines(keepends=True), [text], [1, None], None, {}]))
        kind = draw(st.sampled_from(["code", "code", "code", "markdown", "raw", 1]))
        cells.append(draw(st.sampled_from([{"cell_type": kind, "source": lines, "outputs": []}, {"cell_type": kind}])))
    more: object = draw(
        st.sampled_from([{}, {"language_info": {"name": "R"}}, {"kernelspec": {"name": "python3"}}, [], None])
    )
    book = {"cells": cells, "metadata": more, "nbformat": draw(st.sampled_from([4, 3, "x", None])), "nbformat_minor": 5}
    if draw(st.integers(0, 9)) == 0:
        book = {"worksheets": [{"cells": cells}], "nbformat": 3}
    data = encoded(_json(draw, book))
    return draw(mutated(data, data)) if draw(st.integers(0, 3)) == 0 else data
