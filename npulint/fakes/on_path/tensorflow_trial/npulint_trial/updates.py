"""The operations that a run needs, and those among them that train."""

_UPDATES = ("Apply", "ResourceApply", "SparseApply", "ResourceSparseApply")
_STORES = ("Assign", "Scatter", "ResourceScatter")
_CALLS = frozenset(
    "If StatelessIf While StatelessWhile Case StatelessCase PartitionedCall StatefulPartitionedCall".split()
)


def closure(graph, names):
    """The operations that have to run for these results."""
    queue = [graph.as_graph_element(name, allow_tensor=True, allow_operation=True) for name in names]
    queue = [getattr(one, "op", one) for one in queue]
    found = set(queue)
    while queue:
        one = queue.pop()
        for other in [tensor.op for tensor in one.inputs] + list(one.control_inputs):
            if other not in found:
                found.add(other)
                queue.append(other)
    return found


def updates(graph, operations):
    """The operations among these that update variables with gradients: none where nothing is trained."""
    found = {one.name for one in operations if one.type.startswith(_UPDATES)}
    if not found and any(one.type in _CALLS for one in operations) and _inner_updates(graph):
        found = {one.name for one in operations if one.type in _CALLS}
    gradients = {one.name for one in operations if _of_gradients(one.name)}
    if not found and gradients:
        stores = [one for one in operations if one.type.startswith(_STORES)]
        found = {one.name for one in stores if not gradients.isdisjoint(two.name for two in closure(graph, [one.name]))}
    return frozenset(found)


def _inner_updates(graph):
    for function in dict(getattr(graph, "_functions", None) or {}).values():
        inner = getattr(function, "graph", None)
        if inner is not None and any(one.type.startswith(_UPDATES) for one in inner.get_operations()):
            return True
    return False


def _of_gradients(name):
    return any(part == "gradients" or part.startswith("gradients_") for part in name.split("/")[:-1])
