"""The command of the package, and simulations."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import pleach

COMMAND = (sys.executable, "-m", "pleach")
SWEEP = {"peers": [10, 100], "balance": "random-half", "load": {"problem": "queens", "instance": 10}}


def test_the_package_brings_the_command(tmp_path: Path) -> None:
    script = Path(sys.executable).with_name("pleach")
    for command in ((str(script),), COMMAND):
        ended = subprocess.run([*command, "count", "queens", "8", "--json"], capture_output=True, text=True)
        assert (ended.returncode, json.loads(ended.stdout)["count"]) == (0, 92)
    wrong = subprocess.run([*COMMAND, "count", "queens", "many"], capture_output=True, text=True)
    assert wrong.returncode == 2 and wrong.stderr.startswith("pleach: ") and wrong.stderr.count("\n") == 1
    # A batch starts the command again.
    (tmp_path / "a.toml").write_text('command = "count queens"\ninstances = ["6", "8"]\n')
    batch = subprocess.run([*COMMAND, "batch", "a.toml", "--quiet"], cwd=tmp_path, capture_output=True, text=True)
    assert batch.returncode == 0, batch.stderr
    assert ",92," in (tmp_path / "results.csv").read_text()


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_an_interrupt_keeps_the_best(tmp_path: Path) -> None:
    plan = tmp_path / "plan.txt"
    search = subprocess.Popen(
        [*COMMAND, "solve", "flowshop", "ta056", "--updates", "--quiet", "--solution", str(plan)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert search.stderr is not None and "best" in json.loads(search.stderr.readline())
    search.send_signal(signal.SIGINT)
    _, errors = search.communicate()
    assert search.returncode == 3 and "Traceback" not in errors
    assert len(plan.read_text().split()) == 50


def test_simulations_are_those_of_the_command(tmp_path: Path) -> None:
    one = pleach.sim.run(SWEEP, threads=1)
    assert [row.peers for row in one.rows] == [10, 100] and one.seeds == (0, 1, 2, 3, 4)
    line = ["sim", "queens", "10", "--peers", "10,100", "--balance", "random-half", "--json"]
    ended = subprocess.run([*COMMAND, *line], capture_output=True, text=True)
    rows = json.loads(ended.stdout)["rows"]
    for mine, row in zip(one.rows, rows, strict=True):
        figures = {name: list(each.values) for name, each in mine.figures.items()}
        assert figures == {name: each["values"] for name, each in row["figures"].items()}
    frame = one.to_pandas()
    assert len(frame) == 10 and frame["efficiency"].between(0, 1).all() and "<svg" in one._repr_html_()
    path = tmp_path / "ten.toml"
    path.write_text('peers = 10\nseeds = [3]\nload = { problem = "interval", total_s = 1 }\n')
    both = [pleach.sim.run(path)]
    both.append(pleach.sim.run({"peers": 10, "seeds": np.array([3]), "load": {"problem": "interval", "total_s": 1.0}}))
    assert both[0].rows == both[1].rows


@pytest.mark.parametrize(
    ("scenario", "kind", "line"),
    [
        ({"peers": "x", "load": {"problem": "queens", "instance": 8}}, ValueError, "scenario: peers = 'x': expected"),
        ({"peers": 3, "load": {"problem": "quens"}}, ValueError, "scenario: load.problem = 'quens'"),
        ({"peers": object()}, TypeError, "^peers: <object"),
        (3, TypeError, "^scenario: 3, expected the path"),
        ("nowhere.toml", ValueError, "^nowhere.toml: "),
    ],
)
def test_wrong_scenarios_are_refused(scenario: object, kind: type[Exception], line: str) -> None:
    with pytest.raises(kind, match=line):
        pleach.sim.run(scenario)  # type: ignore[arg-type]
