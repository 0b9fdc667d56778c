"""The mistakes that people make, and the sentence that each gets: in their words, and nothing of Python's."""

import re
from pathlib import Path

import pytest

from tacit.errors import FileError, TacitError
from tacit.federation import Manifest, read_card
from tacit.fields import misfit
from tacit.solving import EXAMPLE, load_problem
from tacit.solving.problem_file import FileContents

GRAPH = "a b\nb c\nc d\nd a\na c\n"
ROWS = "".join(f"{k},{k % 3},{2 * k + k % 2}\n" for k in range(12))


@pytest.fixture
def here(run, tmp_path):
    """Return `run` in a folder with a problem, a graph and records."""
    (tmp_path / "problem.toml").write_text(EXAMPLE, encoding="utf-8")
    (tmp_path / "g.edges").write_text(GRAPH, encoding="utf-8")
    for name in ("north", "south", "west"):
        (tmp_path / f"{name}.csv").write_text(f"age,dose,y\n{ROWS}", encoding="utf-8")
    return run


def change(old, new):
    """Change a line of the problem file."""
    path = Path("problem.toml")
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


FIELDS = [
    ("sigma = 1000.0", 'sigma = "large"', "[privacy] sigma must be a number, and is a text."),
    ("sigma = 1000.0", "sigma = true", "[privacy] sigma must be a number, and is true or false."),
    ("sigma = 1000.0", "sigma = [1.0, 2.0]", "[privacy] sigma must be a number, and is a list of 2."),
    ("sigma = 1000.0", "sgma = 1000.0", "[privacy] has no field 'sgma'. Did you mean 'sigma'?"),
    (
        'level = "affine" ',
        'level = "afine" ',
        "level = 'afine' must be one of affine, none, quadratic and sums. Did",
    ),
    (
        'level = "affine" ',
        "level = 3 ",
        "[privacy] level must be one of affine, none, quadratic and sums, and is a",
    ),
    ("[stop]", "[stopp]", "there is no section [stopp]. Did you mean 'stop'?"),
    (
        "max_rounds = 100000",
        "max_rounds = 1.5",
        "[stop] max_rounds must be a whole number, and is a number with a point.",
    ),
    ("max_rounds = 100000", "max_rounds = 1979-05-27", "[stop] max_rounds must be a whole number, and is a date"),
    (
        'generator = "circulant_graph"',
        "links = [[1, 2, 3]]",
        "[graph] links, entry 1 must be a list of 2, and is a",
    ),
    (
        'generator = "circulant_graph"',
        "links = [[1, 2.5]]",
        "[graph] links, entry 1, entry 2 must be a text or a whole",
    ),
    ("[privacy]", "[stop]", "is not valid TOML: see line 46."),
    ('level = "affine" ', "# ", "[privacy] level is missing."),
]


@pytest.mark.parametrize(("old", "new", "sentence"), FIELDS)
def test_a_field_that_does_not_fit_is_named_with_what_was_expected(old, new, sentence, here):
    change(old, new)
    code, out, err = here("solve", "problem.toml")
    assert (code, out) == (2, "")
    assert err.startswith("tacit: problem.toml: ")
    assert sentence in err
    assert err.count("\n") == 1
    assert not re.search(r"`(?!tacit init`| writes)|[$]|Expected|Object", err), err


def test_a_section_that_is_missing_is_named():
    assert misfit({"graph": {}, "costs": {"family": "ridge"}}, FileContents) == "[privacy] is missing."


def test_no_value_of_a_file_is_repeated_but_words_of_a_fixed_set(tmp_path):
    """Costs of a problem file are private numbers."""
    path = tmp_path / "problem.toml"
    for wrong in ("family = 24681", 'family = "quadratic"\nl2 = "24681"', 'family = "ridge"\nintercept = 24681'):
        path.write_text(f'[graph]\n[privacy]\nlevel = "sums"\n[costs]\n{wrong}\n', encoding="utf-8")
        with pytest.raises(FileError, match="must be") as caught:
            load_problem(path)
        assert "24681" not in str(caught.value)


def test_bytes_that_are_no_text_are_said_so(tmp_path):
    path = tmp_path / "problem.toml"
    path.write_bytes(b"\xff\xfe[graph]")
    with pytest.raises(FileError, match=r"problem.toml: is no text in UTF-8, as TOML is\.$"):
        load_problem(path)


def test_names_of_fields_do_not_act_on_a_terminal(tmp_path):
    path = tmp_path / "f.card"
    path.write_text('"na\\u001b[2Kme" = "x"\n', encoding="utf-8")
    with pytest.raises(FileError) as caught:
        read_card(path)
    assert str(caught.value).endswith(r"there is no field 'na\x1b[2Kme'.")
    path.write_text('[members."no\\u202erth"]\naddress = 3\n', encoding="utf-8")
    with pytest.raises(FileError) as caught:
        Manifest.read(path)
    assert str(caught.value).endswith(r"[members.no\u202erth] address must be a text, and is a whole number.")


