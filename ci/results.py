"""Writes the tables of docs/results.md from the rows of docs/flowshop.csv: python3 ci/results.py.

For each suite and class of shops: the newest row of each instance that was run with the limit of
the page, alongside the published values of docs/pyjobshop.csv, which others reached in 900 s with 8
workers.
"""

import csv
import re
from pathlib import Path

LIMIT = "60s"
SUITES = ["vrf-large", "flow-time", "no-wait", "setups", "tardiness"]
HEAD = (
    "| shops | run | proven | above the best known | at it | below it | better than CP-SAT | "
    "than CP Optimizer |\n|---|---|---|---|---|---|---|---|\n"
)

docs = Path(__file__).resolve().parent.parent / "docs"
with open(docs / "pyjobshop.csv") as file:
    published = {row["instance"]: row for row in csv.DictReader(file)}
with open(docs / "flowshop.csv") as file:
    newest = {
        (row["suite"], row["instance"]): row
        for row in csv.DictReader(file)
        if row["limit"] == LIMIT and row["suite"] in SUITES
    }


def others(row):
    """What PyJobShop published about the instance of a row, if anything."""
    name = row["instance"]
    return published.get(name if "/" in name else f"{row['suite']}/{name}", {})


def shop(row):
    """Jobs and machines of the instance of a row."""
    if row["instance"].startswith("VFR"):
        jobs, machines, _ = row["instance"][3:].split("_")
    else:
        jobs, machines = others(row)["jobs"], others(row)["machines"]
    return int(jobs), int(machines)


def line(title, rows):
    """A line of a table."""
    proven = sum(row["status"] in ("optimal", "no-better") for row in rows)
    gaps = [
        100 * (int(row["value"]) / int(row["best known"]) - 1)
        for row in rows
        if row["value"] != "null" and int(row["best known"] or 0) > 0
    ]
    mean = f"{sum(gaps) / len(gaps):.2f} %" if gaps else "–"
    cells = [title, len(rows), proven, mean, gaps.count(0.0), sum(gap < 0 for gap in gaps)]
    for engine in ("CP-SAT", "CP Optimizer"):
        both = [
            (int(row["value"]), int(other))
            for row in rows
            if row["value"] != "null"
            and (other := others(row).get(f"{engine} value"))
        ]
        better = sum(own < other for own, other in both)
        equal = sum(own == other for own, other in both)
        cells.append(f"{better} of {len(both)}, {equal} equal" if both else "–")
    return "| " + " | ".join(map(str, cells)) + " |\n"


page = (docs / "results.md").read_text()
for suite in SUITES:
    rows = [row for (of, _), row in newest.items() if of == suite]
    table = ""
    for jobs, machines in sorted({shop(row) for row in rows}):
        same = [row for row in rows if shop(row) == (jobs, machines)]
        table += line(f"{jobs} × {machines}", same)
    if rows:
        table = HEAD + table + line("all", rows)
    place = f"<!-- {suite} -->"
    page = re.sub(f"{place}.*?{place}", lambda _: f"{place}\n{table}{place}", page, flags=re.S)
(docs / "results.md").write_text(page)
