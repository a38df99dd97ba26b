"""A gate turns green for fairness alone: numbers as text, and what a report warns of."""

import json

import numpy as np
import polars as pl
import pytest

from gerrymend.cli.exit_codes import gate_decision
from tests.auditing.inference.test_standing_out import small_group_hit_hard
from tests.cli.calling import call

DECIDED = ["--label", "y", "--prediction", "d", "--permutations", "0"]


@pytest.fixture(scope="module")
def people():
    """Rows of which those of middle age are wrongly decided 1 more often."""
    rng = np.random.default_rng(5)
    n = 4000
    age = rng.uniform(18, 80, n).round(1)
    y = rng.integers(0, 2, n)
    d = (rng.random(n) < 0.3 + 0.2 * ((age > 35) & (age < 55))).astype(int)
    return pl.DataFrame(
        {
            "age": age,
            "sex": rng.choice(["F", "M"], n),
            "y": y,
            "d": d,
            "score": rng.random(n),
            "application": [f"A{i:05}" for i in range(n)],
            "number": rng.permutation(n),
            "code": rng.integers(1, 5, n),
        }
    )


@pytest.fixture(scope="module")
def folder(people, tmp_path_factory):
    folder = tmp_path_factory.mktemp("gate")
    people.write_csv(folder / "point.csv")
    text = people.with_columns(pl.col("age").cast(pl.String))
    comma = text.with_columns(pl.col("age").str.replace(r"\.", ","))
    comma.write_csv(folder / "comma.csv", separator=";")
    comma.write_parquet(folder / "comma.parquet")
    first = pl.int_range(pl.len()) == 7
    absent = text.with_columns(age=pl.when(first).then(pl.lit("n/a")).otherwise("age"))
    absent.write_csv(folder / "absent.csv")
    absent.write_parquet(folder / "absent.parquet")
    return folder


def flat(text):
    return " ".join(text.split())


def gate(path, *options, protected="age,sex", subgroups="conjunctions"):
    return call("audit", path, *DECIDED, "--protected", protected, "--subgroups", subgroups,
                *options)  # fmt: skip


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_decimal_comma_is_not_fairness(folder, kind):
    code, point, _ = gate(folder / "point.csv", "--json", "-")
    assert (code, json.loads(point)["verdict"]) == (1, "exceeds gamma")
    code, out, err = gate(folder / f"comma.{kind}")
    assert (code, out) == (2, "")
    assert "Column 'age' of --protected has numbers that were read as text, such as '" in err
    flat = err.replace("\n", " ")
    assert "Read them with --decimal=',', or insist, only if they are codes," in flat
    assert "--categorical" in err
    code, comma, _ = gate(folder / f"comma.{kind}", "--decimal", ",", "--json", "-")
    assert code == 1
    again, first = json.loads(comma), json.loads(point)
    assert (again["worst"], again["unfairness"]) == (first["worst"], first["unfairness"])


def test_numbers_that_are_insisted_on_as_categories_hold_the_gate(folder):
    """As groups of a few rows each, in no order, they are within gamma: that says nothing."""
    code, out, _ = gate(
        folder / "comma.csv", "--categorical", "age", "--json", "-", protected="age"
    )
    report = json.loads(out)
    assert [one["code"] for one in report["warnings"]] == ["numbers_are_categories"]
    assert (code, report["verdict"]) == (3, "within gamma")
    assert "no range of them is searched" in report["warnings"][0]["sentence"]


def test_whole_numbers_with_a_comma_have_the_remedy_of_the_command_line(folder, people):
    age = pl.col("age").round().cast(pl.Int64).cast(pl.String) + ",0"
    people.with_columns(age).write_csv(folder / "whole.csv", separator=";")
    code, _, err = gate(folder / "whole.csv")
    assert code == 2
    assert "Read them with --decimal=','" in err.replace("\n", " ")
    assert "astype" not in err
    percent = pl.col("age").round().cast(pl.Int64).cast(pl.String) + " %"
    people.with_columns(percent).write_csv(folder / "percent.csv")
    code, _, err = gate(folder / "percent.csv")
    assert code == 2
    assert "Write them as plain numbers in FILE" in err.replace("\n", " ")
    assert "astype" not in err


