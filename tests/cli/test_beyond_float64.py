"""Options and files with numbers that float64 does not hold."""

import json
import math
import zipfile
from decimal import Decimal

import polars as pl
import pytest

from gerrymend.cli.protected_ranges import read_ranges, with_ranges
from gerrymend.cli.table_files import Reading, open_table
from tests.cli.calling import call

B = 2**53
ASKED = ("--protected", "sex", "--permutations", "0", "--min-group-size", "1", "--json", "-")


@pytest.fixture
def people(tmp_path):
    """Return what writes 200 rows, half of them women, with two values in a further column."""

    def write(of_men, of_women):
        rows = [f"M,0,{of_men}", f"F,1,{of_women}"] * 100
        file = tmp_path / "people.csv"
        file.write_text("\n".join(["sex,y,x", *rows]))
        return file

    return write


@pytest.mark.parametrize("cut", ["9007199254740993", "9007199254740993.0"])
def test_a_threshold_is_not_rounded(people, cut):
    asked = ("--score", "x", "--threshold", cut, "--notion", "statistical_parity", *ASKED)
    code, out, _ = call("audit", people(B, B + 1), *asked)
    assert code == 1
    assert json.loads(out)["worst"]["unfairness"] == 0.25


def test_a_threshold_is_told_with_all_its_digits(people):
    asked = ("--score", "x", "--threshold", B + 1, "--notion", "statistical_parity", *ASKED[:-2])
    assert "x ≥ 9007199254740993" in call("audit", people(B, B + 1), *asked)[1]


def test_a_threshold_that_is_no_number_is_refused(people):
    code, _, err = call("audit", people(0, 1), "--score", "x", "--threshold", "half", *ASKED)
    assert code == 2
    assert "'half' is no number" in err


@pytest.mark.parametrize("label", ["9007199254740993", "9007199254740993.0"])
def test_a_positive_label_is_not_rounded(people, label):
    asked = ("--label", "x", "--prediction", "x", "--notion", "statistical_parity", *ASKED)
    code, out, _ = call("audit", people(B + 1, B), *asked, "--positive", label)
    assert code == 1
    assert json.loads(out)["labels"] == [B, B + 1]


@pytest.mark.parametrize("cut", ["9007199254740993", "9007199254740993.0", "-9007199254740993"])
def test_a_cut_of_ranges_is_not_rounded(cut):
    with pytest.raises(ValueError, match=rf"^--ranges 'a={cut}' cuts at {cut}, a whole number"):
        read_ranges([f"a={cut}"])


def test_a_large_cut_that_is_a_float_is_taken():
    assert read_ranges(["a=9007199254740994,1e300"])["a"] == {
        "9007199254740994": 9007199254740994.0,
        "1e300": 1e300,
    }


RANGES = {
    "whole": [B + 3, B + 4, 10**18, None],
    "decimals": [Decimal(B + 3) + Decimal("0.99"), Decimal(B + 4), Decimal(10**20), None],
    "floats": [B + 2.0, B + 4.0, 1e300, math.nan],
}


@pytest.mark.parametrize("values", RANGES.values(), ids=RANGES)
def test_numbers_in_ranges_are_not_rounded(values):
    table = pl.LazyFrame({"a": values})
    ranged, (name,) = with_ranges(table, ["a"], read_ranges([f"a={B + 4}"]))
    below, above = (f"below {B + 4}", f"{B + 4} or more")
    assert ranged.collect()[name].to_list() == [below, above, above, None]


def test_decimals_are_cut_between_their_places():
    table = pl.LazyFrame({"a": [Decimal("0.1"), Decimal("0.3"), Decimal("1.0")]})
    ranged, (name,) = with_ranges(table, ["a"], read_ranges(["a=0.25,1,1e300"]))
    told = ["below 0.25", "0.25 to below 1", "1 to below 1e300"]
    assert ranged.collect()[name].to_list() == told


@pytest.mark.parametrize("number", ["9007199254740993", "9007199254740992.5", "1e-400"])
def test_a_reference_is_not_rounded(people, number):
    asked = ("--prediction", "x", "--notion", "mean_outcome", "--reference", number, *ASKED)
    code, _, err = call("audit", people(0, 1), *asked)
    assert code == 2
    assert "--reference has" in err
    assert "float64 does not hold" in " ".join(err.split())


