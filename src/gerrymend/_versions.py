"""Versions, to keep beside a result."""

import platform
from importlib.metadata import PackageNotFoundError, version

PACKAGES = ("gerrymend", "numpy", "scipy", "scikit-learn")


def versions() -> dict[str, str]:
    """Versions of Python and of what results depend on."""
    found = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "unknown"
    return found