def test_scores_with_a_decimal_comma_are_told_apart_from_text(folder, people):
    scores = pl.col("score").cast(pl.String).str.replace(r"\.", ",")
    people.with_columns(scores).write_csv(folder / "scores.csv", separator=";")
    cut = ["--label", "y", "--score", "score", "--threshold", "0.5", "--protected", "sex"]
    code, _, err = call("audit", folder / "scores.csv", *cut)
    assert code == 2
    assert "If they have a decimal comma, read them with --decimal=','." in err.replace("\n", " ")


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_one_missing_value_is_not_fairness(folder, kind):
    code, _, err = gate(folder / f"absent.{kind}")
    assert code == 2
    assert "Have --missing='n/a' read as missing and drop these rows (--drop-missing), or" in err
    code, _, err = gate(folder / f"absent.{kind}", "--missing", "n/a")
    assert code == 2
    assert "Column 'age' of --protected is numeric and has missing values" in err
    remedies = " ".join(err.split()).partition("among numbers: ")[2]
    assert remedies.startswith("drop these rows (--drop-missing), cut it into a few named ranges,")
    assert "with missing as one more (--ranges, such as age=30,50), or" in remedies
    code, out, _ = gate(folder / f"absent.{kind}", "--missing", "n/a", "--ranges", "age=35,55",
                        "--json", "-")  # fmt: skip
    report = json.loads(out)
    assert (code, report["n_rows"], report["warnings"]) == (1, 4000, [])
    assert report["worst"]["rule"]["conditions"] == [
        {"attribute": "age (range)", "values": ["35 to below 55"]}
    ]
    assert report["rare_values"] == [{"attribute": "age (range)", "values": 1}]  # that is missing
    # Insisting makes a number a group of its own: nothing is found, and the gate stays shut.
    code, out, _ = gate(folder / f"absent.{kind}", "--categorical", "age", "--json", "-")
    report = json.loads(out)
    assert (code, report["n_rows"]) == (3, 4000)
    assert [warning["code"] for warning in report["warnings"]] == ["missing_is_category"]
    assert "is missing in 1 of 4,000 rows" in report["warnings"][0]["sentence"]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("age", "got 'age'"),
        ("age=", "got 'age='"),
        ("=30", "got '=30'"),
        ("age=50,30", "got 'age=50,30'"),
        ("age=nan", "got 'age=nan'"),
        ("age=30,inf", "got 'age=30,inf'"),
        ("code=2", "--ranges names 'code', which is not among --protected."),
        ("sex=2", "--ranges names 'sex', which has no numbers"),
    ],
)
def test_ranges_that_are_none_are_refused(folder, given, words):
    code, out, err = gate(folder / "point.csv", "--ranges", given, protected="age,sex")
    assert (code, out) == (2, "")
    assert words in " ".join(err.split())


def test_codes_are_categories_where_that_is_said(folder):
    as_number, as_code = (
        json.loads(gate(folder / "point.csv", *more, "--json", "-", protected="code",
                        subgroups="marginals")[1])
        for more in ([], ["--categorical", "code"])
    )  # fmt: skip
    assert {one["group"] for one in as_code["marginals"]} == {f"code = {i}" for i in range(1, 5)}
    assert not any("=" in one["group"] for one in as_number["marginals"])


def test_an_attribute_that_identifies_is_refused(folder):
    code, out, err = gate(folder / "point.csv", protected="application", subgroups="linear")
    assert (code, out) == (2, "")
    assert "Column 'application' of --protected has 4,000 different values in 4,000 rows" in err
    assert "insist on them with --categorical." in err
    assert "A00" not in err


# The last option counts, where one is given again.
WARNED = {
    "constant_decisions": ["--prediction", "zero"],
    "decisions_equal_labels": ["--prediction", "y"],
    "threshold_outside_scores": ["--score", "score", "--threshold", "7"],
    "label_is_protected": ["--prediction", "d", "--protected", "paid"],
    "decision_is_protected": ["--prediction", "d", "--protected", "copy"],
    "decisions_nearly_equal_labels": ["--prediction", "nearly"],
    "gamma_allows_everything": ["--prediction", "d", "--gamma", "0.25"],
    "nearly_unique_attribute": ["--prediction", "d", "--protected", "number"],
    "holdout_is_searched": ["--prediction", "d", "--holdout"],
}


