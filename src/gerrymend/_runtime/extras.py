"""Packages that only some of the work needs: imported there, or an error names their extra."""

import importlib
from types import ModuleType

_EXTRA_OF = {
    "distributed": "dask",
    "matplotlib": "plot",
    "openpyxl": "xlsx",
    "polars": "cli",
    "rich": "cli",
    "skops": "save",
    "typer": "cli",
}


def need(module: str, work: str, remedy: str = "") -> ModuleType:
    """Import a module of an extra; raise ImportError with the command that installs it.

    `work` begins the message, as "Displays need", and `remedy` ends it for a package of no extra. A
    package that lacks one of its own raises its own error, which says it better.

    >>> need("skops.io", "Saving a model needs").__name__
    'skops.io'
    """
    package = module.partition(".")[0]
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as missing:
        if (missing.name or "").partition(".")[0] != package:
            raise
        remedy = remedy or f"pip install 'gerrymend[{_EXTRA_OF[package]}]'"
        raise ModuleNotFoundError(f"{work} {package}, which is not installed: {remedy}") from None
