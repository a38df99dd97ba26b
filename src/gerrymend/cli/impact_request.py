"""Options of `gerrymend impact`: checked, the file read, and impact_ratios() called."""

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gerrymend.auditing.small_groups import MIN_GROUP_SIZE
from gerrymend.cli.exit_codes import Decision, impact_decision
from gerrymend.cli.reference_option import read_reference
from gerrymend.cli.shared import errors_in_options
from gerrymend.cli.table_files import unreadable
from gerrymend.cli.table_request import TableRequest, as_value
from gerrymend.impact.category_tables import ImpactGroup
from gerrymend.impact.profiles import PLAIN, PROFILES
from gerrymend.impact.table import ImpactTable
from gerrymend.inputs.held_numbers import number_of
from gerrymend.inputs.protected import MISSING_LABEL
from gerrymend.inputs.settings import check_choice
from gerrymend.notions import GroupMean
from gerrymend.reporting.impact.words import LEVEL
from gerrymend.subgroups import SubgroupClass, as_subgroup_class

if TYPE_CHECKING:
    import polars as pl

_HIGHEST = "highest"
# A difference of fewer standard deviations is not unlikely by chance, where nothing exact tells.
_DEVIATIONS = 2.0


@dataclass(frozen=True)
class ImpactRequest(TableRequest):
    """Hold the options of `gerrymend impact`, which its help explains, as they were given.

    Exactly one of `selected` and `score` is not None. Raises a ValueError for options that exclude
    each other.
    """

    selected: str | None = None
    profile: str | None = None
    reference: list[str] | None = None
    unknown: tuple[str, ...] = ()
    exclude_small: bool = False
    confidence: float = 0.95
    no_search: bool = False
    search_class: str | None = None
    search_depth: int | None = None
    budget: float = 30.0
    min_group_size: int = MIN_GROUP_SIZE
    permutations: int = 199
    fail_below: float | None = None
    if_chance: str = "fail"

    def __post_init__(self) -> None:
        """Raise a ValueError, in the terms of the command, for options that can't be used."""
        super().__post_init__()
        if len(self.decided) != 1:
            given = " and ".join(self.decided) or "none of them"
            raise ValueError(
                "One of --selected (decisions) and --score (scores, of which those above the "
                f"median count, or those at --threshold) says who is selected; got {given}."
            )
        if self.profile is not None:
            check_choice(self.profile, "--profile", PROFILES)
        if self.fail_below is not None and not 0 < self.fail_below <= 1:
            raise ValueError(
                f"--fail-below must be a ratio above 0 and at most 1; got {self.fail_below:g}. "
                "Four fifths are 0.8."
            )
        check_choice(self.if_chance, "--if-chance", ("fail", "undecided"))
        if self.if_chance == "undecided" and self.gate is None:
            raise ValueError(
                "--if-chance undecided is for --fail-below, which says what fails, and is not "
                "given; leave it out, or pass --fail-below 0.8."
            )
        if self.search_depth is not None and self.search_class is None:
            raise ValueError(
                f"--search-depth {self.search_depth} is for --search-class, which is not given; "
                "pass both, as in --search-class conjunctions --search-depth 3."
            )

    @property
    def decided(self) -> dict[str, str]:
        """The option that names the column of decisions or scores, and that column."""
        options = {"--selected": self.selected, "--score": self.score}
        return {option: column for option, column in options.items() if column is not None}

    @property
    def gate(self) -> float | None:
        """The ratio below which the command fails; None where nothing does."""
        if self.fail_below is not None:
            return self.fail_below
        return (PLAIN if self.profile is None else PROFILES[self.profile]).fail_below

    @property
    def searched(self) -> SubgroupClass | None:
        """The class to search; None for the default."""
        if self.search_class is None:
            return None
        chosen = as_subgroup_class(self.search_class, "search_class")
        if self.search_depth is not None:
            if "max_depth" not in chosen.get_params():
                raise ValueError(
                    f"--search-depth {self.search_depth} is not for --search-class "
                    f"{self.search_class}, which has no depth; leave it out."
                )
            chosen.set_params(max_depth=self.search_depth)
        return chosen

    def tables(self) -> ImpactTable:
        """Read the file and make the tables; raise a ValueError in the terms of the command."""
        from gerrymend import impact_ratios

        with errors_in_options(self.options):
            chosen = self.searched
        frame, attributes = self._read()
        (column,) = self.decided.values()
        scored = self.score is not None and self.threshold is None
        with errors_in_options(self.options):
            return impact_ratios(
                column,
                data=frame,
                sensitive_features=attributes,
                sample_weight=self.weight,
                rate="scoring" if scored else "selection",
                threshold=self.threshold,
                pos_label=self.positive_label(frame.lazy()),
                reference=self._reference(frame, attributes),
                depth=self.depth,
                profile=self.profile,
                unknown=self._unknown(),
                exclude_small=self.exclude_small,
                confidence=self.confidence,
                search=not self.no_search,
                subgroups=chosen,
                budget=self.budget,
                min_group_size=self.min_group_size,
                n_permutations=self.permutations,
                random_state=self.seed,
            )

    def _read(self) -> "tuple[pl.DataFrame, list[str]]":
        """Return the columns that are used, and which are protected."""
        import polars as pl

        single = {**self.decided, "--weight": self.weight}
        frame, attributes, _ = self.with_protected(
            self.open(self.file, single), self.file, self.decided
        )
        named = [*(column for column in single.values() if column is not None), *attributes]
        try:
            return frame.select(list(dict.fromkeys(named))).collect(), attributes
        except pl.exceptions.PolarsError as error:
            raise unreadable(self.file, error) from None

    def _reference(self, frame: "pl.DataFrame", attributes: list[str]) -> Any:
        """Return the reference group by attribute, or "highest"."""
        if not self.reference or self.reference == [_HIGHEST]:
            return _HIGHEST
        found = read_reference(
            self.reference,
            None,
            attributes,
            lambda text, column: as_value(text, frame.schema[column]),
        )
        if isinstance(found, GroupMean):
            return dict(found.group)
        raise ValueError(
            f"--reference {self.reference[0]} is a number, and ratios are to a group: pass "
            "highest, or one such as sex=M."
        )

    def _unknown(self) -> list[Any]:
        """Return what stands for unknown: as text and as a number, and missing ones of ranges."""
        values: list[Any] = [*self.unknown, *([MISSING_LABEL] if self.ranges else [])]
        for text in self.unknown:
            with suppress(ValueError):
                values.append(number_of(text))
        return values

    def decide(self, table: ImpactTable) -> Decision:
        """Return the code to exit with, and why."""
        if self.gate is None:
            return Decision(0)
        below = table.below(self.gate)
        sure = [group for group in below if not _may_be_chance(group)]
        return impact_decision(
            self.gate,
            len(below),
            by_chance=self.if_chance == "undecided" and not sure,
        )

    @property
    def options(self) -> dict[str, str]:
        """The option, with its column, behind each argument of impact_ratios()."""
        ((option, column),) = self.decided.items()
        return self.options_with(
            y_pred=f"{option} {column}",
            data=f"FILE {self.file}",
            n_permutations="--permutations",
            subgroups="--search-class",
            depth="--depth",
            unknown="--unknown",
            rate="--score",
        ) | {
            "threshold=0.5": "--score with --threshold 0.5",
            "rate='scoring'": "--score alone",
            "search_class": "--search-class",
        }


def _may_be_chance(group: ImpactGroup) -> bool:
    """Return whether chance may have made a group's rate, by its own test."""
    if group.p_value is not None:
        return group.p_value > LEVEL
    return group.standard_deviations is None or abs(group.standard_deviations) < _DEVIATIONS
