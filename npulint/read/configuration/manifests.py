"""Reads Docker Compose files and Kubernetes manifests: the containers that they start."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from npulint.facts.model import Fact, Span
from npulint.read.configuration.leaves import Tree
from npulint.read.containers.record import PROGRAM, StartedWith, container_facts

_GPU_RESOURCES = ("nvidia.com/gpu", "nvidia.com/mig", "alpha.kubernetes.io/nvidia-gpu")
_NPU_RESOURCES = ("huawei.com/",)
_DEEPEST = 40  # nested mappings of a manifest


def manifest_facts(documents: Sequence[Tree], path: str) -> list[Fact]:
    """The facts of the containers that a Compose file or the documents of a Kubernetes manifest start."""
    services = [service for tree in documents for service in _services(tree)]
    pods = [pod for tree in documents for pod in _pods(tree)]
    return [*container_facts(services, path, "compose"), *container_facts(pods, path, "kubernetes")]


def _services(root: Tree) -> Iterator[StartedWith]:
    for name, tree in _map(_get(root, "services")).items():
        service = _map(tree)
        if not ("image" in service or "build" in service):
            continue
        image = service.get("image")
        started_with = StartedWith(_text(image), image.span if image else tree.span, _built_from(service.get("build")))
        started_with.image = started_with.image or name
        started_with.open = "extends" in service or "env_file" in service
        started_with.devices = [_side(item, 0, "source") for item in _items(service.get("devices"))]
        started_with.mounts = [_side(item, 1, "target") for item in _items(service.get("volumes"))]
        started_with.variables = _names(service.get("environment"))
        started_with.runtime = _text(service.get("runtime"))
        started_with.privileged = _is(service.get("privileged"), True)
        started_with.host_memory = _text(service.get("ipc")) not in ("", "private", "none")
        started_with.memory_size = "shm_size" in service
        started_with.program = _runs(service, "entrypoint", "command")
        started_with.gpus = list(_compose_gpus(service))
        yield started_with


def _built_from(build: Tree | None) -> tuple[str, ...]:
    arguments = _get(build, "args")
    return tuple(_text(value) for value in (*_map(arguments).values(), *_items(arguments)) if _text(value))


def _compose_gpus(service: dict[str, Tree]) -> Iterator[tuple[str, Span]]:
    runtime, gpus = service.get("runtime"), service.get("gpus")
    if runtime is not None and _text(runtime) == "nvidia":
        yield "runtime: nvidia", runtime.span
    if gpus is not None:
        yield f"gpus: {_text(gpus)}", gpus.span
    reserved = _get(_get(_get(service.get("deploy"), "resources"), "reservations"), "devices")
    for item in _items(reserved):
        driver, kinds = _get(item, "driver"), [_text(tree) for tree in _items(_get(item, "capabilities"))]
        if driver is not None and _text(driver) == "nvidia":
            yield "driver: nvidia", driver.span
        elif driver is None and "gpu" in kinds:
            yield "capabilities: [gpu]", item.span


def _pods(root: Tree) -> Iterator[StartedWith]:
    """The containers of all pods in a document, whatever kind of resource they are part of."""
    if "apiVersion" not in _map(root):
        return
    stack = [(root, 0)]
    while stack:
        tree, depth = stack.pop()
        if depth > _DEEPEST:
            continue
        pod = _map(tree)
        for item in _items(pod.get("containers")):
            if "image" in _map(item):
                yield _container(_map(item), pod)
        inner = [*pod.values(), *_items(tree)]
        stack += [(tree, depth + 1) for tree in reversed(inner) if isinstance(tree.value, dict | list)]


def _container(container: dict[str, Tree], pod: dict[str, Tree]) -> StartedWith:
    image = container["image"]
    started_with = StartedWith(_text(image), image.span)
    started_with.open = "envFrom" in container
    started_with.mounts = [_text(_get(item, "mountPath")) for item in _items(container.get("volumeMounts"))]
    started_with.variables = {
        _text(_get(item, "name")) for item in _items(container.get("env")) if "value" in _map(item)
    }
    started_with.privileged = _is(_get(container.get("securityContext"), "privileged"), True)
    started_with.host_memory = _is(pod.get("hostIPC"), True)
    started_with.program = _runs(container, "command", "args")
    runtime = pod.get("runtimeClassName")
    started_with.runtime = _text(runtime)
    if runtime is not None and started_with.runtime == "nvidia":
        started_with.gpus.append(("runtimeClassName: nvidia", runtime.span))
    requested: set[str] = set()
    for part in ("limits", "requests"):
        for name, amount in _map(_get(container.get("resources"), part)).items():
            started_with.plugin = started_with.plugin or name.startswith(_NPU_RESOURCES)
            if name.startswith(_NPU_RESOURCES) and not _is(amount, 0):
                started_with.resource = started_with.resource or name
            if name.startswith(_GPU_RESOURCES) and name not in requested and not _is(amount, 0):
                requested.add(name)
                started_with.gpus.append((name, amount.span))
    return started_with


def _runs(container: dict[str, Tree], *keys: str) -> bool:
    """Whether a container is started with a program: a text, or a list of words."""
    trees = [container.get(key) for key in keys]
    words = [word for tree in trees for word in (_text(tree), *map(_text, _items(tree)))]
    return PROGRAM.search(" ".join(words) + " ") is not None


def _map(tree: Tree | None) -> dict[str, Tree]:
    return tree.value if tree is not None and isinstance(tree.value, dict) else {}


def _items(tree: Tree | None) -> list[Tree]:
    return tree.value if tree is not None and isinstance(tree.value, list) else []


def _get(tree: Tree | None, key: str) -> Tree | None:
    return _map(tree).get(key)


def _text(tree: Tree | None) -> str:
    return "" if tree is None or tree.value is None or isinstance(tree.value, dict | list) else str(tree.value)


def _is(tree: Tree | None, value: object) -> bool:
    return tree is not None and tree.value == value and type(tree.value) is type(value)


def _side(item: Tree, side: int, key: str) -> str:
    """The host's (0) or the container's (1) path of ``host:container``, or of a mapping with these keys."""
    if isinstance(item.value, dict):
        return _text(_get(item, key))
    parts = _text(item).split(":")
    return parts[min(side, len(parts) - 1)]


def _names(environment: Tree | None) -> set[str]:
    return {*_map(environment), *(_text(item).partition("=")[0] for item in _items(environment))}
