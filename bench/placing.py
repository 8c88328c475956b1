# SPDX-License-Identifier: Apache-2.0
"""One run of moirai-place, which is on the PATH: its answer, its progress, and
its resource usage."""
import json
import os
import re
import subprocess
import tempfile
import time

from verdict import Load

PLACED, NO_PLACEMENT = 0, 3
PROGRESS = re.compile(r"moirai: best ([\d.]+) us, .*?([\d.]+) s(?:: |$)")


class Placing:
    """rows are the objects of --json, steps the incumbents of moirai by time:
    (makespan in us, seconds). The graph is placed as it is, unless the
    arguments have --fusion."""

    def __init__(self, arguments):
        command = ["moirai-place", "-v", "--json", "--fusion", "none"]
        command += arguments
        with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile(
            "w+"
        ) as log:
            load, begin = Load(), time.monotonic()
            child = subprocess.Popen(command, stdout=out, stderr=log)
            # Of this child alone: getrusage knows but the largest of all.
            _, status, used = os.wait4(child.pid, 0)
            self.seconds = time.monotonic() - begin
            self.quiet = load.quiet()
            child.returncode = os.waitstatus_to_exitcode(status)
            out.seek(0)
            log.seek(0)
            said = log.read()
            if child.returncode not in (PLACED, NO_PLACEMENT):
                last = said.strip().splitlines()[-1:] or ["says nothing"]
                raise RuntimeError(f"{' '.join(command)}: {last[0]}")
            self.rows = json.load(out)
        self.steps = [
            (float(found[1]), float(found[2]))
            for found in map(PROGRESS.search, said.splitlines())
            if found
        ]
        self.processor_seconds = used.ru_utime + used.ru_stime
        self.peak_mb = used.ru_maxrss / 1024

    @property
    def best(self):
        """The row of the best placement, None if nothing fits."""
        row = self.rows[0]
        return row if row.get("fits") else None


def milliseconds(row, key="makespan_us"):
    return row[key] / 1000 if row and key in row else None


def percent(row):
    return 100 * row["gap"] if row and "gap" in row else None
