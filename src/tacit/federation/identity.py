"""A member's identity to people: letters to compare by telephone.

Certificates and what TLS makes of them are in `tacit.runtimes.peers.identity`, keys in `tacit.runtimes.peers.keys`.
"""

from __future__ import annotations

import base64

from tacit.runtimes.peers.identity import der, pin

_A_LINE = 8  # groups of four letters: narrow enough for any terminal


def fingerprint(pem: bytes | str) -> str:
    """Return what two people compare by telephone: the SHA-256 of the certificate in groups of four letters."""
    letters = base64.b32encode(pin(der(pem))).decode().rstrip("=")
    return "-".join(letters[k : k + 4] for k in range(0, len(letters), 4))


def spelled(letters: str) -> list[str]:
    """Return a fingerprint or a session in groups of four letters, a few groups a line.

    >>> spelled("0123456789abcdef" * 3)
    ['0123-4567-89ab-cdef-0123-4567-89ab-cdef', '0123-4567-89ab-cdef']
    """
    plain = letters.replace("-", "")
    groups = [plain[k : k + 4] for k in range(0, len(plain), 4)]
    return ["-".join(groups[k : k + _A_LINE]) for k in range(0, len(groups), _A_LINE)]