@pytest.mark.parametrize("number", ["1e-400", "1e400", "9007199254740993", "1e999999999"])
@pytest.mark.parametrize("name", ["gamma", "budget", "confidence", "discovery-rate", "test-size"])
def test_a_number_of_an_option_is_not_rounded(people, name, number):
    code, _, err = call("audit", people(0, 1), "--prediction", "x", *ASKED, f"--{name}", number)
    assert code == 2
    said = " ".join(err.replace("│", " ").split())
    assert f"'--{name}': {number} is a number that float64 does not hold" in said


@pytest.mark.parametrize("number", ["1e-400", "1e400"])
def test_a_gamma_of_a_frontier_is_not_rounded(people, number):
    asked = ("--label", "y", "--protected", "sex", "--gammas", f"0.1,{number}")
    code, _, err = call("frontier", people(0, 1), *asked)
    assert code == 2
    assert "--gammas" in err


@pytest.mark.parametrize("label", ["1e400", "1e999999999", "1e9999999999999999999", "1e-400"])
def test_a_positive_label_that_no_float64_holds_is_none(people, label):
    asked = ("--label", "y", "--prediction", "x", "--positive", label, *ASKED)
    code, _, err = call("audit", people(0, 1), *asked)
    assert code == 2
    assert "is no label" in err


@pytest.mark.parametrize("column", ["label", "prediction"])
def test_text_of_a_file_is_not_rounded(people, column):
    named = {"label": "y", "prediction": "y"} | {column: "x"}
    options = [part for name, value in named.items() for part in (f"--{name}", value)]
    code, _, err = call("audit", people(f"{B}.0", f"{B + 1}.0"), *options, *ASKED)
    assert code == 2
    said = " ".join(err.split())
    assert "Column 'x' of FILE" in said
    assert "has 9007199254740993.0, a number that float64 does not hold" in said


def test_large_text_that_is_a_float_is_taken(people):
    asked = ("--prediction", "x", "--notion", "mean_outcome", *ASKED)
    code, out, _ = call("audit", people("0.0", f"{2**60}.0"), *asked)
    assert code == 1
    assert json.loads(out)["worst"]["unfairness"] == 2.0**58


def test_whole_labels_of_any_size_are_told_apart(people):
    asked = ("--label", "x", "--prediction", "x", "--notion", "statistical_parity", *ASKED)
    code, out, _ = call("audit", people(10**30, 10**30 + 1), *asked)
    assert code == 1
    assert json.loads(out)["labels"] == [10**30, 10**30 + 1]


def test_an_error_has_the_digits_of_its_threshold(people):
    asked = ("--prediction", "x", "--threshold", "0.50000001", *ASKED)
    code, _, err = call("audit", people(0, 1), *asked)
    assert code == 2
    assert "0.50000001" in err


TINY = f"0.{'0' * 400}1"
LOST = ["1e-400", "-1e-400", TINY, "1e400", "-1e400", f"{B + 1}.0", f"{B}.5"]


@pytest.mark.parametrize("text", LOST, ids=lambda text: text[:20])
def test_a_number_of_a_csv_file_is_not_lost(people, text):
    file = people("0.0", text)
    with pytest.raises(ValueError, match=r"Column 'x' of FILE .* float64 does not hold"):
        open_table(file, [])
    assert open_table(file, [], Reading(categorical=["x"])).collect()["x"].n_unique() == 2


def test_a_decimal_comma_hides_no_lost_number(people):
    file = people("0,0;a", f"{B + 1},0;a")
    file.write_text(file.read_text().replace("M,0,", "M;0;").replace("F,1,", "F;1;"))
    file.write_text(file.read_text().replace("sex,y,x", "sex;y;x;z"))
    with pytest.raises(ValueError, match=r"Column 'x' of FILE .* has 9007199254740993.0, a number"):
        open_table(file, ["x"], Reading(decimal=","))


def test_zeros_and_infinities_as_they_are_written_are_taken(people):
    table = open_table(people("0.0e-999", "-0"), []).collect()
    assert table["x"].unique().to_list() == [0.0]
    assert open_table(people("inf", "0.5"), []).collect()["x"].max() == float("inf")


def lines_of(tmp_path, *values):
    file = tmp_path / "rows.jsonl"
    file.write_text("".join(f'{{"x": {value}}}\n' for value in values))
    return file


@pytest.mark.parametrize("beside", ["0.5", "7"])
@pytest.mark.parametrize("text", LOST, ids=lambda text: text[:20])
def test_a_number_of_json_lines_is_not_lost(tmp_path, text, beside):
    with pytest.raises(ValueError, match=r"Column 'x' of FILE .* float64 does not hold"):
        open_table(lines_of(tmp_path, beside, text), [])


