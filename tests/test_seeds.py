"""No test depends on luck: what tacit draws in a test is constant, but where the test is marked `fresh`."""

import os

import numpy as np
import pytest

from tacit.masks import agent_keys


def test_masks_are_drawn_from_a_constant_stream():
    first, second = agent_keys(2)
    assert first != second
    assert first.hex().startswith("258828bf9c872414")
    assert agent_keys(2) != [first, second]


def test_the_stream_begins_again_for_every_test():
    assert agent_keys(1)[0].hex().startswith("258828bf9c872414")


def test_generators_without_a_seed_are_constant_and_differ():
    drawn = np.random.default_rng().integers(0, 2**62, 3), np.random.default_rng().integers(0, 2**62, 3)
    assert drawn[0].tolist() == [667309305331065413, 2039350257532747704, 1569322292124716246]
    assert drawn[0].tolist() != drawn[1].tolist()


def test_nobody_else_gets_the_constant_stream():
    """Equal once in 2²⁵⁶."""
    assert os.urandom(32) != os.urandom(32)


@pytest.mark.fresh
def test_a_fresh_test_draws_from_the_operating_system():
    """The constant stream once in 2⁶⁴."""
    assert not agent_keys(1)[0].hex().startswith("258828bf9c872414")
