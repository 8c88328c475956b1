# SPDX-License-Identifier: Apache-2.0
"""Verdicts of the experiment, and for each limit that is missed a reason
derived from the numbers."""
import math
import statistics

from verdict import Verdicts

MOST_OFF, LEAST_EFFICIENCY = 0.10, 0.9
PAPER = {"m-sct": 1.9, "getf": 1.35}  # the most that the paper reports
ROUNDING = 1e-9
NEAR = 0.02  # parts of a time, below which two count as alike


def percent(part):
    return f"{100 * part:.3g} %"


def why_off(row):
    """Measured is the plan with measured times in it, times the idle time
    between its steps: measured / predicted = times * gaps."""
    if row.spread_us > abs(row.measured_us - row.predicted_us) / 2:
        return f"runs differ by {percent(row.spread_us / row.measured_us)}"
    if not row.efficiency:
        return "nothing is known of its parts"
    times, gaps = row.ratio * row.efficiency, 1 / row.efficiency
    if abs(math.log(times)) < math.log(gaps):
        return f"{percent(1 - row.efficiency)} of it lie between steps"
    ops = row.ops_by_profile
    if not ops or math.log(ops) / math.log(times) > 0.5:
        return f"ops take {ops or times:.3g} times what was profiled"
    return (f"with measured times the plan takes {times:.3g} times what was"
            f" predicted, its ops {ops:.3g}")


def off(row):
    return abs(row.ratio - 1)


def why_behind(row):
    """Why Moirai is slower than this row in its instance."""
    ours = row.moirai
    ahead = row.faster_by("predicted_us")
    if ahead < 1 - ROUNDING:
        return f"predicted to take {1 / ahead:.4g} times as long"
    if ahead - 1 < NEAR:
        return f"predicted alike, {ahead:.4g}: what is off decides"
    return (
        f"predicted {ahead:.3g} times as fast; measured is {ours.ratio:.3g}"
        f" of predicted here and {row.ratio:.3g} there: {why_off(ours)}"
    )


def why_no_more(row, wanted):
    """Why Moirai's speed-up over this row is below the paper's."""
    if row.moirai.devices_used == 1:
        return "one device is best"
    bound_us = max(row.bound_us or 0, row.moirai.bound_us or 0)
    if row.predicted_us < wanted * bound_us:
        most = row.predicted_us / bound_us
        return f"no placement is predicted to reach more than {most:.3f}"
    predicted = row.faster_by("predicted_us")
    if predicted < wanted:
        return f"predicted {predicted:.3g}"
    return f"predicted {predicted:.3g}; {why_off(row.moirai)}"


def behind(row):
    """How much longer Moirai took beyond the spread, relative to this row."""
    slack = max(row.spread_us, row.moirai.spread_us)
    return (row.moirai.measured_us - row.measured_us - slack) / row.measured_us


class Judge:
    def __init__(self, rows):
        self.rows = rows
        self.measured = [row for row in rows if row.ratio is not None]
        self.against = [
            row for row in self.measured
            if row.method != "moirai" and row.faster_by() is not None
        ]
        self.verdicts = Verdicts()
        self.quiet = all(row.quiet for row in self.measured)

    def notes(self, instance):
        """For the table: limits that Moirai misses there, and why."""
        rows = [row for row in self.against if row.instance is instance]
        found = [
            f"behind {row.method}: {why_behind(row)}"
            for row in rows if behind(row) > 0
        ]
        for row in rows:
            wanted = PAPER.get(row.method)
            if wanted and row.faster_by() < wanted:
                found.append(f"{row.faster_by():.3g} times as fast as"
                             f" {row.method}, not {wanted}:"
                             f" {why_no_more(row, wanted)}")
        return found

    def judge_predictions(self):
        worst = max(self.measured, key=off)
        self.verdicts.line(
            "|measured / predicted - 1|, median",
            statistics.median(map(off, self.measured)), MOST_OFF,
            detail=f"{len(self.measured)} rows", quiet=self.quiet,
        )
        self.verdicts.line("|measured / predicted - 1|, worst", off(worst),
                           detail=f"{worst}: {why_off(worst)}")

    def judge_predicted_lead(self):
        late = [row for row in self.rows if row.faster_by("predicted_us")
                and row.faster_by("predicted_us") < 1 - ROUNDING]
        self.verdicts.line("moirai predicted to be behind, rows", len(late), 0,
                           detail=", ".join(map(str, late)))

    def judge_lead(self):
        late = [row for row in self.against if behind(row) > 0]
        worst = max(late, key=behind, default=None)
        self.verdicts.line(
            "moirai behind another beyond the spread, rows", len(late), 0,
            detail=f"{worst}: {why_behind(worst)}" if worst
            else f"of {len(self.against)}",
            quiet=self.quiet,
        )

    def judge_paper(self, method, wanted):
        """Applies to devices like the paper's only."""
        rows = [row for row in self.rows if row.method == method]
        best = max((row for row in self.against if row.method == method),
                   key=lambda row: row.faster_by(), default=None)
        if not rows:
            return
        emulated = any(row.instance.cluster.running for row in rows)
        reached = best.faster_by() if best else None
        if best is None:
            detail = f"{rows[0]}: {rows[0].why}"
        elif reached < wanted:
            detail = f"{best.instance}: {why_no_more(best, wanted)}"
        else:
            detail = str(best.instance)
        self.verdicts.line(
            f"moirai's lead over {method}, the paper's {wanted}", reached,
            wanted if emulated else None, ">=", detail, quiet=self.quiet,
        )

    def judge_efficiency(self):
        rows = [row for row in self.measured if row.efficiency is not None]
        if not rows:
            return
        worst = min(rows, key=lambda row: row.efficiency)
        self.verdicts.line(
            "efficiency: longest chain / measured, worst", worst.efficiency,
            LEAST_EFFICIENCY, ">=", str(worst), quiet=self.quiet,
        )
        self.verdicts.line(
            "efficiency, median",
            statistics.median(row.efficiency for row in rows),
        )

    def judge_hidden(self):
        hidden = [row.hidden for row in self.measured
                  if row.hidden is not None]
        if hidden:
            self.verdicts.line("time of transfers hidden, median",
                               statistics.median(hidden),
                               detail=f"{len(hidden)} rows with transfers")

    def judge(self):
        """Returns whether all limits hold."""
        if not self.measured:
            print("      nothing is measured yet")
            return True
        self.judge_predictions()
        self.judge_predicted_lead()
        self.judge_lead()
        for method, wanted in PAPER.items():
            self.judge_paper(method, wanted)
        self.judge_efficiency()
        self.judge_hidden()
        return not self.verdicts.failed
