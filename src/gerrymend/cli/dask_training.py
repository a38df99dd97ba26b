"""Rows of a Parquet folder, for `gerrymend fit --engine dask`: encoded on workers, where they stay.

The encoder is the one that a file in memory gets. Categories and scales come from all parts, and
what was learned is audited from sums by protected values.
"""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gerrymend.auditing.audit import audit
from gerrymend.auditing.missing_values import MissingValues
from gerrymend.cli.dask_tables import PartsFrame
from gerrymend.cli.table_encoding import (
    NUMBERS,
    TEXT,
    check_few_texts,
    check_scale,
    check_texts,
    check_values,
    encoded,
    kind_of,
    make_encoder,
    missing_values,
    plain,
)
from gerrymend.frontier.points import OnRows
from gerrymend.inputs.sample import Sample

if TYPE_CHECKING:
    import polars as pl
    from sklearn.compose import ColumnTransformer


class Chosen(NamedTuple):
    """The columns that a training uses, by what they are for."""

    label: str
    weight: str | None
    features: list[str]
    protected: list[str]
    controls: list[str] | None

    @property
    def names(self) -> list[str]:
        """All columns, each once."""
        single = [self.label, *([] if self.weight is None else [self.weight])]
        several = [*self.features, *self.protected, *(self.controls or [])]
        return list(dict.fromkeys([*single, *several]))


class RowsThere(NamedTuple):
    """Rows on workers, as a classifier takes them: collections of Dask, one partition a part.

    They have the names that `Sample` has for rows in memory.
    """

    pair: tuple[Any, Any]
    features: Any
    labels: Any
    protected: Any
    control: Any
    given_weight: Any


@dataclass(frozen=True, eq=False)
class PreparedThere:
    """Hold the encoded rows of a folder; it is used as `Prepared` is."""

    encoder: "ColumnTransformer"
    train: RowsThere
    chosen: Chosen
    table: Any
    missing: MissingValues
    test: None = None

    @property
    def columns(self) -> list[str]:
        """Names of the features before they were encoded."""
        return self.chosen.features

    @property
    def controls(self) -> list[str]:
        """Names of the control features."""
        return self.chosen.controls or []

    @property
    def samples(self) -> list[RowsThere]:
        """The training rows: no others are kept out."""
        return [self.train]

    def measured(self, rows: Any, classifier: Any, how: Mapping[str, Any]) -> OnRows:
        """Audit what a classifier decides of the rows, from sums that workers make."""
        chosen = self.chosen
        kept = [name for name in chosen.names if name not in chosen.features]
        kept += [*chosen.protected, *self.controls]
        probability = "probability"
        while probability in chosen.names:
            probability += "_"
        place = classifier.classes_.tolist().index(rows.pair[1])
        meta = self.table._meta[list(dict.fromkeys(kept))].assign(**{probability: np.zeros(0)})
        decided = self.table.map_partitions(
            _with_probability,
            self.encoder,
            chosen.features,
            classifier.mixture_,
            place,
            list(meta.columns),
            meta=meta,
        )
        bins = classifier.bins_
        protected = [bins.name_of(name) for name in chosen.protected]
        binned = bins.transform(decided[chosen.protected])
        for name in set(protected) - set(chosen.protected):
            decided[name] = binned[name]
        report = audit(
            chosen.label,
            probability,
            data=decided,
            sensitive_features=protected,
            control_features=chosen.controls,
            sample_weight=chosen.weight,
            decision_probabilities=True,
            pos_label=rows.pair[1],
            **how,
        )
        right = classifier.score(rows.features, rows.labels, rows.given_weight)
        return OnRows(1.0 - float(right), report)


def prepare_there(
    frame: PartsFrame, chosen: Chosen, file: Any, positive: Any, missing: MissingValues
) -> PreparedThere:
    """Look at all parts, fit an encoder to them, and encode them, lazily.

    Raises a ValueError for columns that can't be used, before anything is trained.
    """
    schema = frame.collect_schema()
    for name in chosen.features:
        kind_of(name, schema[name])
    pair = _pair(frame, chosen.label, positive)
    table = frame.on_dask(chosen.names)
    n_rows, texts = _look_at(table, chosen.features, file)
    encoder = _fitted_encoder(table, chosen.features, texts)
    # Whose columns have numbers for names, as the rows of an array do.
    meta = _encoded(table._meta_nonempty, encoder, chosen.features).iloc[:0]
    features = table.map_partitions(_encoded, encoder, chosen.features, meta=meta)
    labels = table[chosen.label]
    if table._meta[chosen.label].dtype == "category":
        labels = labels.astype(object)
    train = RowsThere(
        pair,
        features.to_dask_array(lengths=tuple(n_rows)),
        labels,
        table[chosen.protected],
        None if chosen.controls is None else table[chosen.controls],
        None if chosen.weight is None else table[chosen.weight],
    )
    return PreparedThere(encoder, train, chosen, table, missing)


