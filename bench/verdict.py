# SPDX-License-Identifier: Apache-2.0
"""Verdicts of the benchmarks in Python, as in verdict.sh."""
import operator

HOLDS = {"<=": operator.le, "<": operator.lt, ">=": operator.ge}


class Verdicts:
    """failed is True once a limit was missed."""

    def __init__(self):
        self.failed = False

    def line(self, what, value, limit=None, direction="<=", detail=""):
        """Without a limit the figure is only printed; a value of None was not
        reached, which misses any limit."""
        verdict, text = "    ", "-"
        if limit is not None:
            text = f"{limit:g}"
            held = value is not None and HOLDS[direction](value, limit)
            verdict = "PASS" if held else "FAIL"
            self.failed = self.failed or not held
        shown = "none" if value is None else f"{value:.6g}"
        print(
            f"{verdict}  {what:48} {shown:>9}   limit"
            f" {direction if limit is not None else '':2} {text:8}"
            + (f" ({detail})" if detail else ""),
            flush=True,
        )
