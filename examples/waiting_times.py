"""Waiting times: an outcome may be any number, here the days that patients wait for surgery.

Run it with `python examples/waiting_times.py [waiting.html]`; its report is written to that file,
or to one in a temporary folder. It needs no download. A notion of one's own is a function of what
was true and what was predicted or measured, with a unit; unfairness and gamma are then in that
unit, times the share of the people that it is about.
"""

import sys
import tempfile
from pathlib import Path

import numpy as np

from gerrymend import OutcomeNotion, audit, prove


def patients(n_rows=4_000, seed=0):
    """Make waiting times: old people far from town wait some days longer."""
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 90, n_rows)
    home = np.array(["town", "country"])[rng.integers(0, 2, n_rows)]
    urgency = np.array(["soon", "planned"])[rng.integers(0, 2, n_rows)]
    days = rng.gamma(4.0, np.where(urgency == "soon", 2, 8))
    days += 9.0 * ((home == "country") & (age >= 70))
    return {"age": age, "home": home}, {"urgency": urgency}, np.round(days, 1)


def main(page=None):
    """Audit who waits longest, among those whose case is equally urgent; write a page of it."""
    attributes, urgency, days = patients()
    waiting = OutcomeNotion(
        "waiting_time", lambda _, days: days, reads_labels=False, unit="days", worse="higher"
    )
    rows = {"sensitive_features": attributes, "control_features": urgency, "notion": waiting}

    # gamma is in days, times a share of the people: half a day for a tenth of them is 0.05.
    print("1. Who waits longer than others whose case is as urgent?")
    report = audit(None, days, **rows, gamma=0.3, n_permutations=99, subgroups="conjunctions")
    print(report)
    page = page or Path(tempfile.mkdtemp()) / "waiting.html"
    report.write_html(page, title="Who waits for surgery, among those whose case is as urgent")
    print(f"The report is in {page}")

    print("\n2. No group waits more than 15 days longer, if it is a tenth of the people")
    print(prove(None, days, **rows, at_most=0.1 * 15, subgroups="conjunctions"))

    # Any other number a row will do: a price, a dose, a score, the error of a forecast.
    print("\n3. Of those who wait more than a month, how much longer?")
    late = OutcomeNotion(
        "time_beyond_a_month",
        lambda _, days: days - 30,
        event=lambda _, days: days > 30,
        reads_labels=False,
        unit="days",
        worse="higher",
    )
    rows["notion"] = late
    report = audit(None, days, **rows, gamma=0.3, subgroups="conjunctions", n_permutations=99)
    worst = report.worst
    print(f"{worst.describe()} ({worst.size:,} of {report.n_rows:,} people):")
    print(f"{worst.rate:.1f} days beyond a month, where they wait that long;")
    print(f"all whose case is as urgent: {worst.overall_rate:.1f} days (p = {report.p_value:.3f}).")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
