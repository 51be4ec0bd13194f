"""Runs in the background, callbacks, limits, and interrupts."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import threading
import time
import weakref
from datetime import timedelta
from types import FrameType
from typing import Any

import pytest

import pleach
from pleach import _pleach, _run


def test_a_run_is_watched_cancelled_and_keeps_the_best() -> None:
    seen = threading.Event()
    run = pleach.flowshop.solve("ta056", blocking=False, on_improvement=lambda progress: seen.set())
    assert seen.wait(120)
    assert not run.done and run.best is not None and "running" in repr(run)
    with pytest.raises(TimeoutError):
        run.wait(0)
    run.cancel()
    result = run.wait()
    assert (result.status, result.stopped_by) == ("stopped", "cancelled")
    assert result.makespan == result.value == run.best and run.done
    assert result.bound is not None and run.bound == result.bound < result.value
    assert run.wait() == result


def test_a_run_that_ends_has_its_result() -> None:
    run = pleach.queens.count(8, blocking=False)
    assert run.wait().count == 92 and run.done
    assert run.best is None and run.bound is None


def test_a_deleted_run_is_cancelled() -> None:
    run = pleach.uts.count("T1XXL", blocking=False, on_progress=lambda progress: None)
    search, thread, gone = run._search, run._thread, weakref.ref(run)
    del run
    gc.collect()
    assert gone() is None and thread is not None
    raw = search.wait()
    assert raw is not None and raw["stopped_by"] == "cancelled"
    thread.join()


def test_a_deleted_run_is_cancelled_although_its_callback_refers_to_it() -> None:
    def begin() -> tuple[Any, weakref.ref[Any]]:
        run: pleach.Run[Any] = pleach.uts.count("T1XXL", blocking=False, on_improvement=lambda progress: run.cancel())
        return run._search, weakref.ref(run)

    search, gone = begin()
    gc.collect()
    assert gone() is None
    assert search.wait()["stopped_by"] == "cancelled"


@pytest.mark.parametrize("blocking", [True, False])
def test_a_search_that_failed_keeps_nothing_of_its_caller(blocking: bool) -> None:
    """Its exception used to keep the frames of those who waited for it, and all that these refer to."""

    class Fails(pleach.Tree[int]):
        goal = "count"

        def root(self) -> int:
            return 0

        def expand(self, node: int, best: int | None, out: pleach.Children) -> None:
            raise LookupError

    class Kept:
        """Something of the caller."""

    def fail() -> weakref.ref[Kept]:
        kept = Kept()
        with pytest.raises(LookupError):
            if blocking:
                pleach.solve(Fails())
            else:
                run = pleach.solve(Fails(), blocking=False)
                run.wait()
        return weakref.ref(kept)

    gone = fail()
    for _ in range(1000):
        gc.collect()
        # What the thread of the search gives up without the interpreter is freed in the next call.
        _pleach.cores()
        if gone() is None:
            break
        time.sleep(0.01)
    assert gone() is None


def test_callbacks_are_called_in_the_calling_thread() -> None:
    callers: set[threading.Thread] = set()
    progress: list[pleach.Progress] = []
    best: list[float] = []

    def improved(found: pleach.Progress) -> None:
        callers.add(threading.current_thread())
        assert found.best is not None
        best.append(found.best)

    result = pleach.flowshop.solve("ta021", node_limit=10**7, on_improvement=improved, on_progress=progress.append)
    assert callers == {threading.current_thread()}
    assert best[-1] == result.value and best == sorted(best, reverse=True)
    last = progress[-1]
    assert (last.best, last.bound, last.gap) == (result.value, result.bound, result.gap)
    assert last.nodes == result.nodes and last.solution == result.order
    assert all(moment.nodes <= result.nodes for moment in result.history)


def test_outside_notebooks_live_prints_lines(capsys: pytest.CaptureFixture[str]) -> None:
    result = pleach.flowshop.solve("ta021", node_limit=10**6, on_progress=pleach.Live())
    lines = capsys.readouterr().err.splitlines()
    assert lines and f"best {result.value}, bound {result.bound}, gap" in lines[-1]
    assert len(set(lines)) == len(lines)
    run = pleach.flowshop.solve("ta021", node_limit=10**6, blocking=False)
    run.wait()
    assert "done" in run._repr_html_() and str(result.bound) in run._repr_html_()


def test_in_notebooks_live_updates_what_it_shows() -> None:
    shown: list[str] = []

    class Display:
        """Stands in for the module of IPython."""

        HTML = str

        def display(self, html: str, display_id: bool) -> Display:
            """Show something that can be updated."""
            assert display_id and not shown
            self.update(html)
            return self

        def update(self, html: str) -> None:
            """Replace it."""
            shown.append(html)

    live = pleach.Live()
    live._display = Display()
    for seconds, best in [(0.1, None), (0.2, 9), (0.3, 9), (0.4, 9), (0.5, 8)]:
        live(pleach.Progress(seconds, int(10 * seconds), best, 5, None))
    assert len(shown) == 5 and "<svg" not in shown[0] and "<svg" in shown[-1]
    # Equal values in a row are two points: the first and the last.
    assert [point[0] for point in live._points] == [0.1, 0.2, 0.4, 0.5]


def test_an_exception_of_a_callback_cancels_and_is_raised() -> None:
    def fails(progress: pleach.Progress) -> None:
        raise LookupError(f"at {progress.nodes} nodes")

    with pytest.raises(LookupError, match="nodes"):
        pleach.uts.count("T1XXL", on_progress=fails)
    run = pleach.uts.count("T1XXL", on_progress=fails, blocking=False)
    with pytest.raises(LookupError, match="nodes"):
        run.wait()


def test_criteria_are_values() -> None:
    wide = pleach.flowshop.solve("ta056", gap=0.5)
    assert (wide.status, wide.stopped_by) == ("stopped", "gap")
    assert wide.gap is not None and wide.gap <= 0.5
    assert pleach.flowshop.solve("ta056", no_improvement=timedelta(seconds=0)).stopped_by == "no-improvement"
    assert pleach.uts.count("T1XXL", time_limit=timedelta(milliseconds=1)).stopped_by == "time-limit"
    assert pleach.uts.count("T1XXL", time_limit=0.001).stopped_by == "time-limit"
    assert pleach.uts.count("T1XXL", node_limit=1000).stopped_by == "node-limit"


@pytest.mark.parametrize("call", ["pleach.uts.count('T1XXL', on_progress=interrupt)", "pleach.solve(Endless(), on_progress=interrupt)"])
def test_ctrl_c_keeps_the_result(call: str) -> None:
    """A process of its own interrupts itself, as Ctrl-C does."""
    program = f"""
