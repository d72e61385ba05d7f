"""The fact that a program as a whole is."""

from __future__ import annotations

from typing import Literal

from npulint.facts.attributes import Flag, attribute
from npulint.facts.kinds import fact_kind
from npulint.facts.model import Fact, Span
from npulint.facts.recipe import Side
from npulint.model.programs.precision import Computed, Lowered, Precision, ProgramPrecision
from npulint.model.values.script_role import Purpose

Framework = Literal["tensorflow", "torch", "onnx", "none"]
Migration = Literal["none", "transfer", "manual", "agnostic", "left"]
UNPORTED: frozenset[Migration] = frozenset(("none", "left"))
"""The ways to the NPU of PyTorch programs that have none."""
MigrationState = Literal["not_started", "partial", "migrated"]
Tensorflow = Literal["1", "2", ""]


@fact_kind("program")
class ProgramFact(Fact, eq=False, kw_only=True, dict=True):
    """A program as a whole, which checks query with `program: any`: a script with all that it reaches, a graph, the run
    that artifacts are left of, or one side of a comparison."""

    # The defaults are those of a program of which only artifacts are known.
    name: str = ""
    path: str = ""
    span: Span = Span()
    framework: Framework = "none"
    """The framework that it uses."""
    trains: bool = True
    """Whether it trains a model."""
    evaluates: bool = False
    """Whether its entry point evaluates a model."""
    exports: bool = False
    """Whether its entry point exports a model."""
    purpose: Purpose = "train"
    """What it is for."""
    state: MigrationState = "not_started"
    """How far it is migrated to the NPU."""
    mode: str = ""
    """The interfaces of TensorFlow that it trains with, separated by spaces: session, estimator, keras, function."""
    multi_device: Flag = "unknown"
    """Whether several devices train together."""
    ranks: Literal["many", "one", "unknown"] = "unknown"
    """The number of devices that launchers start it on."""
    runtime_v2: bool = False
    """Whether ENABLE_RUNTIME_V2=1 is set for it: in its code, or by launchers that do not start other scripts only."""
    npu: bool = False
    """Whether it imports an NPU adapter."""
    project_npu: bool = False
    """Whether some program of the project imports an NPU adapter, or is migrated without one; for a PyTorch program
    that trains and does not, whether it has a counterpart that does."""
    counterpart: str = ""
    """The script that trains the same model with the same data on the NPU and is started instead of it; empty if there
    is none, or if it reaches the NPU itself."""
    own_npu: bool = False
    """Whether its entry point imports an NPU adapter; where no program of the project opens an NPU with npu_device,
    whether anything does that it reaches."""
    entry: bool = False
    """Whether it has an entry point; a library has none."""
    only_moved: bool = False
    """Whether it is on the NPU, and nothing more is done for that: it sets no option of the adapter and scales no
    loss."""
    patched: bool = False
    """Whether importing the adapter patches `tf.Session`."""
    precision: Precision = "unknown"
    """The precision that its settings choose: mixed, fp16 (all is cast), origin (as written), default (none is set)."""
    _computed: ProgramPrecision = ProgramPrecision()
    tensorflow: Tensorflow = ""
    """The generation of TensorFlow that it is written for."""
    tensorflow_installed: Tensorflow = ""
    """The generation of TensorFlow that requirements and images install, which may run code of either."""
    torch: str = ""
    """The PyTorch release, empty if unknown."""
    megatron: Literal["no", "installed", "copied"] = "no"
    """Whether it builds its model with Megatron, and no adaptor for it is there: with the installed package, or with a
    copy in the project."""
    adapted: bool = False
    """Whether packages of the project apply an adaptor that redirects CUDA names to it, or it is a part of one."""
    migration: Migration = "none"
    """How a PyTorch program gets to the NPU: `transfer` (torch_npu redirects the CUDA names), `manual` (NPU names are
    written), `agnostic` (a library chooses the device), `none`, or `left`: it is not migrated, but its
    `counterpart` is, or if it does not train, other scripts of the project are."""
    device_by: str = ""
    """The packages with NPU support of which a PyTorch program uses a class that trains, and chooses the device,
    separated by spaces: accelerate, transformers."""
    remote: bool = False
    """Whether all its training steps run in processes of Ray, which do not load the entry script: neither an adapter
    nor an adaptor that only the script imports is there."""
    configured: bool = False
    """Whether it is not a script of the project but a training that a configuration file or a command line of a
    framework starts."""
    configured_by: str = ""
    """The framework that such a training is configured for."""
    port: Literal["explicit", "transfer"] = "explicit"
    """How fixes migrate PyTorch code in this run of npulint: `transfer` or `explicit`. Of fixes with names of the NPU,
    `--torch-port agnostic` only changes the spelling (`npulint.fix.agnostic`)."""
    chip: Literal["old", "new", "unknown"] = "unknown"
    """The chips that the target or the project names: `old` ones without bfloat16, which compile operators online by
    default (910A, 310P), or `new` ones."""
    soc: str = ""
    """The generation of chips that the target declares (910A, 910B, 910C, 950, 310P); empty if it declares none."""
    side: Side | None = None
    """The side of a comparison that it is."""
    graph: str | None = None
    """The form of the graph that it is."""
    run: bool = False
    """Whether it is the run that artifacts are left of."""

    @attribute
    def gradients(self) -> Computed:
        """The type of the gradients of its matrix operators on the NPU: `chip` if no mode is set and the chip is not
        known (float16 on 910A, float32 on later ones)."""
        return self._computed.gradients_on(self.soc)

    @attribute
    def operators(self) -> Lowered:
        """The type to which its mode lowers operators other than matrix ones, of a TensorFlow program: `planned` if no
        mode is set and nothing of the project is migrated yet, so that a mixed mode is what it will get."""
        is_planned = self.precision == "default" and not self.npu and not self.project_npu
        return "planned" if is_planned else self._computed.operators

    @attribute
    def parameters(self) -> Computed:
        """The type of the parameters that the optimizer of a PyTorch program updates."""
        return self._computed.parameters

    @attribute
    def scaled(self) -> Flag:
        """Whether a PyTorch program scales its loss: by a scaler, apex, a framework or manually; `no` if nothing in it
        does so."""
        return self._computed.scaled

    def computes(self, precision: ProgramPrecision) -> None:
        """Notes its precision."""
        self.precision, self._computed = precision.kind, precision
