"""Versions of the packages that results depend on."""

import functools
import platform
from importlib.metadata import PackageNotFoundError, version

PACKAGES = ("gerrymend", "numpy", "scipy", "scikit-learn")


def versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that results depend on, by name."""
    return {"python": platform.python_version(), **{name: _version(name) for name in PACKAGES}}


@functools.cache
def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "unknown"