MISTAKES = [
    (
        "solve nowhere.toml",
        "nowhere.toml: cannot be read (No such file or directory). `tacit init` writes an example.",
    ),
    ("solve problem.toml --sigma -3", "sigma = -3.0 must be a positive number"),
    ("solve problem.toml --sigma 0", "sigma = 0.0 must be a positive number"),
    ("solve problem.toml --sums --sigma 3", "secret sums have no sigma: ask for one of the two."),
    (
        "solve problem.toml --sums --no-tree",
        "secret sums add up over a spanning tree, and none is allowed; use affine",
    ),
    (
        "solve problem.toml --protect whole",
        "affine masks hide the linear coefficients q; in the open: the curvature P",
    ),
    ("solve problem.toml --algorithm newton", "'newton' with affine masks is refused: it adds up values"),
    ("solve problem.toml --sums --algorithm nids", "'nids' with secret sums is refused: it gossips"),
    ("solve problem.toml --algorithm newtn", "Did you mean 'newton'?"),
    ("solve problem.toml --max-rounds 0", "max_rounds = 0 must be at least 1."),
    ("solve problem.toml --protect all", "protect = 'all' is neither 'affine' nor 'whole'."),
    ("certify g.edges --sigma 1 --coalition z", "no agent is called z; this network has a, b, c, d."),
    ("certify nowhere.edges --sigma 1 --any 1", "nowhere.edges: "),
    ("certify g.edges --sigma -1 --any 1", "sigma = -1"),
    ("calibrate g.edges --any 2 --epsilon 0.1", "add links, as augment does, or guard against fewer"),
    (
        "ledger show",
        "ledger.sqlite: there is no ledger. `tacit ledger add` starts one, and so does `tacit ledger new`.",
    ),
    ("ledger add may g.edges --sigma 12 --basis sums", "secret sums have no sigma"),
    ("fit north.csv south.csv west.csv --target z", "has no column 'z', which is to be explained."),
    ("fit north.csv south.csv west.csv --target y --columns agee", "Did you mean 'age'?"),
    ("fit north.csv south.csv west.csv --target y --C 3", "C means nothing to a linear model; leave it out."),
    (
        "data check problem.toml --data north.csv",
        "problem.toml: has no data dictionary, [data]. `tacit federation new",
    ),
    ("federation new f.toml --unknowns 2", "0 member(s): hiding something takes at least three; give their cards."),
    ("federation new f.toml --unknowns 2 --links 1", "0 member(s)"),
    (
        "fingerprint g.edges",
        "g.edges: is not one of .crt, .card and .key. `tacit federation check` shows all members'.",
    ),
    ("init", "problem.toml: is already there; name another file, or replace it. --force replaces it."),
]


@pytest.mark.parametrize(("words", "sentence"), MISTAKES)
def test_a_mistake_gets_its_sentence(words, sentence, here):
    if words.startswith("fit"):
        pytest.importorskip("sklearn", reason="pip install 'tacit[learning]'")
    code, out, err = here(*words.split())
    assert code in (1, 2)
    assert out == ""
    assert sentence in err
    assert err.startswith("tacit: ")
    assert err.count("\n") == 1
    assert not re.search(r"Masks|[A-Z][a-z]+[A-Z]|\w\(\)|\b[a-z_]+=\S", err), err
    assert not Path("ledger.sqlite").exists()


FEDERATION = [
    (
        "new f.toml",
        "say how many unknowns the costs have, or give a data dictionary, whose columns are counted. --unkn",
    ),
    (
        "new f.toml --unknowns 2 --level affne",
        "level = 'affne' is not one of sums, affine, quadratic and none. Did you",
    ),
    ("new f.toml --unknowns 2 --level affine", "affine masks need sigma, or guess and hide to choose it by."),
    ("new f.toml --unknowns 2 --sigma 3", "sigma means nothing to level = 'sums'; leave it out."),
    (
        "new f.toml --unknowns 2 --sigma 3 --hide 2",
        "sigma and hide mean nothing to level = 'sums'; leave them out.",
    ),
    (
        "new f.toml --unknowns 2 --links 1",
        "links = 1: a member with one neighbour has no secrets from it; use at least",
    ),
    ("new f.toml --unknowns 2 --any 2", "any = 2: of 3 members at least two must be honest."),
    ("new f.toml --unknowns 2 --cost lasso", "a lasso cost needs l1, the weight of its penalty."),
    ("new f.toml --unknowns 2 --l1 1 --l2 2", "l1 and l2 need a cost, which says what is fitted."),
    (
        "new f.toml --unknowns 2 --algorithm nids --setting step_size=0.1",
        "'nids' with secret sums is refused: it goss",
    ),
]


@pytest.mark.parametrize(("words", "sentence"), FEDERATION)
def test_a_mistake_of_a_coordinator_gets_its_sentence(words, sentence, here):
    for name in ("north", "south", "west"):
        here("keygen", "--name", name, "--address", "127.0.0.1:7300")
    code, out, err = here("federation", *words.split())
    assert (code, out) == (2, "")
    assert sentence in err
    assert err.count("\n") == 1
    assert not re.search(r"Masks|[A-Z][a-z]+[A-Z]|\w\(\)|\b[a-z_]+=\S", err.replace("step_size=0.01", "")), err


def test_python_is_told_the_same_without_what_to_type(tmp_path):
    with pytest.raises(TacitError) as caught:
        load_problem(tmp_path / "nowhere.toml")
    assert str(caught.value).endswith("nowhere.toml: cannot be read (No such file or directory).")
    assert caught.value.command == "`tacit init` writes an example."
