"""Word what is to be known of the further groups of a report, beside the one that leads."""

from collections.abc import Mapping
from typing import Any

from gerrymend.reporting.audit.score_words import is_scored
from gerrymend.reporting.audit.standing_out import whose, within_words
from gerrymend.reporting.audit.subgroup_facts import rows_noun
from gerrymend.reporting.audit.subgroup_words import Facts, compared_rates, reference_noun
from gerrymend.reporting.audit.who_leads import STANDS_OUT
from gerrymend.reporting.wording import percent

Report = Mapping[str, Any]


def further_facts(standing: str, subgroup: Mapping[str, Any], report: Report) -> Facts:
    """Say what of a further group is the leading one's.

    Nothing of groups that lead; of who stands out, how much of it is in the largest one's.
    """
    facts = []
    if standing == STANDS_OUT and (part := within_words(report)):
        facts.append(("Beside the other", f"{part} {whose(report)}"))
    if (apart := subgroup.get("apart")) is not None:
        shown = compared_rates({**subgroup, **apart})
        noun = rows_noun(subgroup, report)
        shared = f"{percent(apart['shared'])} of its {noun} are in the first group"
        than = " of all who are not in that"
        if subgroup.get("reference"):
            comma = "" if is_scored(subgroup) else ","
            than = f"{comma} {reference_noun(subgroup)}"
        others = f"without them {shown.rate}, against {shown.reference}{than}"
        facts.append(("Beside the first", f"{shared}; {others}"))
    return facts
