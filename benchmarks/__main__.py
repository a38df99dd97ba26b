"""`make bench`: one run, one table; figures are ratios within the run."""

import json
import os
import sys

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # one core, and no threads to wake

from benchmarks import conjunctions, learning, peers, proofs, rounds
from benchmarks.data import communities
from benchmarks.fits import show


def main():
    X, y, protected, name = communities()
    game = rounds.Game(X, y, protected)
    ratios = {}
    for rows in ("all", "event", "least"):
        per_round, products = rounds.round_against_products(game, rows=rows)
        ratios[rows] = per_round / products
    many = rounds.Game(X, y, protected, n_gammas=64)
    many_rounds, many_products = rounds.round_against_products(many, n_rounds=200, chunk=20)
    figures = [
        ("round, one gamma", f"{per_round * 1e6:.0f} µs", None),
        ("round / products over all rows", ratios["all"], "at most 2"),
        ("round / pulls of the event, decisions of all rows", ratios["event"], "at most 2"),
        ("round / both over the event's rows only", ratios["least"], None),
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
    show_proofs(figures)
    figures += learning.figures(peers="--no-peers" not in sys.argv)
    if "--schemes" in sys.argv:
        learning.schemes()
    print(f"\n{name}; one core\n")
    show(figures)
    print("\n" + json.dumps({label: value for label, value, _ in figures}))


def show_proofs(figures):
    """The prototype's table with ours beside it, and the figures that go with it."""
    summed, whole = proofs.ten_million_rows()
    figures.append(("10,000,000 rows, search audit / their sums alone", whole / summed, "near 1"))
    rows = proofs.table()
    if not rows:
        return
    print("\nproofs over linear thresholds         search       s      value     bound        s"
          "  prototype's")  # fmt: skip
    for row in rows:
        print(
            f"{row['data']:<36}{row['search']:.6f}{row['search seconds']:>8.2f}  {row['value']:.6f}"
            f"  {row['bound']:.6f}{row['seconds']:>9.4f}{row['prototype']:>9g}"
        )
        figures.append((f"{row['data']}, proof / prototype's seconds",
                        row["seconds"] / row["prototype"], "at most 2"))  # fmt: skip
        assert abs(row["value"] - row["exact"]) < 5e-7
        assert abs(row["bound"] - row["exact"]) < 5e-7
    value, bound = proofs.first_six()
    print(f"communities, first 6: [{value:.6f}, {bound:.6f}] after 60 s; prototype [.0318, .0325]")
    for size, (bound, seconds) in proofs.parts().items():
        print(f"communities, all 18: at most {bound:.6f} over {size} of them, {seconds:.2f} s")
        limit = {2: 1, 3: 5}[size]
        figures.append((f"18 attributes, {size} at a time, s", seconds, f"at most {limit}"))


main()