@pytest.mark.parametrize("code", WARNED)
def test_warnings_come_before_the_verdict_and_hold_the_gate(people, tmp_path, code):
    path = tmp_path / "people.csv"
    nearly = pl.when(pl.int_range(pl.len()) == 7).then(1 - pl.col("y")).otherwise("y")
    recoded = pl.col("y").replace_strict({0: "defaulted", 1: "paid"})
    people.with_columns(zero=pl.lit(0), copy="d", nearly=nearly, paid=recoded).write_csv(path)
    options = [path, "--label", "y", "--protected", "sex", "--permutations", "0", "--gamma", "0.1",
               "--subgroups", "marginals", *WARNED[code]]  # fmt: skip
    options += [path] if code == "holdout_is_searched" else []
    files = ["--json", tmp_path / "r.json", "--markdown", tmp_path / "r.md",
             "--report", tmp_path / "r.html"]  # fmt: skip
    exit_code, out, _ = call("audit", *options, *files)
    report = json.loads((tmp_path / "r.json").read_text())
    assert exit_code == {"within gamma": 3, "exceeds gamma": 1}[report["verdict"]]
    (warning,) = [warning for warning in report["warnings"] if warning["code"] == code]
    sentence = warning["sentence"]
    heading = "with warnings"
    page = (tmp_path / "r.html").read_text().replace("&#39;", "'").partition("<main")[2]
    markdown = (tmp_path / "r.md").read_text().replace("\\", "")
    for text in (" ".join(out.split()), markdown, page):
        assert 0 <= text.index(sentence) < text.index(heading)
    accepted, _, _ = call("audit", *options, "--accept-warnings")
    assert accepted == {"within gamma": 0, "exceeds gamma": 1, "undecided": 3}[report["verdict"]]
    assert accepted != 3


