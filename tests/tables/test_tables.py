"""Tables as people have them, and the dictionary that says what they mean."""

import msgspec
import numpy as np
import pytest

from tacit.errors import FileError, InputError, MismatchError
from tacit.tables import Column, Dictionary, Reading, draft, match, plain, read_dictionary, read_sheet, review

VISITS = "age,sex,dose,relapse\n61,female,0.5,no\n47,male,1.25,yes\n58,female,2,no\n"
MEANING = Dictionary(
    "relapse",
    (
        Column("age", unit="years", low=0, high=120),
        Column("dose"),
        Column("sex", type="factor", levels=("female", "male")),
        Column("relapse", type="factor", levels=("no", "yes")),
    ),
)


@pytest.fixture
def sheet(tmp_path):
    def read(text, written="utf-8", /, **reading):
        path = tmp_path / "visits.csv"
        path.write_bytes(text.encode(written) if isinstance(text, str) else text)
        return read_sheet(path, Reading(**reading))

    return read


def test_columns_are_found_by_name_wherever_they_stand(sheet):
    records = match(sheet(VISITS), MEANING)
    assert records.names == ("age", "dose", "sex[male]")
    np.testing.assert_array_equal(records.X, [[61, 0.5, 0], [47, 1.25, 1], [58, 2, 0]])
    np.testing.assert_array_equal(records.y, [0, 1, 0])
    turned = "relapse,dose,id,sex,age\nno,0.5,1,female,61\nyes,1.25,2,male,47\nno,2,3,female,58\n"
    np.testing.assert_array_equal(match(sheet(turned), MEANING).X, records.X)
    assert review(sheet(turned), MEANING).ignored == ("id",)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Age,sex,dose,relapse\n61,female,0.5,no\n", ["no column 'age'", "'Age'"]),
        (
            VISITS.replace("61,female", "61,Female"),
            ["line 2, column 'sex'", "Female is no level", "Did you mean 'female'?"],
        ),
        (
            VISITS.replace("1.25,yes", "1.25,perhaps"),
            ["line 3, column 'relapse'", "perhaps is no level; it has no, yes"],
        ),
        (VISITS.replace("47,", "some,"), ["line 3, column 'age': is not a number"]),
        (VISITS.replace("47,", "147,"), ["line 3, column 'age': is beyond low = 0 and high = 120"]),
        (VISITS.replace("47,", "NA,"), ["line 3, column 'age': is missing"]),
        (VISITS.replace("1.25,", "inf,"), ["line 3, column 'dose': is missing"]),
    ],
)
def test_what_does_not_match_is_refused_with_its_place(sheet, text, told):
    with pytest.raises(MismatchError) as caught:
        match(sheet(text), MEANING)
    for part in (*told, "visits.csv"):
        assert part in str(caught.value)
    assert "147" not in str(caught.value)


def test_all_that_does_not_match_is_said_at_once(sheet):
    found = review(sheet("age,sex,relapse\n400,x,no\n,male,yes\n"), MEANING)
    assert {f.trouble for f in found.findings} == {"no column", "no level", "beyond limits", "missing"}
    assert found.missing["age"] == 1
    assert not found.matches


def test_records_with_gaps_are_left_out_where_all_agreed_on_it(sheet):
    meaning = msgspec.structs.replace(MEANING, gaps="drop", missing=("", "999"))
    records = match(sheet(VISITS.replace("47,", "999,")), meaning)
    assert (len(records.X), records.dropped) == (2, 1)
    with pytest.raises(MismatchError, match="nothing would be left"):
        match(sheet("age,sex,dose,relapse\n999,male,1,no\n"), meaning)


def test_a_level_may_be_called_as_a_missing_value_is(sheet):
    meaning = Dictionary("y", (Column("x", type="factor", levels=("NA", "EU")), Column("y")))
    np.testing.assert_array_equal(match(sheet("x,y\nNA,1\nEU,2\n"), meaning).X[:, 0], [0, 1])


def test_the_reference_decides_what_is_zero(sheet):
    columns = [*MEANING.columns[:3], Column("relapse", type="factor", levels=("no", "yes"), reference="yes")]
    np.testing.assert_array_equal(match(sheet(VISITS), Dictionary("relapse", tuple(columns))).y, [1, 0, 1])


