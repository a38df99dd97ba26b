"""Generation of Python code that makes an estimator from its parameters."""

import importlib
import inspect
from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from gerrymend.notions import NOTION_NAMES, OUTCOME_NAMES, AnyNotion, FairnessNotion, as_notions


class UnwritableError(ValueError):
    """Error for a value that no code can make: a local function, a generator, an open file."""


class Code:
    """A writer of expressions that collects the imports they need.

    >>> from sklearn.linear_model import LogisticRegression
    >>> code = Code()
    >>> code.of(LogisticRegression(C=10))
    'LogisticRegression(C=10)'
    >>> code.imports
    ['from sklearn.linear_model import LogisticRegression']
    """

    def __init__(self) -> None:
        self._imports: dict[str, str] = {}

    @property
    def imports(self) -> list[str]:
        """The import statements, those of gerrymend last."""
        lines = [f"from {home} import {name}" for name, home in self._imports.items()]
        return sorted(lines, key=lambda line: (line.startswith("from gerrymend"), line))

    def of(self, value: Any) -> str:
        """Return an expression that makes an equal value.

        Parameters
        ----------
        value : Any
            A number, text, notion, estimator, class or function that can be imported, array with
            one axis; or lists, tuples, sets and dicts of these.

        Raises
        ------
        UnwritableError
            If no expression makes it, such as for a lambda, or if two of its parts have the same
            name in different modules.

        Examples
        --------
        >>> Code().of({"C": [1, 0.5], "penalty": None})
        "{'C': [1, 0.5], 'penalty': None}"
        """
        if value is None or isinstance(value, bool | int | float | complex | str | bytes):
            return self._plain(value)
        # Its repr, such as np.float64(0.5), would need an import of NumPy under that very name.
        if isinstance(value, np.generic):
            return self._plain(value.item())
        # Notions come before estimators and plain classes: most have a name that is shorter than a
        # call that makes them again.
        if isinstance(value, FairnessNotion):
            return self._notion(value)
        if isinstance(value, BaseEstimator):
            return f"{self._named(type(value))}({', '.join(self.arguments(value))})"
        if type(value) in (list, tuple, set):  # a subclass may not take its items
            return self._collection(value)
        if isinstance(value, Mapping) and type(value) is dict:
            pairs = (f"{self.of(key)}: {self.of(item)}" for key, item in value.items())
            return "{" + ", ".join(pairs) + "}"
        if isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype.kind in "biufU":
            return f"{self._import('array', 'numpy')}({self.of(value.tolist())})"
        if inspect.isclass(value) or inspect.isfunction(value):
            return self._named(value)
        raise UnwritableError(f"{value!r} can't be written as code.")

    def arguments(self, estimator: BaseEstimator, **instead: str) -> list[str]:
        """Return the arguments of an estimator that differ from their defaults, as code.

        `instead` has expressions for some parameters, which are written in any case.
        """
        signature = inspect.signature(type(estimator).__init__).parameters
        given = estimator.get_params(deep=False)
        written: list[str] = []
        for name, parameter in signature.items():
            # A parameter that get_params() does not list, such as **kwargs, has no value that could
            # be written; one in `instead` has its words already.
            if name == "self" or (name not in given and name not in instead):
                continue
            changed = name in instead or not _same(given[name], parameter.default)
            if changed:
                words = instead[name] if name in instead else self.of(given[name])
                # As users write it: SubgroupParityClassifier(LogisticRegression(), gamma=0.01).
                positional = name == "estimator" and not written
                written.append(words if positional else f"{name}={words}")
        return written

    def notion(self, notions: tuple[AnyNotion, ...]) -> str:
        """Return notions as code, by their name if they have one.

        >>> Code().notion(as_notions("equalized_odds"))
        "'equalized_odds'"
        """
        # Compared by value and not by spelling, so that a tuple which was read from a name is
        # written as that name again.
        for name in (*NOTION_NAMES, *OUTCOME_NAMES):
            if as_notions(name) == notions:
                return self.of(name)
        return self.of(notions[0] if len(notions) == 1 else notions)

    def _plain(self, value: Any) -> str:
        if isinstance(value, float) and not np.isfinite(value):  # the repr of inf is no expression
            return f"float({str(value)!r})"
        return repr(value)

    def _notion(self, notion: FairnessNotion) -> str:
        if notion.name in NOTION_NAMES and as_notions(notion.name) == (notion,):
            return repr(notion.name)
        self._import("FairnessNotion", "gerrymend")
        return repr(notion)

    def _collection(self, value: Any) -> str:
        parts = ", ".join(self.of(item) for item in value)
        if isinstance(value, tuple):
            return f"({parts},)" if len(value) == 1 else f"({parts})"
        if isinstance(value, list):
            return f"[{parts}]"
        return "{" + parts + "}" if value else "set()"

    def _named(self, value: Any) -> str:
        """Import a class or a function from the shortest module path that has it; return its name.

        scikit-learn's classes are defined in private modules and re-exported by their packages.
        """
        parts = value.__module__.split(".")
        name = value.__qualname__
        # From the root on: the shortest path is the public one, and outlives a move of the module.
        for depth in range(1, len(parts) + 1):
            home = ".".join(parts[:depth])
            if home == "__main__":
                break
            # `is`, not only a name that is there: another object of that name would be imported
            # instead.
            if getattr(importlib.import_module(home), name, None) is value:
                return self._import(name, home)
        raise UnwritableError(f"{value!r} is in no module that code could import it from.")

    def _import(self, name: str, home: str) -> str:
        """Note an import and return the name; raise UnwritableError if it is taken by another."""
        if self._imports.setdefault(name, home) != home:
            raise UnwritableError(f"{name} is in both {self._imports[name]} and {home}.")
        return name


def _same(value: Any, default: Any) -> bool:
    """Return True if a parameter has its default; arrays and estimators are compared by repr.

    `==` of two arrays is an array, and of two estimators their identity; both have a repr that is
    equal where they are.

    >>> _same(1.0, 1.0), _same(1, 1.0), _same(np.arange(2), np.arange(2))
    (True, False, True)
    """
    return value is default or (type(value) is type(default) and repr(value) == repr(default))
