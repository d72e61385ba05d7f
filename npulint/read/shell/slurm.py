"""GPUs that jobs of Slurm request: ``#SBATCH --gres=gpu:8`` and ``srun --gres=gpu:8 …``."""

from __future__ import annotations

from collections.abc import Iterator

from npulint.core.lazy_regex import lazy_compile
from npulint.facts.kinds import fact_kind
from npulint.facts.model import FileFact
from npulint.read.json_tree import Lines

_REQUEST = lazy_compile(
    r"(?m)(?:^(?P<directive>\#SBATCH)[ \t]+(?:[^\n#]*?[ \t])?|^(?P<comment>[ \t]*\#).*?|(?<=[ \t\"']))"
    r"(?P<option>--gres[= \t][ \t]*[\"']?(?P<gres>gpu(?::(?![\d\$])[\w.-]+)?)(?![\w-])[^\s\\\"']*"
    r"|(?P<node>--gpus-per-node=)[^\s\\\"']+"
    r"|--gpus(?:-per-(?:node|task|socket))?[= \t][ \t]*[\w:${}]+)"
)


@fact_kind("slurm_request")
class SlurmRequest(FileFact):
    """A job of Slurm requests GPUs; the name is the option as written."""

    part: str
    """What of the option names GPUs."""
    instead: str
    """What requests NPUs in its place, empty if that is not known."""
    for_npu: bool
    """Whether the file loads the environment of CANN, and is thus for NPU servers."""


def slurm_requests(text: str, path: str) -> Iterator[SlurmRequest]:
    """The requests in a shell script: in its directives, and of the commands of Slurm."""
    if "--g" not in text or not ("#SBATCH" in text or "srun" in text or "sbatch" in text or "salloc" in text):
        return
    lines = Lines(text)
    for_npu = "set_env" in text or "ASCEND_" in text
    for match in _REQUEST.finditer(text):
        unsure = match["gres"] is None and match["directive"] is None  # --gpus is an option of other programs as well
        if match["comment"] is not None or unsure:
            continue
        start, end = match.span("option")
        named = match.end("gres") if match["gres"] else match.end("node") if match["node"] else end
        part = text[start:named]
        instead = part.replace(match["gres"], "npu") if match["gres"] else "--gres=npu:" if match["node"] else ""
        yield SlurmRequest(match["option"], path, lines.span(start, end), part, instead, for_npu)
