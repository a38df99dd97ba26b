"""The protected attributes of a model's rows: columns of X, or a table of their own."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gerrymend._runtime.errors import ArgumentError
from gerrymend.inputs.identifiers import refuse_identifiers
from gerrymend.inputs.protected import Column, read_columns, select_columns
from gerrymend.inputs.sample import named_columns
from gerrymend.models.features import warn_all_protected


@dataclass(frozen=True)
class ProtectedReader:
    """Where fit found the attributes, so that `predict` finds them there too.

    `names` are columns of X, None for all of them; they are of no use where the attributes were
    `apart` from X.
    """

    names: tuple[str, ...] | None = None
    apart: bool = False

    @classmethod
    def of(cls, X: Any, sensitive_features: Any) -> "tuple[ProtectedReader, dict[str, Column]]":
        """Return the reader for what fit was given, and the attributes that it reads."""
        if sensitive_features is None:
            warn_all_protected()
            reader = cls()
            columns = read_columns(X, "X")
        else:
            given = named_columns(X, sensitive_features)
            apart = given is sensitive_features or isinstance(given, list)
            names = () if apart else tuple(_listed(sensitive_features))
            reader = cls(names, apart)
            columns = read_columns(given)
        refuse_identifiers(columns, len(columns[0].values))
        return reader, {column.name: column for column in columns}

    def read(
        self, X: Any, sensitive_features: Any, attributes: Mapping[str, str]
    ) -> dict[str, Column]:
        """Return the attributes of other rows; raise an ArgumentError if they are not at hand."""
        if sensitive_features is not None:
            return select_columns(named_columns(X, sensitive_features), attributes)
        if self.apart:
            raise ArgumentError(
                "sensitive_features",
                "were passed to fit apart from X, and the scores of these rows depend on theirs: "
                "pass predict_proba(X, sensitive_features=...), or predict.",
            )
        if self.names is None:
            return select_columns(X, attributes, "X")
        return select_columns(named_columns(X, list(self.names)), attributes, "X")


def _listed(names: Any) -> list[str]:
    return [names] if isinstance(names, str) else list(names)
