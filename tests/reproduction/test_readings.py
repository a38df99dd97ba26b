"""The authors' reading of the algorithm: what is played by it, and what the report says of it."""

import itertools
import json
import re
import shutil
from dataclasses import replace

import numpy as np
import pytest

from gerrymend.reproduction import claims, claims_dynamics, claims_marginal, report
from gerrymend.reproduction.claim import BY_SOME, FAILED, HELD, REPORTED, Claim
from gerrymend.reproduction.experiments import AUTHORS, subgroup_game
from gerrymend.reproduction.games import PaperData
from gerrymend.reproduction.records import Records
from gerrymend.reproduction.report_claims import Judged, judge, verdict_lines
from gerrymend.reproduction.run import DATASETS, run


def made(name, n=40):
    """Return made data, whose label depends on a protected column."""
    rng = np.random.default_rng(len(name))
    protected = {"racePctWhite": rng.random(n).round(2), "racepctblack": rng.random(n).round(2)}
    X = np.column_stack([rng.standard_normal((n, 2)), protected["racepctblack"]])
    y = (X.sum(axis=1) + rng.standard_normal(n) > 0.5).astype(int)
    return PaperData(name, X, y, protected)


@pytest.fixture(scope="module")
def records(tmp_path_factory):
    data = {name: made(name) for name in DATASETS}
    return run(("pareto", "c", "authors"), data, tmp_path_factory.mktemp("run"), quick=True)


def test_by_the_appendix_the_second_round_repeats_the_first():
    """Its Learner lags by one round: the first two plays answer no duals at all."""
    settings = {"gammas": [0.0], "rounds": 4}
    for name in DATASETS:
        data = made(name)
        body, authors = (
            subgroup_game(data, **settings, **more)["curves"][0]
            for more in ({}, {"convention": AUTHORS})
        )
        assert authors["error"][1] == authors["error"][0] == body["error"][0]
        assert authors["unfairness"][1] == authors["unfairness"][0]
    # On one of them at least the body's second play differs, or this would show nothing.
    assert body["error"][1] != body["error"][0]


def test_the_games_of_both_readings_differ_in_nothing_but_the_reading(records):
    for experiment, unit in itertools.product(("subgroup",), DATASETS):
        theirs = records.read(f"{experiment}_by_authors", unit)["config"]
        assert theirs.pop("convention") == AUTHORS
        assert theirs == records.read(experiment, unit)["config"]


@pytest.mark.parametrize(
    "make",
    [claims.error_spans, claims.larger_c, claims.student_zero, claims_marginal.marginal_far_left],
    ids=lambda make: make.__name__,
)
def test_a_claim_by_the_authors_reading_is_that_of_their_games(make, records, tmp_path):
    """Their records are put in the place of ours by hand, and the claim judged as ever."""
    moved = shutil.copytree(records.folder, tmp_path / "moved")
    for experiment in ("subgroup", "c"):
        shutil.rmtree(moved / experiment)
        (moved / f"{experiment}_by_authors").rename(moved / experiment)
    expected = make(Records(moved))
    (found,) = (
        claim.by_authors
        for about_one in judge(records).values()
        for claim in about_one
        if claim.as_written.words == expected.words
    )
    assert found == expected
    assert found.ours != make(records).ours


def test_a_reading_that_was_not_run_is_a_dash(records, tmp_path):
    left = shutil.copytree(records.folder, tmp_path / "left")
    shutil.rmtree(left / "c_by_authors")
    text = report.write_report(Records(left), tmp_path / "R.md").read_text("utf-8")
    (line,) = re.findall(r"^\| Larger C changes.*$", text, re.M)
    assert line.endswith("| – |")
    (line,) = re.findall(r"^\| Most frontiers lie.*$", text, re.M)
    assert not line.endswith("| – |")


