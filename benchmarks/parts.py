"""The parts of `make bench`, each of steps that return lines: what, how much, what was wanted.

`python -m benchmarks.parts PART OUT.json FOLDER [--quick]` is how `python -m benchmarks` runs one,
in a process of its own. A step that fails is left out, with the reason; the others are not.
"""

import json
import sys
import traceback
from functools import partial
from pathlib import Path

from benchmarks import (
    anywhere,
    calibration,
    conjunctions,
    dask_rounds,
    huge_audits,
    intersections,
    learning,
    learning_peers,
    outcomes,
    peers,
    proofs,
    rounds,
    scaling,
)
from benchmarks.data import communities

PARTS = (
    "rounds",
    "scaling",
    "dask",
    "anywhere",
    "audits",
    "proofs",
    "learning",
    "calibration",
    "peers",
)


def steps_of(part, folder, *, quick):
    """Its steps by name. `quick` is to see that all runs: small sizes, whose figures say little."""
    few = {"datasets": ("student",), "audit_seconds": 0.5} if quick else {}
    few_splits = {"datasets": ("student",), "seeds": (0, 1)} if quick else {}
    return {
        "rounds": {"rounds": partial(rounds.figures, 300 if quick else 5000)},
        "scaling": {"a round on one core": partial(scaling.figures, folder, quick=quick)},
        "dask": {
            "Dask": partial(dask_rounds.figures, folder, 100_000 if quick else dask_rounds.N_ROWS)
        },
        "anywhere": {
            "places": partial(anywhere.agreement, folder, *([300] if quick else [])),
            "in memory": partial(anywhere.memory_figures, folder, *([10_000] if quick else [])),
            "on a cluster": partial(anywhere.cluster_figures, folder, *([50_000] if quick else [])),
        },
        "audits": {
            "conjunctions": partial(conjunctions_in_full, 20_000 if quick else 1_000_000),
            "search audit": partial(search_audit, 100_000 if quick else 10_000_000),
            "huge audits": partial(
                huge_audits.figures, folder, (100_000,) if quick else huge_audits.SIZES
            ),
            "numbers": partial(outcomes.figures, *[((1_000, 100),)] * 2)
            if quick
            else outcomes.figures,
        },
        "proofs": {
            "proofs": proofs.figures,
            "number and categories": partial(proofs.meeting_figures, 2.0 if quick else 14.0),
            "many attributes": partial(proofs.part_figures, 2.0 if quick else 60.0),
        },
        "learning": {
            "cells": lambda: learning.cell_figures(learning.cells(**few)),
            "certificates": lambda: learning.certificate_figures(learning.certificates(**few)),
            "8 attributes": partial(eight_attributes, quick=quick),
        },
        "calibration": {
            "test rows": partial(calibration.figures, folder, **few_splits),
            "a million rows": partial(calibration.million, 20_000 if quick else 1_000_000),
        },
        "peers": {
            "AIF360": beside_aif360,
            "pysubgroup": partial(beside_pysubgroup, 5_000 if quick else 500_000),
            "humancompatible-detect": partial(intersections.figures, 1_000 if quick else 20_000),
            "fairlearn and GerryFair": lambda: learning_peers.peer_figures(
                learning_peers.against_peers(**few)
            ),
            "fairlearn, 8 attributes": partial(eight_attributes, (0.01,), 5, quick=quick),
        },
    }[part]


def conjunctions_in_full(n_rows):
    seconds = conjunctions.million_rows(n_rows)
    return [(f"{n_rows:,} rows, conjunctions to depth 3, s", seconds, "at most 2")]


def search_audit(n_rows):
    summed, whole = proofs.against_sums(n_rows)
    return [(f"{n_rows:,} rows, search audit / their sums alone", whole / summed, "near 1")]


def eight_attributes(gammas=(0.02, 0.01, 0.005), fairlearn_rounds=0, *, quick):
    small = {"n_rows": 2_000, "audit_seconds": 0.5} if quick else {}
    came = learning.many_rows(gammas, fairlearn_rounds=fairlearn_rounds, **small)
    return learning.many_rows_figures(came)


def beside_aif360():
    X, y, protected, _ = communities()
    ours, _ = rounds.round_against_products(rounds.Game(X, y, protected), 1000)
    theirs = peers.aif360_seconds_a_round(X, y, protected)
    return [("AIF360's GerryFairClassifier / ours, a round", theirs / ours, "at least 100")]


def beside_pysubgroup(n_rows):
    both = conjunctions.against_pysubgroup(n_rows)
    ours, theirs = both["half_lines"], both["pysubgroup"]
    return [
        ("pysubgroup / ours, seconds", theirs["seconds"] / ours["seconds"], "at least 10"),
        ("ours / pysubgroup, unfairness", ours["unfairness"] / theirs["unfairness"], "at least 1"),
    ]


def figures(part, folder, *, quick):
    """The lines of a part."""
    lines = []
    for name, step in steps_of(part, folder, quick=quick).items():
        try:
            lines += step()
        except Exception as error:
            traceback.print_exc()
            reason = (str(error).strip() or type(error).__name__).splitlines()[-1]
            lines.append((name, "left out", reason))
    return lines


if __name__ == "__main__":
    part, out, folder = sys.argv[1:4]
    Path(out).write_text(json.dumps(figures(part, folder, quick="--quick" in sys.argv)))
