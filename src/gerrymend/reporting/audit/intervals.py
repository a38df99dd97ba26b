"""Word the interval of the rate of a group, and what it is worth for one that was chosen."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gerrymend._numeric.rate_intervals import rate_interval
from gerrymend.notions import NOTION_NAMES, rate_and_class
from gerrymend.reporting.audit.other_rows import held_out_rows, measured_there
from gerrymend.reporting.audit.who_leads import headline, is_named, is_nobody, largest, sharpest
from gerrymend.reporting.wording import count, figure, interval_ends

Report = Mapping[str, Any]

# The confidence of the interval of a rate.
_LEVEL = 0.95


def interval_words(group: Mapping[str, Any], report: Report) -> str | None:
    """Return an interval of the rate of a group, and what it is worth; None of most groups.

    Of who stands out it has paid for all the groups that were looked at. Of the largest unfairness
    it is Clopper and Pearson's, of rows that were held out where these tell of the group; None of
    means, of rates of the user's own, and where rows weigh differently: what it takes is not in a
    report.
    """
    there = measured_there(group, report)
    one = sharpest(report)
    if one is not None and is_named(one, group) and there is None:
        tested = report["sharpest"]
        if ends := tested.get("rate_interval"):
            looked_at = f"{count(tested['n_groups'])} groups looked at"
            return f"{_ends(ends, group)}, allowing for the {looked_at}"
    # One that chance may have made would look sure by the interval of a group chosen beforehand.
    if there is None and is_nobody(group, report):
        return None
    if group not in (headline(report), largest(report)) or report["weighted"]:
        return None
    if rate_and_class(group["notion"])[0] not in NOTION_NAMES:
        return None
    n_rows = report["n_rows"]
    worst = "worst" if group == largest(report) else "sharpest"
    worth = f", which is too narrow, as the group was chosen as the {worst} of many; "
    worth += _what_allows_for_that(report)
    if there is not None:
        group = there["subgroup"]
        n_rows = report["held_out"]["n_rows"]
        rate = figure(group["rate"], group.get("unit"))
        worth = f" on the {held_out_rows(report['held_out'])}, where it is {rate}"
    in_event = np.array(round(group["share"] * n_rows), dtype=float)
    ends = rate_interval(np.array(group["rate"]), in_event, _LEVEL)
    return f"{_ends(ends, group)}{worth}"


def _what_allows_for_that(report: Report) -> str:
    """Say what tells of other people though the group was chosen: bounds, or rows of their own."""
    population = report["population"]
    if population is not None and population["distance"] is not None:
        return "the bounds for the people behind the rows allow for that"
    return "confidence=0.95 (--confidence 0.95), or rows kept out of the search, would allow for it"


def _ends(ends: Sequence[Any], group: Mapping[str, Any]) -> str:
    return interval_ends(ends, group.get("unit"))
