"""To be imported first: the process keeps the memory that it frees, as gtmark's arena does.

By default glibc may return large freed blocks to the system, and then each run waits for new pages: up to four fifths
of the time of PyTorch's single operations, or none, as the heap happens to be.
"""

import ctypes

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD, M_ARENA_MAX = -1, -3, -8  # malloc.h
for _option, _value in ((M_MMAP_THRESHOLD, 1 << 30), (M_TRIM_THRESHOLD, (1 << 31) - 1), (M_ARENA_MAX, 1)):
    getattr(ctypes.CDLL(None), "mallopt", lambda *_: 0)(_option, _value)
