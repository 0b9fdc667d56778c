"""Standard streams that cannot write every letter: σ becomes sigma, and no command ends because of it."""

from __future__ import annotations

import codecs
import sys
from typing import Any

_SPELLED = {
    "σ": "sigma", "ε": "epsilon", "δ": "delta", "α": "alpha", "μ": "mu", "λ": "lambda", "φ": "phi", "ψ": "psi",
    "Σ": "sum", "√": "sqrt", "≤": "<=", "≥": ">=", "≠": "!=", "≈": "~", "∞": "inf", "→": "->", "←": "<-", "−": "-",
    "–": "-", "…": "...", "·": "*", "×": "x", "½": "1/2", "²": "^2", "⁻": "^-", "ᵀ": "^T",
}  # fmt: skip
_HANDLER = "tacit"


def spell(error: UnicodeError) -> tuple[str | bytes, int]:
    """Stand in for letters that an encoding does not have: a handler for `codecs`.

    >>> codecs.register_error("tacit", spell)
    >>> "σ ≤ 2 ⋈".encode("cp1252", "tacit")
    b'sigma <= 2 ?'
    """
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(_SPELLED.get(letter, "?") for letter in error.object[error.start : error.end]), error.end


def write_everything() -> None:
    """Let standard output and standard error write all that there is to say, in whatever encoding they have."""
    codecs.register_error(_HANDLER, spell)
    for stream in (sys.stdout, sys.stderr):
        change: Any = getattr(stream, "reconfigure", None)
        if change is not None:
            change(errors=_HANDLER)
