"""Records which TensorFlow names mean the same thing, from unpacked wheels, without importing them.

    python scripts/record_tf_names.py TF1 ESTIMATOR TF2 --out data-src

TF1 and TF2 are directories into which the wheels of tensorflow-cpu 1.15.0 (cp37) and 2.6.5 (cp39) were
unzipped, ESTIMATOR one with tensorflow-estimator 1.15.1. The generated API packages of a wheel say where
every public name is defined; two public names with one home are two spellings of one thing.
"""

from __future__ import annotations

import argparse
import ast
import csv
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

Home = tuple[str, str]  # module, symbol
PREFERRED = ("nn", "train", "image", "python_io", "gfile", "signal", "linalg", "layers")
FACADES = ("tensorflow.python.ops.rnn_cell", "tensorflow.python.framework.framework_lib")
LEFT_OUT = (  # copies of the public API, answered by a prefix rule, and packages that nobody imports from
    "tensorflow.python.ops.standard_ops",
    "tensorflow.python.training.training",
    "tensorflow.python.ops.nn",
    "tensorflow.python.ops.numpy_ops",
    "tensorflow.python.keras.api",
    "tensorflow.contrib.keras",
    "tensorflow.contrib.quantization",
    "tensorflow_estimator.python.estimator.api",
)
RENAMED = {
    ("device_name_or_function", "device_name"),
    ("filter", "filters"),
    ("string_tensor", "input"),
    ("t", "x"),
    ("tensor", "input"),
    ("value", "input"),
}
SKIPPED = ("_test", "_lib_test", "test_util", "benchmark")


class Tree:
    """The Python modules of one unpacked release, read as text."""

    def __init__(self, roots: dict[str, Path]) -> None:
        self.roots = roots
        self.bound: dict[str, dict[str, Home]] = {}

    def path(self, module: str) -> Path | None:
        top, _, rest = module.partition(".")
        if top not in self.roots:
            return None
        base = self.roots[top].joinpath(*rest.split(".")) if rest else self.roots[top]
        for candidate in (base.with_suffix(".py"), base / "__init__.py"):
            if candidate.is_file():
                return candidate
        return None

    def modules(self, package: str) -> Iterator[str]:
        """Every module below a package, tests left out."""
        top, _, rest = package.partition(".")
        base = self.roots[top].joinpath(*rest.split("."))
        for path in sorted(base.rglob("*.py")):
            if not path.stem.endswith(SKIPPED) and "testing" not in path.parts:
                parts = [*package.split("."), *path.relative_to(base).with_suffix("").parts]
                yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    @cache  # noqa: B019 - one tree per run
    def statements(self, module: str) -> tuple[ast.stmt, ...]:
        path = self.path(module)
        return tuple(ast.parse(path.read_bytes()).body) if path else ()

    def bindings(self, module: str) -> dict[str, Home]:
        """Names that a module binds by definition or import, each with the place it comes from."""
        if module in self.bound:
            return self.bound[module]
        found = self.bound[module] = {}  # entered before it is filled: imports run in circles
        for node in self.statements(module):
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                found[node.name] = (module, node.name)
            elif isinstance(node, ast.Assign):
                alias = node.value.id if isinstance(node.value, ast.Name) else ""
                for target in node.targets:
                    if isinstance(target, ast.Name):
                        found[target.id] = (module, alias if alias in found else target.id)
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                found.update(self.imported(node))
        return found

    def imported(self, node: ast.ImportFrom) -> Iterator[tuple[str, Home]]:
        source = plain(node.module or "")
        for alias in node.names:
            if alias.name == "*":
                names = self.bindings(source)
                yield from ((n, h) for n, h in names.items() if not n.startswith("_"))
            else:
                yield alias.asname or alias.name, (source, alias.name)

    def home(self, module: str, symbol: str) -> Home:
        """Where a name is defined, following imports."""
        for _ in range(12):
            there = self.bindings(module).get(symbol)
            if there is None or there == (module, symbol):
                break
            module, symbol = there
        return module, symbol


def plain(module: str) -> str:
    return module.replace("tensorflow_core.", "tensorflow.", 1)


