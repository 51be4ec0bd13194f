"""Draws schedules and searches as SVG, and facts as a small table."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence

_ROW = 28
_WIDTH = 900


def table(facts: Sequence[tuple[str, object]]) -> str:
    """Return facts as a table of HTML."""
    cells = (
        f"<tr><th style='text-align:left'>{html.escape(name)}</th>"
        f"<td style='text-align:left'>{html.escape(str(value))}</td></tr>"
        for name, value in facts
    )
    return f"<table>{''.join(cells)}</table>"


def _svg(width: float, height: float, parts: Sequence[str]) -> str:
    """Return a picture of these parts on white."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" '
        'style="max-width:100%;height:auto" font-family="sans-serif" font-size="12">'
        f'<rect width="100%" height="100%" fill="white"/>{"".join(parts)}</svg>'
    )


def _text(x: float, y: float, anchor: str, text: str) -> str:
    """Return a text of a picture; it does not hide the tooltip of what lies below it."""
    place = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
    return f'<text {place} fill="black" pointer-events="none">{html.escape(text)}</text>'


def _colour(job: int) -> str:
    """Return a light colour; jobs with consecutive numbers get very different ones."""
    return f"hsl({job * 137.508 % 360:.0f},70%,75%)"


def _ticks(end: float) -> list[float]:
    """Return four to ten round numbers from 0 to `end`, and `end` unless it is close to the last of them."""
    power = 10.0 ** math.floor(math.log10(end))
    step = next(power * part for part in (0.2, 0.5, 1, 2) if end / (power * part) < 8)
    ticks = [step * i for i in range(int(end / step) + 1)]
    return ticks if end - ticks[-1] < step / 2 else [*ticks, end]


Operation = tuple[int, int, str, float, float]
"""Job, machine, name of the job, start and end."""


def gantt(operations: Sequence[Operation], machines: Sequence[str]) -> str:
    """Return a Gantt chart: a row per machine, time from left to right."""
    end = max((operation[4] for operation in operations), default=0) or 1
    left = 16 + 7 * max(len(name[:24]) for name in machines)
    scale = _WIDTH / end
    bottom = 12 + _ROW * len(machines)
    parts = []
    for time in _ticks(end):
        x = left + time * scale
        parts.append(f'<line x1="{x:.1f}" y1="8" x2="{x:.1f}" y2="{bottom}" stroke="#ddd"/>')
        parts.append(_text(x, bottom + 16, "middle", f"{time:.6g}"))
    for k, name in enumerate(machines):
        parts.append(_text(left - 8, 12 + _ROW * (k + 0.65), "end", name[:24]))
    for job, machine, name, start, stop in operations:
        if stop <= start:
            continue
        x, y, width = left + start * scale, 14 + _ROW * machine, (stop - start) * scale
        about = html.escape(f"{name} on {machines[machine]}: {start:.10g} to {stop:.10g}")
        parts.append(
            f'<rect x="{x:.2f}" y="{y}" width="{width:.2f}" height="{_ROW - 4}" fill="{_colour(job)}" '
            f'stroke="white" stroke-width="0.6"><title>{about}</title></rect>'
        )
        if width >= 7 * len(name) + 4:
            parts.append(_text(x + width / 2, y + _ROW * 0.6, "middle", name))
    return _svg(left + _WIDTH + 30, bottom + 28, parts)


Point = tuple[float, float | None, float | None]
"""Seconds, best value and bound."""


def curve(points: Sequence[Point]) -> str:
    """Return the best value and the bound over time, or nothing if there is little to draw."""
    values = [value for _, best, bound in points for value in (best, bound) if value is not None]
    if len(points) < 2 or not values or min(values) == max(values):
        return ""
    low, high, end = min(values), max(values), points[-1][0] or 1
    left, width, height = 90, 500, 160

    def at(seconds: float, value: float) -> tuple[float, float]:
        """Return the place of a value in the picture."""
        return left + width * seconds / end, 10 + height * (high - value) / (high - low)

    parts = [
        _text(left - 8, 16, "end", f"{high:.8g}"),
        _text(left - 8, 10 + height, "end", f"{low:.8g}"),
        _text(left, height + 28, "middle", "0 s"),
        _text(left + width, height + 28, "middle", f"{end:.3g} s"),
    ]
    for which, colour, name in ((1, "#d55e00", "best"), (2, "#0072b2", "bound")):
        path, last = "", None
        for point in points:
            value = point[which]
            if value is None:
                continue
            x, y = at(point[0], value)
            path += f"M{x:.1f} {y:.1f}" if last is None else f"H{x:.1f}V{y:.1f}"
            last = (x, y)
        if last is not None:
            parts.append(f'<path d="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
            parts.append(_text(left + width + 8, last[1] + 4, "start", name))
    return _svg(left + width + 60, height + 40, parts)


def circle(cities: Sequence[str], legs: Sequence[float]) -> str:
    """Return a tour as a circle of cities in their order, with the length of each leg."""
    radius = max(90.0, 5.5 * len(cities))
    middle = radius + 70
    parts = [
        f'<circle cx="{middle}" cy="{middle}" r="{radius}" fill="none" stroke="#0072b2" stroke-width="2"/>'
    ]
    for place, (name, leg) in enumerate(zip(cities, legs, strict=True)):
        angle = 2 * math.pi * place / len(cities) - math.pi / 2
        x, y = math.cos(angle), math.sin(angle)
        about = html.escape(f"from {name}: {leg:.10g}")
        parts.append(
            f'<circle cx="{middle + radius * x:.1f}" cy="{middle + radius * y:.1f}" r="5" fill="#d55e00">'
            f"<title>{about}</title></circle>"
        )
        anchor = "middle" if abs(x) < 0.1 else "start" if x > 0 else "end"
        parts.append(_text(middle + (radius + 14) * x, middle + (radius + 14) * y + 4, anchor, name[:10]))
    return _svg(2 * middle, 2 * middle, parts)
