#!/usr/bin/env python3
"""Draws two rows of the table of links in the documentation as bars, beside the other tools: docs/links.svg."""

from xml.sax.saxutils import escape

from link_table import BEGIN, END, PAGE

CHART = PAGE.parents[3] / "docs/links.svg"
# The rows of the table, their titles, and the tools that are drawn by their names in it.
PANELS = [
    ("50 ms, 1 %, 100 Mbit", "big", "One file of 20 MB: 50 ms one way, 1 % loss, 100 Mbit/s",
     ["aria2 -x16", "wget2", "curl", "rclone"]),
    ("150 ms, 0 %, 100 Mbit", "tiny", "2,000 files of 4 kB: 150 ms one way, no loss, 100 Mbit/s",
     ["aria2 -j16", "wget2", "curl -Z"]),
]
WIDTH, LEFT, RIGHT, ROW, TITLE = 760, 110, 160, 26, 40


def seconds(text):
    return None if text == "stopped" else float(text)


def rows(page):
    """The bars of each panel: a title, the best time of all tools, and tools with their seconds; `None` for one that
    was stopped."""
    table = page.split(BEGIN)[1].split(END)[0]
    cells = {}
    for line in table.splitlines():
        columns = [column.strip() for column in line.strip("| ").split(" | ")]
        if len(columns) == 5:
            cells[columns[0], columns[1]] = columns
    for link, kind, title, tools in PANELS:
        _, _, ours, _, others = cells[link, kind]
        times = dict(other.rsplit(" ", 1) for other in others.split(", "))
        best = min(seconds(spent) for spent in [ours, *times.values()] if spent != "stopped")
        yield title, best, [("transfer", seconds(ours))] + [
            (tool, seconds(times[tool])) for tool in tools if tool in times]


def svg(page):
    panels = list(rows(page))
    height = sum(TITLE + ROW * len(bars) for _, _, bars in panels) + 36
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" role="img">',
        "<title>Seconds of transfer and other tools over a bad link and over a long one</title>",
        "<style>text{font:14px system-ui,sans-serif;fill:#1f2328}.t{font-weight:600}.o{fill:#8c959f}.u{fill:#0969da}"
        ".s{fill:#d0d7de}@media(prefers-color-scheme:dark){text{fill:#e6edf3}.u{fill:#79c0ff}.s{fill:#30363d}}</style>",
    ]
    top = 0
    for title, best, bars in panels:
        out.append(f'<text class="t" x="0" y="{top + 24}">{escape(title)}</text>')
        top += TITLE
        # A tool was stopped once it had taken more than twice the best time.
        stopped = 2 * best
        scale = (WIDTH - LEFT - RIGHT) / max([stopped] + [spent for _, spent in bars if spent is not None])
        for tool, spent in bars:
            kind = "u" if tool == "transfer" else "s" if spent is None else "o"
            words = f"over {stopped:.1f} s, stopped" if spent is None else f"{spent:.1f} s"
            length = (stopped if spent is None else spent) * scale
            out.append(f'<text x="0" y="{top + 17}">{escape(tool)}</text>')
            out.append(f'<rect class="{kind}" x="{LEFT}" y="{top + 4}" width="{length:.0f}" height="17"/>')
            out.append(f'<text x="{LEFT + length + 8:.0f}" y="{top + 17}">{words}</text>')
            top += ROW
    out.append(f'<text x="0" y="{top + 24}">Shorter is better. Measured by make bench-network; all links: Links.md</text>')
    return "\n".join(out + ["</svg>", ""])


if __name__ == "__main__":
    CHART.write_text(svg(PAGE.read_text()))
    print(f"written: {CHART}")
