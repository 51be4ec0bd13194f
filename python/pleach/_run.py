"""Starts searches: options, runs in the background, and callbacks while they run."""

from __future__ import annotations

import atexit
import os
import threading
import time
import weakref
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Generic, TypedDict, TypeVar

from pleach import _draw, _pleach
from pleach._live import facts
from pleach._numbers import number, whole, wrong
from pleach._result import Number, Progress, View

if TYPE_CHECKING:
    from pleach.cluster import Cluster

R = TypeVar("R")

_News = Callable[[dict[str, Any]], object]
"""A function that takes news from the engine."""


class Options(TypedDict, total=False):
    """The keywords that all searches take.

    threads: how many threads search; all cores by default, one for trees written as Python classes.
    time_limit: stop after this many seconds, or this timedelta.
    node_limit: stop after about this many nodes.
    memory: stop when the process has grown by more bytes than this since the search began, or by a third of this if
        it is saved; four fifths of the free memory by default.
    best_first: explore the nodes with the best bounds first, as long as there is memory for them. Only for knapsacks,
        cliques, quadratic assignment and your own trees.
    gap: stop when the gap between the best value and the bound is at most this, 0.01 for 1 %.
    no_improvement: stop when the best solution has not improved for this many seconds, or this timedelta.
    seed: the seed for all random choices.
    checkpoint: the file in which the search is saved; if it holds this search, it is resumed.
    every: how often to save, every 30 seconds by default; the search is also saved whenever it ends.
    cluster: the processes that share the search, from `pleach.cluster.listen`.
    on_improvement: called with a Progress when there is a better solution.
    on_progress: called with a Progress about ten times a second.
    """

    threads: int
    time_limit: float | timedelta
    node_limit: int
    memory: int
    best_first: bool
    gap: float
    no_improvement: float | timedelta
    seed: int
    checkpoint: str | os.PathLike[str]
    every: float | timedelta
    cluster: Cluster
    on_improvement: Callable[[Progress], object]
    on_progress: Callable[[Progress], object]


def seconds(argument: str, value: object) -> float:
    """Return a time in seconds."""
    if isinstance(value, timedelta):
        value = value.total_seconds()
    found = _float(argument, value)
    if found < 0:
        wrong(ValueError, argument, value, "a time of 0 seconds or more")
    return found


def _float(argument: str, value: object) -> float:
    """Return a number as a float."""
    try:
        return float(number(argument, value))
    except OverflowError:
        wrong(ValueError, argument, value, "a number that fits a float")


def _share(argument: str, value: object) -> float:
    """Return a number that is not negative."""
    found = _float(argument, value)
    if found < 0:
        wrong(ValueError, argument, value, "a number of 0 or more")
    return found


def _truth(argument: str, value: object) -> bool:
    """Return a truth value."""
    if not isinstance(value, bool):
        wrong(TypeError, argument, value, "True or False")
    return value


def _path(argument: str, value: object) -> str:
    """Return an absolute path, which a later change of directory does not affect."""
    if not isinstance(value, str | os.PathLike) or not os.fspath(value):
        wrong(TypeError, argument, value, "the path of a file")
    path = os.fspath(value)
    return path if os.path.isabs(path) else os.path.join(os.getcwd(), path)


def limits(options: Mapping[str, Any], threads: int | None) -> dict[str, Any]:
    """Return the options as the compiled part takes them."""
    unknown = [name for name in options if name not in Options.__annotations__]
    if unknown:
        expected = ", ".join(Options.__annotations__)
        raise TypeError(f"{unknown[0]}: no such argument, expected one of {expected}")

    def get(name: str, read: Callable[[str, object], Any], default: Any = None) -> Any:
        """Return an option, or its default if it is missing or None."""
        value = options.get(name)
        return default if value is None else read(name, value)

    for name in ("on_improvement", "on_progress"):
        if options.get(name) is not None and not callable(options[name]):
            wrong(TypeError, name, options[name], "a function")
    return {
        "threads": get("threads", lambda a, v: whole(a, v, 1, 1024), threads or _pleach.cores()),
        "seed": get("seed", lambda a, v: whole(a, v, 0), 0),
        "time_limit": get("time_limit", seconds),
        "node_limit": get("node_limit", lambda a, v: whole(a, v, 1)),
        "memory": get("memory", lambda a, v: whole(a, v, 1)),
        "best_first": get("best_first", _truth, False),
        "gap": get("gap", _share),
        "no_improvement": get("no_improvement", seconds),
        "checkpoint": get("checkpoint", _path),
        "every": get("every", seconds),
        "cluster": None,
        "about": None,
    }


_MOMENT = 1.0
"""How many seconds the last callback may take after the end of its search, however short the timeout is."""

_searches: list[_pleach.Search] = []
"""Searches that may still run."""

_lock = threading.Lock()
"""Protects the list of searches."""


