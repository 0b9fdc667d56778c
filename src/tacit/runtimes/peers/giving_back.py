"""Memory goes back to the system as soon as a long vector is dropped, and not when the process ends.

The C library begins to keep what was freed as soon as something long was: a process of which a moment has needed
much holds that for good, in pieces between which nothing fits. Above a fixed limit everything gets its own pages.
"""

from __future__ import annotations

import ctypes

_THRESHOLD = -3  # M_MMAP_THRESHOLD of glibc
_LIMIT = 1 << 20  # bytes


def give_back_long_vectors(size: int) -> None:
    """Let vectors of that many bytes be given back one by one, where the C library can; short ones need nothing.

    What was kept before goes back now.
    """
    library = ctypes.CDLL(None)
    if size >= _LIMIT and hasattr(library, "mallopt") and hasattr(library, "malloc_trim"):
        library.mallopt(_THRESHOLD, _LIMIT)
        library.malloc_trim(0)
