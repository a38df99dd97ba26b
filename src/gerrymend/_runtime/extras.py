"""Packages that only some of the work needs: imported there, or an error names their extra."""

import importlib
import importlib.util
from types import ModuleType

_EXTRA_OF = {
    "distributed": "dask",
    "matplotlib": "plot",
    "mlflow": "mlflow",
    "openpyxl": "xlsx",
    "polars": "cli",
    "pytest": "pytest",
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
        raise _not_installed(package, work, remedy) from None


def check_installed(package: str, work: str) -> None:
    """Raise the error of `need` if a package is not there, without importing it.

    Some take seconds: skops walks all of scikit-learn, which imports torch where that is installed.

    >>> check_installed("skops", "Saving a model needs")
    """
    if importlib.util.find_spec(package) is None:
        raise _not_installed(package, work)


def _not_installed(package: str, work: str, remedy: str = "") -> ModuleNotFoundError:
    remedy = remedy or f"pip install 'gerrymend[{_EXTRA_OF[package]}]'"
    return ModuleNotFoundError(f"{work} {package}, which is not installed: {remedy}")
