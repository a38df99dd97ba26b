"""Python code that makes an estimator again, from its parameters."""

import importlib
import inspect
from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from gerrymend.notions import NOTION_NAMES, FairnessNotion, as_notions


class UnwritableError(ValueError):
    """A value that no code makes again: a function of a session, a generator, an open file."""


class Code:
    """Expressions, and the imports that they need.

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
        """Lines of import, those of gerrymend last."""
        lines = [f"from {home} import {name}" for name, home in self._imports.items()]
        return sorted(lines, key=lambda line: (line.startswith("from gerrymend"), line))

    def of(self, value: Any) -> str:
        """An expression that makes an equal value; UnwritableError where there is none."""
        if value is None or isinstance(value, bool | int | float | complex | str | bytes):
            return self._plain(value)
        if isinstance(value, np.generic):
            return self._plain(value.item())
        if isinstance(value, FairnessNotion):
            return self._notion(value)
        if isinstance(value, BaseEstimator):
            return f"{self._named(type(value))}({', '.join(self.arguments(value))})"
        if type(value) in (list, tuple, set):
            return self._collection(value)
        if isinstance(value, Mapping) and type(value) is dict:
            pairs = (f"{self.of(key)}: {self.of(one)}" for key, one in value.items())
            return "{" + ", ".join(pairs) + "}"
        if isinstance(value, np.ndarray) and value.ndim == 1 and value.dtype.kind in "biufU":
            return f"{self._import('array', 'numpy')}({self.of(value.tolist())})"
        if inspect.isclass(value) or inspect.isfunction(value):
            return self._named(value)
        raise UnwritableError(f"{value!r} can't be written as code.")

    def arguments(self, estimator: BaseEstimator, **instead: str) -> list[str]:
        """Its parameters that differ from their defaults; `instead` has expressions for some."""
        signature = inspect.signature(type(estimator).__init__).parameters
        given = estimator.get_params(deep=False)
        written: list[str] = []
        for name, parameter in signature.items():
            if name == "self" or (name not in given and name not in instead):
                continue
            changed = name in instead or not _same(given[name], parameter.default)
            if changed:
                words = instead[name] if name in instead else self.of(given[name])
                positional = name == "estimator" and not written
                written.append(words if positional else f"{name}={words}")
        return written

    def notion(self, notions: tuple[FairnessNotion, ...]) -> str:
        """Notions by a name, where they have one."""
        for name in NOTION_NAMES:
            if as_notions(name) == notions:
                return self.of(name)
        return self.of(notions[0] if len(notions) == 1 else notions)

    def _plain(self, value: Any) -> str:
        if isinstance(value, float) and not np.isfinite(value):
            return f"float({str(value)!r})"
        return repr(value)

    def _notion(self, notion: FairnessNotion) -> str:
        if notion.name in NOTION_NAMES and as_notions(notion.name) == (notion,):
            return repr(notion.name)
        self._import("FairnessNotion", "gerrymend")
        return repr(notion)

    def _collection(self, value: Any) -> str:
        parts = ", ".join(self.of(one) for one in value)
        if isinstance(value, tuple):
            return f"({parts},)" if len(value) == 1 else f"({parts})"
        if isinstance(value, list):
            return f"[{parts}]"
        return "{" + parts + "}" if value else "set()"

    def _named(self, value: Any) -> str:
        """The name of a class or a function, imported from the most public module that has it."""
        parts, name = value.__module__.split("."), value.__qualname__
        for depth in range(1, len(parts) + 1):
            home = ".".join(parts[:depth])
            if home == "__main__":
                break
            if getattr(importlib.import_module(home), name, None) is value:
                return self._import(name, home)
        raise UnwritableError(f"{value!r} is in no module that code could import it from.")

    def _import(self, name: str, home: str) -> str:
        if self._imports.setdefault(name, home) != home:
            raise UnwritableError(f"{name} is in both {self._imports[name]} and {home}.")
        return name


def _same(value: Any, default: Any) -> bool:
    """Whether a parameter is as it would be if it were not given."""
    return value is default or (type(value) is type(default) and repr(value) == repr(default))