import os, signal, pleach
signal.signal(signal.SIGINT, signal.default_int_handler)
class Endless(pleach.Tree):
    goal = "count"
    def root(self): return 0
    def expand(self, node, best, out):
        out.count(1)
        out.child(node + 1)
def interrupt(progress, times=[]):
    if not times:
        times.append(progress)
        os.kill(os.getpid(), signal.SIGINT)
result = {call}
print(result.status, result.stopped_by, result.count > 0)
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ended.stdout.split() == ["stopped", "interrupt", "True"], ended.stderr


def test_ctrl_c_in_a_wait_keeps_the_result() -> None:
    run = pleach.uts.count("T1XXL", blocking=False)
    hit = threading.Event()

    def handle(number: int, frame: FrameType | None) -> None:
        while frame is not None and not hit.is_set():
            if frame.f_code is pleach.Run.wait.__code__:
                hit.set()
                raise KeyboardInterrupt
            frame = frame.f_back

    def send() -> None:
        while not hit.is_set():
            os.kill(os.getpid(), signal.SIGINT)
            hit.wait(0.01)

    before = signal.signal(signal.SIGINT, handle)
    sender = threading.Thread(target=send)
    try:
        sender.start()
        try:
            result = run.wait()
        except KeyboardInterrupt:
            # It came before the search was waited for.
            run.cancel()
            result = run.wait()
        assert result.stopped_by in ("interrupt", "cancelled")
    finally:
        sender.join()
        signal.signal(signal.SIGINT, before)


def test_a_search_that_is_interrupted_before_the_wait_is_cancelled(monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[Any] = []

    def interrupted(search: Any) -> None:
        begun.append(search)
        raise KeyboardInterrupt

    monkeypatch.setattr(_run, "_register", interrupted)
    with pytest.raises(KeyboardInterrupt):
        pleach.uts.count("T1XXL")
    assert begun[0].wait()["stopped_by"] == "cancelled"


def test_an_import_starts_no_thread_and_loads_no_package() -> None:
    program = """
import os, sys, threading, pleach
loaded = [name for name in ("numpy", "pandas", "numba") if name in sys.modules]
print(threading.active_count(), loaded)
if os.path.isdir("/proc/self/task"):
    assert len(os.listdir("/proc/self/task")) == 1
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ended.stdout.strip() == "1 []"


def test_an_interpreter_ends_while_searches_run() -> None:
    program = """
import pleach
class Endless(pleach.Tree):
    goal = "count"
    def root(self): return 0
    def expand(self, node, best, out): out.child(node + 1)
runs = [pleach.solve(Endless(), blocking=False, threads=2), pleach.uts.count("T1XXL", blocking=False)]
print(runs[0].done)
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ended.stdout.strip() == "False" and ended.stderr == ""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_a_forked_process_leaves_searches_alone() -> None:
    program = """
import os, pleach
done, run = pleach.queens.count(8, blocking=False), pleach.uts.count("T1XXL", blocking=False)
done.wait()
child = os.fork()
if child == 0:
    try:
        run.wait()
    except RuntimeError as why:
        print(done.wait().count, why, flush=True)
    run.cancel()
    del run
else:
    os.waitpid(child, 0)
    assert not run.done
    run.cancel()
    print(run.wait().stopped_by)
"""
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    said = ["92 the search runs in the process that this one was forked from", "cancelled"]
    assert ended.stdout.splitlines() == said


def test_versions_are_shown(capsys: Any) -> None:
    pleach.show_versions()
    said = capsys.readouterr().out
    assert f"pleach {pleach.__version__}" in said and "numba" in said
