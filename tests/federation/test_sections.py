"""Both kinds of file share their sections; what members have agreed on keeps its name."""

import tomllib
from typing import get_type_hints

import msgspec
import pytest

import tacit
from tacit.federation import Manifest, Masks, Model, Stop
from tacit.federation.checking import Assessment
from tacit.federation.guarantees import certified
from tacit.fields import misfit
from tacit.masks import LEVELS, has_sigma
from tacit.solving.algorithm_section import agreed, chosen
from tacit.solving.problem_file import CostsSection, FileContents, PrivacySection
from tacit.solving.sections import Costs, Privacy, Stopping

HEAD = """
title = "a study"
run = 3
unknowns = 2
links = [["north", "south"], ["south", "west"], ["west", "north"]]
"""
MEMBERS = """
[members.north]
address = "north.example:7700"
certificate = "NORTH"
[members.south]
address = "south.example:7700"
certificate = "SOUTH"
[members.west]
address = "west.example:7700"
certificate = "WEST"
"""
FILES = {
    "sums": """
[privacy]
level = "sums"
bound = 1152921504606846976.0
words = 2
[algorithm]
name = "standardised"
inner = "newton"
intercept = true
[model]
family = "logistic"
target = "y"
intercept = true
l2 = 1.0
records = 40
""",
    "affine": """
dropout = "exclude"
epoch = 1
previous = "0123"
x0 = [0.5, -1.0]
[privacy]
level = "affine"
sigma = 1000.0
pairing = "seeds"
any = 2
hide = 10.0
[algorithm]
name = "gradient-tracking"
step_size = 0.01
weights = "lazy"
[stop]
tolerance = 1e-8
max_rounds = 500
floor = 1e-10
patience = 60
idle = 5.0
""",
    "quadratic": """
[privacy]
level = "quadratic"
sigma = 10
bound = 65536.0
[algorithm]
name = "direct"
""",
    "none": """
[privacy]
level = "none"
[algorithm]
name = "extra"
step_size = 0.1
[model]
family = "huber"
delta = 2.0
l1 = 0.25
shares = 5
""",
}


def read(level):
    text = FILES[level]
    settings, _, tables = text.partition("[privacy]")
    return msgspec.toml.decode(HEAD + settings + "[privacy]" + tables + MEMBERS, type=Manifest)


SESSIONS = {
    "sums": "c24c6eb9e57757e7f05d8a0b0d5b47b8091aaebf562cf112f5ef770ca8f0615b",
    "affine": "7249344444b1ef23c73b401b6cd8d059ca6be068fa9ecc3f4eb0286ead97fa47",
    "quadratic": "012aeb04401dd1123f6891fca3592836d4e37689d32e0c521c46568afe443fa0",
    "none": "4b18af8ab6cee7dc963c0edabb67bb2c9ab843041f8f1ad377b022b21aa0e172",
}


@pytest.mark.parametrize("level", FILES)
def test_a_file_that_members_have_agreed_on_keeps_its_session(level):
    """A member that has upgraded must still be greeted, and must find its state."""
    assert read(level).session() == SESSIONS[level]


@pytest.mark.parametrize(
    ("shared", "both"),
    [(Privacy, (PrivacySection, Masks)), (Stopping, (Stopping, Stop)), (Costs, (CostsSection, Model))],
    ids=["privacy", "stop", "costs"],
)
def test_both_files_have_the_shared_fields_first_and_of_the_same_types(shared, both):
    for section in both:
        assert section.__struct_fields__[: len(shared.__struct_fields__)] == shared.__struct_fields__
        assert section.__struct_config__.forbid_unknown_fields
        for name, kind in get_type_hints(shared).items():
            assert get_type_hints(section)[name] == kind


@pytest.mark.parametrize("level", LEVELS)
def test_both_files_read_the_same_section_as_the_same_masks(level):
    text = f'level = "{level}"\nbound = 65536.0\npairing = "one-sided"\n'
    text += "sigma = 12.5\n" if has_sigma(level) else "words = 2\n" if level == "sums" else ""
    problem, manifest = (msgspec.toml.decode(text, type=kind) for kind in (PrivacySection, Masks))
    assert problem.mechanism() == manifest.mechanism()
    assert Masks.of(manifest.mechanism()).mechanism() == manifest.mechanism()
    assert problem.effective_sigma == manifest.effective_sigma


@pytest.mark.parametrize("level", [level for level in LEVELS if has_sigma(level)])
def test_both_files_miss_sigma_in_the_same_words(level):
    for kind in (PrivacySection, Masks):
        with pytest.raises(tacit.TacitError, match=rf"^\[privacy\] level = '{level}' needs sigma"):
            kind(level).mechanism()


def test_a_sigma_that_means_nothing_is_refused_in_a_problem_and_decides_nothing_in_an_old_manifest():
    """A manifest with one was accepted before, and its members must be able to go on."""
    with pytest.raises(tacit.TacitError, match=r"^\[privacy\] level = 'sums' has no sigma"):
        PrivacySection("sums", sigma=5.0).mechanism()
    with pytest.raises(tacit.TacitError, match=r"^\[privacy\] words goes with level = 'sums', not with 'affine'"):
        PrivacySection("affine", sigma=5.0, words=2).mechanism()
    old = Masks("sums", sigma=5.0)
    assert old.mechanism() == Masks("sums").mechanism()
    assert old.effective_sigma == float("inf")
    manifest = msgspec.structs.replace(read("quadratic"), privacy=old)
    assert certified(manifest).is_perfect, "it was certified with the σ that its masks do not have"
    check = Assessment(manifest=manifest, certificate=None, telling=None, reached={})
    assert any("has no sigma" in problem for problem in check.problems)


@pytest.mark.parametrize("kind", [FileContents, Manifest], ids=["problem", "manifest"])
@pytest.mark.parametrize(
    ("section", "text", "meant"),
    [
        ("privacy", 'level = "sums"\nboud = 1.0', "bound"),
        ("privacy", 'level = "afine"', "affine"),
        ("stop", "tolerence = 1e-9", "tolerance"),
    ],
)
def test_both_files_refuse_a_misspelt_field_with_what_was_probably_meant(kind, section, text, meant):
    whole = tomllib.loads(f"[{section}]\n{text}\n")
    assert misfit(whole, kind).endswith(f". Did you mean {meant!r}?")


@pytest.mark.parametrize("read", [chosen, agreed], ids=["problem", "manifest"])
def test_both_files_refuse_a_misspelt_setting_of_an_algorithm(read):
    """A manifest's was left aside without a word, and the run went on with another setting than was agreed on."""
    section = {"name": "gradient-tracking", "step_size": 0.1, "step_sise": 0.2}
    with pytest.raises(tacit.TacitError, match=r"has no setting 'step_sise'; it has .*Did you mean 'step_size'\?"):
        read(section)


def test_both_files_read_an_algorithm_as_the_same_settings():
    section = {"name": "extra", "step_size": 0.25, "weights": "lazy"}
    assert chosen(section)[:2] == agreed(section)


def test_weights_that_are_none_are_refused_when_a_manifest_is_read():
    """They were accepted, and every agent failed where it began."""
    with pytest.raises(tacit.TacitError, match=r"no weights are called 'lasy'; .*Did you mean 'lazy'\?"):
        agreed({"name": "extra", "step_size": 0.25, "weights": "lasy"})
