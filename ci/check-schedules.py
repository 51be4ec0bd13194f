"""Computes the value of every schedule in docs/schedules: python3 ci/check-schedules.py.

For setups and tardiness, PYJOBSHOP is a copy of the repository PyJobShop/Experiments. Fails if a
schedule is no permutation, or no better than the best known value.
"""

import csv
import math
import os
import sys
from pathlib import Path

root = Path(__file__).resolve().parent.parent


def value(suite, times, due, setups, order):
    """The value of an order: job by job, machine by machine."""
    free, last, ends = [0] * len(times[0]), None, []
    for job in order:
        end = 0
        for k, time in enumerate(times[job]):
            ready = free[k] + (setups[k][last][job] if setups and last is not None else 0)
            end = free[k] = max(end, ready) + time
        ends.append(end)
        last = job
    if suite == "flow-time":
        return sum(ends)
    if suite in ("setups", "vrf-large"):
        return ends[-1]
    return sum(max(0, e - due[j]) for e, j in zip(ends, order))


def taillard(number):
    """The times of Taillard's instance, from his generator (1993) and its seed."""
    text = (root / "problems/src/flowshop/named.rs").read_text()
    words = text.split("SEEDS: [i32; 120] = [")[1].split("]")[0].replace("_", "").split(",")
    seed = int(words[number - 1])
    classes = [(20, 5), (20, 10), (20, 20), (50, 5), (50, 10), (50, 20)]
    classes += [(100, 5), (100, 10), (100, 20), (200, 10), (200, 20), (500, 20)]
    jobs, machines = classes[(number - 1) // 10]
    rows = []
    for _ in range(machines):
        rows.append([])
        for _ in range(jobs):
            seed = 16807 * seed % (2**31 - 1)
            rows[-1].append(1 + seed * 99 // (2**31 - 1))
    return list(zip(*rows))


def vallada(name):
    """The times of an instance of Vallada, Ruiz and Framinan (2015), from their generator."""
    with open(root / "problems/data/vrf-seeds.csv") as file:
        state = next(int(row["seed"]) for row in csv.DictReader(file) if row["instance"] == name)
    jobs, machines, _ = map(int, name[3:].split("_"))
    times = []
    for _ in range(jobs):
        times.append([])
        for _ in range(machines):
            state = (134775813 * state + 1) % 2**32
            times[-1].append(1 + state * 99 // 2**32)
    return times


def pyjobshop(suite, name):
    """Times, due dates and setup times of a file of PyJobShop."""
    folder = "TT-PFSP" if suite == "tardiness" else "SDST-PFSP"
    path = Path(os.environ["PYJOBSHOP"]) / "data/instances" / folder / f"{name}.txt"
    n, m, *numbers = map(int, path.read_text().split())
    due, setups = [], []
    if suite == "tardiness":
        due, numbers = numbers[:n], numbers[n:]
    else:
        rest = iter(numbers[n * m :])
        setups = [[[next(rest) for _ in range(n)] for _ in range(n)] for _ in range(m)]
    return [numbers[j * m : (j + 1) * m] for j in range(n)], due, setups


def shop_of(suite, name):
    """The times, due dates and setup times of an instance."""
    if suite == "flow-time":
        return taillard(int(name[2:])), [], []
    return (vallada(name), [], []) if suite == "vrf-large" else pyjobshop(suite, name)


best = {}
for path, column, prefix in [
    ("problems/data/flowshop-best.csv", "best known", "vrf-large/"),
    ("problems/data/flowshop-variants-best.csv", "flow time", "flow-time/"),
    ("docs/pyjobshop.csv", "best known", ""),
]:
    with open(root / path) as file:
        rows = [row for row in csv.DictReader(file) if row[column]]
        best |= {prefix + row["instance"]: int(row[column]) for row in rows}

wrong = 0
for path in sorted(root.glob("docs/schedules/*/*.txt")):
    suite, name = path.parent.name, path.stem
    order = [int(word) - 1 for word in path.read_text().split()]
    shop = shop_of(suite, name)
    known = best.get(f"{suite}/{name}", math.inf)
    found = value(suite, *shop, order) if sorted(order) == list(range(len(shop[0]))) else None
    print(f"{suite} {name}: {found}, best known {known}")
    wrong += found is None or found >= known
sys.exit(wrong > 0)
