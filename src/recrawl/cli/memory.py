"""Memory that a page needed is kept for the next one, where the C library can be told so."""

from __future__ import annotations

import ctypes

# malloc.h of glibc
_TRIM_THRESHOLD, _TOP_PAD, _MMAP_THRESHOLD = -1, -2, -3
KEPT = 64 << 20  # bytes that stay with the process once they are free
AT_ONCE = 16 << 20
LARGE = 32 << 20  # what is larger is got from the system and given back, each time


def keep_freed_memory() -> bool:
    """Tell malloc not to give memory back to the system after each page, to ask for it again.

    Parsing a page of 20 KB takes and frees 200 KB; the page faults of new memory are a quarter
    of the time of reading it. Returns False where there is no such setting (not glibc).
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError, TypeError):
        return False
    settings = ((_MMAP_THRESHOLD, LARGE), (_TRIM_THRESHOLD, KEPT), (_TOP_PAD, AT_ONCE))
    return all(mallopt(name, value) for name, value in settings)
