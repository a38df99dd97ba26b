"""Versions, to keep beside a result."""

import functools
import platform
from importlib.metadata import PackageNotFoundError, version

PACKAGES = ("gerrymend", "numpy", "scipy", "scikit-learn")


def versions() -> dict[str, str]:
    """Versions of Python and of what results depend on."""
    return {"python": platform.python_version(), **{name: _version(name) for name in PACKAGES}}


@functools.cache
def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "unknown"
