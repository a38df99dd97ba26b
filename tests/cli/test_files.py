"""Everyday files: whatever they are packed and written in, the report is that of the plain CSV."""

import datetime
import gzip
import json
import zipfile

import numpy as np
import polars as pl
import pytest

from tests.cli.calling import call

OPTIONS = ["--label", "y", "--prediction", "d", "--permutations", "0", "--subgroups", "marginals",
           "--json", "-"]  # fmt: skip


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(6)
    n = 200
    days = [datetime.date(1950, 1, 1) + datetime.timedelta(int(i)) for i in rng.integers(0, 2e4, n)]
    return pl.DataFrame(
        {
            "town": rng.choice(["Nîmes", "Köln", "Łódź"], n),
            "age": rng.integers(18, 70, n),
            "born": days,
            "y": rng.integers(0, 2, n),
            "d": rng.integers(0, 2, n),
        }
    )


def western(people):
    """The same without letters that Windows-1252 lacks."""
    return people.with_columns(pl.col("town").replace("Łódź", "Zürich"))


def report_of(path, *more, stdin=None, protected="town,age"):
    code, out, err = call("audit", path, *OPTIONS, "--protected", protected, *more, stdin=stdin)
    assert code in (0, 1, 3), err
    data = json.loads(out)
    del data["provenance"]["date"]
    # Why the code is what it is has tests of its own.
    return data, "".join(x for x in err.splitlines(True) if not x.startswith("Exit code "))


def as_csv(people):
    return people.write_csv()


FILES = {
    "utf8.csv": lambda people: as_csv(people).encode(),
    "bom.csv": lambda people: as_csv(people).encode("utf-8-sig"),
    "cp1252.csv": lambda people: as_csv(people).encode("cp1252"),
    "utf16.csv": lambda people: as_csv(people).encode("utf-16"),
    "utf16.txt": lambda people: people.write_csv(separator="\t").encode("utf-16"),
    "packed.csv.gz": lambda people: gzip.compress(as_csv(people).encode()),
    "packed.csv": lambda people: gzip.compress(as_csv(people).encode("cp1252")),
    "lines.jsonl": lambda people: people.write_ndjson().encode(),
    "lines.jsonl.gz": lambda people: gzip.compress(people.write_ndjson().encode()),
    "typed.parquet": lambda people: parquet(people),
}
SAID = {
    "cp1252.csv": "read as Windows-1252 (cp1252)",
    "packed.csv": "read as Windows-1252 (cp1252)",
    "utf16.csv": "read as UTF-16",
    "utf16.txt": "read as UTF-16",
}


def parquet(people):
    import io

    buffer = io.BytesIO()
    people.write_parquet(buffer)
    return buffer.getvalue()


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("piped", [False, True])
def test_a_file_is_read_whatever_it_is_in(people, tmp_path, name, piped):
    rows = western(people)
    rows.write_csv(tmp_path / "plain.csv")
    expected, _ = report_of(tmp_path / "plain.csv")
    content = FILES[name](rows)
    (tmp_path / name).write_bytes(content)
    path, stdin = ("-", content) if piped else (tmp_path / name, None)
    found, err = report_of(path, stdin=stdin)
    assert found == expected
    assert {one["group"] for one in found["marginals"]} >= {"town = Nîmes", "town = Zürich"}
    if name in SAID:
        assert err.startswith(f"Note: FILE {path} is not in UTF-8 and was {SAID[name]}; see ")
    else:
        assert err == ""


def test_one_bad_letter_far_down_is_found(people, tmp_path):
    """Past the part of a file that its kind is told by."""
    rows = pl.concat([western(people)] * 300)
    head = rows.with_columns(town=pl.lit("Koeln")).write_csv().encode()
    last = western(people).tail(50).write_csv(include_header=False).encode("cp1252")
    (tmp_path / "long.csv").write_bytes(head + last)
    _, err = report_of(tmp_path / "long.csv", protected="town")
    assert "read as Windows-1252" in err