def test_a_doubt_stops_no_red(tmp_path):
    """Sex alone decides: that may be a recoding of the decisions, and is no less unfair for it."""
    path = tmp_path / "people.csv"
    sex = np.random.default_rng(0).choice(["F", "M"], 400)
    table = pl.DataFrame({"sex": sex, "granted": (sex == "M").astype(int)})
    table.with_columns(repaid=pl.int_range(400) % 3 // 2).write_csv(path)
    options = [path, "--label", "repaid", "--prediction", "granted", "--protected", "sex",
               "--permutations", "0", "--subgroups", "marginals"]  # fmt: skip
    code, out, _ = call("audit", *options, "--gamma", "0.01")
    assert code == 1
    assert "sex tells the decision of every row" in " ".join(out.split())
    assert call("audit", *options, "--gamma", "0.2")[0] == 3  # which allows everything


def test_no_warning_where_there_is_no_doubt(folder):
    code, out, _ = gate(folder / "point.csv", "--json", "-", "--gamma", "0.1")
    assert (code, json.loads(out)["warnings"]) == (0, [])


def test_a_quiet_gate_prints_warnings_and_why_it_is_shut(folder):
    code, out, err = gate(folder / "point.csv", "--quiet")
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert err.startswith("Exit code 1: a subgroup exceeds gamma. More unfair than allowed on ")
    assert " on these rows. Whether chance alone could make" in err
    assert "may not show. The subgroup that differs most is " in err
    # Who, how much, and whether it could be chance.
    lead = json.loads(gate(folder / "point.csv", "--json", "-")[1])["lead"]
    own = f"{abs(lead['unfairness']):.4f}"
    assert lead["chance"] in err
    # The JSON knows no columns, by whose names the rate is told here.
    who, _, rates = lead["sentence"].partition(": false positive rate ")
    rate, against = rates.split(", ", 1)
    counted = f"{rate} of those with y = 0 are decided d = 1 (false positive rate), {against}"
    assert err.rstrip().endswith(f"{who}: {counted} Its unfairness is {own}, and 0.01 is allowed."
                                 " That may be good for it: say which decision people wish for "
                                 "(--favourable).")  # fmt: skip
    _, _, err = gate(folder / "point.csv", "--quiet", "--permutations", "19")
    assert "0.01 is allowed (p = 0.050)." in err
    assert gate(folder / "point.csv", "--quiet", "--gamma", "0.06") == (0, "", "")
    code, out, err = gate(folder / "point.csv", "--quiet", protected="number")
    assert (code, out) == (1, "")
    assert err.startswith("Warning: The protected attribute number has nearly as many values")


def test_a_quiet_gate_that_passes_tells_who_is_hit_hard(tmp_path):
    y, p, attributes, _ = small_group_hit_hard()
    pl.DataFrame({**attributes, "y": y, "p": p}).write_csv(tmp_path / "small.csv")
    code, out, err = call(
        "audit", tmp_path / "small.csv", "--label", "y", "--prediction", "p", "--gamma", "0.05",
        "--protected", "sex,region,ethnicity", "--notion", "false_negative_rate", "--quiet",
        "--favourable", "positive", "--subgroups", "conjunctions", "--permutations", "99",
    )  # fmt: skip
    assert (code, out, err.count("\n")) == (0, "", 1)
    who = "region = West and ethnicity = B"
    assert err.startswith(
        f"Within what is allowed, but {who} stands out: look at it before signing off. "
    )


def test_who_is_hit_hard_within_gamma_shuts_a_gate_that_asks(tmp_path):
    """Code, JSON and page agree; draws that can't tell, however they fall, are refused."""
    y, p, attributes, _ = small_group_hit_hard()
    pl.DataFrame({**attributes, "y": y, "p": p}).write_csv(tmp_path / "small.csv")
    asked = ["audit", tmp_path / "small.csv", "--label", "y", "--prediction", "p",
             "--gamma", "0.05", "--protected", "sex,region,ethnicity", "--favourable", "positive",
             "--notion", "false_negative_rate", "--subgroups", "conjunctions"]  # fmt: skip
    files = ["--json", tmp_path / "r.json", "--report", tmp_path / "r.html"]
    for choice, expected in {"exceeds": 0, "stands-out": 1}.items():
        code, _, _ = call(*asked, *files, "--permutations", "99", "--fail-on", choice)
        stated = json.loads((tmp_path / "r.json").read_text())
        assert (code, stated["verdict"], stated["stands_out"]) == (expected, "within gamma", True)
        page = (tmp_path / "r.html").read_text()
        assert "stands out: look at it before signing off" in page
        assert "Nothing has to be mended" not in page
    for draws in ("18", "0"):  # 1 / 19 is above 5 %
        code, _, err = call(*asked, "--permutations", draws, "--fail-on", "stands-out", "--quiet")
        assert code == 2
        assert "--fail-on stands-out needs a p-value of 0.05 or less" in flat(err)
    code, _, _ = call(*asked, "--permutations", "19", "--fail-on", "stands-out", "--quiet")
    assert code == 1


@pytest.fixture(scope="module")
def hit_hard(tmp_path_factory):
    """A file in which a small group is hit hard, and how it is audited."""
    y, p, attributes, _ = small_group_hit_hard()
    path = tmp_path_factory.mktemp("hit") / "small.csv"
    pl.DataFrame({**attributes, "y": y, "p": p, "same": 1}).write_csv(path)
    return [path, "--label", "y", "--protected", "sex,region,ethnicity", "--favourable", "positive",
            "--notion", "false_negative_rate", "--subgroups", "conjunctions"]  # fmt: skip


def test_chance_is_asked_of_who_leads_and_not_of_the_search_alone(hit_hard):
    """The largest unfairness may be chance, and who leads is none: the gate shuts for it."""
    asked = ["audit", *hit_hard, "--prediction", "p", "--gamma", "0.001", "--permutations", "99"]
    code, out, err = call(*asked, "--if-chance", "undecided", "--json", "-")
    report = json.loads(out)
    assert report["verdict"] == "exceeds gamma"
    assert report["p_value"] > 0.05 >= report["lead"]["p_value"]
    assert report["lead"]["subgroup"] == "region = West and ethnicity = B"
    assert (code, err) == (1, "Exit code 1: a subgroup exceeds gamma.\n")


@pytest.mark.parametrize(
    ("options", "code", "why"),
    [
        (["--gamma", "0.001"], 1, "a subgroup exceeds gamma."),
        (["--gamma", "0.05"], 0, ""),
        (["--gamma", "0.05", "--fail-on", "stands-out"], 1,
         "a group stands out from chance, and --fail-on stands-out fails for that; none is above "
         "gamma."),
        (["--prediction", "same", "--gamma", "0.05"], 3,
         "the report warns of what it was given; --accept-warnings lets the verdict decide."),
        (["--prediction", "same", "--gamma", "0.05", "--accept-warnings"], 0, ""),
    ],
)  # fmt: skip
@pytest.mark.parametrize("quiet", [True, False])
def test_one_line_says_why_the_code_is_what_it_is(hit_hard, options, code, why, quiet):
    shown = ["--quiet"] if quiet else []
    decided = [] if "--prediction" in options else ["--prediction", "p"]
    done, _, err = call("audit", *hit_hard, "--permutations", "39", *decided, *options, *shown)
    assert done == code
    lines = [line for line in err.splitlines() if line.startswith("Exit code")]
    if not why:
        assert lines == []
        return
    (line,) = lines
    told = f"Exit code {code}: {why}"
    assert line.startswith(told) if quiet else line == told


def test_a_verdict_that_is_none_is_why_by_itself():
    decided = gate_decision("undecided", ["constant_decisions"], accepted=True)
    assert decided.sentence == ("Exit code 3: neither was shown, that a subgroup exceeds gamma or "
                                "that none does.")  # fmt: skip
    both = gate_decision("undecided", ["constant_decisions"], accepted=False).why
    assert both.startswith("neither was shown")
    assert both.endswith("; the report warns of what it was given; --accept-warnings lets the "
                         "verdict decide")  # fmt: skip


def test_what_was_not_proven_is_not_said_to_be_no_one():
    """The time for the proof was over: none was found above gamma, and one may be."""
    told = gate_decision("undecided", [], accepted=False, stands_out=True).sentence
    assert "none is above gamma" not in told
    assert told.endswith("; none was found above gamma, and one was not ruled out.")


@pytest.mark.parametrize("wrong", [["--protected", "nobody"], ["--gamma", "-1"]])
def test_a_run_that_fails_leaves_no_verdict_of_another_day(folder, tmp_path, wrong):
    """A pipeline that reads the file, and not the exit code, would take it for today's."""
    files = [tmp_path / name for name in ("report.json", "report.md", "report.html")]
    options = ["--json", files[0], "--markdown", files[1], "--report", files[2]]
    assert gate(folder / "point.csv", *options)[0] == 1
    assert all(file.exists() for file in files)
    code, _, err = gate(folder / "point.csv", *options, *wrong)
    assert code == 2
    assert not any(file.exists() for file in files)
    for file in files:
        assert f"{file} was of an earlier run, and is removed." in err


def test_a_file_that_may_not_be_written_stays(folder, tmp_path):
    """It is refused before anything is done: what is read is no output of an earlier run."""
    rows = tmp_path / "rows.csv"
    before = (folder / "point.csv").read_bytes()
    rows.write_bytes(before)
    code, _, err = gate(rows, "--json", rows, "--protected", "nobody")
    assert (code, "removed" in err) == (2, False)
    assert rows.read_bytes() == before


def test_a_gate_need_not_shut_for_what_may_be_chance(tmp_path):
    """Of 60 rows that nothing tells apart the worst group is above gamma, as that of a draw is."""
    rng = np.random.default_rng(4)
    file = tmp_path / "few.csv"
    pl.DataFrame({"y": [0] * 60, "d": rng.integers(0, 2, 60), "sex": ["F", "M"] * 30}).write_csv(
        file
    )
    asked = ["audit", file, "--label", "y", "--prediction", "d", "--protected", "sex", "--quiet",
             "--notion", "statistical_parity", "--permutations", "39"]  # fmt: skip
    for choice, expected in {"fail": 1, "undecided": 3}.items():
        code, _, told = call(*asked, "--gamma", "0.0001", "--if-chance", choice)
        assert code == expected
        assert "which could be chance" in " ".join(told.split())
        assert told.startswith(f"Exit code {expected}: a subgroup exceeds gamma")
        assert ("which --if-chance undecided leaves open" in told) == (choice == "undecided")
    assert call(*asked, "--gamma", "0.0001")[0] == 1
    needs = "--if-chance undecided needs a p-value of 0.05 or less, and --permutations"
    for wrong, draws, words in [
        ("never", "0", "--if-chance='never' is unknown"),
        ("undecided", "0", f"{needs} 0 makes none; ask for 199, and for 19 at least."),
        ("undecided", "18", f"{needs} 18 can give none below 0.0526; ask for 199, and for 19 at "),
    ]:
        code, out, told = call(*asked, "--if-chance", wrong, "--permutations", draws)
        assert (code, out) == (2, "")
        assert words in flat(told)


def test_what_is_no_chance_shuts_the_gate_all_the_same(folder):
    code, _, _ = gate(folder / "point.csv", "--permutations", "39", "--if-chance", "undecided")
    assert code == 1
