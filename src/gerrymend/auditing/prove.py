"""prove(): decide whether any subgroup of a class exceeds a given unfairness."""

import time
from dataclasses import dataclass
from typing import Any

from gerrymend._runtime.interrupts import interruptible
from gerrymend._runtime.reprs import short_repr
from gerrymend.auditing.chosen_subgroups import worst_of_notion
from gerrymend.auditing.doubts import Doubt, doubts_of
from gerrymend.auditing.examine import as_sum, prove_each, why_no_bound
from gerrymend.auditing.from_rows import Given, as_read, read_tally
from gerrymend.auditing.inference.disclosure import cells_of
from gerrymend.auditing.references import check_references
from gerrymend.auditing.small_groups import MIN_GROUP_SIZE, check_min_group_size
from gerrymend.auditing.strata import EmptyStrata, check_counted, empty_strata
from gerrymend.auditing.subgroup import Subgroup, beyond_rounding
from gerrymend.auditing.tally import largest_rounding
from gerrymend.inputs.sample import Decided
from gerrymend.inputs.settings import check_budget, check_number
from gerrymend.notions import GroupMean, NotionLike, by_class, directed_notions
from gerrymend.reporting.audit.strata import empty_sentence
from gerrymend.reporting.wording import bound
from gerrymend.subgroups import as_subgroup_class
from gerrymend.subgroups.compiling import compile_proofs


