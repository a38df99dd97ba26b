"""Check that the rows of an audit can be compared with the references of its notions."""

from collections.abc import Sequence

from gerrymend._runtime.errors import Argument, ArgumentError
from gerrymend.auditing.small_groups import may_be_described
from gerrymend.auditing.tally import Tally
from gerrymend.notions import OVERALL, AnyNotion


def check_references(tally: Tally, notions: Sequence[AnyNotion], min_group_size: int) -> None:
    """Raise an ArgumentError for a reference that these rows can't be compared with.

    That is where groups are compared within strata, or where the named group has fewer rows in the
    event than may be told of: its mean is what a report tells first.
    """
    for notion in notions:
        if notion.reference == OVERALL:
            continue
        if tally.strata is not None:
            raise ArgumentError(
                "reference",
                f"is what the {notion.words} is compared with, and ",
                Argument("control_features"),
                " compares each row with its stratum; leave one of them out.",
            )
        seen = tally.of_notion(notion)
        group = seen.compared.group
        if group is None:
            continue
        inside = int(seen.rows_of_cells[group].sum())
        everyone = int(seen.rows.sum())
        if inside != everyone and not may_be_described(inside, everyone, min_group_size):
            raise ArgumentError(
                "reference",
                f"is {seen.compared.words}, a mean of {inside} rows of {everyone}: with fewer than "
                f"{min_group_size} in it, or out of it, it would tell of persons. Name a larger "
                "group, or lower ",
                Argument("min_group_size"),
                ".",
            )
