"""Files in the format of svmlight: what is read, and what is refused in a sentence."""

import pytest

import tacit
from tacit.learning import like_a9a, load_a9a, load_svmlight


def test_a_file_is_read_with_two_labels_and_so_many_columns(tmp_path):
    file = tmp_path / "a9a"
    file.write_text("-1 3:1 11:1\n+1 1:1 123:1\n")
    (tmp_path / "a9a.t").write_text("-1 2:1\n+1 4:1\n+1 5:1\n")
    train, test = load_a9a(tmp_path)
    assert train.X.shape == (2, 123)
    assert test.X.shape == (3, 123)
    assert train.y.tolist() == [False, True]
    assert train.X[1, [0, 122]].tolist() == [1.0, 1.0]
    assert load_svmlight(file).X.shape == (2, 123)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("", "0 different"),
        ("secret words\n", "format"),
        ("1 124:1\n0 1:1\n", "more than 123"),
        ("1 1:1\n", "1 different"),
    ],
)
def test_other_files_are_refused_without_what_stands_in_them(tmp_path, text, word):
    file = tmp_path / "a9a"
    file.write_text(text)
    with pytest.raises(tacit.TacitError, match=word) as refused:
        load_svmlight(file, columns=123)
    assert "secret" not in str(refused.value)
    with pytest.raises(tacit.TacitError, match="is not there"):
        load_a9a(tmp_path / "nowhere")


def test_made_up_records_have_the_shape_of_a9a():
    made = like_a9a(5000, seed=4)
    assert made.X.shape == (5000, 123)
    assert (made.X.sum(axis=1) == 14.0).all()
    assert 0.1 < made.y.mean() < 0.9
    with pytest.raises(tacit.TacitError, match="at least 1"):
        like_a9a(0)
