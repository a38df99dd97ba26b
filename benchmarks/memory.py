"""The most memory that this process has had; it imports next to nothing, to be that of others."""

import re
import resource
from pathlib import Path

STATUS = Path("/proc/self/status")


def peak_mb():
    """Linux: VmHWM, as `ru_maxrss` begins at what the process that started this one had."""
    if STATUS.exists():
        kilobytes = re.search(r"VmHWM:\s+(\d+) kB", STATUS.read_text()).group(1)
        return int(kilobytes) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
