"""The packages in order: each imports only those before it, wherever in a file the import is."""

import ast
from collections.abc import Iterator
from pathlib import Path

import gerrymend

SOURCE = Path(gerrymend.__file__).parent

LAYERS = (
    "_runtime", "_numeric", "inputs", "datasets", "notions", "subgroups", "reporting", "auditing",
    "models", "changes", "solvers", "training", "calibration", "classifiers", "frontier", "impact",
    "uncertain", "surfaces", "plotting", "reproduction", "cli", "pytest", "mlflow",
    "__main__",
)  # fmt: skip

# Imports against the order as they are today. This list may only become shorter.
UPWARD: set[tuple[str, str]] = set()


def modules() -> Iterator[tuple[str, Path]]:
    for path in sorted(SOURCE.rglob("*.py")):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        if parts != ("__init__",):
            yield ".".join(parts).removesuffix(".__init__"), path


def imported_by(path: Path) -> Iterator[str]:
    """The modules of the package, and names in them, that a file imports by absolute imports."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} has a relative import, in line {node.lineno}"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        for name in names:
            if name.startswith("gerrymend."):
                yield name.removeprefix("gerrymend.")


def layer_of(name: str) -> str:
    return name.partition(".")[0]


def test_every_module_is_in_a_layer():
    assert {layer_of(name) for name, _ in modules()} <= {*LAYERS, "checker"}
    at_the_root = {path.stem for path in SOURCE.glob("*.py")}
    assert at_the_root == {"__init__", "__main__", "classifiers"}


def test_packages_import_only_those_before_them():
    known = dict(modules())
    upward = set()
    for name, path in known.items():
        for other in imported_by(path):
            target = gerrymend._HOME.get(other, other)  # a public name of the root, by its module
            target = target if target in known else target.rpartition(".")[0]
            home = layer_of(name)
            there = layer_of(target)
            if "checker" in (home, there):
                assert home == there, f"{name} imports {target}: the checker shares no code"
            elif LAYERS.index(there) > LAYERS.index(home):
                upward.add((name, target))
    assert upward == UPWARD


def test_auditing_and_solvers_share_the_subgroup_and_nothing_else():
    known = dict(modules())
    solvers = {name: path for name, path in known.items() if layer_of(name) == "solvers"}
    used = {other for path in solvers.values() for other in imported_by(path)}
    homes = {name.rpartition(".")[0] for name in used if layer_of(name) == "auditing"}
    assert homes == {"auditing.subgroup"}
