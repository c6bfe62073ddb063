"""What a process does with the memory that a step has freed.

A step's columns are megabytes that live for milliseconds. As it comes, glibc maps each large one anew and
gives the top of the heap back as soon as it is free; Arrow's allocator, mimalloc, gives back what was free
for 10 ms, and takes it again in huge pages. So every step pays for pages that the system fills with zeros, on
a virtual machine sometimes more than for its own work. Arrow's columns are glibc's here, like NumPy's:
mimalloc reads its options before anybody could set them.
"""

from __future__ import annotations

import ctypes
import os
import sys
from functools import cache

import pyarrow as pa

# of malloc.h
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3
# bytes at the heap's top that a process keeps, and from which size on a block is mapped: glibc's greatest
_KEPT, _MAPPED = 256 << 20, 32 << 20
_SAID = (
    *("MALLOC_TRIM_THRESHOLD_", "MALLOC_MMAP_THRESHOLD_", "GLIBC_TUNABLES"),
    "ARROW_DEFAULT_MEMORY_POOL",
)
# what Arrow allocates from unless it is told otherwise
_ARROWS_OWN = "mimalloc"


@cache
def keep_freed_memory() -> bool:
    """Have this process use again what it frees, up to 256 MiB. Gives whether it does.

    Once a process; not where its environment says otherwise, nor where another allocator is at work. A pool
    that the program has given Arrow stays.
    """
    if sys.platform != "linux" or any(name in os.environ for name in _SAID):
        return False
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError):  # musl has none
        return False
    does = bool(mallopt(_M_TRIM_THRESHOLD, _KEPT) and mallopt(_M_MMAP_THRESHOLD, _MAPPED))
    if does and pa.default_memory_pool().backend_name == _ARROWS_OWN:
        pa.set_memory_pool(pa.system_memory_pool())
    return does
