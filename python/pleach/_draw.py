"""Draws schedules and searches as SVG, and facts as a small table."""

from __future__ import annotations

import html
import math
import secrets
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

Setup = tuple[int, str, str, float, float]
"""Machine, names of the jobs before and after, start and end."""


def _hatching(name: str) -> str:
    """Return a pattern of this name. It must be unique: if the first of a name is hidden, browsers draw none."""
    return (
        f'<pattern id="{name}" width="5" height="5" patternUnits="userSpaceOnUse" '
        'patternTransform="rotate(45)"><path d="M2,0v5" stroke="#333"/></pattern>'
    )


def gantt(
    operations: Sequence[Operation],
    machines: Sequence[str],
    setups: Sequence[Setup] = (),
    due: Sequence[float] | None = None,
    blocking: bool = False,
) -> str:
    """Return a Gantt chart: a row per machine, time from left to right.

    Setups are hatched. With blocking, a dashed bar shows how long a job stays on its machine. Triangles mark due dates,
    filled ones those of late jobs, whose last operations have a dark corner.
    """
    end = max((operation[4] for operation in operations), default=0) or 1
    left = 16 + 7 * max(len(name[:24]) for name in machines)
    scale = _WIDTH / end
    bottom = 12 + _ROW * len(machines)
    # A notebook may hold outputs of several sessions.
    hatching = f"pleach-setup-{secrets.token_hex(8)}"
    parts = [_hatching(hatching)] if setups else []
    for time in _ticks(end):
        x = left + time * scale
        parts.append(f'<line x1="{x:.1f}" y1="8" x2="{x:.1f}" y2="{bottom}" stroke="#ddd"/>')
        parts.append(_text(x, bottom + 20, "middle", f"{time:.6g}"))
    for k, name in enumerate(machines):
        parts.append(_text(left - 8, 12 + _ROW * (k + 0.65), "end", name[:24]))

    def bar(machine: int, start: float, stop: float, style: str, about: str, more: str = "") -> None:
        """Draw what a machine does."""
        if stop <= start:
            return
        x, y, width = left + start * scale, 14 + _ROW * machine, (stop - start) * scale
        title = html.escape(f"{about} on {machines[machine]}: {start:.10g} to {stop:.10g}{more}")
        parts.append(
            f'<rect x="{x:.2f}" y="{y}" width="{width:.2f}" height="{_ROW - 4}" {style}><title>{title}</title></rect>'
        )

    for machine, before, after, start, stop in setups:
        style = f'fill="url(#{hatching})" stroke="#333" stroke-width="0.6"'
        bar(machine, start, stop, style, f"setup from {before} to {after}")
    last = {job: machine for job, machine, _, start, stop in operations if stop > start}
    ends = {job: stop for job, _, _, _, stop in operations}
    late = {job: stop - due[job] for job, stop in ends.items() if stop > due[job]} if due else {}
    for job, machine, name, start, stop in operations:
        more, is_last = "", last.get(job) == machine
        if due and is_last:
            more = f", due {due[job]:.10g}" + (f", late by {late[job]:.10g}" if job in late else "")
        bar(machine, start, stop, f'fill="{_colour(job)}" stroke="white" stroke-width="0.6"', name, more)
        x, y, width = left + start * scale, 14 + _ROW * machine, (stop - start) * scale
        if is_last and job in late:
            side = min(8, width)
            corner = f"M{x + width:.2f},{y}v{side:.2f}l-{side:.2f},-{side:.2f}z"
            parts.append(f'<path d="{corner}" fill="#222" pointer-events="none"/>')
        if width >= 7 * len(name) + 4:
            parts.append(_text(x + width / 2, y + _ROW * 0.6, "middle", name))
    for (job, machine, name, _, stop), (following, _, _, start, _) in zip(operations, operations[1:], strict=False):
        if blocking and following == job:
            style = f'fill="{_colour(job)}" fill-opacity="0.25" stroke="#333" stroke-dasharray="3 2"'
            bar(machine, stop, start, style, f"{name} stays")
    names = {job: name for job, _, name, _, _ in operations}
    dates: dict[float, list[int]] = {}
    for job in ends:
        if due and due[job] <= end:
            dates.setdefault(due[job], []).append(job)
    if 8 * len(dates) > _WIDTH:
        # Triangles would cover each other.
        dates = {}
    for date, jobs in dates.items():
        fill = "black" if any(job in late for job in jobs) else "white"
        title = html.escape(f"due {date:.10g}: {', '.join(names[job] for job in jobs)}")
        path = f'<path d="M{left + date * scale:.1f},{bottom}l-4,8h8z" fill="{fill}" stroke="#333">'
        parts.append(f"{path}<title>{title}</title></path>")
    return _svg(left + _WIDTH + 30, bottom + 32, parts)


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