def exports(tree: Tree, package: Path, prefix: str = "") -> dict[str, Home]:
    """Public names of a generated API package with their homes."""
    found: dict[str, Home] = {}
    for path in sorted(package.rglob("*.py")):
        if path.name not in {"__init__.py", "v1.py", "v2.py"}:
            continue
        parent = ".".join(path.parent.relative_to(package).parts)
        for node in ast.parse(path.read_bytes()).body:
            if isinstance(node, ast.ImportFrom) and node.module and "._api" not in node.module:
                for alias in node.names:
                    name = alias.asname or alias.name
                    if not name.startswith("_") and name != "*" and "__" not in parent:
                        dotted = ".".join(filter(None, (prefix, parent, name)))
                        found[dotted] = tree.home(plain(node.module), alias.name)
    return {n: h for n, h in found.items() if ".api." not in h[0] + "."}


def rank(name: str, home: Home, later: dict[str, Home]) -> tuple[object, ...]:
    """Sort key: the short spelling comes first, among equals the one that 2.x kept."""
    parent = name.rpartition(".")[0]
    order = PREFERRED.index(parent) if parent in PREFERRED else len(PREFERRED)
    return name.count("."), order, name not in later, name.rpartition(".")[2] != home[1], len(name), name


def canonical_of(first: dict[str, Home], second: dict[str, Home]) -> dict[str, str]:
    """Every public name with its canonical spelling. `first` is the 1.15 API, `second` the 2.x API.

    A 1.15 spelling is not folded when 2.x gives it another meaning than the canonical spelling has there.
    """
    result: dict[str, str] = {}
    late = {n: h for n, h in second.items() if n not in first}
    for names in (first, late):
        groups: dict[tuple[Home, str], list[str]] = defaultdict(list)
        for name, home in names.items():
            groups[home, family(name)].append(name)
        for (home, _), members in groups.items():
            best = min(members, key=lambda n: rank(n, home, second))
            for name in members:
                result[name] = best if folds(name, best, first, second) else name
    return result


def family(name: str) -> str:
    """Spellings are folded inside one family only: Keras keeps its own names, and so do its submodules."""
    parts = name.split(".")
    if parts[0] != "keras":
        return ""
    return "keras" if len(parts) == 2 or parts[1] in {"models", "layers"} else ".".join(parts[:2])


def folds(name: str, best: str, first: dict[str, Home], second: dict[str, Home]) -> bool:
    now, target = second.get(name), second.get(best)
    if now is None:
        return target is None or target == first.get(best)
    return now in (first.get(name), target)


def parameters(tree: Tree, home: Home) -> list[str] | None:
    """Positional parameter names of a function or constructor, without the ones that never matter."""
    for node in tree.statements(home[0]):
        if isinstance(node, ast.ClassDef) and node.name == home[1]:
            found = [n for n in node.body if isinstance(n, ast.FunctionDef) and n.name == "__init__"]
        elif isinstance(node, ast.FunctionDef) and node.name == home[1]:
            found = [node]
        else:
            continue
        ignored = {"self", "name", "_sentinel", "keyword_required"}
        return [a.arg for a in found[0].args.args if a.arg not in ignored] if found else []
    return None


def separate(tree: Tree, first: dict[str, Home], second: dict[str, Home]) -> Iterator[str]:
    """2.x names whose first two parameters mean something else than those of the 1.15 name."""
    for name, home in sorted(second.items()):
        if name in first and first[name] != home:
            old, new = parameters(tree, first[name]), parameters(tree, home)
            pairs = zip(old or (), new or (), strict=False)
            if any(a != b and (a, b) not in RENAMED for a, b in list(pairs)[:2]):
                yield name


def private(tree: Tree, packages: Iterable[str], names: dict[Home, str]) -> dict[str, str]:
    """Names inside private modules that are public elsewhere."""
    found: dict[str, str] = {}
    for package in packages:
        for module in filter(is_private, tree.modules(package)):
            path = tree.path(module)
            facade = module in FACADES or (path is not None and path.name == "__init__.py")
            for symbol, source in tree.bindings(module).items():
                public = names.get(tree.home(*source))
                if not public or ".raw_ops." in public:
                    continue
                if facade or source[0] == module or starred(tree, module, source[0]):
                    found[f"{module}.{symbol}"] = public
    return found


