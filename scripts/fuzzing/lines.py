"""Files of lines: shell, Dockerfiles, requirements, logs, ignore files."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

from scripts.fuzzing.mutation import COUNTS, MOST, encoded, mutated, nasty

_HOLE = "@"
SHELL = (
    *("#!/bin/bash", "export RANK_SIZE=@", "export ASCEND_@=1", "export @=$@", "X=${Y:-@}", "X=$((@+1))", "X=$(@)"),
    *("python train.py --batch @ --@=@", "python3 -m torch.distributed.launch --nproc_per_node=@ train.py", "X=`@`"),
    *("torchrun --nproc_per_node $N train.py @", "deepspeed --num_gpus @ train.py --deepspeed ds.json", "cd @"),
    *("for i in $(seq 0 @); do", "for ((i=0; i<@; i++)); do", "while read @; do", "if [[ $@ == @ ]]; then", "else"),
    *("fi", "done", "case $1 in", "@) python train.py ;;", "esac", "f() {", "}", "{", "(", ")", "cat <<EOF", "EOF"),
    *("cat <<-'EOF' | bash", "source @", ". ./env.sh", "exec @", "nohup python train.py > @ 2>&1 &", "wait", "\\"),
    *("@ | @ && @ || @ ; @", "X+=(@ @)", 'declare -A M=([@]="@")', "${X[@]}", "${X//@/@}", "${!X}", "eval $@", "$@"),
    *("alias python=@", "trap '@' EXIT", "CUDA_VISIBLE_DEVICES=@ python train.py", "set -@", "# npulint: ignore[@] @"),
    *("accelerate launch --config_file a.yaml train.py", "mpirun -np @ python train.py", "'@", '"@', "$'\\x@'", "<(@)"),
    *("bash run.sh", "sh -c 'python train.py @'", "ssh @ 'bash run.sh'", "[ @ -gt @ ]", "[[ @ =~ @ ]]", "function @ {"),
)
DOCKER = (
    *("FROM @", "FROM nvidia/cuda:@ AS @", "FROM ascendhub.huawei.com/public-ascendhub/@:@", "RUN pip install @"),
    *("RUN pip install torch==@ tensorflow-gpu @ && \\", "    apt-get install @ \\", "ENV @=@", "ENV A @", "ARG @=@"),
    *(
        "COPY --from=@ @ @",
        'CMD ["python", "@"]',
        "CMD [@",
        "ENTRYPOINT @",
        "RUN <<EOF",
        "EOF",
        "# escape=`",
        "WORKDIR @",
    ),
    *("RUN conda install @", "SHELL [@]", "ONBUILD @", "# syntax=@", "RUN --mount=type=@ python train.py", "# @", "\\"),
)
REQUIREMENTS = (
    *(
        "torch==@",
        "tensorflow-gpu>=@,<@",
        "torch_npu @ https://x/@.whl",
        "-r @",
        "-r requirements.txt",
        "-c @",
        "-e .@",
    ),
    *("git+https://github.com/@@@#egg=@", "@[@]~=@; python_version < '@'", "@ # @", "--find-links @", "numpy !=@", "@"),
    *(
        "flash-attn===@",
        "--hash=sha256:@",
        "apex\\",
        "nvidia-@-cu12",
        "./@.whl",
        "# npulint: ignore[@]",
        "a ; @ and (@)",
    ),
)
LOGS = (
    *("step @ loss = @", "epoch: @ iter @/@ loss: @ lr: @ time: @s", "[INFO] loss_scale=@", "global_step/sec: @"),
    *(
        "INFO:tensorflow:loss = @, step = @ (@ sec)",
        "Iteration @, time = @ms",
        "{'loss': @, 'epoch': @}",
        '{"loss": @}',
    ),
    *("[ERROR] GE(@,python):2024-01-01-00:00:00.000.000 [x.cc:@]@ EZ@: @", "EZ9999: Inner Error!", "EI0006: @ timeout"),
    *("Traceback (most recent call last):", '  File "train.py", line @, in @', "    @", "RuntimeError: @", "Error: @"),
    *("RuntimeError: NPU out of memory. Tried to allocate @ GiB (NPU @; @ GiB total capacity)", "W torch_npu @", "@"),
    *("2024-01-01 00:00:0@.@ - root - INFO - step: @, loss: @", "The above exception was the direct cause", "During @"),
    *("[rank@]: Traceback (most recent call last):", "Overflow detected, loss scale @ -> @", "step=@ nan", "\x1b[31m@"),
    *("[W compiler_depend.ts:@] Warning: @", "   ╭──── [1] @", "[Status:@] [TaskId:@", "grad_norm: @", "100%|█@| @/@"),
    *("[2024-01-01T00:00:0@] step[@] loss=@", "FP_BP: @", "device_id: @ FP_start=@ BP_end=@", "|  @  |  @ |", "\tat @"),
)
IGNORE = (
    *(
        "@",
        "*",
        "**",
        "**/",
        "/**/@",
        "!@",
        "!**/*.py",
        "*.py",
        "train.*",
        "a/**/b/**/c/**/@",
        "[a-z]*",
        "[!@]",
        "[[:alpha:]]",
    ),
    *(
        "[@",
        "\\@",
        "\\",
        "# @",
        "/train.py",
        "train.py/",
        "?" * 40,
        "*a" * 20,
        "**/*a*/" * 8,
        "{@,@}",
        " @ ",
        "\t",
        "@/",
    ),
)
NUMBERS = st.one_of(
    st.integers(-1, 2000).map(str),
    st.floats().map(str),
    st.sampled_from(
        ["1e400", "-1e308", "9" * 400, "1,000", "1_0", "0x1f", "inf", "-nan", "١٢", "1.2.3", "1e", "12ms", "½"]
    ),
)
_WORDS = st.one_of(
    NUMBERS, NUMBERS, nasty, st.sampled_from(["npu", "cuda:0", "torch", "2.1.0", "x", "RANK_ID", "910B"])
)


@st.composite
def filled(draw: st.DrawFn, fragment: str, words: st.SearchStrategy[str] = _WORDS) -> str:
    """A fragment with something in each hole."""
    first, *rest = fragment.split(_HOLE)
    return first + "".join(draw(words) + part for part in rest)


@st.composite
def line_files(draw: st.DrawFn, fragments: Sequence[str], words: st.SearchStrategy[str] = _WORDS) -> bytes:
    """A file of such lines, some of them very often."""
    lines: list[str] = []
    for _ in range(draw(st.integers(1, 12))):
        line = draw(filled(draw(st.sampled_from(fragments)), words))
        count = draw(st.sampled_from(COUNTS)) if draw(st.integers(0, 14)) == 0 else 1
        form = draw(st.integers(0, 3))
        count = min(count, MOST // (len(line) + 1))
        if count > 1 and form == 0:  # the same line with other numbers
            lines += [f"{line}{number}" for number in range(count)]
        elif count > 1 and form == 1:
            lines.append(" ".join([line] * count))
        else:
            lines += [line] * count
    data = encoded("\n".join(lines) + draw(st.sampled_from(["\n", "", "\r\n", "\\"])))
    return draw(mutated(data, data)) if draw(st.integers(0, 4)) == 0 else data