class Run(Generic[R]):
    """A search in the background, which is cancelled when it is deleted."""

    def __init__(
        self,
        search: _pleach.Search,
        read: Callable[[dict[str, Any]], R],
        view: View,
        on_improvement: Callable[[Progress], object] | None = None,
        on_progress: Callable[[Progress], object] | None = None,
    ) -> None:
        """Take over a search that has started."""
        self._search, self._read, self._view = search, read, view
        self._raised: list[BaseException] = []
        self._thread: threading.Thread | None = None
        self._calls = [_shown(call, view) for call in (on_improvement, on_progress)]
        if any(self._calls):
            # The thread must not refer to this object, or to functions that may: the search is cancelled once nothing
            # else refers to it.
            target = (search, [_weak(call) for call in self._calls], self._raised)
            self._thread = threading.Thread(target=_call_back, args=target, daemon=True)
            self._thread.start()

    def __del__(self) -> None:
        """Cancel the search."""
        if hasattr(self, "_search"):
            self._search.cancel()

    def wait(self, timeout: float | None = None) -> R:
        """Wait for the result; raise TimeoutError if the search and its callbacks take longer than this many seconds.

        Ctrl-C stops the search and returns the result so far.
        """
        limit = None if timeout is None else seconds("timeout", timeout)
        began = time.monotonic()
        try:
            raw = self._search.wait(limit)
        finally:
            _forget_ended()
        if raw is None:
            raise TimeoutError(f"the search has not ended after {timeout} seconds")
        if self._thread is not None and self._thread is not threading.current_thread():
            # The last callback may need a moment after the end.
            left = None if limit is None else max(began + limit - time.monotonic(), _MOMENT)
            self._thread.join(left if left is None else min(left, threading.TIMEOUT_MAX))
            if self._thread.is_alive():
                raise TimeoutError(f"a callback of the search has not returned after {timeout} seconds")
        if self._raised:
            raise self._raised[0]
        return self._read(raw)

    def cancel(self) -> None:
        """Stop the search; `wait` then returns the result so far."""
        self._search.cancel()

    def pause(self) -> None:
        """Pause the search, usually within a tenth of a second, until `resume` is called; its time limit keeps running."""
        self._search.hold(True)

    def resume(self) -> None:
        """Let the search continue."""
        self._search.hold(False)

    @property
    def paused(self) -> bool:
        """Whether the search is paused."""
        return self._search.paused

    @property
    def done(self) -> bool:
        """Whether the search has ended."""
        return self._search.done

    @property
    def progress(self) -> Progress:
        """What the search knows so far."""
        return self._view.progress(self._search.latest())

    @property
    def best(self) -> Number | None:
        """The best value so far; None before there is one."""
        return self.progress.best

    @property
    def bound(self) -> Number | None:
        """The bound proven so far; None before there is one."""
        return self.progress.bound

    def _repr_html_(self) -> str:
        """Return what the search knows so far, as a notebook shows it."""
        return _draw.table([("search", self._state()), *facts(self.progress)])

    def _state(self) -> str:
        """Return what the search is doing."""
        return "done" if self.done else "paused" if self.paused else "running"

    def __repr__(self) -> str:
        """Return a short description."""
        return f"<pleach.Run {self._state()}, best {self.best}, bound {self.bound}>"


def _call_back(search: _pleach.Search, calls: list[_News | None], raised: list[BaseException]) -> None:
    """Wait for a search and call back; keep what a function raises."""
    try:
        search.wait(None, *calls)
    except BaseException as why:
        raised.append(why)


def _register(search: _pleach.Search) -> None:
    """Register a search that has started, so that it stops when the interpreter ends."""
    _forget_ended()
    with _lock:
        if not _searches:
            atexit.unregister(_cancel_all)
            atexit.register(_cancel_all)
        _searches.append(search)


def _forget_ended() -> None:
    """Forget searches that have ended: one that failed keeps an exception, and with it the objects of its callers."""
    with _lock:
        before = _searches[:]
        _searches[:] = [search for search in before if not search.done]
    # Callers' objects may start searches when they are finalised, so the last references are dropped outside the lock.
    del before


def _after_fork() -> None:
    """Forget all searches: a forked process has none of the threads that search."""
    global _lock
    _lock = threading.Lock()
    _searches.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def _cancel_all() -> None:
    """Stop all searches before the interpreter ends, and wait until they no longer need it."""
    # Threads that wait for searches forget those that have ended.
    searches = list(_searches)
    for search in searches:
        search.cancel()
    for search in searches:
        try:
            search.wait(None)
        except Exception:
            pass  # Nobody waits for this result any more.


def _shown(call: Callable[[Progress], object] | None, view: View) -> _News | None:
    """Return a function that passes on news from the engine as a Progress."""
    return None if call is None else lambda raw: call(view.progress(raw))


def _weak(call: _News | None) -> _News | None:
    """Return a function that calls this one as long as something else refers to it."""
    if call is None:
        return None
    found = weakref.ref(call)

    def weak(raw: dict[str, Any]) -> object:
        """Call it."""
        function = found()
        return None if function is None else function(raw)

    return weak


def waited(search: _pleach.Search, *calls: _News | None) -> dict[str, Any]:
    """Wait for a search that has started, and return its result; the search stops when the interpreter ends."""
    try:
        _register(search)
        raw = search.wait(None, *calls)
    except BaseException:
        # Ctrl-C may come before the wait.
        search.cancel()
        raise
    finally:
        # The search keeps the exception that Python code raised; its traceback must not keep the search alive.
        del search
        _forget_ended()
    assert raw is not None, "a wait without a limit has a result"
    return raw


def start(
    function: str,
    arguments: tuple[Any, ...],
    read: Callable[[dict[str, Any]], R],
    view: View,
    options: Mapping[str, Any],
    blocking: object,
    threads: int | None = None,
) -> R | Run[R]:
    """Start a search with a function of the compiled part, and wait for its result if it is blocking."""
    blocking = _truth("blocking", blocking)
    given = limits(options, threads)
    cluster = options.get("cluster")
    if cluster is not None:
        if not hasattr(cluster, "_shared"):
            wrong(TypeError, "cluster", cluster, "a cluster from pleach.cluster.listen")
        given |= cluster._shared(function, arguments, given["best_first"])
    calls = (options.get("on_improvement"), options.get("on_progress"))
    begin = getattr(_pleach, function)
    if blocking:
        return read(waited(begin(*arguments, given), _shown(calls[0], view), _shown(calls[1], view)))
    started = begin(*arguments, given)
    _register(started)
    return Run(started, read, view, *calls)