def is_private(module: str) -> bool:
    out = any(module == m or module.startswith(m + ".") for m in LEFT_OUT)
    return module != "tensorflow.python" and not out and "python" in module.split(".")


@cache
def star_sources(tree: Tree, module: str) -> frozenset[str]:
    nodes = (n for n in tree.statements(module) if isinstance(n, ast.ImportFrom))
    return frozenset(plain(n.module or "") for n in nodes if n.names[0].name == "*")


def starred(tree: Tree, module: str, source: str) -> bool:
    return any(s == source or starred(tree, s, source) for s in star_sources(tree, module))


def contrib_names(tree: Tree, table: Path) -> dict[Home, str]:
    """Homes of the public tf.contrib names that the 1.15 API list records."""
    found: dict[Home, str] = {}
    with table.open(newline="", encoding="utf-8") as stream:
        for row in csv.DictReader(stream):
            module, _, symbol = row["api"].replace("tf.", "tensorflow.", 1).rpartition(".")
            if module.startswith("tensorflow.contrib."):
                home = tree.home(module, symbol)
                if home[0].startswith(("tensorflow.contrib", "tensorflow.python")) and home[0] != module:
                    found.setdefault(home, f"{module}.{symbol}")
    return found


def keras_shortcuts(first: dict[str, Home], second: dict[str, Home]) -> dict[str, str]:
    """What 2.x offers as tf.losses.X, tf.metrics.X and tf.initializers.X where 1.15 has no such name."""
    packages = ("keras.losses.", "keras.metrics.", "keras.initializers.")
    found = (n for n in second if n.startswith(packages))
    return {n.removeprefix("keras."): n for n in found if n.removeprefix("keras.") not in first}


def write(path: Path, header: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(sorted(rows))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("tf1", "estimator", "tf2"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--out", type=Path, default=Path("data-src"))
    options = parser.parse_args()
    core, estimator = options.tf1 / "tensorflow_core", options.estimator / "tensorflow_estimator"
    old = Tree({"tensorflow": core, "tensorflow_estimator": estimator})
    new = Tree({"tensorflow": options.tf2 / "tensorflow"})

    first = exports(old, core / "_api/v1")
    second = {n.removeprefix("compat.v2."): h for n, h in first.items() if n.startswith("compat.v2.")}
    first = {n: h for n, h in first.items() if not n.startswith("compat.")}
    keras = core / "python/keras/api"
    first |= exports(old, keras / "_v1") | exports(old, estimator / "_api/v1")
    second = {n: h for n, h in second.items() if not n.startswith("compat.")} | exports(old, keras / "_v2")
    later = {n: h for n, h in exports(new, options.tf2 / "tensorflow/_api/v2").items() if not n.startswith("compat.")}

    public = canonical_of(first, second | {n: h for n, h in later.items() if n not in second})
    write_all(options.out, old, new, first, second, later, public)


def write_all(
    out: Path,
    old: Tree,
    new: Tree,
    first: dict[str, Home],
    second: dict[str, Home],
    later: dict[str, Home],
    public: dict[str, str],
) -> None:
    apart = list(separate(old, first, second))
    write(out / "tf_v2_separate.csv", ("name",), ((n,) for n in apart))
    spellings = {a: b for a, b in public.items() if a != b} | keras_shortcuts(first, second)
    write(out / "tf_spellings.csv", ("spelling", "canonical"), spellings.items())

    def spell(names: dict[str, Home], prefix: str = "tensorflow.") -> dict[Home, str]:
        return {h: prefix + public.get(n, n) for n, h in sorted(names.items(), reverse=True)}

    only_new = {n: h for n, h in second.items() if n not in apart}
    homes = contrib_names(old, out / "tf115_api.csv") | spell(only_new)
    homes |= spell({n: second[n] for n in apart}, "tensorflow.compat.v2.") | spell(first)
    protos = {f"{m}.{s}": public for (m, s), public in homes.items() if m.startswith("tensorflow.core.")}
    rows = protos | private(new, ["tensorflow.python"], spell(later) | homes)
    rows |= private(old, ["tensorflow.python", "tensorflow.contrib", "tensorflow_estimator.python"], homes)
    write(out / "tf_private.csv", ("private", "canonical"), ((a, b) for a, b in rows.items() if a != b))


if __name__ == "__main__":
    main()
