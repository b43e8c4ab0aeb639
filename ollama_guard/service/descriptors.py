"""Open files: each answer has a client and an upstream, and many systems give a process 256 or 1,024.

The soft limit is for programs that still use select(2); whoever does not may raise it up to the hard one, and
asyncio does not.
"""

import sys
from contextlib import suppress

SPARE = 64
"""For listeners, logs, relays and clients that wait."""


def needed(exchanges: int) -> int:
    """How many may be open with so many guarded answers at once."""
    return 2 * exchanges + SPARE


def possible() -> int | None:
    """How many this process may have at most; None where there is no limit."""
    if sys.platform == "win32":
        return None
    import resource  # noqa: PLC0415 - not on Windows

    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    return None if hard == resource.RLIM_INFINITY else hard


def allow(count: int) -> None:
    """Raise the soft limit to `count`, or as far as that goes; never lower it."""
    if sys.platform == "win32":
        return
    import resource  # noqa: PLC0415 - not on Windows

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = count if hard == resource.RLIM_INFINITY else min(count, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with suppress(ValueError, OSError):  # macOS has a lower limit of its own behind "unlimited"
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
