"""Searches that are held, saved and resumed."""

from __future__ import annotations

import pickle
import shutil
import time
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

import pleach


class Strings(pleach.Tree[tuple[int, bool]]):
    """Strings of n zeros and ones without two ones in a row."""

    goal = "count"

    def __init__(self, n: int) -> None:
        """Set the length."""
        self.n = n

    def root(self) -> tuple[int, bool]:
        """Return the empty string."""
        return (0, False)

    def expand(self, node: tuple[int, bool], best: int | None, out: pleach.Children) -> None:
        """Add a zero or a one."""
        length, after_one = node
        if length == self.n:
            return out.count(1)
        out.child((length + 1, False))
        if not after_one:
            out.child((length + 1, True))


class Named(Strings):
    """The same, with a fingerprint."""

    def fingerprint(self) -> str:
        """Return what tells it from others."""
        return f"strings {self.n}"


def whole(call: Any) -> tuple[object, ...]:
    """What does not depend on stops."""
    return call.status, getattr(call, "count", None), getattr(call, "value", None), call.nodes


@pytest.mark.parametrize("tree", [Strings(18), Named(18)])
def test_a_tree_is_stopped_and_resumed(tree: Strings, tmp_path: Path) -> None:
    file = tmp_path / "run.pleach"
    alone = pleach.solve(tree)
    stopped = pleach.solve(tree, checkpoint=file, node_limit=2000)
    assert (stopped.status, stopped.stopped_by) == ("stopped", "node-limit")
    assert whole(pleach.solve(tree, checkpoint=str(file), threads=2)) == whole(alone)
    # Its result is in the file.
    assert whole(pleach.solve(tree, checkpoint=file)) == whole(alone)
    before = file.read_bytes()
    with pytest.raises(ValueError, match="checkpoint: .*another"):
        pleach.solve(type(tree)(7), checkpoint=file)
    assert file.read_bytes() == before


def test_problems_are_stopped_and_resumed(tmp_path: Path) -> None:
    alone = pleach.flowshop.solve("ta030", best=2178)
    file = tmp_path / "shop.pleach"
    stops = 0
    while (found := pleach.flowshop.solve("ta030", best=2178, checkpoint=file, node_limit=5 * 10**6)).status == "stopped":
        stops += 1
    assert whole(found) == whole(alone) and stops > 0
    with pytest.raises(ValueError, match="checkpoint: .*another search"):
        pleach.flowshop.solve("ta030", checkpoint=file)
    with pytest.raises(ValueError, match="checkpoint: .*another search"):
        pleach.queens.count(8, checkpoint=file)
    with pytest.raises(TypeError, match="checkpoint: 7, expected the path of a file"):
        pleach.queens.count(8, checkpoint=7)  # type: ignore[call-overload]
    no_file = tmp_path / "none"
    no_file.write_text("no checkpoint")
    with pytest.raises(ValueError, match="checkpoint: .*none: not a checkpoint; refusing to overwrite it"):
        pleach.queens.count(8, checkpoint=no_file)
    assert no_file.read_text() == "no checkpoint"
    with pytest.raises(ValueError, match="checkpoint: .*: not a regular file"):
        pleach.queens.count(8, checkpoint=tmp_path)
    with pytest.raises(ValueError, match="checkpoint: .*: No such file or directory"):
        pleach.queens.count(8, checkpoint=tmp_path / "no" / "file")


def test_a_search_that_cannot_be_saved_warns(tmp_path: Path) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    file = folder / "run.pleach"
    run = pleach.uts.count("T1XXL", checkpoint=file, every=3600, blocking=False)
    while not file.exists():
        time.sleep(0.01)
    shutil.rmtree(folder)
    run.cancel()
    with pytest.warns(RuntimeWarning, match="^checkpoint .*the work since the last save is lost"):
        assert run.wait().status == "stopped"


def test_a_checkpoint_stays_in_its_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A change of the working directory used to divert all later saves."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(tmp_path)
    run = pleach.uts.count("T1XXL", checkpoint="run.pleach", every=3600, blocking=False)
    while run.progress.nodes == 0:
        time.sleep(0.01)
    before = (tmp_path / "run.pleach").read_bytes()
    monkeypatch.chdir(elsewhere)
    run.cancel()
    assert run.wait().status == "stopped"
    assert (tmp_path / "run.pleach").read_bytes() != before
    assert list(elsewhere.iterdir()) == []


class Numbered:
    """A node that notes when it is unpickled."""

    unpickled: ClassVar[list[int]] = []

    def __init__(self, number: int) -> None:
        """Set the number."""
        self.number = number

    def __setstate__(self, state: dict[str, int]) -> None:
        """Note the number."""
        self.number = state["number"]
        self.unpickled.append(self.number)


