"""Simulated clusters: how policies share work between peers that you do not have."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from pleach import _draw, _numbers
from pleach._result import frame

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Figure", "Row", "Simulation", "run"]


class Figure(NamedTuple):
    """A figure of several simulated runs: mean, standard deviation, and the value for each seed."""

    mean: float
    spread: float
    values: tuple[float, ...]


@dataclass(frozen=True)
class Row:
    """One combination of the lists of a scenario, simulated with all seeds.

    cell: the values that the lists have here, by name, as text.
    peers: the number of peers, all together.
    power: the sum of their speeds.
    figures: what was measured, by name; the manual of the simulator explains all of them.
    """

    cell: Mapping[str, str]
    peers: int
    power: float
    figures: Mapping[str, Figure]


@dataclass(frozen=True)
class Simulation:
    """The rows of a scenario, and the real time that simulating them took."""

    title: str
    seeds: tuple[int, ...]
    rows: tuple[Row, ...]
    seconds: float
    chart: str = field(repr=False)

    def to_pandas(self) -> pd.DataFrame:
        """Return a row for each combination and seed, and a column for each list and each figure."""
        first = self.rows[0]
        lists = [name for name in first.cell if name != "peers"]
        table = [
            [
                *(row.cell[name] for name in lists),
                *(row.peers, row.power, seed),
                *(row.figures[name].values[i] for name in first.figures),
            ]
            for row in self.rows
            for i, seed in enumerate(self.seeds)
        ]
        return frame(table, [*lists, "peers", "power", "seed", *first.figures])

    def _repr_html_(self) -> str:
        """Return the chart, as a notebook shows it."""
        facts = [("scenario", self.title), ("seeds", len(self.seeds)), ("seconds", f"{self.seconds:.3f}")]
        return _draw.table(facts) + self.chart


def _toml(argument: str, value: object) -> str:
    """Return a value as TOML, on one line."""
    value = _numbers.plain(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    if isinstance(value, (str, os.PathLike)):
        return json.dumps(os.fspath(value), ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, Mapping):
        parts = (f"{_toml(argument, str(key))} = {_toml(f'{argument}.{key}', own)}" for key, own in value.items())
        return f"{{ {', '.join(parts)} }}"
    if isinstance(value, Sequence) and not isinstance(value, bytes):
        return f"[{', '.join(_toml(argument, own) for own in value)}]"
    _numbers.wrong(TypeError, argument, value, "a number, a str, a list or a mapping")


def run(scenario: str | os.PathLike[str] | Mapping[str, object], *, threads: int | None = None) -> Simulation:
    """Simulate a scenario.

    scenario: the path of a scenario file, or what such a file holds as a mapping, such as
        {"peers": [10, 100], "load": {"problem": "queens", "instance": 12}}. One or two keys may have lists.
    threads: how many runs are simulated at once; all cores by default.

    The simulation runs in a process of its own, which Ctrl-C ends.
    """
    with tempfile.TemporaryDirectory(prefix="pleach-") as folder:
        chart = os.path.join(folder, "chart.svg")
        if isinstance(scenario, Mapping):
            path = os.path.join(folder, "scenario")
            with open(path, "w", encoding="utf-8") as file:
                file.writelines(
                    f"{_toml('scenario', str(key))} = {_toml(str(key), value)}\n"
                    for key, value in {"title": "scenario", **scenario}.items()
                )
        elif isinstance(scenario, (str, os.PathLike)):
            path = os.fspath(scenario)
        else:
            _numbers.wrong(TypeError, "scenario", scenario, "the path of a file, or a mapping")
        command = [sys.executable, "-m", "pleach", "sim", path, "--json", "--quiet", "--svg", chart]
        if threads is not None:
            command += ["--threads", str(_numbers.whole("threads", threads, 1, 1024))]
        ended = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", stdin=subprocess.DEVNULL)
        if ended.returncode != 0:
            line = ended.stderr.strip().removeprefix("pleach: ").replace(os.path.join(folder, ""), "")
            line = line or f"the simulation ended with exit code {ended.returncode}"
            raise (ValueError if ended.returncode == 2 else RuntimeError)(line)
        with open(chart, encoding="utf-8") as file:
            drawn = file.read()
    raw: dict[str, Any] = json.loads(ended.stdout)
    rows = (
        Row(
            cell=row["cell"],
            peers=row["peers"],
            power=row["power"],
            figures={
                name: Figure(each["mean"], each["spread"], tuple(each["values"]))
                for name, each in row["figures"].items()
            },
        )
        for row in raw["rows"]
    )
    return Simulation(raw["title"], tuple(raw["seeds"]), tuple(rows), raw["seconds"], drawn)