def _pair(frame: PartsFrame, label: str, positive: Any) -> tuple[Any, Any]:
    """Return the two labels, the positive one second; raise as for rows in memory."""
    import polars as pl

    labels = frame.select(pl.col(label).unique().sort()).collect()[label]
    if isinstance(labels.dtype, pl.Categorical | pl.Enum):
        labels = labels.cast(pl.String)
    one_each = {"row": np.arange(len(labels)) % 2}
    return Sample.read(labels, one_each, pos_label=positive).pair


def _used(part: Any, features: Sequence[str]) -> "pl.DataFrame":
    """Return the features of a part as the encoder takes them."""
    import polars as pl

    return plain(pl.from_pandas(part[list(features)]))


class _Seen(NamedTuple):
    """How many rows a part has, how many values are missing by column, and its different texts."""

    n_rows: int
    n_missing: dict[str, int]
    texts: dict[str, list[str]]


def _seen(part: Any, features: Sequence[str], file: str) -> _Seen:
    """Look at a part, on its worker."""
    used = _used(part, features)
    n_missing = {name: used[name].null_count() for name in used.columns}
    # Those that are missing are told with the sum of all parts.
    check_values(used, file, impute=True)
    check_scale(used, file)
    texts = {
        name: used[name].drop_nulls().unique().to_list()
        for name, dtype in used.schema.items()
        if kind_of(name, dtype) == TEXT
    }
    return _Seen(len(used), n_missing, texts)


def _look_at(
    table: Any, features: Sequence[str], file: Any
) -> tuple[list[int], dict[str, list[str]]]:
    """Return the rows of each part, and all texts of each text column; raise for what is wrong."""
    import dask
    import polars as pl

    looks = [dask.delayed(_seen)(part, list(features), str(file)) for part in table.to_delayed()]
    seen: Sequence[_Seen] = dask.compute(*looks)
    n_rows = [part.n_rows for part in seen]
    for name in features:
        if n_missing := sum(part.n_missing[name] for part in seen):
            raise missing_values(name, file, n_missing, sum(n_rows), "--engine dask imputes none")
    texts = {
        name: sorted(set().union(*(part.texts[name] for part in seen))) for name in seen[0].texts
    }
    for name, known in texts.items():
        check_texts(pl.DataFrame({name: known}, schema={name: pl.String}))
        check_few_texts(name, len(known), sum(n_rows))
    return n_rows, texts


def _fitted_encoder(
    table: Any, features: Sequence[str], texts: Mapping[str, list[str]]
) -> "ColumnTransformer":
    """Return the encoder of all rows: categories as they were seen, scales learned in parts."""
    import dask
    import polars as pl
    from sklearn.preprocessing import StandardScaler

    longest = max((len(known) for known in texts.values()), default=1)
    # Made rows that have every text; their numbers are replaced below.
    made = {
        name: np.resize(np.array(texts[name], dtype=object), longest).tolist()
        if name in texts
        else [0.0] * longest
        for name in features
    }
    frame = pl.DataFrame(made)
    encoder = make_encoder(frame).fit(frame)
    numbers = [name for name in features if name not in texts]
    if numbers:
        scaler: Any = StandardScaler()
        for part in table.to_delayed():
            scaler = dask.delayed(_scaled)(scaler, part, numbers)
        vars(encoder.named_transformers_[NUMBERS]).update(vars(scaler.compute()))
    return encoder


def _scaled(scaler: Any, part: Any, numbers: Sequence[str]) -> Any:
    """Return a scaler that has learned of a part too; the one given may be used again by Dask."""
    used = _used(part, numbers)
    return deepcopy(scaler).partial_fit(used) if len(used) else scaler


def _encoded(part: Any, encoder: "ColumnTransformer", features: Sequence[str]) -> Any:
    """Return a part's features as numbers, in a frame of pandas."""
    import pandas as pd

    used = _used(part, features)
    if not len(used):
        return pd.DataFrame(np.zeros((0, len(encoder.get_feature_names_out()))), index=part.index)
    return pd.DataFrame(encoded(encoder, used), index=part.index)


def _with_probability(
    part: Any,
    encoder: "ColumnTransformer",
    features: Sequence[str],
    mixture: Any,
    place: int,
    kept: Sequence[str],
) -> Any:
    """Return columns of a part with, as the last of `kept`, the probability of the positive one."""
    *given, probability = kept
    p = np.zeros(0)
    if len(part):
        p = mixture.predict_proba(_encoded(part, encoder, features).to_numpy())[:, place]
    return part[given].assign(**{probability: p})
