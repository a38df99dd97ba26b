"""Options of `gerrymend uncertain`: checked, the file read, and audit_uncertain() called."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import narwhals as nw

from gerrymend.auditing.small_groups import MIN_GROUP_SIZE
from gerrymend.cli.shared import errors_in_options, split
from gerrymend.cli.table_files import unreadable
from gerrymend.cli.table_request import DecidedRequest
from gerrymend.inputs.settings import check_choice
from gerrymend.inputs.validation import check_column
from gerrymend.notions import NOTION_NAMES
from gerrymend.uncertain.audit_uncertain import POOL_SIZE
from gerrymend.uncertain.report import UncertainReport

if TYPE_CHECKING:
    import polars as pl

OPTION = "--attribute-probabilities"


@dataclass(frozen=True)
class UncertainRequest(DecidedRequest):
    """Hold the options of `gerrymend uncertain`, which its help explains, as they were given.

    Exactly one of `prediction`, `score` and `probability` is not None. Raises a ValueError for
    options that exclude each other.
    """

    attribute_probabilities: tuple[str, ...] = ()
    notion: tuple[str, ...] = ("false_positive_rate",)
    gamma: float = 0.01
    budget: float = 30.0
    min_group_size: int = MIN_GROUP_SIZE
    pool_size: int = POOL_SIZE
    probability_error: float = 0.0
    permutations: int = 199

    def __post_init__(self) -> None:
        """Raise a ValueError, in the terms of the command, for options that can't be used."""
        super().__post_init__()
        for notion in self.notion:
            check_choice(notion, "--notion", NOTION_NAMES)
        for text in self.attribute_probabilities:
            if not all(text.partition("=")[::2]):
                raise ValueError(
                    f"{OPTION} {text} must name an attribute and its columns, such as "
                    "race=Black:p_black,White:p_white."
                )

    def audit(self) -> UncertainReport:
        """Read the file and audit it; raise a ValueError in the terms of the command."""
        import polars as pl

        from gerrymend import audit_uncertain

        ((_, column),) = self.decided.items()
        single = {"--label": self.label, **self.decided, "--weight": self.weight}
        frame = self.open(self.file, single)
        try:
            frame, attributes, _ = self.with_protected(frame, self.file, single)
            with errors_in_options(self.options):
                return audit_uncertain(
                    self.label,
                    column,
                    attribute_probabilities=self._columns(frame),
                    data=frame,
                    sensitive_features=attributes or None,
                    notion=self.notion,
                    subgroups=self.subgroup_class,
                    gamma=self.gamma,
                    sample_weight=self.weight,
                    threshold=self.cut,
                    decision_probabilities=self.probability is not None,
                    pos_label=self.positive_label(frame),
                    pool_size=self.pool_size,
                    probability_error=self.probability_error,
                    budget=self.budget,
                    min_group_size=self.min_group_size,
                    n_permutations=self.permutations,
                    random_state=self.seed,
                )
        except (pl.exceptions.PolarsError, nw.exceptions.NarwhalsError) as error:
            raise unreadable(self.file, error) from None

    def _columns(self, frame: "pl.LazyFrame") -> dict[str, dict[str, str]]:
        """Return the columns of each attribute by category; one without a name is its own."""
        there = frame.collect_schema().names()
        named: dict[str, dict[str, str]] = {}
        for text in self.attribute_probabilities:
            name, _, columns = text.partition("=")
            for one in split([columns], there):
                category, _, column = (one, "", one) if one in there else one.partition(":")
                check_column(column or category, OPTION, there, str(self.file))
                named.setdefault(name, {})[category] = column
        return named

    @property
    def options(self) -> dict[str, str]:
        """The option, with its column, behind each argument of audit_uncertain()."""
        ((option, column),) = self.decided.items()
        return self.options_with(
            y_true="--label" if self.label is None else f"--label {self.label}",
            y_pred=f"{option} {column}",
            data=f"FILE {self.file}",
            n_permutations="--permutations",
        ) | {
            "threshold=0.5": "--score with --threshold 0.5",
            "decision_probabilities=True": "--probability",
        }
