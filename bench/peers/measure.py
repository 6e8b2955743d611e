"""measure.py OUT COMMAND...: runs it; OUT gets wall seconds, CPU seconds, peak KiB and the exit code.

What starts a process counts in its peak of memory (a new program inherits the high-water mark of the process that it
came from), so it is this, which is small.
"""
import os
import sys
import time

start = time.monotonic()
process = os.posix_spawnp(sys.argv[2], sys.argv[2:], os.environ)
_, status, usage = os.wait4(process, 0)
wall = time.monotonic() - start
with open(sys.argv[1], "w", encoding="ascii") as out:
    print(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss, os.waitstatus_to_exitcode(status), file=out)
