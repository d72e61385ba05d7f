"""The kinds of inputs and outputs of an exported program: parameters, buffers, gradients."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from msgspec import UNSET

from npulint.graphs.read.torch.schema import Signature, Spec, SpecValue

_GRADIENTS = ("gradient_to_parameter", "gradient_to_user_input")


def input_kinds(signature: Signature) -> dict[str, dict[str, str]]:
    """Attributes by input name: its ``kind`` (parameter, buffer, user_input, tensor_constant, custom_obj …) and, where
    it has one, its name in the model as ``target``."""
    kinds = {}
    for kind, spec in _each(signature.input_specs):
        target = spec.parameter_name or spec.buffer_name or spec.tensor_constant_name or spec.custom_obj_name
        kinds[_name(spec)] = {"kind": kind} | ({"target": target[:256]} if target else {})
    kinds |= {name: {"kind": "parameter", "target": to} for name, to in signature.inputs_to_parameters.items()}
    kinds |= {name: {"kind": "buffer", "target": to} for name, to in signature.inputs_to_buffers.items()}
    kinds |= {name: {"kind": "user_input"} for name in signature.user_inputs if isinstance(name, str)}
    mutated = {spec.buffer_name or spec.parameter_name for kind, spec in _each(signature.output_specs) if "mut" in kind}
    mutated |= set(signature.buffers_to_mutate.values())
    mutated.discard("")
    changed = {spec.user_input_name for kind, spec in _each(signature.output_specs) if kind == "user_input_mutation"}
    for name, attributes in kinds.items():
        if name in changed or attributes.get("target", "") in mutated:
            attributes["mutated"] = "yes"
    return kinds


def counts(signature: Signature) -> dict[str, int]:
    """The number of inputs and outputs of each kind."""
    found = Counter(kind for kind, _ in [*_each(signature.input_specs), *_each(signature.output_specs)])
    backward = signature.backward_signature
    for kind, number in (
        ("parameter", len(signature.inputs_to_parameters)),
        ("buffer", len(signature.inputs_to_buffers)),
        ("user_input", len(signature.user_inputs)),
        ("user_output", len(signature.user_outputs)),
        ("buffer_mutation", len(signature.buffers_to_mutate)),
        ("loss_output", int(backward is not None and bool(backward.loss_output))),
        ("gradient_to_parameter", len(backward.gradients_to_parameters) if backward else 0),
        ("gradient_to_user_input", len(backward.gradients_to_user_inputs) if backward else 0),
    ):
        found[kind] += number
    return {kind[:64]: number for kind, number in sorted(found.items())[:64] if number}


def outputs(signature: Signature) -> tuple[list[str], list[str]]:
    """The names of the outputs that are not gradients, and of those that are."""
    specs = list(_each(signature.output_specs))
    plain = [_name(spec) for kind, spec in specs if kind not in _GRADIENTS]
    gradients = [_name(spec) for kind, spec in specs if kind in _GRADIENTS]
    backward = signature.backward_signature
    if backward is not None:
        plain += [name for name in signature.user_outputs if isinstance(name, str)]
        gradients += [*backward.gradients_to_parameters, *backward.gradients_to_user_inputs]
    known = set(gradients)
    return [name for name in plain if name not in known], gradients


def first_output(signature: Signature) -> str:
    """The name of the first user output; empty if it is no tensor."""
    user_outputs = (
        _name(spec) for kind, spec in _each(signature.output_specs) if kind in ("user_output", "loss_output")
    )
    older = (name for name in signature.user_outputs if isinstance(name, str))
    return next(user_outputs, "") or next(older, "")


def _each(specs: list[dict[str, Spec]]) -> Iterator[tuple[str, Spec]]:
    for spec in specs:
        yield from spec.items()


def _name(spec: Spec) -> str:
    value = spec.arg
    return spec.name if value is UNSET else _of_value(value)


def _of_value(value: SpecValue) -> str:
    for named in (value.as_tensor, value.as_custom_obj):
        if named is not UNSET:
            return named.name
    for symbol in (value.as_sym_int, value.as_sym_float, value.as_sym_bool):
        if symbol is not UNSET and symbol.as_name is not UNSET:
            return symbol.as_name
    return value.name
