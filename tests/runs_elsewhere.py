"""Runs programs whose code serves several jobs, in one process: reads a list of ``{name: text}`` as JSON and gives what
each program keeps in ``answers``, or what it raised. There is no NPU; an Estimator reads its data sets to the
end where it evaluates and predicts, and takes `max_steps` batches where it trains."""

from __future__ import annotations

import json
import os
import runpy
import sys
import tempfile
import types
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

os.environ.update(TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="")

Batch = tuple[Any, Any]
InputFunction = Callable[[], Any]


class Estimator:
    """A model that gives each number doubled."""

    def __init__(self, *_: Any, **__: Any) -> None:
        self.sizes: list[int] = []

    def train(self, input_fn: InputFunction, max_steps: int) -> Estimator:
        self.sizes = [len(batch) for batch in islice(input_fn(), max_steps)]
        return self

    def evaluate(self, input_fn: InputFunction, steps: int | None = None) -> dict[str, float]:
        values = [float(one) for batch in islice(input_fn(), steps) for one in batch]
        return {"count": len(values), "sum": sum(values)}

    def predict(self, input_fn: InputFunction) -> Iterator[float]:
        for batch in input_fn():
            yield from (2 * float(one) for one in batch)


def _adapter() -> dict[str, types.ModuleType]:
    package, names = types.ModuleType("npu_bridge"), types.ModuleType("npu_bridge.npu_init")
    vars(names).update(NPUEstimator=Estimator, NPURunConfig=dict)
    vars(package)["npu_init"] = names
    return {"npu_bridge": package, "npu_bridge.npu_init": names}


def _answer(files: dict[str, str]) -> Any:
    """What a program of these files keeps."""
    before, path = set(sys.modules), list(sys.path)
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(text)
        sys.path.insert(0, folder)
        try:
            return runpy.run_path(os.path.join(folder, "train.py"), run_name="__main__")["answers"]
        except BaseException as error:
            return f"{type(error).__name__}: {error}"
        finally:
            sys.path[:] = path
            for name in files:
                sys.modules.pop(name.removesuffix(".py"), None)
            for name in set(sys.modules) - before:
                if name.partition(".")[0] == "torch_npu":
                    del sys.modules[name]


def main() -> None:
    """Answer for the programs of the standard input."""
    sys.modules.update(_adapter())
    json.dump([_answer(files) for files in json.load(sys.stdin)], sys.stdout)


if __name__ == "__main__":
    main()
