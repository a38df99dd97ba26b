"""The packages in order: each imports only those before it, wherever in a file the import is."""

import ast
from collections.abc import Iterator
from pathlib import Path

import gerrymend

SOURCE = Path(gerrymend.__file__).parent

LAYERS = (
    "_numeric", "_runtime", "inputs", "datasets", "notions", "subgroups", "reporting", "auditing",
    "models", "solvers", "training", "classifiers", "frontier", "surfaces", "plotting",
    "reproduction", "cli",
)  # fmt: skip

# The package in which a module that still lies at the root, or in another package, will be.
TO_BE_IN = {
    "_numeric": "_arrays _projection _sums cuts",
    "_runtime": "_by_thread _files _interrupts _sealed _versions _workers command_lines",
    "inputs": "_validation blocks.dask_rows fit_identity protected rows",
    "auditing": "counting examination inference marginal_rates measured provenance proving "
    "pushdown reading report tally top",
    "models": "blocks.dask_predictions derandomizing features mixture mixture_classifier "
    "saved_form saving",
    "solvers": "auditor blocks learners",
    "training": "blocks.fast_path callbacks checkpoint_form checkpointing convergence parity",
    "frontier": "as_code frontier_settings tradeoffs",
    "cli": "cli_audit cli_audit_request cli_audit_text cli_data cli_fit cli_fit_text cli_frontier "
    "cli_parts cli_predict cli_refit cli_reproduce cli_training_options cli_training_request demo "
    "table_encoding table_files",
}

# Imports against the order as they are today. This list may only become shorter.
UPWARD = {
    ("features", "learners"),
    ("fit_identity", "mixture"),
    ("saving", "parity"),
}


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


HOMES = {module: layer for layer, names in TO_BE_IN.items() for module in names.split()}


def layer_of(name: str) -> str:
    parts = name.split(".")
    known = (HOMES.get(".".join(parts[:depth])) for depth in range(len(parts), 0, -1))
    return next(filter(None, known), parts[0])


def test_every_module_is_in_a_layer():
    assert {layer_of(name) for name, _ in modules()} <= {*LAYERS, "checker"}
    assert HOMES.keys() <= {name for name, _ in modules()}


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
