# SPDX-License-Identifier: Apache-2.0
"""Verdicts of the benchmarks in Python, as in verdict.sh."""
import operator
import os
import time

HOLDS = {"<=": operator.le, "<": operator.lt, ">=": operator.ge}
MOST_OTHERS = 0.1  # of the processors, as in moirai-exec(1)
SHORTEST_S = 0.2


class Load:
    """What other processes use of the processors, from here on.  Children
    count as this process once they have ended."""

    def __init__(self):
        self.begun = self.now()

    @staticmethod
    def now():
        """Seconds: of the clock, of the processors, of this process."""
        allowed = {f"cpu{i}" for i in os.sched_getaffinity(0)} \
            if hasattr(os, "sched_getaffinity") else set()
        busy = 0
        try:
            with open("/proc/stat", encoding="ascii") as stat:
                for line in stat:
                    name, *ticks = line.split()
                    if name in allowed:
                        user, nice, system, _, _, irq, soft = ticks[:7]
                        busy += sum(map(int, (user, nice, system, irq, soft)))
        except (OSError, ValueError):
            allowed = set()
        own = sum(os.times()[:4])
        return (time.monotonic(), busy / os.sysconf("SC_CLK_TCK"), own,
                len(allowed))

    def others(self):
        """The number of processors that worked for others on average, and of
        processors; 0 of 0 where that is unknown."""
        then, busy, own, n = self.begun
        now, busy_now, own_now, _ = self.now()
        if n == 0 or now - then < SHORTEST_S:
            return 0, 0
        return max(busy_now - busy - (own_now - own), 0) / (now - then), n

    def quiet(self):
        used, n = self.others()
        return used <= MOST_OTHERS * n


class Verdicts:
    """failed is True once a limit was missed."""

    def __init__(self):
        self.failed = False

    def line(self, what, value, limit=None, direction="<=", detail="",
             quiet=True):
        """Without a limit the figure is only printed; a value of None was not
        reached, which misses any limit.  Measured on a machine that was not
        quiet, a limit is not known to hold."""
        verdict, text = "    ", "-"
        if limit is not None:
            text = f"{limit:g}"
            held = value is not None and HOLDS[direction](value, limit)
            verdict = ("PASS" if quiet else "not quiet") if held else "FAIL"
            self.failed = self.failed or not held
        shown = "none" if value is None else f"{value:.6g}"
        print(
            f"{verdict}  {what:48} {shown:>9}   limit"
            f" {direction if limit is not None else '':2} {text:8}"
            + (f" ({detail})" if detail else ""),
            flush=True,
        )
