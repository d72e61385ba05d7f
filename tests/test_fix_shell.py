"""Fixes in launchers: what each verb makes of a script, byte for byte, and where it keeps its hands off."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from npulint.facts.model import Span
from npulint.fix.model import FixRefused, Text
from npulint.fix.shell import plan
from npulint.fix.verify import objection
from npulint.judge.findings import FixStep
from npulint.read.json_tree import Lines

Mark = str | tuple[str, int]
"""A text in a script, and how many like it stand before it."""


def place(script: str, marked: Mark) -> Span:
    """Where the mark stands in the script."""
    mark, nth = (marked, 0) if isinstance(marked, str) else marked
    start = -1
    for _ in range(nth + 1):
        start = script.index(mark, start + 1)
    return Lines(script).span(start, start + len(mark))


def offset(script: str, line: int, column: int) -> int:
    return sum(len(one) + 1 for one in script.split("\n")[: line - 1]) + column - 1


def fixed(script: str, verb: str, mark: Mark, **words: str) -> str:
    """The script after one step at the mark."""
    text = Text("run.sh", "shell", script)
    edits = plan(FixStep(verb, "run.sh", place(script, mark), words), text).edits
    after = script
    for edit in sorted(edits, key=lambda one: one.span, reverse=True):
        assert edit.path == "run.sh"
        start, end = (
            offset(script, *at)
            for at in ((edit.span.line, edit.span.column), (edit.span.end_line, edit.span.end_column))
        )
        after = after[:start] + edit.text + after[end:]
    assert objection(text, after, edits) == ""
    return after


def refusal(script: str, verb: str, mark: Mark, **words: str) -> str:
    with pytest.raises(FixRefused) as raised:
        fixed(script, verb, mark, **words)
    return raised.value.reason


@pytest.mark.parametrize(
    ("script", "left"),
    [
        ("export A=1\n", ""),
        ("export A=1", ""),
        ("x\nexport A=1\ny\n", "x\ny\n"),
        ("x\n  export A=1   # why\ny\n", "x\ny\n"),
        ("export A=1;\ny\n", "y\n"),
        ("export A=1; y\n", "y\n"),
        ("y; export A=1\nz\n", "y\nz\n"),
        ("y; export A=1; z\n", "y; z\n"),
        ("export A=1 B=2\n", "export B=2\n"),
        ("export B=2 A=1\n", "export B=2\n"),
        ("export B=2 \\\n  A=1 \\\n  C=3\n", "export B=2 \\\n  C=3\n"),
        ("export \\\n  A=1\ny\n", "y\n"),
        ("export B=2 \\\n  A=1 C=3\n", "export B=2 \\\n  C=3\n"),
        ("A=1 python train.py\n", "python train.py\n"),
        ("A=1 B=2 python train.py\n", "B=2 python train.py\n"),
        ("B=2 A=1 nohup python train.py > log 2>&1 &\n", "B=2 nohup python train.py > log 2>&1 &\n"),
        ("A=1 \\\npython train.py\n", "python train.py\n"),
        ("env A=1 python train.py\n", "env python train.py\n"),
        ("mpirun -n 8 -x A=1 -x B=2 python train.py\n", "mpirun -n 8 -x B=2 python train.py\n"),
        ("declare -x A=1\ny\n", "y\n"),
        ("export A=1 && python train.py\n", "python train.py\n"),
        ("cd x && export A=1 && python train.py\n", "cd x && python train.py\n"),
        ("export A=1 && \\\n  python train.py\n", "python train.py\n"),
        ("if x; then\n  export A=1\nfi\n", "if x; then\n  :\nfi\n"),
        ("if x; then\n  export A=1\n  y\nfi\n", "if x; then\n  y\nfi\n"),
        ("if x; then export A=1; fi\n", "if x; then :; fi\n"),
        ("if x; then export A=1; y; fi\n", "if x; then y; fi\n"),
        ("if x; then export A=1\n  y\nfi\n", "if x; then\n  y\nfi\n"),
        ("if x; then y; else export A=1; fi\n", "if x; then y; else :; fi\n"),
        ("for i in 0 1; do\n  export A=1\ndone\n", "for i in 0 1; do\n  :\ndone\n"),
        ("for i in 0 1; do export B=$i; export A=1; done\n", "for i in 0 1; do export B=$i; done\n"),
        ("f() {\n  export A=1\n}\n", "f() {\n  :\n}\n"),
        ("function f\n{\n  y\n  export A=1\n}\n", "function f\n{\n  y\n}\n"),
        ("(export A=1; y)\n", "(y)\n"),
        ("case $x in\n  1)\n    export A=1\n    ;;\nesac\n", "case $x in\n  1)\n    ;;\nesac\n"),
        ("y <<E\nexport A=2\nE\nexport A=1\nz\n", "y <<E\nexport A=2\nE\nz\n"),
        ("# only this\nexport A=1\n\ny\n", "y\n"),
        ("x\n\nexport A=1\n\ny\n", "x\n\ny\n"),
        ("#export B=1\n# only this\nexport A=1\n# next\n", "#export B=1\n# next\n"),
        ("x\n\n# only this\nexport A=1\n# next\ny\n", "x\n\n# next\ny\n"),
        ("# these two\nexport A=1\nexport B=2\n", "# these two\nexport B=2\n"),
        ("# two\n# lines\nexport A=1\n", "# two\n# lines\n"),
        ("#!/bin/bash\nexport A=1\n", "#!/bin/bash\n"),
        ("# export A=0\nexport A=1\n", "# export A=0\n"),
        ("# ------\nexport A=1\n", "# ------\n"),
        ("# npulint: disable=all\nexport A=1\n", "# npulint: disable=all\n"),
        ("echo \"don't\"  # it's\nexport A=1\n", "echo \"don't\"  # it's\n"),
    ],
)
def test_what_is_deleted_leaves_a_script(script: str, left: str) -> None:
    assert fixed(script, "delete", "A=1", what="statement") == left


def test_exporting_by_name_goes_with_the_assignment() -> None:
    assert fixed("A=1\nexport A\ny\n", "delete", ("A", 1), what="line") == "y\n"
    assert fixed("A=1\nexport B A\ny\n", "delete", ("A", 1), what="line") == "export B\ny\n"
    assert refusal("A=1\nA=2\nexport A\n", "delete", ("A", 2), what="line") == "several"
    assert refusal("if x; then\n  A=1\nfi\nexport A\n", "delete", ("A", 1), what="line") == "several"


def test_overrides_of_a_configuration_are_deleted() -> None:
    script = "python3 -m main a.b=1 \\\n    +a.c.d=2 \\\n    e=3\n"
    assert fixed(script, "delete", "+a.c.d=2", what="statement") == "python3 -m main a.b=1 \\\n    e=3\n"
    assert refusal(script, "delete", "main", what="statement") == "shell"


def test_commands_and_options_are_deleted() -> None:
    assert fixed("x\nnvidia-smi\ny\n", "delete", "nvidia-smi", what="statement") == "x\ny\n"
    script = "python train.py --xla=True --lr 0.1 \\\n  --amp True\n"
    assert fixed(script, "delete", "--xla=True", what="statement") == script.replace(" --xla=True", "")
    assert fixed(script, "delete", "--lr 0.1", what="statement") == script.replace(" --lr 0.1", "")
    assert fixed(script, "delete", "--amp True", what="statement") == "python train.py --xla=True --lr 0.1\n"


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("x && export A=1\n", "joined"),
        ("export A=1 || y\n", "joined"),
        ("x | export A=1\n", "joined"),
        ("A=1 <<E\nx\nE\n", "joined"),
        ("x &&\n  export A=1\ny\n", "joined"),
        ("x ||\n\n  export A=1\ny\n", "joined"),
        ("export A=1 &\n", "joined"),
        ("if export A=1; then y; fi\n", "joined"),
        ("! export A=1\n", "joined"),
        ("export A=1 && # why\n  y\n", "joined"),
        ("# A=1\n", "place"),
        ("cat <<E\nexport A=1\nE\n", "place"),
        ("x=$(export A=1; y)\n", "nested"),
        ("bash -c 'export A=1'\n", "nested"),
        ("eval export A=1\n", "shell"),
        ("for i in A=1; do y; done\n", "shell"),
        ("export A=1\nx='\n", "unclosed"),
        ("x > A=1\n", "shell"),
        ("export A=1 B=$[(1)%2]\n", "shell"),
        ("echo A=1 > x\n", ""),
    ],
)
def test_what_others_depend_on_is_not_deleted(script: str, reason: str) -> None:
    if reason:
        assert refusal(script, "delete", "A=1", what="statement") == reason
    else:
        assert fixed(script, "delete", "A=1", what="statement") == "echo > x\n"


@pytest.mark.parametrize(
    ("script", "after"),
    [
        ("export OLD=0\n", "export NEW=0\n"),
        ("OLD=0 python train.py\n", "NEW=0 python train.py\n"),
        ('export OLD=$1\necho "${OLD}" $OLD\n', 'export NEW=$1\necho "${NEW}" $NEW\n'),
        ("export OLD=$OLD:1\n", "export NEW=$NEW:1\n"),
        ("export OLD=0  # OLD is the one\n", "export NEW=0  # OLD is the one\n"),
        ("export OLD=0\nn=$(echo ${OLD//,/ } | wc -w)\n", "export NEW=0\nn=$(echo ${NEW//,/ } | wc -w)\n"),
        ("export OLD=0\nexport OLDER=1\nx MY_OLD\n", "export NEW=0\nexport OLDER=1\nx MY_OLD\n"),
        ("export OLD=0\nOLD=1 x\n", "export NEW=0\nOLD=1 x\n"),
        ("export OLD=0\nunset OLD\n", "export NEW=0\nunset NEW\n"),
        ("mpirun -x OLD=0 python train.py\n", "mpirun -x NEW=0 python train.py\n"),
    ],
)
def test_a_variable_is_renamed_with_its_uses(script: str, after: str) -> None:
    assert fixed(script, "rename_part", script[script.index("OLD=") :].split()[0], part="OLD", to="NEW") == after


def test_a_variable_exported_by_name_is_renamed_where_it_is_set() -> None:
    assert fixed("OLD=0\nexport OLD\n", "rename_part", ("OLD", 1), part="OLD", to="NEW") == "NEW=0\nexport NEW\n"


@pytest.mark.parametrize(
    "script",
    [
        "export OLD=0\nssh host 'echo $OLD'\n",
        "export OLD=0\ncat <<E\n$OLD\nE\n",
        "export OLD=0\npython -c \"import os; os.environ['OLD']\"\n",
        "export OLD=0\npython train.py --variable=OLD\n",
        "export OLD=0\nNEW=1\n",
    ],
)
def test_a_variable_that_others_may_mean_keeps_its_name(script: str) -> None:
    assert refusal(script, "rename_part", "OLD=0", part="OLD", to="NEW") == "several"


def test_parts_of_words_are_written_anew() -> None:
    assert fixed("nvidia-smi\n", "retext", "nvidia-smi", part="nvidia-smi", to="npu-smi info") == "npu-smi info\n"
    script = "nvidia-smi | grep x\n"
    assert refusal(script, "retext", "nvidia-smi", part="nvidia-smi", to="npu-smi info") == "joined"
    script = "/usr/bin/nvidia-smi\n"
    assert refusal(script, "retext", script.strip(), part="nvidia-smi", to="npu-smi info") == "joined"
    script = "python -m a.launch --x \\\n  train.py | tee log\n"
    mark = script.split(" |")[0]
    assert fixed(script, "retext", mark, part="a.launch", to="a.run") == script.replace("launch", "run")
    assert refusal("x $nccl\n", "retext", "$nccl", part="nccl", to="hccl") == "place"
    assert fixed("x --b=nccl,nccl2\n", "retext", "--b=nccl,nccl2", part="nccl", to="hccl") == "x --b=hccl,nccl2\n"


@pytest.mark.parametrize(
    ("script", "mark", "template", "after"),
    [
        ("export A=1\n", "A=1", "3", "export A=3\n"),
        ('export A="1"\n', 'A="1"', "3", 'export A="3"\n'),
        ("export A='1' # why\n", "A='1'", "3", "export A='3' # why\n"),
        ("export A=\n", "A=", "3", "export A=3\n"),
        ("export A=$x\n", "A=$x", "$old,7", "export A=$x,7\n"),
        ("x --a=1 --b\n", "--a=1", "2", "x --a=2 --b\n"),
        ("x --a 1 --b\n", "--a 1", "2", "x --a 2 --b\n"),
        ('x --a "1" --b\n', '--a "1"', "2", 'x --a "2" --b\n'),
    ],
)
def test_values_are_replaced(script: str, mark: str, template: str, after: str) -> None:
    assert fixed(script, "value", mark, **{"with": template}) == after


def test_values_that_are_worked_out_stay() -> None:
    assert refusal("export A=$1\n", "value", "A=$1", **{"with": "3"}) == "computed"
    assert refusal("export A=${A:-1}\n", "value", "A=${A:-1}", **{"with": "3"}) == "computed"
    assert refusal("A+=1\n", "value", "A+=1", **{"with": "3"}) == "shell"
    assert refusal("x $args --b\n", "value", "$args", **{"with": "3"}) == "shell"


@pytest.mark.parametrize(
    ("script", "mark", "after"),
    [
        ("export A = 1\n", "A = 1", "export A=1\n"),
        ("export A =1\n", "A =1", "export A=1\n"),
        ('export A = "x y"  # why\n', 'A = "x y"', 'export A="x y"  # why\n'),
        ("SIZE = 8\n", "SIZE =", "SIZE=8\n"),
        ("SIZE =  $n; y\n", "SIZE =", "SIZE=$n; y\n"),
        ("x --flag False --lr 1\n", "--flag False", "x --flag=False --lr 1\n"),
        ("x --flag \\\n $f\n", "--flag \\\n $f", "x --flag=$f\n"),
    ],
)
def test_a_name_and_its_value_are_joined(script: str, mark: str, after: str) -> None:
    assert fixed(script, "replace", mark, **{"with": "$callee=$arguments"}) == after


@pytest.mark.parametrize(
    ("script", "mark"), [("export A = 1 B = 2\n", "A = 1 B = 2"), ("export A =\n", "A ="), ("x --f\n", "--f")]
)
def test_what_is_no_name_with_one_value_is_not_joined(script: str, mark: str) -> None:
    assert refusal(script, "replace", mark, **{"with": "$callee=$arguments"}) == "shell"


def test_options_without_a_value_are_dropped() -> None:
    script = "python -m launch --use_env --n=8 \\\n  --use-env train.py\n"
    after = "python -m launch --n=8 \\\n  train.py\n"
    assert fixed(script, "drop", "python -m launch", name="use_env") == after
    assert refusal("python -m launch x\n", "drop", "python", name="use_env") == "place"


def test_assignments_are_exported() -> None:
    assert fixed("  A=1\n", "export", "A=1", what="variable") == "  export A=1\n"
    assert fixed("x; A=$(y)\n", "export", "A=$(y)", what="variable") == "x; export A=$(y)\n"
    assert refusal("A=1 B=2\n", "export", "A=1", what="variable") == "shell"
    assert refusal("A=1 x\n", "export", "A=1", what="variable") == "shell"


@pytest.mark.parametrize(
    ("script", "where", "after"),
    [
        ("a\n  run x\n", "before", "a\n  new\n  run x\n"),
        ("cd a && run x\n", "before", "new\ncd a && run x\n"),
        ("A=1 \\\n run x\n", "before", "new\nA=1 \\\n run x\n"),
        ("a\n  run x # why\nb\n", "after", "a\n  run x # why\n  new\nb\n"),
        ("run x", "after", "run x\nnew"),
        ("run x \\\n  y\nb\n", "after", "run x \\\n  y\nnew\nb\n"),
        (
            "#!/bin/sh\n# c\n\nset -e\nif a; then run x; fi\n",
            "imports",
            "#!/bin/sh\n# c\n\nnew\nset -e\nif a; then run x; fi\n",
        ),
        ("for i in 1; do\n  run x &\ndone\n", "before", "for i in 1; do\n  new\n  run x &\ndone\n"),
    ],
)
def test_lines_are_put_beside_a_command(script: str, where: str, after: str) -> None:
    assert fixed(script, "insert", "run", text="new", where=where) == after


@pytest.mark.parametrize(
    ("script", "where"),
    [
        ("for i in 1; do run x & done\n", "before"),
        ("if a; then run x; fi\n", "before"),
        ("cd a &&\n  run x\n", "before"),
        ("(run x)\n", "before"),
        ("run x &\n", "after"),
        ("run x; y\n", "after"),
        ("run x\n", "beside"),
    ],
)
def test_lines_are_not_put_into_a_command(script: str, where: str) -> None:
    assert refusal(script, "insert", "run", text="new", where=where) in ("joined", "shell")


def test_line_ends_become_those_of_unix() -> None:
    edits = plan(FixStep("line_ends", "run.sh", Span(), {"what": "lf"}), Text("run.sh", "shell", "a\n\nb")).edits
    assert [(edit.span, edit.text) for edit in edits] == [(Span(1, 2, 2, 1), "\n"), (Span(2, 1, 3, 1), "\n")]


def test_unknown_verbs_are_refused() -> None:
    assert refusal("x\n", "wrap", "x", **{"with": "$old"}) == "verb"


_PIECES = st.lists(
    st.sampled_from(
        [
            "x", "\n", " ", ";", "&&", "|", "\\\n", "if", "then", "fi", "{", "}", "(", ")", "do", "done", "for",
            "export", "B=2", "'q'", '"r $s"', "$(t)", "# c", "<<E", "E", ">", "&", "case", "esac", "$A", "`u`",
        ]
    ),
    max_size=12,
)  # fmt: skip


@given(_PIECES, _PIECES, st.sampled_from(["delete", "rename_part", "value", "export"]))
def test_other_lines_keep_their_words(before: list[str], behind: list[str], verb: str) -> None:
    script = " ".join([*before, "A=1", *behind])
    words = {"delete": {"what": "line"}, "rename_part": {"part": "A", "to": "N"}, "value": {"with": "7"}}
    reason, after = "", script
    try:
        after = fixed(script, verb, "A=1", **words.get(verb, {"what": "variable"}))
    except FixRefused as refused:
        reason = refused.reason
    assert reason in ("", "place", "shell", "joined", "computed", "several")
    assert (after == script) == bool(reason)
    assert ("A=1" in after) == (verb == "export" or bool(reason))