@pytest.mark.parametrize(
    ("text", "encoding", "assumed"),
    [
        ("größe;dosis;y\n1,5;2,25;1\n2,5;3;0\n", "utf-8", ";,"),
        ("größe;dosis;y\r\n1,5;2,25;1\r\n2,5;3;0\r\n", "latin-1", ";,"),
        ("größe\tdosis\ty\n1.5\t2.25\t1\n2.5\t3\t0\n", "utf-8", "\t."),
        ("größe\tdosis\ty\n1,5\t2,25\t1\n2,5\t3\t0\n", "cp1252", "\t,"),
        ("größe|dosis|y\n1.5|2.25|1\n2.5|3|0\n", "utf-8-sig", "|."),
        ("größe;dosis;y\n1,5;2,25;1\n2,5;3;0\n", "utf-16", ";,"),
        (";größe;dosis;y\n0;1,5;2,25;1\n1;2,5;3;0\n", "utf-8", ";,"),
        ("größe dosis y\n".replace(" ", ",") + "a,1.5,2.25,1\nb,2.5,3,0\n", "utf-8", ",."),
        ('"größe","dosis","y"\n"1.5","2.25","1"\n\n"2.5","3","0"\n', "utf-8", ",."),
    ],
    ids=["semicolons", "latin-1", "tabs", "tabs-commas", "bars-bom", "utf-16", "index", "row-names", "quotes"],
)
def test_files_as_spreadsheets_write_them(sheet, text, encoding, assumed):
    read = sheet(text, encoding)
    assert read.columns == ("größe", "dosis", "y")
    assert read.dialect.separator + read.dialect.decimal == assumed
    np.testing.assert_array_equal(match(read, plain(read.columns, "y")).X, [[1.5, 2.25], [2.5, 3]])


def test_options_override_what_a_file_looks_like(sheet):
    text = "a;b;y\n1,500;2;1\n2,500;3;0\n"
    assert match(sheet(text), plain("aby", "y")).X[0, 0] == 1.5
    with pytest.raises(MismatchError, match="column 'a': is not a number"):
        match(sheet(text, decimal="point"), plain("aby", "y"))
    assert sheet(text, separator="tab").columns == ("a;b;y",)
    assert sheet("ä,y\n1,2\n", "latin-1", encoding="latin-1").columns == ("ä", "y")


@pytest.mark.parametrize(
    "reading", [{"separator": "xx"}, {"decimal": "!"}, {"encoding": "klingon"}, {"separator": ",", "decimal": ","}]
)
def test_impossible_options_are_refused(sheet, reading):
    with pytest.raises(InputError):
        sheet("a,y\n1,2\n", **reading)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("31.75,0.125\n1,2\n", "the first line must name the columns"),
        ("31,75;0,125\n1;2\n", "the first line must name the columns"),
        ("a,b\n", "needs a line of column names and at least one record"),
        ("a,b,c\n1,2,3\n1,31337\n", "line 3: 2 fields, where the header has 3"),
        ("a,a\n1,2\n", "two columns 'a'"),
        (b"a,b\n\x00\x01", "is not a readable .csv file"),
        ("", "needs a line of column names"),
    ],
)
def test_a_file_that_is_no_table_gets_a_sentence_without_its_numbers(sheet, text, message):
    with pytest.raises(FileError, match=message) as caught:
        sheet(text)
    assert "31337" not in str(caught.value)


def test_a_draft_has_types_levels_and_no_limits(sheet):
    text = "patient_id,age,sex,seen,relapse\n7,61,f,2024-01-05,no\n3,47,m,2024-02-29,yes\n9,58,f,2023-12-31,no\n"
    made = draft(sheet(text))
    kinds = {column.name: column.type for column in made.dictionary.columns}
    assert kinds == {"patient_id": "number", "age": "number", "sex": "factor", "seen": "date", "relapse": "factor"}
    assert all(column.low is None and column.high is None for column in made.dictionary.columns)
    assert any("patient_id: counts the records" in note for note in made.notes)
    assert any("days since 2000-01-01" in note for note in made.notes)
    assert match(sheet(text), made.dictionary).X[0, 3] == 8770.0


def test_a_draft_doubts_dates_that_can_be_read_in_two_ways(sheet):
    notes = draft(sheet("seen,y\n01/02/2024,1\n03/04/2024,2\n")).notes
    assert any("%m/%d/%Y" in note for note in notes)
    assert draft(sheet("seen,y\n31/02/2024,1\n03/04/2024,2\n".replace("31/02", "31/01"))).notes == (
        "seen: dates of the form %d/%m/%Y become days since 2000-01-01.",
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,y\nYes,1\nyes,2\n", "levels 'Yes' and 'yes'"),
        ("a,y\nonly,1\nonly,2\n", "one word everywhere"),
        ("a,y\n" + "".join(f"w{k},1\n" for k in range(30)), "30 different words"),
    ],
)
def test_what_cannot_be_drafted_says_why(sheet, text, message):
    with pytest.raises(MismatchError, match=message):
        draft(sheet(text))


def test_a_word_among_numbers_is_a_mistake_and_no_factor(sheet):
    read = sheet("a,y\n1,1\n2,1\n3o,2\n")
    with pytest.raises(MismatchError, match="line 4, column 'a': is not a number"):
        match(read, draft(read).dictionary)


def test_a_dictionary_survives_its_file_and_says_what_is_wrong_with_it(tmp_path):
    path = tmp_path / "p.toml"
    path.write_bytes(msgspec.toml.encode({"other": 1, "data": msgspec.to_builtins(MEANING)}))
    assert read_dictionary(path) == MEANING
    bad = Dictionary("z", (Column("a", levels=("b",)), Column("a", type="factor"), Column("c", low=2.0, high=1.0)))
    assert len(bad.problems()) == 5
    path.write_text("x = 1\n")
    with pytest.raises(FileError, match="has no data dictionary"):
        read_dictionary(path)
