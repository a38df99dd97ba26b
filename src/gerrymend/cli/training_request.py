"""Options of `gerrymend fit` and `frontier`: checked, the file read, and its columns encoded.

Columns are encoded once, by an encoder fitted to the training rows: the Learner trains anew in
every round, and would otherwise encode anew in every round.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from gerrymend.auditing.missing_values import MissingValues
from gerrymend.auditing.small_groups import MIN_GROUP_SIZE, check_min_group_size
from gerrymend.cli.dask_training import Chosen, PreparedThere, prepare_there
from gerrymend.cli.estimators import make_estimator
from gerrymend.cli.score_tables import ROW
from gerrymend.cli.shared import errors_in_options, split
from gerrymend.cli.table_encoding import (
    check_not_identifiers,
    check_scale,
    check_texts,
    check_values,
    encoded,
    make_encoder,
    note_unseen,
    plain,
)
from gerrymend.cli.table_files import unreadable
from gerrymend.cli.table_request import TableRequest
from gerrymend.frontier.points import OnRows, positive_probability
from gerrymend.inputs.sample import Sample, read_vector
from gerrymend.inputs.settings import (
    check_budget,
    check_choice,
    check_gamma,
    check_test_size,
    check_whole,
)
from gerrymend.inputs.text_numbers import TO_NUMBERS
from gerrymend.inputs.validation import at_least, check_column
from gerrymend.notions import (
    NOTION_NAMES,
    OUTCOME_NAMES,
    AnyNotion,
    FairnessNotion,
    OutcomeNotion,
    as_notions,
    directed_notions,
)

if TYPE_CHECKING:
    import polars as pl
    from sklearn.compose import ColumnTransformer

# Notions that are linear in decisions, of those that have a name: all but this one.
_NOT_LINEAR = "squared_error"
TRAINABLE_NAMES = (*NOTION_NAMES, *(name for name in OUTCOME_NAMES if name != _NOT_LINEAR))
# What these means are of decisions, by the rate of the same.
_AS_RATES = {"mean_outcome": "statistical_parity", "absolute_error": "error_rate"}


@dataclass(frozen=True, eq=False)
class Prepared:
    """Hold the encoded rows of a file: to train on, and to test on if some were kept out.

    Attributes
    ----------
    encoder : ColumnTransformer
        Fitted to the training rows.
    train, test : Sample
        With encoded features; `test` is None where no rows were kept out.
    columns : list of str
        Names of the features before they were encoded.
    missing : MissingValues
        Rows that were dropped.
    test_rows : array of int
        The places of the test rows in the file, in order.
    """

    encoder: "ColumnTransformer"
    train: Sample
    test: Sample | None
    columns: list[str]
    missing: MissingValues
    test_rows: NDArray[np.intp]

    @property
    def samples(self) -> list[Sample]:
        """The training rows, and the test rows if there are any."""
        return [self.train] if self.test is None else [self.train, self.test]

    @property
    def controls(self) -> list[str]:
        """Names of the control features."""
        return list(self.train.control or ())

    def measured(self, rows: Any, classifier: Any, how: Mapping[str, Any]) -> OnRows:
        """Audit what a classifier decides of some of the rows, over attributes as it had them."""
        rows = replace(rows, columns=classifier.bins_.of_columns(rows.columns))
        return OnRows.measure(rows, positive_probability(classifier, rows), how)


AnyPrepared = Prepared | PreparedThere


@dataclass(frozen=True)
class TrainingRequest(TableRequest):
    """Hold the options that `gerrymend fit` and `frontier` share, as they were given.

    Their help explains them. `fit` has one of `gammas`; `max_iter` of None is the classifier's own
    default; a `budget` of None lets training end by itself, and an audit take `AUDIT_SECONDS`; an
    entry of `protected` may be several columns, separated by commas. Raises a ValueError, in the
    terms of the command, for options that can't be used; names of columns are checked by `prepare`.
    """

    label: str
    features: list[str] | None = None
    drop: list[str] | None = None
    exclude_protected: bool = False
    impute: bool = False
    positive: str | None = None
    favourable: str | None = None
    side: str = "both"
    notion: tuple[str, ...] = ("false_positive_rate",)
    gammas: tuple[float, ...] = (0.01,)
    max_iter: int | None = None
    test_size: float | None = None
    budget: float | None = None
    min_group_size: int = MIN_GROUP_SIZE

    AUDIT_SECONDS: ClassVar[float] = 10.0
    """For the proof of an audit, where no budget is given: a frontier has many."""

    def __post_init__(self) -> None:
        """Raise a ValueError, in the terms of the command, for options that can't be used."""
        super().__post_init__()
        if self.features is not None and self.drop is not None:
            raise ValueError(
                "--features and --drop exclude each other: name the columns that decisions may "
                "use, or those that they may not."
            )
        for option, is_given in {"--impute": self.impute, "--test-size": self.test_size}.items():
            if self.engine == "dask" and is_given:
                raise ValueError(
                    f"{option} needs all rows in one place, and --engine dask leaves them on "
                    "workers; leave one of the two out."
                )
        if len(self.decided) > 1:
            raise ValueError(
                "--prediction and --score exclude each other: one of them says what your model "
                "decides today."
            )
        self._check_notions()
        with errors_in_options(self.options):
            directed_notions(self.notion, self.favourable, self.side)
            for gamma in self.gammas:
                check_gamma(gamma)
            if self.test_size is not None:
                check_test_size(self.test_size)
            _ = self.subgroup_class
            if self.budget is not None:
                check_budget(self.budget)
            check_min_group_size(self.min_group_size)
            if self.max_iter is not None:
                check_whole(self.max_iter, "max_iter", low=1)

    def _check_notions(self) -> None:
        """Raise a ValueError for a notion that no model can be trained for, or not with others."""
        for notion in self.notion:
            if notion == _NOT_LINEAR:
                raise ValueError(
                    f"--notion {notion} is not linear in decisions, and models are trained for "
                    "what is. Of decisions, 0 or 1, it is absolute_error: pass that."
                )
            check_choice(notion, "--notion", TRAINABLE_NAMES)
        means = [notion for notion in self.notion if notion in OUTCOME_NAMES]
        if not means or len(means) == len(self.notion):
            return
        rate = next(notion for notion in self.notion if notion not in OUTCOME_NAMES)
        remedy = "Train for them one after the other."
        if set(means) <= _AS_RATES.keys():
            same = " and ".join(f"{mean} is {_AS_RATES[mean]}" for mean in means)
            remedy = f"Of decisions, 0 or 1, {same}: pass that."
        raise ValueError(f"--notion has the rate {rate} and the mean {means[0]}. {remedy}")

    def notions(self, pair: tuple[Any, ...]) -> tuple[AnyNotion, ...]:
        """Return the notions to train for, of labels of which the second is the positive one.

        A classifier's positive label is the last in order: where the other one was named, rates
        are turned round. Raises a ValueError for a mean, which is of the numbers 0 and 1.
        """
        notions = as_notions(self.notion)
        if pair[1] == max(pair):
            return notions
        for mean in notions:
            if isinstance(mean, OutcomeNotion):
                raise ValueError(
                    f"--positive {self.positive} is for rates, and the {mean.words} is a mean of "
                    "decisions as numbers; leave it out."
                )
        return tuple(one.of_other_label() for one in notions if isinstance(one, FairnessNotion))

    @property
    def audit_budget(self) -> float:
        """Seconds that the proof of an audit may take."""
        return self.AUDIT_SECONDS if self.budget is None else self.budget

    def classifier(self, estimator: str, **parameters: Any) -> Any:
        """Return the classifier to train, not yet fitted; `parameters` are some of its own."""
        from gerrymend.classifiers import SubgroupParityClassifier

        if self.max_iter is not None:
            parameters["max_iter"] = self.max_iter
        if self.budget is not None:
            parameters["budget"] = self.budget
        return SubgroupParityClassifier(
            make_estimator(estimator),
            subgroups=self.subgroups if self.depth is None else self.subgroup_class,
            random_state=self.seed,
            leave_out_empty_strata=self.leave_out_empty_strata,
            **parameters,
        )

    def prepare(self) -> Prepared:
        """Read the columns that are used, keep test rows out, and encode what decisions may use.

        Raises a ValueError in the terms of the command.
        """
        import polars as pl

        frame, chosen, missing = self._chosen(numbered=True)
        features = chosen.features
        wanted = [*self.decided.values(), *chosen.names]
        try:
            table = frame.select([*dict.fromkeys(wanted), ROW]).collect()
        except pl.exceptions.PolarsError as error:
            raise unreadable(self.file, error) from None
        with errors_in_options(self.options):
            check_texts(table.select(features))
        used = plain(table.select(features))
        check_values(used, self.file, impute=self.impute)
        check_scale(used, self.file)
        check_not_identifiers(used)
        label = table[self.label]
        if isinstance(label.dtype, pl.Categorical | pl.Enum):
            label = label.cast(pl.String)
        weight = None if self.weight is None else table[self.weight]
        with errors_in_options(self.options):
            rows = Sample.read(
                label,
                table.select(chosen.protected),
                weight,
                control=None if chosen.controls is None else table.select(chosen.controls),
                features=used,
                pos_label=self.positive_label(frame),
            )
            return self._encode(self._with_today(rows, table), missing, table[ROW].to_numpy())

    def _chosen(self, *, numbered: bool = False) -> "tuple[pl.LazyFrame, Chosen, MissingValues]":
        """Return the file with the columns that are used, and the rows that were dropped.

        If it is `numbered`, a column has the place of each row in the file.
        """
        single = {"--label": self.label, "--weight": self.weight, **self.decided}
        frame = self.open(self.file, single)
        features = self._features(frame.collect_schema().names())
        controls = self.controls_in(frame)
        if numbered:
            frame = frame.with_row_index(ROW)
        frame, protected, missing = self.with_protected(
            frame, self.file, {"--label": self.label, **self.decided}
        )
        return frame, Chosen(self.label, self.weight, features, protected, controls), missing

    def _with_today(self, rows: Sample, table: "pl.DataFrame") -> Sample:
        """Return the rows with what the model of today decides, if a column has it."""
        from gerrymend.frontier.references import with_today

        for column in self.decided.values():
            if self.cut is None:
                return with_today(rows, table[column])
            scores = read_vector(table[column], "today")
            return replace(rows, p=at_least(scores, self.cut, "today").astype(np.float64))
        return rows

    def _encode(
        self, rows: Sample, missing: MissingValues, places: NDArray[np.integer[Any]]
    ) -> Prepared:
        """Return the rows encoded, by an encoder that has seen only those to train on.

        `places` are those of the rows in the file.
        """
        train = rows
        test = None
        test_rows = np.empty(0, dtype=np.intp)
        if self.test_size is not None:
            kept, out = rows.places_of_split(self.test_size, self.seed)
            train = rows.take(kept)
            test = rows.take(out)
            test_rows = places[out].astype(np.intp)
        # Fitted to the training rows alone: test rows must not shape the features they are tested
        # with.
        encoder = make_encoder(rows.features, impute=self.impute).fit(train.features)
        if test is not None:
            note_unseen(encoder, test.features, "the test rows")
            test = replace(test, features=encoded(encoder, test.features))
        train = replace(train, features=encoded(encoder, train.features))
        return Prepared(encoder, train, test, list(rows.features.columns), missing, test_rows)

    def _features(self, there: list[str]) -> list[str]:
        """Return the columns that decisions may use.

        Raises a ValueError for a column that is not there or can't be used for this.
        """
        named = {"--label": [self.label], "--weight": [self.weight] if self.weight else []}
        lists = {"--protected": self.protected, "--features": self.features or [],
                 "--drop": self.drop or []}  # fmt: skip
        named |= {option: split(given, there) for option, given in lists.items()}
        for option, columns in named.items():
            for column in columns:
                check_column(column, option, there, str(self.file))
        reserved = {*named["--label"], *named["--weight"], *self.decided.values()}
        for option in ("--protected", "--features"):
            for column in reserved & set(named[option]):
                raise ValueError(
                    f"{option} has {column!r}, which is the label, the weight or a decision; leave "
                    "it out."
                )
        # A column named with --features is still left out if it is protected and these are
        # excluded.
        out = reserved | set(named["--drop"])
        if self.exclude_protected:
            out |= set(named["--protected"])
        features = named["--features"] or there
        kept = [column for column in dict.fromkeys(features) if column not in out]
        if not kept:
            raise ValueError(
                f"No column of {self.file} is left that decisions may use; name some with "
                "--features, or --drop fewer."
            )
        return kept

    @property
    def options(self) -> dict[str, str]:
        """The option, with its column, behind each argument of the classifier and of audit().

        These are options of `gerrymend frontier`; FitRequest has some more.
        """
        shared = self.options_with(
            X=f"FILE {self.file}",
            y=f"--label {self.label}",
            today=" ".join(next(iter(self.decided.items()), ())),
            gamma="--gammas",
            audit_budget="--budget",
        )
        # It may be a column that the model decides by, which can do without it.
        to_numbers = f"{shared[TO_NUMBERS.name]}, or leave the column out with --drop"
        return shared | {TO_NUMBERS.name: to_numbers}


class FitRequest(TrainingRequest):
    """The same for `gerrymend fit`, which has options of its own."""

    AUDIT_SECONDS: ClassVar[float] = 30.0

    def prepare_anywhere(self) -> AnyPrepared:
        """Prepare rows in memory, or on the workers that --engine names."""
        if self.engine == "memory":
            return self.prepare()
        frame, chosen, missing = self._chosen()
        there: Any = frame  # which `open` has made for this engine
        with errors_in_options(self.options):
            return prepare_there(there, chosen, self.file, self.positive_label(frame), missing)

    @property
    def options(self) -> dict[str, str]:
        """The option behind each argument, as of TrainingRequest."""
        own = {"gamma": "--gamma", "checkpoint": "--checkpoint", "certify=True": "--certify"}
        own["bins"] = "--bins"
        return super().options | own
