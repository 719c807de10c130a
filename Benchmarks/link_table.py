"""The results of Benchmarks/links: kept in a file over several calls, and written into the documentation as a table."""

import json
import statistics
from pathlib import Path

PAGE = Path(__file__).resolve().parents[1] / "Sources/TransferKit/TransferKit.docc/Links.md"
BEGIN, END = "<!-- table -->", "<!-- end -->"
HEAD = "| link (one way) | work | transfer, s | ratio | others, s |\n|---|---|---|---|---|"


class Results:
    """Runs by `LINK / KIND` and by tool, in seconds; `None` for a run that failed or was stopped."""

    def __init__(self, path=None):
        self.path = path
        self.runs = json.loads(path.read_text()) if path and path.exists() else {}

    def add(self, link, kind, times):
        """Further runs of a cell stand beside those that are there."""
        cell = self.runs.setdefault(f"{link} / {kind}", {})
        for tool, runs in times.items():
            cell[tool] = cell.get(tool, []) + runs
        if self.path:
            self.path.write_text(json.dumps(self.runs, indent=1) + "\n")

    def medians(self, link, kind):
        """A run that was stopped counts as longer than all others."""
        cell = self.runs.get(f"{link} / {kind}", {})
        found = {tool: statistics.median(float("inf") if run is None else run for run in runs)
                 for tool, runs in cell.items()}
        return {tool: None if spent == float("inf") else spent for tool, spent in found.items()}

    def line(self, link, kind):
        medians = self.medians(link, kind)
        ours = medians.pop("transfer", None)
        best = min((spent for spent in medians.values() if spent is not None), default=None)
        ratio = f"{ours / best:.2f}" if ours and best else "–"
        others = ", ".join(f"{tool.removeprefix('transfer ')} {described(spent)}" for tool, spent in medians.items())
        return f"| {link} | {kind} | {described(ours)} | {ratio} | {others} |"

    def write(self, links, kinds):
        """Replaces what stands between the marks of the page."""
        lines = [self.line(link, kind) for kind in kinds for link in links if f"{link} / {kind}" in self.runs]
        text = PAGE.read_text()
        before, rest = text.split(BEGIN, 1)
        PAGE.write_text(f"{before}{BEGIN}\n" + "\n".join([HEAD, *lines]) + f"\n{END}{rest.split(END, 1)[1]}")


def described(spent):
    return "stopped" if spent is None else f"{spent:.1f}"
