"""`make bench`: one run, one table; figures are ratios within the run."""

import json
import os
import sys

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # one core, and no threads to wake

from benchmarks import conjunctions, peers, rounds
from benchmarks.data import communities


def main():
    X, y, protected, name = communities()
    game = rounds.Game(X, y, protected)
    per_round, products = rounds.round_against_products(game)
    strict_round, strict_products = rounds.round_against_products(game, event_only=True)
    many = rounds.Game(X, y, protected, n_gammas=64)
    many_rounds, many_products = rounds.round_against_products(many, n_rounds=200, chunk=20)
    figures = [
        ("round, one gamma", f"{per_round * 1e6:.0f} µs", None),
        ("round / its bare matrix products", per_round / products, "at most 2"),
        ("round / products of the event's rows only", strict_round / strict_products, "at most 2"),
        ("round, 64 gammas / its bare products", many_rounds / many_products, None),
        ("round, 64 gammas / one gamma", many_rounds / per_round, None),
        ("round, last tenth of 20,000 / second tenth", rounds.growth_with_rounds(game), "about 1"),
        ("peak memory of fit / X in float64", rounds.peak_memory(), "at most 3"),
        ("10,000 linear classifiers on 2,000 rows, s", rounds.mixture_seconds(), "at most 0.5"),
        ("1,000,000 rows, conjunctions to depth 3, s", conjunctions.million_rows(), "at most 2"),
    ]
    if "--no-peers" not in sys.argv:
        peer = peers.aif360_seconds_a_round(X, y, protected)
        figures.append(("AIF360's GerryFairClassifier / ours, a round", peer / per_round,
                        "at least 100"))  # fmt: skip
        both = conjunctions.against_pysubgroup()
        ours, theirs = both["half_lines"], both["pysubgroup"]
        figures += [
            ("pysubgroup / ours, seconds", theirs["seconds"] / ours["seconds"], "at least 10"),
            ("ours / pysubgroup, unfairness", ours["unfairness"] / theirs["unfairness"],
             "at least 1"),
        ]  # fmt: skip
    print(f"\n{name}; one core\n")
    for label, value, wanted in figures:
        shown = value if isinstance(value, str) else f"{value:.2f}"
        print(f"{label:<46}{shown:>12}   {wanted or ''}")
    print("\n" + json.dumps({label: value for label, value, _ in figures}))


main()
