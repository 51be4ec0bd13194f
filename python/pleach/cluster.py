"""Searches that several processes share, on one machine or on many."""

from __future__ import annotations

import base64
import binascii
import json
import os
import pickle
import warnings
from dataclasses import dataclass
from types import TracebackType
from typing import Any

from pleach import _numbers, _pleach, _run

__all__ = ["Cluster", "Joined", "join", "listen"]

_FUNCTIONS = ("atsp", "clique", "flowshop", "knapsack", "own", "qap", "queens", "uts")
"""The searches of the compiled part that processes can share."""


class Cluster:
    """The processes that join this one: pass this to searches as `cluster`, and close it after the last one.

    In a ``with`` statement, it closes at the end.
    """

    def __init__(self, engine: _pleach.Cluster) -> None:
        """Take over the processes of the compiled part."""
        self._engine = engine

    @property
    def address(self) -> str:
        """The address at which others join."""
        return str(self._engine.address)

    def wait_for(self, others: int, timeout: float | None = None) -> None:
        """Wait, between searches, until this number of other processes have joined.

        Raise TimeoutError if that takes longer than `timeout` seconds. Warn of processes that cannot join.
        """
        number = _numbers.whole("others", others, 0, 4095)
        if not self._engine.wait_for(number, None if timeout is None else _run.seconds("timeout", timeout)):
            raise TimeoutError(f"{number} other processes have not joined after {timeout} seconds")

    def close(self) -> None:
        """Tell the others that no search follows."""
        self._engine.close()

    def __enter__(self) -> Cluster:
        """Return the cluster."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, why: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the cluster."""
        self.close()

    def _shared(self, function: str, arguments: tuple[Any, ...], best_first: bool) -> dict[str, Any]:
        """Return what the compiled part needs to share a search."""
        if function not in _FUNCTIONS:
            raise TypeError("cluster: compiled trees cannot be sent to other processes; derive a class from pleach.Tree")
        try:
            sent = base64.b64encode(pickle.dumps(arguments)).decode()
        except (pickle.PicklingError, AttributeError, TypeError) as why:
            raise TypeError(f"cluster: the tree cannot be sent to other processes: {why}") from why
        about = json.dumps({"python": {"function": function, "arguments": sent, "best_first": best_first}})
        return {"cluster": self._engine, "about": about}


def listen(address: str = "0.0.0.0:7400", *, key: str | os.PathLike[str] = "pleach.key") -> Cluster:
    """Let other processes join this one, by `join` with the same key.

    address: HOST:PORT of a network interface, or 0.0.0.0 for all of them; with port 0, the system chooses a port.
    key: the key file, which is created if missing. Anyone who has it may join, and may run code in all processes.
    """
    return Cluster(_pleach.Cluster.listen(_text("address", address), os.fspath(key)))


@dataclass(frozen=True)
class Joined:
    """What a process did for the one that it joined.

    searches: how many searches it took part in.
    nodes: how many nodes it made in them.
    """

    searches: int
    nodes: int


def join(
    address: str,
    *,
    key: str | os.PathLike[str] = "pleach.key",
    threads: int | None = None,
    patience: float = 60,
) -> Joined:
    """Join a process that listens, and take part in its searches until it ends, or until Ctrl-C.

    The instances come from the first process. Your own trees come pickled, so their classes must be importable here by the same
    name. Only join processes that you trust: anyone who has the key can run code here.

    address: HOST:PORT of the first process.
    key: the key file, a copy of the first process's.
    threads: how many threads search; all cores by default, one for trees written as Python classes.
    patience: how many seconds to try to reach the first process, and then to wait for its first search.
    """
    own = {} if threads is None else {"threads": threads}
    _run.limits(own, None)
    limit = _run.seconds("patience", patience)
    searches = nodes = 0
    leaves = False
    try:
        engine = _pleach.Cluster.join(_text("address", address), os.fspath(key), limit)
    except RuntimeError as why:
        if "the search is over" in str(why):
            return Joined(0, 0)
        raise
    try:
        while (about := engine.next()) is not None:
            function, arguments, best_first = _read(about)
            limits = _run.limits(own, 1 if function == "own" else None)
            limits |= {"cluster": engine, "about": about, "best_first": best_first}
            try:
                raw = _run.waited(getattr(_pleach, function)(*arguments, limits))
            except _pleach.SearchLost:
                continue
            except _pleach.WrongTree as why:
                # The first process learns of it, too; its next search may be right.
                warnings.warn(str(why), RuntimeWarning, stacklevel=2)
                continue
            except KeyboardInterrupt:
                # A second Ctrl-C: closing waits until the search has handed its work back.
                leaves = True
                break
            searches, nodes = searches + 1, nodes + raw["nodes"]
            leaves = raw["stopped_by"] == "interrupt"
            if leaves:
                break
    except KeyboardInterrupt:
        pass  # Between two searches: nothing is in its hands.
    finally:
        engine.close(leaves)
    return Joined(searches, nodes)


def _text(argument: str, value: object) -> str:
    """Return a text."""
    if not isinstance(value, str):
        _numbers.wrong(TypeError, argument, value, "a str such as 0.0.0.0:7400")
    return value


def _read(about: str) -> tuple[str, tuple[Any, ...], bool]:
    """Return a search that the first process shares: a function of the compiled part, its arguments, and the order."""
    try:
        shared = json.loads(about)["python"]
        function, sent = shared["function"], base64.b64decode(shared["arguments"])
        best_first = shared["best_first"] is True
    except (ValueError, KeyError, TypeError, binascii.Error):
        raise RuntimeError("the first process is not a Python program: join it with 'pleach join'") from None
    if function not in _FUNCTIONS:
        raise RuntimeError(f"the first process searches by {function!r}, expected one of {', '.join(_FUNCTIONS)}")
    try:
        return function, pickle.loads(sent), best_first
    except (AttributeError, ImportError) as why:
        raise RuntimeError(f"the tree of the first process cannot be made here: {why}") from why
