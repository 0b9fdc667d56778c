"""What a run guarantees: the certificate of its network and its σ, with what is known of the run itself."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from tacit.certificates import Certificate
from tacit.coverage import Coverage
from tacit.masks import is_computational
from tacit.stamps import Stamp


def of_run(
    certificate: Certificate,
    *,
    stamps: Iterable[Stamp],
    pairing: str,
    coverage: Coverage | None = None,
    noisy: bool = False,
) -> Certificate:
    """Return a certificate as that of one run: what its masks hide, how they were shared, what speaks against it.

    *coverage* is what the masks hide of these costs; what they hide of any cost, where it is not given. *stamps*
    are those of the run and its answer; what the network exposes is in the certificate already. *noisy* sums carry
    shares, of which the answer's own guarantee says what they tell.
    """
    return replace(
        certificate,
        coverage=coverage or certificate.coverage,
        stamps=tuple(stamps),
        computational=is_computational(pairing),
        noisy=noisy,
    )