def test_a_workbook(people, tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    rows = people.drop("born")
    rows.write_csv(tmp_path / "plain.csv")
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "People"
    sheet.append(rows.columns)
    for row in rows.iter_rows():
        sheet.append(row)
    sheet.append([None] * 4)
    book.save(tmp_path / "one.xlsx")
    expected, _ = report_of(tmp_path / "plain.csv")
    found, err = report_of(tmp_path / "one.xlsx")
    assert (found, err) == (expected, "")
    book.create_sheet("Notes")
    sheet["B2"] = "n/a"
    book.save(tmp_path / "two.xlsx")
    code, _, err = call("audit", tmp_path / "two.xlsx", *OPTIONS, "--protected", "age")
    assert code == 2
    assert "has 2 sheets; the first, 'People', was read." in err
    assert "--missing='n/a'" in err


def test_a_workbook_without_openpyxl_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "openpyxl", None)
    (tmp_path / "book.xlsx").write_bytes(b"PK\x03\x04 and so on")
    code, out, err = call("audit", tmp_path / "book.xlsx", *OPTIONS, "--protected", "age")
    assert (code, out) == (2, "")
    assert "pip install 'gerrymend[xlsx]'" in err


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize(
    ("unit", "name"),
    [
        ([], "born (year)"),
        (["--dates", "month"], "born (month)"),
        (["--dates", "2024-03-01"], "born (age in days on 2024-03-01)"),
    ],
)
def test_dates_are_told_by_a_number(people, tmp_path, kind, unit, name):
    path = tmp_path / f"people.{kind}"
    (people.write_csv if kind == "csv" else people.write_parquet)(path)
    found, err = report_of(path, *unit, protected="born")
    number = {
        "born (year)": pl.col("born").dt.year(),
        "born (month)": pl.col("born").dt.month(),
    }.get(name, (pl.lit(datetime.date(2024, 3, 1)) - pl.col("born")).dt.total_days())
    people.with_columns(number.alias(name)).write_parquet(tmp_path / "numbers.parquet")
    expected, _ = report_of(tmp_path / "numbers.parquet", protected=name)
    assert found == expected
    assert found["attributes"] == [name]
    assert f"Column 'born' has dates; groups are told by its {name[6:-1]}" in err


@pytest.mark.parametrize("unit", ["week", "2024-13-01"])
def test_dates_by_something_else_are_refused(people, tmp_path, unit):
    people.write_csv(tmp_path / "people.csv")
    code, _, err = call("audit", tmp_path / "people.csv", *OPTIONS, "--protected", "born",
                        "--dates", unit)  # fmt: skip
    assert code == 2
    assert "--dates must be year, month, or a day such as 2024-03-01" in err


def test_a_broken_gzip_is_told(tmp_path):
    (tmp_path / "cut.csv.gz").write_bytes(gzip.compress(b"town,y,d\n" * 99)[:-9])
    code, _, err = call("audit", tmp_path / "cut.csv.gz", *OPTIONS, "--protected", "town")
    assert code == 2
    assert "is gzip, and broken" in err