@dataclass(frozen=True, eq=False, repr=False)
class Proof:
    """Hold the answer whether any subgroup of a class exceeds an unfairness, on given rows.

    Attributes
    ----------
    status : {"proved", "refuted", "undecided"}
        No subgroup exceeds `at_most`; one does; or neither was shown within the budget.
    at_most : float
        The unfairness in question.
    unfairness : float
        The largest that was found, without sign.
    upper_bound : float
        No subgroup exceeds it.
    subgroup : Subgroup or None
        The one that refutes, if it is large enough to be described.
    covers : str
        The class in words.
    no_bound : str or None
        Why no bound was proven, and what to change, as in AuditReport.
    unit : str
        That of a mean of numbers; empty where it is none, or was not said.
    empty_strata : tuple of EmptyStrata
        Strata that were left out, as in AuditReport.
    warnings : tuple of Doubt
        Why the answer may say nothing of fairness, as in AuditReport.

    See Also
    --------
    prove : Prove that no subgroup exceeds an unfairness, or find one that does.
    audit : Find the subgroup that a model's decisions treat most differently, or worst.

    Examples
    --------
    >>> from gerrymend import prove
    >>> sex = ["F", "M"] * 40
    >>> proof = prove(None, [0, 1] * 40, at_most=0.2, sensitive_features={"sex": sex},
    ...               notion="statistical_parity", subgroups="marginals")
    >>> proof.status, proof.subgroup.describe(), proof.unfairness, proof.gap
    ('refuted', 'sex = M', 0.25, 0.0)
    """

    status: str
    at_most: float
    unfairness: float
    upper_bound: float
    subgroup: Subgroup | None
    covers: str
    no_bound: str | None = None
    unit: str = ""
    empty_strata: tuple[EmptyStrata, ...] = ()
    warnings: tuple[Doubt, ...] = ()

    @property
    def gap(self) -> float:
        """Distance from `at_most` to the bound that was proven; 0 where it is decided."""
        return self.upper_bound - self.at_most if self.status == "undecided" else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return the proof as plain data; nothing of a row is in it."""
        return {
            "status": self.status,
            "at_most": self.at_most,
            "unfairness": self.unfairness,
            "upper_bound": self.upper_bound,
            "gap": self.gap,
            "subgroup": None if self.subgroup is None else self.subgroup.to_dict(),
            "covers": self.covers,
            "no_bound": self.no_bound,
            "empty_strata": [one.to_dict() for one in self.empty_strata],
            "warnings": [doubt.to_dict() for doubt in self.warnings],
        }

    def __repr__(self) -> str:
        return short_repr(
            self,
            status=self.status,
            at_most=self.at_most,
            unfairness=self.unfairness,
            upper_bound=self.upper_bound,
            covers=self.covers,
        )

    def __str__(self) -> str:
        left_out = (empty_sentence(one.to_dict()) for one in self.empty_strata)
        doubts = (f"Warning: {doubt.sentence}" for doubt in self.warnings)
        return " ".join([self._answer(), *left_out, *doubts])

    def _answer(self) -> str:
        """Return what was decided, in words."""
        unit = f" {self.unit}".rstrip()
        at_most = f"{self.at_most:g}{unit}"
        found = f"{self.unfairness:.4f}{unit}"
        if self.status == "proved":
            return f"Proved over {self.covers}: none exceeds {at_most}."
        if self.status == "refuted":
            who = "a group that may not be described" if self.subgroup is None else self.subgroup
            return f"Refuted by {who}: unfairness {found}, over {at_most}."
        worst = f"the worst that was found has {found}"
        if not self.unfairness:  # a search that looks for more than `at_most` notes no less
            worst = f"nothing over {at_most} was found"
        return (
            f"Undecided over {self.covers}: {worst}, "
            f"none exceeds {bound(self.upper_bound)}{unit}, which is {self.gap:.4f}{unit} over "
            f"{at_most}. "
            + (
                "A larger budget may decide it."
                if self.no_bound is None
                else f"No bound was proven: {self.no_bound}."
            )
        )


@interruptible
def prove(
    y_true: Any,
    y_pred: Any,
    *,
    at_most: float,
    sensitive_features: Any,
    notion: NotionLike = "false_positive_rate",
    reference: float | GroupMean | None = None,
    subgroups: Any = "linear",
    sample_weight: Any = None,
    threshold: float | None = None,
    decision_probabilities: bool = False,
    pos_label: Any = None,
    favourable: str | None = None,
    side: str = "both",
    budget: float = 30.0,
    min_group_size: int = MIN_GROUP_SIZE,
    data: Any = None,
    control_features: Any = None,
    leave_out_empty_strata: bool = False,
) -> Proof:
    """Prove that no subgroup exceeds an unfairness, or find one that does.

    It takes less than audit(), which closes in on the exact worst value: bounds need only fall
    below `at_most`, and one subgroup above it is enough.

    Parameters
    ----------
    y_true, y_pred
        As in audit().
    at_most : float
        The unfairness that no subgroup is to exceed.
    sensitive_features, notion, reference, subgroups, sample_weight, threshold
        As in audit().
    decision_probabilities, pos_label, favourable, side, budget, min_group_size
        As in audit().
    data, control_features, leave_out_empty_strata
        As in audit().

    Returns
    -------
    Proof
        "proved", "refuted" by a subgroup, or "undecided" where the budget ended first.

    See Also
    --------
    audit : Find the subgroup that a model's decisions treat most differently, or worst.

    Examples
    --------
    >>> from gerrymend import prove
    >>> from gerrymend.datasets import make_gerrymandered
    >>> toy = make_gerrymandered(800)
    >>> question = dict(y_true=toy.target, y_pred=(toy.score >= 0.5).astype(int),
    ...                 sensitive_features=toy.sensitive_features)
    >>> print(prove(**question, at_most=0.07))
    Proved over every linear threshold of race, gender: none exceeds 0.07.
    >>> print(prove(**question, at_most=0.05))
    Refuted by race = blue and gender = man: unfairness 0.0625, over 0.05.
    """
    notions = directed_notions(notion, favourable, side, reference)
    subgroup_class = as_subgroup_class(subgroups)
    at_most = check_number(at_most, "at_most", low=0.0, remedy="It is an unfairness.")
    budget = check_budget(budget)
    min_group_size = check_min_group_size(min_group_size)
    given = Given(y_true, y_pred, sensitive_features, sample_weight, control_features)
    decided = Decided(threshold, decision_probabilities, pos_label, many=True)
    tally = read_tally(data, given, decided, notions)
    notions = by_class(as_read(notions, tally), tally.labels, favourable)
    check_counted(tally, notions, leave_out=leave_out_empty_strata)
    check_references(tally, notions, min_group_size)
    named = (y_true, y_pred) if data is not None else (None, None)
    doubts = doubts_of(tally, None, decided, named, notions, at_most, "at_most")
    # No subgroup's rate is farther from what it is compared with than an outcome can be.
    seen = [tally.of_notion(notion) for notion in notions]
    widest = max(one.compared.reach(*one.notion.outcome_range) for one in seen)
    reachable = min(at_most, widest)
    compile_proofs([subgroup_class], tally.protected)
    deadline = time.monotonic() + budget
    examined = prove_each(tally, notions, subgroup_class, budget, reachable, side=side)
    n = tally.total_weight
    limit = as_sum(reachable, seen)
    rounding = largest_rounding(seen)
    worst = max(examined, key=lambda part: abs(float(part.bracket.found.values[0])))
    value = abs(float(worst.bracket.found.values[0]))
    upper_bound = max(value, *(part.bracket.upper_bound for part in examined))
    subgroup = None
    # Sums are compared with the very number that the searches compared them with: a bracket that
    # ended there may be a rounding above it once both are divided by n.
    if value > limit:
        status = "refuted"
        one = worst_of_notion(worst, examined, min_group_size, deadline)
        if one is not None and abs(one.unfairness) > at_most + rounding:
            subgroup = one
    else:
        status = "proved" if upper_bound <= limit else "undecided"
    no_bound = why_no_bound(examined, value / n, upper_bound / n, at_most, budget)
    units = {notion.unit or "" for notion in notions}
    told = [] if subgroup is None else [cells_of(seen[0], subgroup)]
    return Proof(
        status,
        at_most,
        beyond_rounding(value / n, rounding),
        upper_bound / n,
        subgroup,
        worst.bound.covers,
        no_bound,
        units.pop() if len(units) == 1 else "",
        tuple(filter(None, (empty_strata(one, min_group_size, told) for one in seen))),
        doubts,
    )
