"""No picture of a member's memory is left behind: neither by a crash, nor for another process of the same user.

A core dump holds the records, the private key and the masks. The limit of zero bytes stops what the kernel writes
itself. Where it hands dumps to another program it does not ask for the limit, and there only the process's own word
counts (`PR_SET_DUMPABLE`, Linux): then nobody but root can attach to it or read its memory either.
"""

from __future__ import annotations

import ctypes
import resource
import sys

_PR_SET_DUMPABLE = 4


def switch_off_core_dumps() -> None:
    """Leave no core dump of this process, and of those that it starts; there is no way back."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
