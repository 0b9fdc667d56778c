"""Files whose records are mapped to what is declared: no record is complained about, and none changes another."""

import numpy as np
import pytest

from tacit.errors import FileError, MismatchError
from tacit.tables import Column, Dictionary, Reading, mapped, read_unquestioned

DICTIONARY = Dictionary(
    target="y",
    columns=(
        Column("age", low=18.0, high=90.0),
        Column("sex", type="factor", levels=("f", "m")),
        Column("y", type="factor", levels=("no", "yes")),
    ),
)
GOOD = ["30,f,no", "40,m,yes", "50,f,no"]
ODD = [
    "", "abc,m,yes", "NA,NA,NA", "1e400,m,yes", "nan,f,no", "inf,f,no", "-inf,m,yes", "999999,m,yes", "-3,f,no",
    "40,other,maybe", '"40,m,yes', "40", "40,m,yes,extra,fields", "40;m;yes", "\u2028,m,yes", "4\x000,m,yes",
    "4_0,m,yes", "\udcff,m,yes", "x" * 200_000 + ",m,yes", "40,m,yes\r",
]  # fmt: skip


def records(tmp_path, lines, dictionary=DICTIONARY, header="age,sex,y"):
    file = tmp_path / "records.csv"
    file.write_bytes("\n".join([header, *lines]).encode("utf-8", errors="surrogateescape"))
    return mapped(read_unquestioned(file), dictionary)


@pytest.mark.parametrize("line", ODD, ids=range(len(ODD)))
@pytest.mark.parametrize("gaps", ["refuse", "drop"])
@pytest.mark.parametrize("at", [0, 1, 3])
def test_an_odd_record_changes_its_own_row_and_nothing_else(tmp_path, line, gaps, at):
    dictionary = Dictionary("y", DICTIONARY.columns, gaps=gaps)
    plain = records(tmp_path, GOOD, dictionary)
    odd = records(tmp_path, [*GOOD[:at], line, *GOOD[at:]], dictionary)
    added = len(odd.X) - len(plain.X)
    assert added in (0, 1)
    assert odd.dropped == 0, "nobody counts"
    keep = np.ones(len(odd.X), dtype=bool)
    keep[at : at + added] = False
    np.testing.assert_array_equal(odd.X[keep], plain.X)
    np.testing.assert_array_equal(odd.y[keep], plain.y)
    assert np.isfinite(odd.X).all()
    assert ((odd.X[:, 0] >= 18.0) & (odd.X[:, 0] <= 90.0)).all()
    assert np.isin(odd.y, (0.0, 1.0)).all()


def test_numbers_beyond_limits_become_the_limit_and_odd_words_the_reference(tmp_path):
    odd = records(tmp_path, ["999,m,yes", "-3,other,maybe", "NA,m,yes"])
    np.testing.assert_array_equal(odd.X, [[90.0, 1.0], [18.0, 0.0], [18.0, 1.0]])
    np.testing.assert_array_equal(odd.y, [1.0, 0.0, 1.0])


def test_a_file_may_be_empty_of_records_and_not_of_names(tmp_path):
    assert records(tmp_path, []).X.shape == (0, 2)
    (tmp_path / "empty.csv").write_text("")
    with pytest.raises(FileError, match="needs a line of column names"):
        read_unquestioned(tmp_path / "empty.csv")
    with pytest.raises(FileError, match="two columns"):
        records(tmp_path, GOOD, header="age,age,y")
    with pytest.raises(MismatchError, match="has no column 'sex'"):
        records(tmp_path, GOOD, header="age,gender,y")
    with pytest.raises(FileError, match="cannot be read"):
        read_unquestioned(tmp_path / "nowhere.csv")


def test_the_dialect_is_declared_and_never_read_off_the_records(tmp_path):
    """One record with a decimal comma, or a semicolon, would else change how all others are read."""
    file = tmp_path / "records.csv"
    file.write_text("age;y\n1,5;2,5\n")
    assert read_unquestioned(file).columns == ("age;y",)
    sheet = read_unquestioned(file, Reading(separator="semicolon", decimal="comma"))
    assert [sheet.number(text) for text in sheet.texts("age")] == [1.5]