def test_what_the_reading_changes_is_said_in_a_sentence():
    def claim(words, verdict):
        return Claim(words, "–", "ours", "–", verdict, "reason")

    judged = [
        Judged(claim(words, one), claim(words, other))
        for words, one, other in (
            ("A", FAILED, HELD), ("B", REPORTED, FAILED), ("C", HELD, HELD), ("D", FAILED, FAILED),
        )
    ]  # fmt: skip
    said = list(verdict_lines([*judged, Judged(claim("E", FAILED), None)], quick=False))[-1]
    assert said == (
        "Of the 3 claims that were run by both and don't hold as the text has it, or only as "
        "reported or by some readings, 1 holds by the authors' reading: “A”. 1 comes out worse: "
        "“B”."
    )
    again = [replace(one, by_authors=one.as_written) for one in judged]
    assert list(verdict_lines(again, quick=False))[-1].endswith(
        "none holds by the authors' reading. None comes out worse."
    )
    assert "holds by" not in "\n".join(verdict_lines(judged, quick=True))


@pytest.mark.parametrize(
    ("convention", "part", "verdict"),
    [("body", 4, HELD), ("body", 5, FAILED), (AUTHORS, 5, HELD), (AUTHORS, 4, FAILED)],
)
def test_trajectories_part_when_the_order_of_play_lets_them(convention, part, verdict, tmp_path):
    """The larger gamma is reached in round 3; the next play that can differ is one or two later."""

    def curve(gamma, parts_at):
        error = [0.1] * 6
        error[parts_at - 1 :] = [0.1 + gamma] * (7 - parts_at)
        return {"gamma": gamma, "error": error, "unfairness": [0.03, 0.025, 0.02, 0.01, 0.01, 0.01]}

    path = tmp_path / "subgroup" / "communities.json"
    path.parent.mkdir()
    result = {"curves": [curve(0.001, 6), curve(0.022, part)]}
    config = {} if convention == "body" else {"convention": convention}
    path.write_text(json.dumps({"config": config, "versions": {}, "result": result}), "utf-8")
    assert claims_dynamics.trajectories(Records(tmp_path)).verdict == verdict


def test_pictures_that_were_drawn_are_in_the_report(records, tmp_path):
    (tmp_path / "figures").mkdir()
    (tmp_path / "figures" / "figure_3_pareto.png").write_bytes(b"drawn")
    text = report.write_report(records, tmp_path / "R.md").read_text("utf-8")
    assert re.findall(r"\]\((figures/\w+\.png)\)", text) == ["figures/figure_3_pareto.png"]
    start = text.index("### Figure 3")
    assert start < text.index("figure_3_pareto.png") < text.index("handful", start)


@pytest.mark.parametrize(
    ("seventh", "end", "verdicts"),
    [(0.01, 0.002, (HELD, HELD)), (-0.01, 0.003, (FAILED, FAILED))],
)
def test_claims_of_all_readings_are_judged_by_the_authors_alone(seventh, end, verdicts, tmp_path):
    """By the other three readings nothing flips, and nothing is below .0028 at the end."""
    thetas = [-0.5, 0.5]
    for unit in ("body", "appendix", "body_t-1_predicted", "appendix_t-1_predicted"):
        ours = unit == "appendix_t-1_predicted"
        quadrant = {1: -0.02, 7: seventh if ours else -0.01, 13: -0.01, 37: 0.001,
                    1301: end if ours else 0.004}  # fmt: skip
        # First by θ of the white share: the quadrant of white > 0 and black < 0 is [1][0].
        rates = {"few white, many black": 0.1, "many white, few black": 0.2}
        panels = {
            str(t): {"surface": [[0.0, 0.0], [value, 0.0]], "rates": rates}
            for t, value in quadrant.items()
        }
        path = tmp_path / "surface" / f"{unit}.json"
        path.parent.mkdir(exist_ok=True)
        record = {"config": {}, "versions": {}, "result": {"thetas": thetas, "panels": panels}}
        path.write_text(json.dumps(record), "utf-8")
    judged = {
        claim.as_written.words: claim
        for about_one in judge(Records(tmp_path)).values()
        for claim in about_one
    }
    flip, last = (judged[words] for words in judged if "t = 7" in words or "t = 1301" in words)
    assert (flip.by_authors.verdict, last.by_authors.verdict) == verdicts
    some = BY_SOME if verdicts[0] == HELD else FAILED
    assert (flip.as_written.verdict, last.as_written.verdict) == (some, some)
