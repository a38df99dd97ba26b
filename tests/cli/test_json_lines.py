"""JSON lines, in which a column may hold values of several types, and a name may come twice."""

import json

import pytest

from gerrymend.cli.table_files import Reading, open_table
from tests.cli.calling import call

N = 60
ASKED = ("--protected", "g", "--label", "y", "--prediction", "d", "--subgroups", "marginals",
         "--permutations", "0", "--min-group-size", "1")  # fmt: skip


def rows_of(tmp_path, *values):
    """Return a file whose column g takes the values in turn."""
    file = tmp_path / "rows.jsonl"
    rows = ({"g": values[i % len(values)], "y": i // 2 % 2, "d": i % 2} for i in range(N))
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


MIXED = {
    "number and text": ((3, "3"), "numbers and text"),
    "float and text": ((3.5, "3.5"), "numbers and text"),
    "boolean and text": ((True, "true"), "booleans and text"),
    "boolean and number": ((True, 1), "booleans and numbers"),
    "all": ((True, 1, "1", None), "booleans, numbers and text"),
    "list": (([1], 1), "lists and numbers"),
    "object": (({"a": 1}, "b"), "objects and text"),
}


@pytest.mark.parametrize(("values", "kinds"), MIXED.values(), ids=MIXED)
def test_a_column_of_several_types_is_refused_by_name(tmp_path, values, kinds):
    """Numbers and their texts were one value, and booleans beside numbers told no column."""
    code, _, err = call("audit", rows_of(tmp_path, *values), *ASKED)
    assert code == 2
    assert f"Column 'g' of FILE {tmp_path / 'rows.jsonl'} mixes {kinds};" in err
    assert "--categorical g" in err


@pytest.mark.parametrize("values", [(3, "3", "4"), (True, "true", 1), (1, 2.5), (None, 1)])
def test_types_may_be_mixed_where_all_are_taken_as_text(tmp_path, values):
    code, _, err = call("audit", rows_of(tmp_path, *values), *ASKED, "--categorical", "g")
    assert code in (0, 1), err


def test_numbers_beside_others_and_beside_texts_that_are_missing_are_one_type(tmp_path):
    table = open_table(rows_of(tmp_path, 1, 2.5, None), ["g"]).collect()
    assert table["g"].to_list()[:3] == [1.0, 2.5, None]
    reading = Reading(missing=["n/a"])
    table = open_table(rows_of(tmp_path, 1, "n/a"), ["g"], reading).collect()
    assert table["g"].to_list()[:2] == [1, None]
    assert table["g"].dtype.is_integer()


@pytest.mark.parametrize("line", ['{"g": 1, "y": 0, "d": 0, "g": 2}', '{"g": {"a": 1, "a": 2}}'])
def test_a_name_that_a_line_has_twice_is_refused(tmp_path, line):
    file = rows_of(tmp_path, 1, 2)
    with file.open("a") as more:
        more.write(line + "\n")
    code, _, err = call("audit", file, *ASKED)
    assert code == 2
    assert " twice in one line; only one value would be read" in err


@pytest.mark.parametrize("word", ["NaN", "Infinity", "-Infinity"])
def test_what_is_no_json_is_told_with_its_column(tmp_path, word):
    """json.dumps() writes it; what was said of it was "TapeError"."""
    file = rows_of(tmp_path, 1, 2)
    file.write_text(file.read_text().replace('"g": 2', f'"g": {word}'))
    code, _, err = call("audit", file, *ASKED)
    assert code == 2
    assert f"Column 'g' of FILE {file} has" in err
    assert "Write null where a value is missing" in err
