"""The operations that a run needs, and those among them that train."""

_UPDATES = ("Apply", "ResourceApply", "SparseApply", "ResourceSparseApply")
_STORES = ("Assign", "Scatter", "ResourceScatter")
_CALLS = frozenset(
    "If StatelessIf While StatelessWhile Case StatelessCase PartitionedCall StatefulPartitionedCall".split()
)


def closure(graph, names):
    """The operations that have to run for these results."""
    queue = [graph.as_graph_element(name, allow_tensor=True, allow_operation=True) for name in names]
    queue = [getattr(target, "op", target) for target in queue]
    needed = set(queue)
    while queue:
        operation = queue.pop()
        for other in [tensor.op for tensor in operation.inputs] + list(operation.control_inputs):
            if other not in needed:
                needed.add(other)
                queue.append(other)
    return needed


def updates(graph, operations):
    """The operations among these that update variables with gradients: none where nothing is trained."""
    names = {operation.name for operation in operations if operation.type.startswith(_UPDATES)}
    if not names and any(operation.type in _CALLS for operation in operations) and _inner_updates(graph):
        names = {operation.name for operation in operations if operation.type in _CALLS}
    gradients = {operation.name for operation in operations if _of_gradients(operation.name)}
    if not names and gradients:
        stores = [operation for operation in operations if operation.type.startswith(_STORES)]
        names = {
            store.name
            for store in stores
            if not gradients.isdisjoint(before.name for before in closure(graph, [store.name]))
        }
    return frozenset(names)


def _inner_updates(graph):
    for function in dict(getattr(graph, "_functions", None) or {}).values():
        inner = getattr(function, "graph", None)
        if inner is not None and any(operation.type.startswith(_UPDATES) for operation in inner.get_operations()):
            return True
    return False


def _of_gradients(name):
    return any(part == "gradients" or part.startswith("gradients_") for part in name.split("/")[:-1])
