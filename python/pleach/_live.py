"""Shows a search while it runs: in a notebook as a table and a curve that stay in place, elsewhere as lines."""

from __future__ import annotations

import sys
from typing import Any

from pleach import _draw
from pleach._result import Progress

_MOST_POINTS = 1000


class Live:
    """Shows a search while it runs; give it to a search as `on_progress`.

    In a notebook, a table and a curve are drawn below the cell and updated in place. Elsewhere, a line on standard error
    says when the best value or the bound has changed.
    """

    def __init__(self) -> None:
        """Find out where to show the search."""
        self._points: list[_draw.Point] = []
        self._known: tuple[object, object] = (None, None)
        self._handle: Any = None
        self._display: Any = None
        shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
        if hasattr(shell, "kernel"):
            from IPython import display

            self._display = display

    def __call__(self, progress: Progress) -> None:
        """Show what a search knows."""
        known = (progress.best, progress.bound)
        changed, self._known = known != self._known, known
        if self._display is None:
            if changed:
                print(_line(progress), file=sys.stderr, flush=True)
            return
        # While nothing changes, the last point moves along with the time.
        alike = [point[1:] == known for point in self._points[-2:]]
        if alike == [True, True]:
            self._points.pop()
        self._points.append((progress.seconds, progress.best, progress.bound))
        if len(self._points) > _MOST_POINTS:
            del self._points[1:-1:2]
        shown = self._display.HTML(_draw.table(facts(progress)) + _draw.curve(self._points))
        if self._handle is None:
            self._handle = self._display.display(shown, display_id=True)
        else:
            self._handle.update(shown)


def facts(progress: Progress) -> list[tuple[str, object]]:
    """Return what is worth showing, as pairs of a name and a value."""
    facts: list[tuple[str, object]] = [("seconds", f"{progress.seconds:.1f}"), ("nodes", f"{progress.nodes:,}")]
    named = (("best", progress.best), ("bound", progress.bound))
    facts += [(name, value) for name, value in named if value is not None]
    if progress.gap is not None:
        facts.append(("gap", f"{100 * progress.gap:.2f} %"))
    return facts


def _line(progress: Progress) -> str:
    """Return the same facts on one line."""
    return ", ".join(f"{name} {value}" for name, value in facts(progress))
