"""Searches that several processes share."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import pleach
from pleach import _pleach, _run

FOLDER = Path(__file__).parent


@contextmanager
def joined(tmp_path: Path, processes: int) -> Iterator[tuple[pleach.cluster.Cluster, list[subprocess.Popen[str]]]]:
    """Open a cluster that other processes have joined."""
    key = tmp_path / "test.key"
    with pleach.cluster.listen("127.0.0.1:0", key=key) as cluster:
        program = f"import pleach; print(pleach.cluster.join({cluster.address!r}, key={str(key)!r}, threads=1))"
        env = os.environ | {"PYTHONPATH": str(FOLDER)}
        pipe = subprocess.PIPE
        others = [
            subprocess.Popen([sys.executable, "-c", program], stdout=pipe, stderr=pipe, text=True, env=env)
            for _ in range(processes)
        ]
        cluster.wait_for(processes)
        yield cluster, others


def ended(other: subprocess.Popen[str]) -> str:
    """Return what a process printed."""
    out, err = other.communicate()
    assert other.returncode == 0, err
    return out.strip()


SEARCHES: dict[str, Callable[..., Any]] = {
    "queens": lambda **options: pleach.queens.count(12, **options),
    "flowshop": lambda **options: pleach.flowshop.solve("VFR10_10_2", best=1097, **options),
    "tardiness": lambda **options: pleach.flowshop.solve(
        [[3, 6], [5, 2], [1, 2], [4, 4]], objective="tardiness", due=[4, 5, 6, 7], **options
    ),
    "atsp": lambda **options: pleach.atsp.solve("ftv33", **options),
    "clique": lambda **options: pleach.clique.solve("brock200_4", **options),
    "qap": lambda **options: pleach.qap.solve("nug12", **options),
    "best-first": lambda **options: pleach.qap.solve("nug12", best=578, best_first=True, **options),
    "uts": lambda **options: pleach.uts.count("T1", **options),
}


@pytest.mark.parametrize("name", SEARCHES)
def test_problems_are_shared(name: str, tmp_path: Path) -> None:
    search = SEARCHES[name]
    alone = search()
    with joined(tmp_path, 2) as (cluster, others):
        together = search(cluster=cluster)
    assert together.status == alone.status
    for what in ("value", "count"):
        assert getattr(together, what, None) == getattr(alone, what, None)
    if name in ("queens", "flowshop", "best-first", "uts"):
        assert together.nodes == alone.nodes
    assert all(ended(other).startswith("Joined(searches=") for other in others)


def test_several_searches_are_shared(tmp_path: Path) -> None:
    with joined(tmp_path, 1) as (cluster, others):
        counts = [pleach.queens.count(n, cluster=cluster).count for n in (8, 9, 10)]
    assert counts == [92, 352, 724] and "Joined(" in ended(others[0])


def test_an_own_tree_is_shared(tmp_path: Path) -> None:
    from shared_tree import Strings

    flag = tmp_path / "joined"
    with joined(tmp_path, 1) as (cluster, others):
        # It is slow until the other process has expanded a node.
        result = pleach.solve(Strings(15, str(flag), os.getpid()), cluster=cluster)
    assert (result.count, result.nodes) == (2**15, 2**16 - 2)
    said = ended(others[0])
    assert "searches=1" in said and "nodes=0" not in said


@pytest.mark.parametrize("killed", [signal.SIGKILL, signal.SIGINT])
def test_a_process_is_stopped_and_no_node_is_lost(killed: signal.Signals, tmp_path: Path) -> None:
    from shared_tree import Strings

    flag, sent = tmp_path / "joined", tmp_path / "sent"
    with joined(tmp_path, 1) as (cluster, others):
        run = pleach.solve(Strings(15, str(flag), os.getpid(), str(sent)), cluster=cluster, blocking=False)
        while not flag.exists():
            time.sleep(0.01)
        others[0].send_signal(killed)
        if killed == signal.SIGKILL:
            others[0].wait()
        else:
            assert ended(others[0]).startswith("Joined(searches=1")
        sent.touch()
        result = run.wait()
    assert (result.count, result.nodes) == (2**15, 2**16 - 2)
    if killed == signal.SIGKILL:
        others[0].communicate()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_a_forked_process_does_not_close_the_cluster(tmp_path: Path) -> None:
    with joined(tmp_path, 1) as (cluster, others):
        child = os.fork()
        if child == 0:
            try:
                with pytest.raises(ValueError, match="cluster: opened before this process was forked"):
                    pleach.queens.count(8, cluster=cluster)
                cluster.close()
                os._exit(0)
            finally:
                os._exit(1)
        assert os.waitpid(child, 0)[1] == 0
        assert pleach.queens.count(8, cluster=cluster).count == 92
    assert ended(others[0]).startswith("Joined(")


def joined_once(monkeypatch: pytest.MonkeyPatch, raised: BaseException, left: list[bool]) -> pleach.cluster.Joined:
    """Join a process whose only search raises this here; note how the processes are left."""

    class Engine:
        """Stands in for the processes."""

        searches = 1

        @staticmethod
        def join(*words: object) -> Engine:
            """Join at once."""
            return Engine()

        def next(self) -> object:
            """Return a search, once."""
            if self.searches == 0:
                return None
            self.searches -= 1
            processes: Any = self
            return pleach.cluster.Cluster(processes)._shared("queens", (8, True), False)["about"]

        def close(self, leaves: bool) -> None:
            """Close."""
            left.append(leaves)

    def failed(search: object) -> None:
        raise raised

    monkeypatch.setattr(_pleach, "Cluster", Engine)
    monkeypatch.setattr(_pleach, "queens", lambda *arguments: None)
    monkeypatch.setattr(_run, "waited", failed)
    return pleach.cluster.join("127.0.0.1:1")


def test_a_second_ctrl_c_still_hands_work_back(monkeypatch: pytest.MonkeyPatch) -> None:
    left: list[bool] = []
    assert joined_once(monkeypatch, KeyboardInterrupt(), left) == pleach.cluster.Joined(0, 0)
    assert left == [True]


def test_a_wrong_tree_does_not_end_a_joiner_but_a_failure_of_its_own_does(monkeypatch: pytest.MonkeyPatch) -> None:
    left: list[bool] = []
    with pytest.warns(RuntimeWarning, match="the bound of the tree is wrong"):
        joined_once(monkeypatch, _pleach.WrongTree("the bound of the tree is wrong"), left)
    with pytest.raises(ValueError, match="2000 threads"):
        joined_once(monkeypatch, ValueError("2000 threads, expected at most 1024"), left)
    assert left == [False, False]


def test_joiners_outlive_a_search_that_fails(tmp_path: Path) -> None:
    from shared_tree import Wrong

    with joined(tmp_path, 1) as (cluster, others):
        for _ in range(2):
            # What another process finds is an error of that process.
            with pytest.raises((ValueError, RuntimeError), match="the bound of .* is wrong: below a node"):
                pleach.solve(Wrong(), cluster=cluster)
        assert pleach.queens.count(8, cluster=cluster).count == 92
    assert ended(others[0]).startswith("Joined(")


def test_a_joiner_outlives_a_wrong_tree_that_it_finds_itself(tmp_path: Path) -> None:
    from shared_tree import WrongElsewhere

    with joined(tmp_path, 1) as (cluster, others):
        with pytest.raises(RuntimeError, match="site 1: the bound of .* is wrong: below a node"):
            pleach.solve(WrongElsewhere(os.getpid()), cluster=cluster)
        assert pleach.queens.count(8, cluster=cluster).count == 92
    assert ended(others[0]).startswith("Joined(")


def test_a_joiner_hears_that_its_root_is_lost(tmp_path: Path) -> None:
    """Between two searches, it tries to come back; Ctrl-C ends that."""
    key, flag = tmp_path / "test.key", tmp_path / "joined"
    # The first search is slow until the other process takes part: before that, Ctrl-C ends its attempt to join.
    program = f"""
