"""Every link by itself: the coalition of everybody but its two ends.

    z_i = α̃_i − Σ_{k ≠ j} (r_ki − r_ik) = α_i + (r_ji − r_ij)  ~  N(α_i, 2σ²)

The certificate holds against that coalition too. What it sees of one link is not blurred by the others, so a mask
that is a little too thin on one link, or follows from others, shows however many links there are.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2

from tacit.auditing import looks
from tacit.auditing.experiments.setting import Setting
from tacit.auditing.looks import Look
from tacit.auditing.release import groups_of, release
from tacit.auditing.scales import scales_of_links
from tacit.auditing.verdict import RISK, Verdict, judge_looks
from tacit.auditing.view import View, masks_of
from tacit.typing import Array

_NUMBERS = 16_000_000  # drawn at once, in a network with many links


class Links(NamedTuple):
    """What is left of one end's coefficient to everybody but the two ends."""

    errors: Array
    """z_i − α_i of the first end of every link, (E, coordinates)."""
    terms: Array
    """r of every directed link, (2E, coordinates): known to everybody but the two ends of it."""
    own: NDArray[np.bool_]
    """Which terms belong to which link, (E, 2E)."""
    secrets: Array
    """α_i, (E, coordinates)."""
    scales: Array
    """σ of every link and coordinate, as a multiple of sigma, (E, coordinates)."""
    step: float


def alone(setting: Setting) -> Links:
    """Run phase 1, and look at every link with the eyes of everybody but its ends."""
    network = setting.network
    columns = min(setting.columns, max(500, _NUMBERS // (2 * len(network.links))))
    everybody = tuple(range(len(network)))
    done = release(setting.masks, network, setting.secrets(columns), everybody, keys=setting.keys)
    exchange = masks_of(done.views[0])[0]
    terms = np.concatenate([masks_of(view)[0].values for view in done.views], axis=1)
    effective = np.concatenate([_effective(view) for view in done.views], axis=1)
    row = {(int(a), int(b)): k for k, (a, b) in enumerate(zip(exchange.senders, exchange.receivers, strict=True))}
    i, j = network.links.T
    out, back = (np.array([row[pair] for pair in zip(*ends, strict=True)]) for ends in ((i, j), (j, i)))
    secrets = np.rint(done.secrets / done.public.step) * done.public.step
    rest = effective - secrets
    np.subtract.at(rest, exchange.receivers, terms)
    np.add.at(rest, exchange.senders, terms)
    own = np.zeros((len(i), len(terms)), dtype=bool)
    own[np.arange(len(i)), out] = own[np.arange(len(i)), back] = True
    scales = scales_of_links(setting.masks, network)
    each = np.outer(np.ones(len(i)) if scales is None else scales, done.scales)
    return Links(rest[i] + terms[back] - terms[out], terms, own, secrets[i], each, done.public.step)


def links(setting: Setting) -> Verdict:
    """Errors are N(0, 2σ²) on every link, independent of all masks on other links."""
    seen = alone(setting)
    y = seen.errors / (np.sqrt(2.0) * setting.masks.sigma * seen.scales)
    columns = y.shape[1]
    found = looks.squares("on a link", np.square(y).sum(axis=1), columns)
    for where, labels in groups_of(setting.masks, columns):
        found += looks.squares(f"{where} of a link", *_grouped(y, labels))
    length = np.linalg.norm(seen.terms, axis=1)
    products = y @ seen.terms.T / np.where(length > 0.0, length, 1.0)
    products[seen.own] = 0.0  # the link's own terms
    found += [*looks.shape(y, "on a link"), *looks.shape(y.reshape(1, -1), "over all links")]
    found += [looks.normal(products, "masks on two links go together")]
    thinnest = _detectable(columns, RISK / len(found) / len(y))
    return judge_looks(
        "every link by itself", found, measured=float(np.sqrt(np.square(y).mean())), predicted=1.0,
        says=f"{len(y)} link(s) of {columns} masks; a σ that is {100 * (1 - thinnest):.0f} % too small would show",
    )  # fmt: skip


def bits_of_links(setting: Setting) -> tuple[int, list[Look]]:
    """Look at the low bits of every link's mask, in steps of the lattice: balanced, and independent of α's."""
    seen = alone(setting)
    thinnest = np.sqrt(2.0) * setting.masks.sigma * float(seen.scales.min()) / seen.step
    bits = int(np.floor(np.log2(thinnest)))  # in bits above, the shape of the Gaussian shows
    steps = np.rint(seen.errors / seen.step).astype(np.int64)
    alpha = np.rint(seen.secrets / seen.step).astype(np.int64)
    found = [looks.balance(steps, bits, "in a mask"), looks.balance(steps ^ alpha, bits, "beside its secret")]
    for low in range(0, min(bits, 16), 8):
        cells = np.bincount(((steps >> low) & 255).ravel(), minlength=256)
        share = steps.size / 256
        chance = float(chi2.sf(np.square(cells - share).sum() / share, 255))
        found.append(Look(chance, "beaten", f"bits {low} to {low + 7} of masks are not uniform"))
    return bits, found


def _effective(view: View) -> Array:
    published = view.published
    return np.empty((0, 0)) if published is None or published.gradients is None else published.gradients


def _grouped(y: Array, labels: NDArray[np.intp]) -> tuple[Array, NDArray[np.intp]]:
    sums: Array = np.stack([np.bincount(labels, row).astype(np.float64) for row in np.square(y)])
    return sums.ravel(), np.tile(np.bincount(labels), len(y))


def _detectable(columns: int, risk: float) -> float:
    """Return the σ, as a share of the right one, that is noticed on a link nine times of ten."""
    return float(np.sqrt(chi2.ppf(risk, columns) / chi2.ppf(0.9, columns)))
