"""Attacks that try finitely many things: stories, floats, seeds."""

from __future__ import annotations

from itertools import product

import networkx as nx
import numpy as np

from tacit.auditing.attacks.candidates import likeliest
from tacit.auditing.attacks.likelihood import coefficients
from tacit.auditing.attacks.low_bits import LowBits
from tacit.auditing.attacks.seeds import SeedEnumeration
from tacit.auditing.experiments.every_link import bits_of_links
from tacit.auditing.experiments.setting import Setting
from tacit.auditing.judging.verdict import Verdict, judge_mean, judge_statistics, skipped
from tacit.auditing.recording.release import release, scales_of
from tacit.masks import with_equal_links
from tacit.network import Network
from tacit.typing import Array

_AGENTS = 9  # honest agents up to which all stories are tried
_TRIALS = 200
_PAIR = Network(nx.path_graph(2))


def candidates(setting: Setting) -> Verdict:
    """Every coefficient is 0 or as large as the masks: how often is the whole story found?"""
    honest, sigma, size = setting.honest, setting.masks.sigma, setting.deviation
    if not 2 <= len(honest) <= _AGENTS:
        return skipped("finite candidates", "too many stories" if len(honest) > _AGENTS else "one honest agent")
    if setting.masks.kind != "affine":
        return skipped("finite candidates", "played under affine masks")
    stories = size * np.array(list(product((0.0, 1.0), repeat=len(honest))))[:, :, None]
    laplacian = setting.covariance / (2.0 * sigma**2)

    def is_found(world: Array, z: Array) -> bool:
        return np.array_equal(stories[likeliest(stories, z[:, None], laplacian), :, 0], world)

    worlds = size * setting.rng.integers(0, 2, (len(setting.network), _TRIALS)).astype(np.float64)
    done = setting.released(worlds)
    z = coefficients(done.views[0], done.public)[1]
    made_up = size * setting.rng.integers(0, 2, (len(honest), 4 * _TRIALS)).astype(np.float64)
    ideal = made_up + setting.ideal(4 * _TRIALS)
    hits = np.array([is_found(worlds[honest, k], z[:, k]) for k in range(_TRIALS)], dtype=float)
    expected = np.array([is_found(made_up[:, k], ideal[:, k]) for k in range(4 * _TRIALS)], dtype=float)
    says = f"of {_TRIALS} stories found; the certificate's own law gives {100 * expected.mean():.1f} %"
    return judge_mean("finite candidates", hits, expected, says=says, rng=setting.rng)


def low_bits(setting: Setting) -> Verdict:
    """Two agents, one link, two worlds: do the floats tell the world, and does any bit of a mask follow a rule?"""
    size = 2.0 ** np.floor(np.log2(setting.deviation))
    scales = scales_of(setting.masks, 20_000)
    secrets = np.zeros((2, len(scales)))
    secrets[1] = size
    masks = with_equal_links(setting.masks)
    done = release(masks, _PAIR, secrets, (), keys=setting.keys)
    z = np.concatenate([coefficients(view, done.public)[1] for view in done.views], axis=1)
    thirds = release(masks, _PAIR, secrets / 3.0, (), keys=setting.keys)
    w = np.concatenate([coefficients(view, thirds.public)[1] for view in thirds.views], axis=1)
    certain, remainders = LowBits()(z, size), LowBits().remainders(w, thirds.public.step)
    says = (
        f"the world is certain in {100 * certain:.2g} % of coordinates; "
        f"off the lattice are {100 * remainders:.2g} %"
    )
    if certain > 0.0 or remainders > 0.0:
        return Verdict(
            attack="low-order bits", status="beaten", measured=max(certain, remainders), predicted=0.0, says=says
        )
    bits, seen = bits_of_links(setting)
    return judge_statistics(
        "low-order bits", seen, measured=0.0, predicted=0.0,
        says=f"{says}; the lowest {bits} bits of every link's mask are balanced, and independent of the secret",
    )  # fmt: skip


def seeds(setting: Setting) -> Verdict:
    """All seeds of 16 bits are tried against the masks that the coalition received."""
    attack = SeedEnumeration()
    if len(scales_of(setting.masks, 2)) > 2:
        return skipped(attack.name, "the shipped generator is tried under affine masks")
    done = setting.released(setting.secrets(2))
    why = attack.misses(done.views[0], done.public)
    if why is not None:
        return skipped(attack.name, why)
    known = len(attack.masks(done.views[0], done.public))
    if not known:
        return Verdict(attack=attack.name, status="within", says="no seed of 16 bits explains a mask", measured=0.0)
    estimate = attack(done.views[0], done.public)
    says = (
        f"a seed of 16 bits tells {known} masks of directed links, and {len(estimate.agents)} agents all of theirs"
    )
    return Verdict(attack=attack.name, status="beaten", says=says, measured=float(known), predicted=0.0)
