"""Records what star imports of PyTorch modules bring, into data-src/torch_stars.csv.

python scripts/record_torch_names.py     (needs torch; the release that is installed is recorded)
"""

from __future__ import annotations

import csv
import importlib
from pathlib import Path

MODULES = (
    "torch",
    "torch.nn",
    "torch.nn.functional",
    "torch.nn.init",
    "torch.nn.parallel",
    "torch.optim",
    "torch.optim.lr_scheduler",
    "torch.utils.data",
    "torch.distributed",
    "torch.autograd",
    "torch.cuda.amp",
)
TARGET = Path(__file__).resolve().parent.parent / "data-src" / "torch_stars.csv"


def exported(module: str) -> list[str]:
    """The public names of a module, by ``__all__`` where it has one."""
    found = importlib.import_module(module)
    names = getattr(found, "__all__", None) or [name for name in vars(found) if not name.startswith("_")]
    return sorted(set(names))


def main() -> None:
    with TARGET.open("w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(("module", "names"))
        writer.writerows((module, " ".join(exported(module))) for module in MODULES)


if __name__ == "__main__":
    main()
