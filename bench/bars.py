# SPDX-License-Identifier: Apache-2.0
"""Grouped bar charts in stacked panels, as an SVG picture."""

COLOURS = (
    "#4e79a7", "#f28e2b", "#e15759", "#76b7b2", "#59a14f",
    "#edc948", "#b07aa1", "#ff9da7", "#9c755f", "#79706e",
    "#1b1b7a", "#00c2d1", "#7a0019", "#b5e61d", "#d500f9", "#00573f",
)
BAR, BETWEEN = 8, 18  # widths of a bar, and of the space between two groups
LEFT, RIGHT, TOP = 52, 24, 62
HEIGHT, NAMES, TITLE = 200, 62, 26
ENTRY = 84  # of the legend
HIGHEST = 5.0


def colour(i):
    """All different: further hues by the golden angle."""
    if i < len(COLOURS):
        return COLOURS[i]
    return f"hsl({137.508 * i % 360:.1f},{55 + i % 3 * 20}%,{30 + i % 4 * 12}%)"


def count_missing(panels, methods):
    """The methods without a value in some group: "getf (3 of 22)"."""
    groups = [bars for panel in panels.values() for bars in panel.values()]
    missing = {one: sum(one not in bars for bars in groups) for one in methods}
    return ", ".join(f"{one} ({n} of {len(groups)})"
                     for one, n in missing.items() if n)


class Bars:
    """panels: title -> group -> series -> value; a group without values stays
    empty and shows the text `nothing`.  Bars above HIGHEST are clipped there
    and labelled with their value.  methods: all series, those without any
    value are named below the legend, like those that lack some."""

    def __init__(self, title, panels, methods, nothing):
        series = [one for one in methods
                  if any(one in bars for groups in panels.values()
                         for bars in groups.values())]
        self.missing = count_missing(panels, methods)
        self.title, self.panels, self.series = title, panels, series
        self.nothing = nothing
        values = [
            value
            for groups in panels.values()
            for bars in groups.values()
            for value in bars.values()
        ]
        self.top = min(max(values, default=1) * 1.05, HIGHEST)
        self.group = BAR * len(series) + BETWEEN
        self.lines = []

    def put(self, tag, body=None, **attributes):
        words = "".join(
            f' {name.replace("_", "-")}="{value}"'
            for name, value in attributes.items()
        )
        end = "/>" if body is None else f">{body}</{tag}>"
        self.lines.append(f"<{tag}{words}{end}")

    def text(self, x, y, body, anchor="start", size=10, turn=0, **more):
        if turn:
            more["transform"] = f"rotate({turn} {x:.1f} {y:.1f})"
        self.put(
            "text", body, x=f"{x:.1f}", y=f"{y:.1f}", text_anchor=anchor,
            font_size=size, **more,
        )

    def height_of(self, value):
        return HEIGHT * min(value, self.top) / self.top

    def put_axis(self, base, width):
        step = 0.5 if self.top < 3 else 1
        for i in range(int(self.top / step) + 1):
            y = base - self.height_of(i * step)
            self.put(
                "line", x1=LEFT, x2=LEFT + width, y1=f"{y:.1f}", y2=f"{y:.1f}",
                stroke="#333" if i * step in (0, 1) else "#ddd",
            )
            self.text(LEFT - 6, y + 3.5, f"{i * step:g}\u00d7", "end")

    def put_bar(self, x, base, value, colour):
        tall = self.height_of(value)
        self.put(
            "rect", x=f"{x:.1f}", y=f"{base - tall:.1f}", width=BAR - 1,
            height=f"{tall:.1f}", fill=colour,
        )
        if value > self.top:
            self.text(x + BAR - 1.5, base - tall + 3, f"{value:.1f}", "end", 7,
                      -90, fill="white")

    def put_group(self, left, base, name, bars):
        middle = left + BAR * len(self.series) / 2
        for i, one in enumerate(self.series):
            if one in bars:
                self.put_bar(left + i * BAR, base, bars[one],
                             colour(i))
        if not bars:
            self.text(middle, base - 6, self.nothing, "start", 9, -90,
                      fill="#777")
        self.text(middle + 6, base + 14, name, "end", 10, -20)

    def put_panel(self, title, groups, top):
        base = top + TITLE + HEIGHT
        self.text(LEFT, top + TITLE - 10, title, size=12, font_weight="bold")
        self.put_axis(base, self.group * len(groups))
        for i, (name, bars) in enumerate(groups.items()):
            self.put_group(LEFT + i * self.group + BETWEEN / 2, base, name,
                           bars)

    def put_legend(self):
        for i, one in enumerate(self.series):
            x = LEFT + i * ENTRY
            self.put("rect", x=x, y=28, width=10, height=10,
                     fill=colour(i))
            self.text(x + 14, 37, one, size=11)
        if self.missing:
            self.text(LEFT, 53, f"without a result: {self.missing}", size=11,
                      fill="#777")

    def svg(self):
        most = max(map(len, self.panels.values()), default=0)
        width = LEFT + RIGHT + max(self.group * most, ENTRY * len(self.series),
                                   8 * len(self.title),
                                   7 * (len(self.missing) + 18))
        panel = TITLE + HEIGHT + NAMES
        height = TOP + panel * len(self.panels)
        self.lines = []
        self.put("rect", width="100%", height="100%", fill="white")
        self.text(LEFT, 18, self.title, size=14)
        self.put_legend()
        for i, (title, groups) in enumerate(self.panels.items()):
            self.put_panel(title, groups, TOP + i * panel)
        body = "\n".join(self.lines)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" '
            f'height="{height}" font-family="sans-serif">\n{body}\n</svg>\n'
        )
