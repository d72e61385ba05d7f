"""Imports that files are wished for."""

from __future__ import annotations

import pytest

from npulint.fix.imports import merged_imports
from npulint.fix.model import FixRefused, ImportRequest, Text
from npulint.fix.source import edited_text
from tests.fix_support import PATH

TORCH = ("import torch_npu", "torch")
NPU = ("from npu_bridge.npu_init import npu_ops", "tensorflow")
CONFIG = ("from npu_bridge.npu_init import npu_config_proto", "tensorflow")

Case = tuple[str, tuple[tuple[str, str], ...], str]


def result(source: str, requests: tuple[tuple[str, str], ...]) -> str:
    """What the requests (statement, after) make of a source."""
    try:
        edits = merged_imports(
            Text(PATH, "python", source), [ImportRequest(PATH, statement, after) for statement, after in requests]
        )
    except FixRefused as refused:
        return f"refused: {refused.reason}"
    return edited_text(source, edits)


CASES: dict[str, Case] = {
    "behind the package": ("import torch\nx = 1\n", (TORCH,), "import torch\nimport torch_npu\nx = 1\n"),
    "behind the first import of the package": (
        "import os\nimport torch.nn as nn\nimport torch\n",
        (TORCH,),
        "import os\nimport torch.nn as nn\nimport torch\nimport torch_npu\n",
    ),
    "behind a from-import of the package": (
        "from torch.nn import Linear\n",
        (TORCH,),
        "from torch.nn import Linear\nimport torch_npu\n",
    ),
    "behind a part of the package with another name": (
        "import tensorflow.compat.v1 as tf\n",
        (NPU,),
        "import tensorflow.compat.v1 as tf\nfrom npu_bridge.npu_init import npu_ops\n",
    ),
    "a package that only begins alike": (
        "import torchvision\nimport os\n",
        (TORCH,),
        "import torchvision\nimport os\nimport torch_npu\n",
    ),
    "behind an import over lines with a comment": (
        "from torch import (  # all\n    nn,\n)  # end\nx = 1\n",
        (TORCH,),
        "from torch import (  # all\n    nn,\n)  # end\nimport torch_npu\nx = 1\n",
    ),
    "behind a block that tries": (
        "try:\n    import torch\nexcept ImportError:\n    torch = None\nx = 1\n",
        (TORCH,),
        "try:\n    import torch\nexcept ImportError:\n    torch = None\nimport torch_npu\nx = 1\n",
    ),
    "behind a choice": (
        "if v2:\n    import tensorflow.compat.v1 as tf\nelse:\n    import tensorflow as tf\n",
        (NPU,),
        "if v2:\n    import tensorflow.compat.v1 as tf\nelse:\n    import tensorflow as tf\n"
        "from npu_bridge.npu_init import npu_ops\n",
    ),
    "behind all statements of the line": (
        "import os; import torch; x = 1  # why\ny = 2\n",
        (TORCH,),
        "import os; import torch; x = 1  # why\nimport torch_npu\ny = 2\n",
    ),
    "the package is imported in a function": (
        "import os\n\n\ndef f():\n    import torch\n",
        (TORCH,),
        "import os\nimport torch_npu\n\n\ndef f():\n    import torch\n",
    ),
    "the package is imported by the script alone": (
        "import os\n\nif __name__ == '__main__':\n    import torch\n",
        (TORCH,),
        "import os\nimport torch_npu\n\nif __name__ == '__main__':\n    import torch\n",
    ),
    "a package that is not told": (
        "import os\nx = 1\n",
        (("import torch_npu", ""),),
        "import os\nimport torch_npu\nx = 1\n",
    ),
    "behind __future__": (
        "from __future__ import annotations\n\nx = 1\n",
        (TORCH,),
        "from __future__ import annotations\nimport torch_npu\n\nx = 1\n",
    ),
    "behind a docstring": ('"""Doc."""\nx = 1\n', (TORCH,), '"""Doc."""\n\nimport torch_npu\n\nx = 1\n'),
    "behind a docstring and a blank line": (
        '"""Doc."""\n\nx = 1\n',
        (TORCH,),
        '"""Doc."""\n\nimport torch_npu\n\nx = 1\n',
    ),
    "behind the first lines": (
        "#!/usr/bin/python\n# -*- coding: utf-8 -*-\nx = 1\n",
        (TORCH,),
        "#!/usr/bin/python\n# -*- coding: utf-8 -*-\n\nimport torch_npu\n\nx = 1\n",
    ),
    "behind the first lines of a decorated function": (
        "# one\n\n# two\n@d\ndef f(): pass\n",
        (TORCH,),
        "# one\n\nimport torch_npu\n\n# two\n@d\ndef f(): pass\n",
    ),
    "at the beginning": ("x = 1\n", (TORCH,), "import torch_npu\n\nx = 1\n"),
    "in an empty file": ("", (TORCH,), "import torch_npu\n"),
    "in a file without a last line end": ("import torch", (TORCH,), "import torch\nimport torch_npu"),
    "in a file of comments": ("# one\n", (TORCH,), "# one\n\nimport torch_npu\n"),
    "behind another import of its own package": (
        "import torch\nimport os\nimport torch_npu\nimport sys\n",
        (("from torch_npu.contrib import transfer_to_npu", "torch"),),
        "import torch\nimport os\nimport torch_npu\nfrom torch_npu.contrib import transfer_to_npu\nimport sys\n",
    ),
    "two names of a module": (
        "import tensorflow as tf\n",
        (NPU, CONFIG),
        "import tensorflow as tf\nfrom npu_bridge.npu_init import npu_ops, npu_config_proto\n",
    ),
    "the same twice": ("import torch\n", (TORCH, TORCH), "import torch\nimport torch_npu\n"),
    "two modules": (
        "import torch\n",
        (TORCH, ("from torch_npu.contrib import transfer_to_npu", "torch")),
        "import torch\nimport torch_npu\nfrom torch_npu.contrib import transfer_to_npu\n",
    ),
    "one more name of a module": (
        "from npu_bridge.npu_init import npu_config_proto\n",
        (NPU,),
        "from npu_bridge.npu_init import npu_config_proto, npu_ops\n",
    ),
    "one more name in parentheses": (
        "from npu_bridge.npu_init import (npu_config_proto)  # why\n",
        (NPU,),
        "from npu_bridge.npu_init import (npu_config_proto, npu_ops)  # why\n",
    ),
    "one more name in lines": (
        "from npu_bridge.npu_init import (\n    a,\n    b,  # why\n)\n",
        (NPU,),
        "from npu_bridge.npu_init import (\n    a,\n    b,  # why\n    npu_ops,\n)\n",
    ),
    "one more name in a long line": (
        f"from npu_bridge.npu_init import {'a' * 81}\n",
        (NPU,),
        f"from npu_bridge.npu_init import ({'a' * 81},\n    npu_ops)\n",
    ),
    "the module is imported within a block": (
        "import tensorflow\nif a:\n    from npu_bridge.npu_init import npu_config_proto\n",
        (NPU,),
        "import tensorflow\nfrom npu_bridge.npu_init import npu_ops\n"
        "if a:\n    from npu_bridge.npu_init import npu_config_proto\n",
    ),
    "it is there": ("from npu_bridge.npu_init import npu_ops\n", (NPU,), "from npu_bridge.npu_init import npu_ops\n"),
    "a star is there": ("from npu_bridge.npu_init import *\n", (NPU,), "from npu_bridge.npu_init import *\n"),
    "the same in another form is there": (
        "from a import b as c\n",
        (("import a.b as c", ""),),
        "from a import b as c\n",
    ),
    "a part of the module is there": ("import a.b.c\n", (("import a.b", ""),), "import a.b.c\n"),
    "only the package is there": ("import a\n", (("import a.b", "a"),), "import a\nimport a.b\n"),
    "it is there with another name": ("import torch_npu as t\n", (TORCH,), "import torch_npu as t\nimport torch_npu\n"),
    "it is tried": (
        "try:\n    import torch_npu\nexcept ImportError:\n    torch_npu = None\n",
        (TORCH,),
        "try:\n    import torch_npu\nexcept ImportError:\n    torch_npu = None\n",
    ),
    "it is there on a condition": (
        "import torch\nif npu:\n    import torch_npu\n",
        (TORCH,),
        "import torch\nimport torch_npu\nif npu:\n    import torch_npu\n",
    ),
    "it is there in a function": (
        "import torch\ndef f():\n    import torch_npu\n",
        (TORCH,),
        "import torch\nimport torch_npu\ndef f():\n    import torch_npu\n",
    ),
    "a name that is assigned": ("npu_ops = 1\n", (NPU,), "refused: name-taken"),
    "a name that a loop assigns": ("for npu_ops in x: pass\n", (NPU,), "refused: name-taken"),
    "a name that a function assigns for the module": (
        "def f():\n    global npu_ops\n    npu_ops = 1\n",
        (NPU,),
        "refused: name-taken",
    ),
    "a name that is defined": ("if a:\n    def npu_ops(): pass\n", (NPU,), "refused: name-taken"),
    "it is there from another module of the adapter": (
        "from npu_bridge.estimator import npu_ops\n",
        (NPU,),
        "from npu_bridge.estimator import npu_ops\n",
    ),
    "a name that is imported from elsewhere": ("from mine import npu_ops\n", (NPU,), "refused: name-taken"),
    "a name that two requests want": ("", (NPU, ("from mine import npu_ops", "")), "refused: name-taken"),
    "a name that a parameter has": (
        "def f(npu_ops): pass\n",
        (NPU,),
        "from npu_bridge.npu_init import npu_ops\n\ndef f(npu_ops): pass\n",
    ),
    "no import": ("", (("x = 1", ""),), "refused: template"),
    "no Python": ("print 'x'\n", (TORCH,), "refused: not-python"),
}


@pytest.mark.parametrize(("source", "requests", "wanted"), CASES.values(), ids=CASES.keys())
def test_united(source: str, requests: tuple[tuple[str, str], ...], wanted: str) -> None:
    assert result(source, requests) == wanted


@pytest.mark.parametrize("source", [case[0] for case in CASES.values()], ids=CASES.keys())
def test_what_was_united_has_no_more_wishes(source: str) -> None:
    after = result(source, (TORCH,))
    assert after.startswith("refused") or result(after, (TORCH,)) == after