def test_whole_numbers_of_json_lines_are_lost_beside_fractions_alone(tmp_path):
    whole = open_table(lines_of(tmp_path, B + 1, B, "null", 10**30), []).collect()
    assert whole["x"].to_list() == [B + 1, B, None, 10**30]
    for values in ((B + 1, 0.5), (0.5, B + 1), (10**50, 1)):
        with pytest.raises(ValueError, match=r"Column 'x' of FILE .* float64 does not hold"):
            open_table(lines_of(tmp_path, *values), [])
    # Text stays what it is.
    taken = open_table(lines_of(tmp_path, f'"{B + 1}.0"', '"a"'), []).collect()
    assert taken["x"].to_list() == [f"{B + 1}.0", "a"]


def test_numbers_that_json_lines_have_as_text_are_not_lost(tmp_path):
    file = lines_of(tmp_path, f'"{B},5"', '"1,0"')
    with pytest.raises(ValueError, match=r"Column 'x' of FILE .* has 9007199254740992.5, a number"):
        open_table(file, [], Reading(decimal=","))
    whole = lines_of(tmp_path, f'"{10**30 + 1}"', '"1"', '"NA"')
    assert open_table(whole, [], Reading(missing=["NA"])).collect()["x"][0] == 10**30 + 1


@pytest.fixture
def sheet(tmp_path):
    """Return what writes a column of a workbook, with the very digits that are given."""

    def write(*values):
        file = tmp_path / "sheet.xlsx"
        openpyxl = pytest.importorskip("openpyxl")
        book = openpyxl.Workbook()
        # openpyxl itself writes no more than 16 digits.
        for cell in ("x", *(70001 + i for i in range(len(values)))):
            book.active.append([cell])
        book.save(tmp_path / "made.xlsx")
        with zipfile.ZipFile(tmp_path / "made.xlsx") as made, zipfile.ZipFile(file, "w") as out:
            for name in made.namelist():
                content = made.read(name).decode()
                for i, digits in enumerate(values):
                    content = content.replace(f"<v>{70001 + i}</v>", f"<v>{digits}</v>")
                out.writestr(name, content)
        return file

    return write


def test_whole_numbers_of_a_workbook_are_lost_beside_fractions_alone(sheet):
    assert open_table(sheet(B + 1, B), []).collect()["x"].to_list() == [B + 1, B]
    assert open_table(sheet(10**30, B), []).collect()["x"].to_list() == [10**30, B]
    for values in ((B + 1, "0.5"), (10**50, 1)):
        with pytest.raises(ValueError, match=r"Column 'x' of FILE .* float64 does not hold"):
            open_table(sheet(*values), [])


def test_numbers_beside_text_in_a_workbook_are_not_rounded(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for cell in ("x", 0.1234567890123456, 0.1234567890123457, 34.0, "a"):
        book.active.append([cell])
    book.save(tmp_path / "sheet.xlsx")
    texts = open_table(tmp_path / "sheet.xlsx", []).collect()["x"].to_list()
    assert texts == ["0.1234567890123456", "0.1234567890123457", "34", "a"]


@pytest.mark.parametrize("text", ["1" * 400, "-" + "9" * 39, "1" * 5000, str(2**127)])
@pytest.mark.parametrize("place", [0, 199])
def test_whole_numbers_of_more_than_128_bits_are_refused_in_our_words(tmp_path, text, place):
    rows = [f"F,{i % 2},{20 + i % 50}" for i in range(200)]
    rows[place] = f"M,1,{text}"
    file = tmp_path / "people.csv"
    file.write_text("\n".join(["sex,y,x", *rows]))
    asked = ("--label", "y", "--prediction", "y", "--protected", "x,sex", "--permutations", "0")
    code, _, err = call("audit", file, *asked)
    told = " ".join(err.split())
    assert code == 2
    assert f"Column 'x' of FILE {file} has {text[:77]}" in told
    assert "a number that float64 does not hold" in told
    assert "i128" not in told
    assert "take codes as text: --categorical" in told


def test_codes_of_400_digits_are_taken_as_text(tmp_path):
    file = tmp_path / "people.csv"
    rows = [f"{'1' * 399}{i % 2},{i % 2},{i % 3 % 2}" for i in range(60)]
    file.write_text("\n".join(["x,y,p", *rows]))
    asked = ("--label", "y", "--prediction", "p", "--protected", "x", "--categorical", "x")
    code, out, _ = call("audit", file, *asked, "--permutations", "0", "--json", "-")
    assert code != 2
    assert json.loads(out)["n_rows"] == 60
