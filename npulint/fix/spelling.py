"""How code for several devices is written: with a helper module of the project, or with ``torch.accelerator``."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

import msgspec

from npulint.data.port_styles import spellings
from npulint.fix.helper_module import HelperModule, helper_module

_SINCE = (2, 6)  # the release of PyTorch that has torch.accelerator
_TYPE = "torch.accelerator.current_accelerator().type"
OF_AMP = ("autocast", "GradScaler")


class Spelling(msgspec.Struct, frozen=True):
    """One way to write code for several devices: with the `helper` of the project, with ``torch.accelerator``
    (`accelerator`), or, where both are there, with the functions of the one and the constants of the other."""

    helper: HelperModule | None
    accelerator: bool = False

    @property
    def type(self) -> str:
        """The expression for the type of the device (``npu``, ``cuda``)."""
        return "DEVICE_TYPE" if self.helper else _TYPE

    @property
    def backend(self) -> str:
        """The expression for the backend of process groups (``hccl``, ``nccl``)."""
        expression = "torch.distributed.get_default_backend_for_device(torch.accelerator.current_accelerator())"
        return "BACKEND" if self.helper else expression

    def name(self, canonical: str) -> tuple[str, bool]:
        """What is written for a name in ``torch.npu``, and whether the type becomes the first argument."""
        row = spellings().get(canonical)
        if self.accelerator and row is not None:
            return row.accelerator, row.first == "type"
        module = "device_module" if self.helper else "torch.get_device_module()"
        return module + canonical.removeprefix("torch.npu"), False

    def device(self, index: str) -> str:
        """The expression for the device that ``.cuda(index)`` moves to."""
        return f"device_at({index})" if self.helper else f"torch.device({_TYPE}, {index})"

    def imports(self, text: str) -> Iterator[str]:
        """The import statements that an expression of this spelling needs."""
        if "torch." in text:
            yield "import torch"
        if self.helper is None:
            return
        for name in ("DEVICE_TYPE", "BACKEND", "device_module", "device_at"):
            if name in text:
                yield f"from {self.helper.name} import {name}"


def spelling_of(
    texts: Mapping[str, str],
    programs: Mapping[str, Collection[str]],
    paths: Collection[str],
    releases: Iterable[str],
) -> Spelling | None:
    """The spelling for a project with these Python `texts` by path, `programs` (files by entry script), `paths` of all
    files, and pinned `releases` of PyTorch; None if there is no place from which its code could import the helper."""
    pinned = {tuple(map(int, release.split(".")[:2])) for release in releases if release}
    accelerator = bool(pinned) and min(pinned) >= _SINCE
    helper = helper_module(texts, programs, paths, accelerator)
    return Spelling(helper, accelerator) if helper or accelerator else None