import os, pleach, sys
from shared_tree import Strings
cluster = pleach.cluster.listen("127.0.0.1:0", key={str(key)!r})
print(cluster.address, flush=True)
cluster.wait_for(1)
print(pleach.solve(Strings(15, {str(flag)!r}, os.getpid()), cluster=cluster).count, flush=True)
sys.stdin.read()
"""
    pipe, env = subprocess.PIPE, os.environ | {"PYTHONPATH": str(FOLDER)}
    root = subprocess.Popen([sys.executable, "-c", program], stdin=pipe, stdout=pipe, text=True, env=env)
    assert root.stdout is not None
    address = root.stdout.readline().strip()
    join = f"import pleach; print(pleach.cluster.join({address!r}, key={str(key)!r}, threads=1))"
    other = subprocess.Popen([sys.executable, "-c", join], stdout=pipe, stderr=pipe, text=True, env=env)
    assert root.stdout.readline().strip() == str(2**15)
    root.kill()
    root.communicate()
    other.send_signal(signal.SIGINT)
    assert ended(other).startswith("Joined(")


def test_mistakes_are_explained(tmp_path: Path) -> None:
    key = tmp_path / "test.key"
    with pleach.cluster.listen("127.0.0.1:0", key=key) as cluster:

        class Local(pleach.Tree[int]):
            """A class that others cannot import."""

            goal = "count"

            def root(self) -> int:
                """Return the root."""
                return 0

            def expand(self, node: int, best: int | None, out: pleach.Children) -> None:
                """Count it."""
                out.count(1)

        with pytest.raises(TypeError, match="cannot be sent to other processes: .*Local"):
            pleach.solve(Local(), cluster=cluster)
        with pytest.raises(TimeoutError, match="1 other processes"):
            cluster.wait_for(1, timeout=0)
        with pytest.raises(TypeError, match="cluster: 7, expected a cluster"):
            pleach.queens.count(8, cluster=7)  # type: ignore[call-overload]
    with pytest.raises(ValueError, match="cluster: closed"):
        pleach.queens.count(8, cluster=cluster)
    with pytest.raises((RuntimeError, ValueError), match="none.key"):
        pleach.cluster.join("127.0.0.1:1", key=tmp_path / "none.key")
