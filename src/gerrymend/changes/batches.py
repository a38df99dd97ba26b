"""Take a batch in: read it, bet on it, search it, and watch what was found from the next one on."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gerrymend._runtime.errors import Argument, ArgumentError
from gerrymend.auditing.chosen_subgroups import cells_of, published_by, worst_of_notion
from gerrymend.auditing.examined import Examined
from gerrymend.auditing.from_rows import Given, read_tally, tally_of_kinds
from gerrymend.auditing.inference.disclosure import KnownSums
from gerrymend.auditing.small_groups import may_be_described
from gerrymend.auditing.subgroup import MOST_SHARED, Subgroup, beyond_rounding, shared_part
from gerrymend.auditing.tally import Tally, largest_rounding
from gerrymend.changes.look import Look
from gerrymend.changes.watch_state import WatchState, rules_of
from gerrymend.changes.watched import Batch, Watched
from gerrymend.inputs.protected import Column
from gerrymend.inputs.sample import Decided
from gerrymend.notions import FairnessNotion, as_rates, by_class
from gerrymend.subgroups.base import Bracket, most_of_any
from gerrymend.subgroups.compiling import compile_proofs


def read_batch(state: WatchState, given: Given) -> tuple[Tally, WatchState]:
    """Read a batch like the first one, or the first, which decides labels and attributes."""
    decided = Decided(
        state.threshold, state.decision_probabilities, state.pos_label, many=True,
        labels=state.labels,
    )  # fmt: skip
    if state.kinds is None:
        tally = read_tally(None, given, decided, state.notions)
        kinds = {column.name: column.kind for column in tally.protected}
        rates = by_class(state.notions, tally.labels, state.favourable)
        return tally, replace(
            state,
            kinds=kinds,
            labels=tally.labels,
            is_labelled=tally.is_labelled,
            rates=as_rates(rates),
        )
    if (given.y_true is None) == state.is_labelled:
        have = "has labels, and the first batch had none"
        if given.y_true is None:
            have = "is not given, and the first batch had labels"
        raise ArgumentError("y_true", f"{have}; pass all batches alike.")
    tally = tally_of_kinds(given, decided, state.notions, state.kinds)
    if {column.name for column in tally.protected} != state.kinds.keys():
        raise ArgumentError(
            "sensitive_features",
            f"are {', '.join(column.name for column in tally.protected)}, and those of the first "
            f"batch {', '.join(state.kinds)}; pass the same ones.",
        )
    if tally.labels != state.labels:
        raise ArgumentError(
            "y_true" if tally.is_labelled else "y_pred",
            f"has the labels {', '.join(map(repr, tally.labels))}, and the first batch had "
            f"{', '.join(map(repr, state.labels or ()))}; pass the same ones, with ",
            Argument("pos_label"),
            ".",
        )
    return tally, state


def counts_any(tally: Tally, notion: FairnessNotion) -> bool:
    """Return whether any row is in the event of a notion."""
    return bool((np.asarray(notion.event, float) @ tally.view(notion).weight).any())


def with_named(state: WatchState, tally: Tally) -> WatchState:
    """Begin to watch the groups that were asked for, with the first batch."""
    if state.looks or not state.asked:
        return state
    columns = {column.name: column for column in tally.columns}
    found = [
        Watched(rule, notion, 1, state.sides_of(notion), named=True, whole=_whole(columns))
        for rule, name in rules_of(state.asked, columns)
        for notion in state.rates
        if name in (None, notion.name)
    ]
    return replace(state, watched=tuple(found))


def _whole(columns: Mapping[str, Column]) -> tuple[str, ...]:
    """Return the attributes that have no fractions."""
    return tuple(name for name, column in columns.items() if column.is_whole)


def after_bets(state: WatchState, tally: Tally, notions: Sequence[FairnessNotion]) -> WatchState:
    """Give fresh money to each bet, and bet on a batch."""
    n_bets = sum(one.n_bets for one in state.watched)
    if not n_bets:
        return state
    # 1/(k + 1) of what is left, so that 1/(k + 1) of all is left after k times.
    fresh = state.cash / (state.n_bets_made + 2)
    # 7 keeps these draws apart from all others of the same seed.
    seeds = [state.random_state, 7, len(state.looks)]
    batches = {
        notion: Batch.of(tally, notion, np.random.default_rng([*seeds, i]))
        for i, notion in enumerate(state.rates)
        if notion in notions
    }
    watched = []
    for one in state.watched:
        mine = one.given(fresh / n_bets)
        if (batch := batches.get(one.notion)) is not None:
            mine = batch.after(mine, state.gamma, state.min_group_size)
        watched.append(mine)
    return replace(
        state,
        cash=state.cash - fresh,
        n_bets_made=state.n_bets_made + 1,
        watched=tuple(watched),
    )


def searched(state: WatchState, tally: Tally, notions: Sequence[FairnessNotion]) -> list[Examined]:
    """Search a batch for the worst subgroup of each notion."""
    compile_proofs([state.subgroups], tally.protected)
    deadline = time.monotonic() + state.budget
    examined = []
    for i, notion in enumerate(notions):
        seen = tally.of_notion(notion)
        bound = seen.bind(state.subgroups)
        sign = notion.harm if state.side == "disadvantaged" else 0
        if sign:
            bound = bound.one_sided(sign)
        left = max(0.0, deadline - time.monotonic()) / (len(notions) - i)
        found = bound.search(seen.residual, seconds=left)
        bracket = Bracket(found, float(most_of_any(seen.residual)))
        examined.append(Examined(seen, bound, bracket, state.subgroups, sign))
    return examined


def told(
    state: WatchState, tally: Tally, examined: list[Examined], at: Any, digest: str
) -> tuple[WatchState, Look]:
    """Return the state after a batch, with its worst among those that are watched, and the look."""
    floor = state.min_group_size
    n = tally.total_weight
    values = [abs(float(part.bracket.found.values[0])) / n for part in examined]
    part = examined[int(np.argmax(values))]
    deadline = time.monotonic() + state.budget
    worst = worst_of_notion(part, examined, floor, deadline)
    if worst is not None:
        worst = replace(worst, composition=()) if worst.differs else None
    first = max(state.watched, key=lambda one: one.total, default=None)
    leading = _leading_now(first, tally, floor)
    rounding = largest_rounding(part.seen for part in examined)
    e_value = state.e_value
    number = len(state.looks) + 1
    raised = state.raised
    if raised is None and e_value >= 1 / state.level:
        raised = number
    state = replace(
        _with_worst(state, worst, examined, number),
        highest=max(state.highest, e_value),
        raised=raised,
        fingerprints=(*state.fingerprints, digest),
        looks=(
            *state.looks,
            {"number": number, "at": at, "n_rows": int(tally.n_rows.sum()), "e_value": e_value},
        ),
    )
    return state, Look(
        number=number,
        at=at,
        n_rows=int(tally.n_rows.sum()),
        gamma=state.gamma,
        level=state.level,
        e_value=e_value,
        p_value=min(1.0, 1 / state.highest),
        raised=raised,
        unfairness=beyond_rounding(max(values), rounding),
        worst=_beside(leading, worst, examined, floor, state.budget),
        leading=None if first is None else first.rule.describe(),
        leading_now=leading,
        n_watched=len(state.watched),
    )


def _leading_now(first: Watched | None, tally: Tally, floor: int) -> Subgroup | None:
    """Return the group with most evidence in this batch, if there are enough rows to tell."""
    if first is None or not counts_any(tally, first.notion):
        return None
    seen = tally.of_notion(first.notion)
    group = seen.cells.as_treated(first.rule, seen.outcomes)
    inside = int(seen.rows[cells_of(seen, group)[seen.cells.active]].sum())
    return group if may_be_described(inside, seen.rows.sum(), floor) else None


def _beside(
    leading: Subgroup | None,
    worst: Subgroup | None,
    examined: Sequence[Examined],
    floor: int,
    seconds: float,
) -> Subgroup | None:
    """Return the worst group of a batch, if it tells of no small one beside the leading one."""
    if worst is None or leading is None:
        return worst
    seen = [part.seen for part in examined]
    known = published_by(seen, [leading], floor, seconds)[worst.notion]
    return worst if known.told(cells_of(seen[0], worst).astype(np.intp)) is None else None


def _with_worst(
    state: WatchState, worst: Subgroup | None, examined: Sequence[Examined], number: int
) -> WatchState:
    """Watch the worst of a batch from the next one on, unless it is one that is watched already.

    Nor is it where a group of few rows of this batch is all that it differs by from those.
    """
    if worst is None or abs(worst.unfairness) <= state.gamma + worst.rounding:
        return state
    seen = next(part.seen for part in examined if part.seen.notion == worst.notion)
    columns = {column.name: column for column in seen.tally.columns}
    active = seen.cells.active
    mine = cells_of(seen, worst)
    known = KnownSums(seen.rows_of_cells, state.min_group_size, state.budget)
    for one in state.watched:
        if one.notion == worst.notion:
            other = one.rule.members(columns)
            shared = shared_part(seen.cells.mass, mine[active], other[active], divisions=False)
            if shared > MOST_SHARED:
                return state
            known.add(other.astype(np.intp))
    if known.told(mine.astype(np.intp)) is not None:
        return state
    found = Watched(
        worst.rule, worst.notion, number + 1, state.sides_of(worst.notion), whole=_whole(columns)
    )
    watched = [*state.watched, found]
    cash = state.cash
    if len(watched) > state.max_groups:
        old = [one for one in state.watched if not one.named]
        if not old:
            return state
        poorest = min(old, key=lambda one: one.total)
        watched.remove(poorest)
        cash += poorest.total
    return replace(state, watched=tuple(watched), cash=cash)