class UntilSaved(pleach.Tree[Numbered]):
    """A path that ends once the search was saved, and 20 other nodes."""

    goal = "count"

    def __init__(self, file: Path) -> None:
        """Set the file."""
        self.file, self.before = file, b""

    def root(self) -> Numbered:
        """Return the root."""
        return Numbered(0)

    def fingerprint(self) -> str:
        """Return what tells it from others: there is no file for a sample of nodes."""
        return "until saved"

    def expand(self, node: Numbered, best: int | None, out: pleach.Children) -> None:
        """Continue until the file changes."""
        now = self.file.read_bytes()
        self.before = self.before or now
        if now != self.before:
            return out.count(1)
        out.child(Numbered(node.number + 1))
        if node.number == 0:
            for number in range(1, 21):
                out.child(Numbered(-number))


def test_a_save_leaves_open_nodes_as_they_are(tmp_path: Path) -> None:
    """They used to be replaced by copies, each with its own copy of what they shared."""
    file = tmp_path / "until.pleach"
    assert pleach.solve(UntilSaved(file), checkpoint=file, every=0).count == 21
    assert Numbered.unpickled == [0]


class Ways(Named):
    """The same tree with another goal."""

    goal = "minimise"  # type: ignore[assignment]


def test_a_goal_is_part_of_the_search(tmp_path: Path) -> None:
    file = tmp_path / "goal.pleach"
    pleach.solve(Named(18), checkpoint=file, node_limit=100)
    with pytest.raises(ValueError, match="another search"):
        pleach.solve(Ways(18), checkpoint=file)


class Found(pleach.Tree[int]):
    """Numbers of ten bits, the largest first, of which any will do."""

    goal = "find"

    def root(self) -> int:
        """Return the first bit."""
        return 1

    def expand(self, node: int, best: int | None, out: pleach.Children) -> None:
        """Add a bit."""
        if node >= 512:
            return out.solution(node, [node])
        out.child(2 * node + 1)
        out.child(2 * node)


class Least(Found):
    """The same numbers, of which the least is wanted."""

    goal = "minimise"  # type: ignore[assignment]


def test_a_search_for_any_solution_is_not_resumed_as_one_for_the_best(tmp_path: Path) -> None:
    """The solution that was found used to become the optimum."""
    file = tmp_path / "found.pleach"
    assert pleach.solve(Found(), checkpoint=file).status == "found"
    with pytest.raises(ValueError, match="another search"):
        pleach.solve(Least(), checkpoint=file)


def compiled(step: int, helps: Any = None) -> Any:
    """A compiled tree of strings whose length grows by `step`, or as a helper says."""
    numba = pytest.importorskip("numba")
    helper = numba.njit(helps or (lambda length, by=step: length + by))

    @pleach.native.expand(words=1, children=2)
    def expand(data: Any, node: Any, best: Any, children: Any, found: Any) -> int:
        if node[0] >= data[0]:
            found[pleach.native.COUNT] = 1
            return 0
        for child in range(2):
            children[child, 1] = helper(node[0])
        return 2

    return expand


def test_compiled_trees_are_distinguished_by_their_code(tmp_path: Path) -> None:
    file = tmp_path / "native.pleach"

    def search(tree: Any, n: int = 20, goal: Any = "count", **options: Any) -> Any:
        return pleach.native.solve(tree, [0], [n], goal=goal, checkpoint=file, **options)

    assert search(compiled(1), node_limit=1000).status == "stopped"
    for other, n in [(compiled(2), 20), (compiled(1), 21), (compiled(1, lambda length: length + 3), 20)]:
        with pytest.raises(ValueError, match="another"):
            search(other, n)
    for goal in ("minimise", "maximise", "find"):
        with pytest.raises(ValueError, match="another"):
            search(compiled(1), goal=goal)
    # The same code, compiled again after other code.
    assert search(compiled(1)).count == 2**20

    def allocates(length: int) -> Any:
        numbers = np.zeros(3, np.int64)
        numbers[1] = length
        return numbers.max() + 1

    file = tmp_path / "allocates.pleach"
    assert search(compiled(1, allocates), node_limit=1000).status == "stopped"
    compiled(1, lambda length: np.ones(4, np.int64).sum() + length)
    assert search(compiled(1, allocates)).count == 2**20


def test_a_run_is_held_and_continues() -> None:
    run = pleach.uts.count("T1XXL", blocking=False)
    while run.progress.nodes == 0:
        time.sleep(0.01)
    run.pause()
    assert run.paused and "paused" in repr(run)
    # A search that is not held makes nodes between any two news, and ends.
    before, alike = run.progress, 0
    while alike < 3:
        assert not run.done
        time.sleep(0.01)
        latest = run.progress
        if latest.seconds > before.seconds:
            alike = alike + 1 if latest.nodes == before.nodes else 0
            before = latest
    run.resume()
    while run.progress.nodes == before.nodes:
        time.sleep(0.01)
    run.pause()
    run.cancel()
    assert run.wait().stopped_by == "cancelled" and not run.paused


def test_nodes_are_pickled_in_files(tmp_path: Path) -> None:
    file = tmp_path / "run.pleach"
    pleach.solve(Strings(12), checkpoint=file, node_limit=100)
    assert pickle.dumps((0, False), 5)[:2] in file.read_bytes()