@pytest.mark.parametrize("broken", ["no archive", "no workbook", "no sheet"])
def test_a_broken_workbook_is_told(tmp_path, broken):
    """A sentence and 2, never a traceback and the code of a verdict."""
    openpyxl = pytest.importorskip("openpyxl")
    path = tmp_path / "broken.xlsx"
    openpyxl.Workbook().save(path)
    if broken == "no archive":
        path.write_bytes(b"PK\x03\x04zz")
    else:
        with zipfile.ZipFile(path) as archive:
            parts = {name: archive.read(name) for name in archive.namelist()}
        with zipfile.ZipFile(path, "w") as archive:
            for name, part in parts.items():
                if broken == "no sheet":
                    is_sheet = name.endswith("sheet1.xml")
                    archive.writestr(name, part[: len(part) // 2] if is_sheet else part)
                elif name == "docProps/core.xml":
                    archive.writestr(name, part)
    code, out, err = call("audit", path, *OPTIONS, "--protected", "town")
    assert (code, out) == (2, "")
    assert err.startswith(f"FILE {path} can't be read as a workbook: ")


def test_labels_that_differ_in_case_are_told_so(tmp_path):
    """--positive no where the labels are No and Yes, and decisions that are written otherwise."""
    rows = [f"{'Yes' if i % 2 else 'No'},{'yes' if i % 3 else 'no'},{'ab'[i % 2]}"
            for i in range(40)]  # fmt: skip
    path = tmp_path / "case.csv"
    path.write_text("\n".join(["y,d,g", *rows]))
    usual = [path, "--label", "y", "--protected", "g"]
    code, _, err = call("audit", *usual, "--prediction", "y", "--positive", "no")
    assert (code, err.split("'No', 'Yes'")[1].strip()) == (2, "(did you mean 'No'?).")
    code, _, err = call("audit", *usual, "--prediction", "d")
    assert code == 2
    assert "(labels: 'No', 'Yes'). They differ in case or blanks; write labels and" in err
    path.write_text(path.read_text() + "\nno,no,a")
    code, _, err = call("audit", *usual, "--prediction", "d")
    assert code == 2
    assert "has 3 classes. 'No' and 'no' differ in case or blanks alone." in err


def test_dates_that_are_not_read_are_no_identifiers(tmp_path):
    """American dates, of which day and month may be mistaken."""
    rows = [f"{1 + i % 12}/{1 + i % 28}/19{20 + i},{i % 2},{i % 3 % 2}" for i in range(70)]
    path = tmp_path / "dates.csv"
    path.write_text("\n".join(["born,y,d", *rows]))
    code, _, err = call("audit", path, "--label", "y", "--prediction", "d", "--protected", "born")
    assert code == 2
    assert "has 70 different dates, as text, in 70 rows" in err
    assert "Tell groups by --dates, which reads those that are written 2024-12-31 or 31.12" in err
    assert "identifier" not in err


@pytest.mark.parametrize("command", ["audit", "fit", "frontier"])
def test_a_quote_that_is_not_closed_is_told_of(tmp_path, command):
    """The first rows are read to see whether a protected column has dates."""
    file = tmp_path / "open.csv"
    file.write_text('town,y,d\n"Ulm ,0,1\nAu,1,0\nRom,0,1\nAu,1,1\n')
    decided = ["--prediction", "d"] if command == "audit" else ["--out", tmp_path / "out"]
    decided = [] if command == "frontier" else decided
    code, _, error = call(command, file, "--label", "y", "--protected", "town", *decided)
    assert code == 2
    assert "can't be read as a table" in " ".join(error.split())


def lines_of(people):
    """Lines with a decimal comma in one column, and a point in another."""
    ages = people["age"].to_list()
    rows = people.select("town", "y", "d").rows()
    return ["town;age;score;y;d"] + [
        f"{town};{age},5;0.{1000 + 7 * i};{y};{d}"
        for i, ((town, y, d), age) in enumerate(zip(rows, ages, strict=True))
    ]


@pytest.mark.parametrize(("line", "n_fields"), [("{};x;y", 7), ("Ulm;18,5;0.5;1", 4)])
def test_a_line_of_another_length_is_refused_by_its_number(people, tmp_path, line, n_fields):
    """Polars cuts it, or fills it up, where not all columns are read."""
    lines = lines_of(people)
    lines[11] = line.format(lines[11])
    path = tmp_path / "odd.csv"
    path.write_text("\n".join(lines))
    code, _, err = call("audit", path, *OPTIONS, "--decimal", ",", "--protected", "town")
    assert code == 2
    told = f"line 12 has {n_fields} fields, and the header names 5 columns"
    assert told in " ".join(err.split())


def test_a_line_break_in_quotes_and_a_last_separator_are_no_other_length(people, tmp_path):
    lines = lines_of(people)
    lines[3] = '"Bad\nEms";18,5;0.5;1;0;'
    lines[4] += ";"
    path = tmp_path / "well.csv"
    path.write_text("\n".join(lines) + "\n")
    report_of(path, "--decimal", ",", protected="age")
    path.write_text("\n".join([*lines, "Ulm;1;1"]))
    code, _, err = call("audit", path, *OPTIONS, "--decimal", ",", "--protected", "age")
    assert code == 2
    assert f"line {len(lines) + 2} has 3 fields" in " ".join(err.split())


def test_a_decimal_point_beside_decimal_commas_is_read_and_told(people, tmp_path):
    lines = lines_of(people)
    path = tmp_path / "both.csv"
    path.write_text("\n".join(lines))
    scored = ["--label", "y", "--score", "score", "--threshold", "0.15", "--permutations", "0",
              "--subgroups", "marginals", "--json", "-", "--protected", "age"]  # fmt: skip
    code, out, err = call("audit", path, *scored, "--decimal", ",")
    assert code in (0, 1), err
    assert "has a decimal point in score, though --decimal is a comma" in " ".join(err.split())
    plain = tmp_path / "plain.csv"
    plain.write_text("\n".join(line.replace(",5", ".5") for line in lines))
    _, expected, _ = call("audit", plain, *scored)
    assert json.loads(out)["worst"] == json.loads(expected)["worst"]


@pytest.mark.parametrize("score", ["1.234", "0.5", "01.5"])
def test_points_that_may_part_thousands_are_refused_with_a_remedy_that_helps(
    people, tmp_path, score
):
    """1.234 is either; 0.5 is clear, and beside a comma it isn't; 01.5 is a code."""
    lines = [line.split(";") for line in lines_of(people)]
    other = "0,25" if score == "0.5" else score
    rows = [[*line[:2], other if i % 2 else score, *line[3:]] for i, line in enumerate(lines[1:])]
    path = tmp_path / "thousands.csv"
    path.write_text("\n".join(map(";".join, [lines[0], *rows])))
    code, _, err = call("audit", path, "--label", "y", "--score", "score", "--protected", "town",
                        "--decimal", ",")  # fmt: skip
    told = " ".join(err.split())
    assert code == 2
    assert "which is given: write all of them so in FILE" in told
    assert "--threshold is given" not in told


def test_fit_offers_to_leave_out_what_it_can_not_read(people, tmp_path):
    lines = [line.split(";") for line in lines_of(people)]
    rows = [[*line[:2], f"1.{100 + i}", *line[3:]] for i, line in enumerate(lines[1:])]
    path = tmp_path / "thousands.csv"
    path.write_text("\n".join(map(";".join, [lines[0], *rows])))
    asked = ["fit", path, "--label", "y", "--protected", "town", "--decimal", ",", "--out",
             tmp_path / "model.skops"]  # fmt: skip
    code, _, err = call(*asked, "--drop", "d")
    assert code == 2
    told = " ".join(err.split())
    assert "--decimal is a comma, which they don't have" in told
    assert "or leave the column out with --drop" in told
