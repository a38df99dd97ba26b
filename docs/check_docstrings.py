"""Check the docstrings of public names by numpydoc: `make lint`.

A function, or a class that users make, documents each of its parameters, in the order of the
signature, and has examples and a See Also. A class of results has attributes in place of
parameters. A method may be a sentence; where it documents parameters, these are the signature's.
Errors need no example.
"""

import inspect
import sys
from collections.abc import Iterator
from importlib import import_module

from numpydoc.docscrape import NumpyDocString
from numpydoc.validate import validate

# Their public names are those of the reference.
MODULES = ("gerrymend", "gerrymend.datasets")
# Sections that exist, in numpydoc's order; a summary; the signature's parameters, in its order.
ANYWHERE = {
    "GL05", "GL06", "GL07", "GL08", "GL09", "GL10", "SS01", "SS04", "PR02", "PR03", "PR10",
    "RT02", "SA02", "SA03", "SA04",
}  # fmt: skip
# All parameters, each with a description; what is returned; examples, and what else to look at.
COMPLETE = {"PR01", "PR07", "RT01", "RT03", "EX01", "SA01"}


def public_names() -> Iterator[str]:
    """Yield the full names of public functions and classes; of what has two, the first."""
    seen = set()
    for module in MODULES:
        for name in import_module(module).__all__:
            thing = getattr(import_module(module), name)
            if callable(thing) and thing not in seen:
                seen.add(thing)
                yield f"{module}.{name}"


def methods(name: str) -> Iterator[str]:
    """Yield the full names of the public methods and properties that a class of ours defines."""
    module, _, class_name = name.rpartition(".")
    thing = getattr(import_module(module), class_name)
    if inspect.isclass(thing):
        for method, value in inspect.getmembers(thing):
            defined = value.fget if isinstance(value, property) else value
            ours = inspect.isroutine(defined) and _is_ours(defined)
            if ours and not method.startswith("_"):
                yield f"{name}.{method}"


def _is_ours(thing: object) -> bool:
    """Return whether it is of this package; what is built in has no module."""
    return str(getattr(thing, "__module__", "")).startswith("gerrymend")


def _is_error(name: str) -> bool:
    """Return whether it is an exception, which users catch and do not make."""
    module, _, class_name = name.rpartition(".")
    thing = getattr(sys.modules.get(module), class_name, None)
    return inspect.isclass(thing) and issubclass(thing, BaseException)


def problems(name: str, checks: set[str]) -> Iterator[str]:
    """Yield what numpydoc finds in a docstring."""
    found = validate(name)
    sections = NumpyDocString(found["docstring"])
    made_by_us = sections["Attributes"] and not sections["Parameters"]
    if made_by_us or _is_error(name):
        checks = checks - {"PR01"}
    if _is_error(name):
        checks = checks - {"EX01"}
    for code, message in found["errors"]:
        if code in checks:
            yield f"{name}: {code} {message}"


def main() -> int:
    """Print all problems, and return 1 if there are any."""
    found = []
    for name in public_names():
        found += problems(name, ANYWHERE | COMPLETE)
        for method in methods(name):
            found += problems(method, ANYWHERE)
    print("\n".join(found) or "Docstrings of public names are complete.")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
