# SPDX-License-Identifier: Apache-2.0
"""Results of the experiment: a row for each instance and method, as a CSV
file, as a table, and as the paper's chart of speed-ups."""
import csv
import io
import itertools
import statistics

from bars import Bars

COLUMNS = (
    "model", "cluster", "graph", "method", "why", "predicted_us", "bound_us",
    "place_seconds", "executions", "runs", "measured_us", "spread_us",
    "measured_by_predicted", "moirai_is_faster_by",
    "moirai_is_predicted_faster_by", "efficiency", "kernel_share",
    "hidden_share", "devices_used", "transfers", "sent_bytes",
    "ops_by_profile", "max_error",
)


class Row:
    """placed is the report of moirai-place, or None; executions are the
    reports of moirai-exec; why is the reason of a failure.  Unknown figures
    are None."""

    def __init__(self, instance, method, placed, executions, why=None):
        self.instance, self.method = instance, method
        self.placed, self.executions = placed or {}, executions
        self.why = why or self.why_not_placed(placed)
        self.moirai = None  # of the same instance

    def __str__(self):
        return f"{self.instance} {self.method}"

    @staticmethod
    def why_not_placed(placed):
        if placed is None:
            return "is not placed yet"
        if not placed.get("fits"):
            return placed.get("why", "does not fit")
        return None

    def median(self, key):
        values = [run[key] for run in self.executions
                  if run.get(key) is not None]
        return statistics.median(values) if values else None

    @property
    def predicted_us(self):
        return self.median("predicted_us") or self.placed.get("makespan_us")

    @property
    def bound_us(self):
        return self.placed.get("bound_us")

    @property
    def measured_us(self):
        return self.median("measured_us")

    @property
    def spread_us(self):
        """Within executions or between them, whichever is larger."""
        if not self.executions:
            return None
        medians = [run["measured_us"] for run in self.executions]
        return max(self.median("measured_spread_us"),
                   max(medians) - min(medians))

    @property
    def quiet(self):
        """Whether processors were left to all executions."""
        return all(run.get("quiet", True) for run in self.executions)

    @property
    def ratio(self):
        """Measured over predicted."""
        if not self.measured_us or not self.predicted_us:
            return None
        return self.measured_us / self.predicted_us

    @property
    def efficiency(self):
        return self.median("path_ratio")

    @property
    def hidden(self):
        return self.median("hidden_ratio")

    @property
    def devices_used(self):
        if not self.executions:
            return None
        return sum(d["ops"] > 0 for d in self.executions[0]["by_device"])

    @property
    def ops_by_profile(self):
        """Times of calls over the profiled times of their ops."""
        predicted = sum(part.get("predicted_us") or 0
                        for run in self.executions for part in run["by_class"])
        measured = sum(part.get("measured_us") or 0
                       for run in self.executions for part in run["by_class"])
        return measured / predicted if predicted else None

    def faster_by(self, key="measured_us"):
        """Speed-up of Moirai."""
        ours = self.moirai and getattr(self.moirai, key)
        mine = getattr(self, key)
        return mine / ours if ours and mine else None

    def line(self):
        """In the order of COLUMNS."""
        instance = self.instance
        return (
            instance.model.name, instance.cluster.name, instance.graph,
            self.method, self.why, self.predicted_us, self.bound_us,
            self.placed.get("seconds"), len(self.executions),
            sum(run["runs"] for run in self.executions), self.measured_us,
            self.spread_us, self.ratio, self.faster_by(),
            self.faster_by("predicted_us"), self.efficiency,
            self.median("kernel_ratio"), self.hidden, self.devices_used,
            self.median("transfers"), self.median("sent_bytes"),
            self.ops_by_profile, self.median("max_error"),
        )


def with_moirai(rows):
    """Links the rows of one instance to that of Moirai."""
    ours = next((row for row in rows if row.method == "moirai"), None)
    for row in rows:
        row.moirai = ours
    return rows


def text(value, digits=6):
    if value is None:
        return ""
    return f"{value:.{digits}g}" if isinstance(value, float) else str(value)


def csv_text(rows):
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in rows:
        writer.writerow([text(value, 9) for value in row.line()])
    return out.getvalue()


def cell(value, width, digits=4):
    return f"{text(value, digits) or '-':>{width}}"


def milliseconds(us):
    return us / 1000 if us is not None else None


HEADING = (
    f"{'method':10}{'predicted':>10}{'measured':>10}{'spread':>8}{'m/p':>7}"
    f"{'moirai x':>10}{'in theory':>10}{'effic.':>8}{'hidden':>8}"
    f"{'devices':>8}{'sent':>6}"
)


def table_line(row):
    if row.why and not row.executions:
        return f"{row.method:10}{cell(milliseconds(row.predicted_us), 10)}" \
               f"  {row.why}"
    return (
        f"{row.method:10}{cell(milliseconds(row.predicted_us), 10)}"
        f"{cell(milliseconds(row.measured_us), 10)}"
        f"{cell(milliseconds(row.spread_us), 8, 2)}{cell(row.ratio, 7, 3)}"
        f"{cell(row.faster_by(), 10, 3)}"
        f"{cell(row.faster_by('predicted_us'), 10, 3)}"
        f"{cell(row.efficiency, 8, 3)}{cell(row.hidden, 8, 3)}"
        f"{cell(row.devices_used, 8)}{cell(row.median('transfers'), 6)}"
    )


def table_part(instance, rows, notes):
    if not any(row.predicted_us for row in rows):
        return [f"{instance}: {rows[0].why}", ""]
    bound = max((row.bound_us for row in rows if row.bound_us), default=None)
    lines = [f"{instance}: bound {text(milliseconds(bound), 4)} ms", HEADING]
    for row in rows:
        lines.append(table_line(row))
        if row.method == "moirai":
            lines += [f"{'':10}{note}" for note in notes(instance)]
    return lines + [""]


def table(rows, notes):
    """Times in ms; notes has lines for some instances."""
    parts = itertools.groupby(rows, key=lambda row: row.instance)
    return "\n".join(
        line
        for instance, some in parts
        for line in table_part(instance, list(some), notes)
    )


def picture(rows, methods):
    panels = {}
    for row in rows:
        instance = row.instance
        title = f"{instance.cluster.name}, {instance.graph} graphs"
        groups = panels.setdefault(title, {})
        bars = groups.setdefault(instance.model.name, {})
        if row.method != "moirai" and row.faster_by():
            bars[row.method] = row.faster_by()
    others = [method for method in methods if method != "moirai"]
    return Bars("How many times as fast moirai's placements ran", panels,
                others, "not measured").svg()
