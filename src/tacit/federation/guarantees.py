"""What a manifest guarantees its members, before anybody has read a file."""

from __future__ import annotations

from tacit.certificates import Certificate, certify
from tacit.coverage import GENERAL, Coverage
from tacit.errors import InputError
from tacit.federation.declared import telling_of
from tacit.federation.manifest import Manifest
from tacit.solving.cost_files import example
from tacit.solving.declared import Declared
from tacit.solving.guarantee import of_run
from tacit.solving.stamping import nothing_hidden


def refuse_nothing_hidden(manifest: Manifest) -> None:
    """Refuse masks that hide nothing of what all members fit, before anybody publishes anything."""
    coverage = coverage_of(manifest)
    if coverage is not None and not coverage.keeps_a_secret:
        raise InputError(
            f"of a {manifest.model.family if manifest.model else ''} cost, {manifest.privacy.level} masks hide "
            f"{coverage}: use secret sums, or another cost."
        )


def coverage_of(manifest: Manifest) -> Coverage | None:
    """Return what the masks hide of every member; None without masks, or where everybody chooses what to fit."""
    privacy = manifest.privacy.mechanism()
    if manifest.model is None or privacy is None:
        return None
    return privacy.coverage(example(manifest.model, unknowns=manifest.unknowns))


def certified(manifest: Manifest, *, any: int | None = None, telling: Declared | None = None) -> Certificate | None:
    """Return what is guaranteed against so many members; None where nothing is hidden, or nothing can be.

    Against as many as the manifest is made for, unless *any* is given. *telling* saves counting it again.
    """
    network, masks = manifest.network(), manifest.privacy
    if masks.level == "none" or len(network) < 3:
        return None
    t = min(masks.any if any is None else any, len(network) - 2)
    certificate = certify(network, any=t, sigma=masks.effective_sigma, hide=masks.hide)
    counted, coverage = telling or telling_of(manifest), coverage_of(manifest) or GENERAL[masks.level]
    stamps = (*nothing_hidden(coverage, []), *(() if counted is None else counted.stamps))
    noisy = masks.promise is not None
    return of_run(certificate, coverage=coverage, stamps=stamps, pairing=masks.pairing, noisy=noisy)
