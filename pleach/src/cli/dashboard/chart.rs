//! Text charts: the incumbent and the bound over time, and the rate over time.

use super::history::Point;
use super::text::{Line, Paint, clock, compact, eighth, width};
use crate::decimal::written;

/// The size of a chart in columns and rows, including its head and foot.
pub type Size = (usize, usize);

/// The fewest columns and rows for a useful chart.
const LEAST: Size = (24, 4);

/// The style of a curve.
#[derive(Clone, Copy)]
struct Curve {
    paint: Paint,
    /// Level, from above to the right, from the left downwards, from below to the right, from the left upwards,
    /// and upright.
    strokes: [char; 6],
}

const BEST: Curve =
    Curve { paint: Paint::Best, strokes: ['━', '┗', '┓', '┏', '┛', '┃'] };
const BOUND: Curve =
    Curve { paint: Paint::Bound, strokes: ['─', '└', '┐', '┌', '┘', '│'] };

/// Where a curve is drawn: characters by rows.
struct Canvas(Vec<Vec<(char, Paint)>>);

impl Canvas {
    fn new((columns, rows): Size) -> Self {
        Self(vec![vec![(' ', Paint::Plain); columns]; rows])
    }

    fn put(&mut self, (column, row): (usize, usize), c: char, paint: Paint) {
        if let Some(cell) = self.0.get_mut(row).and_then(|row| row.get_mut(column)) {
            *cell = (c, paint);
        }
    }

    /// The rows as lines, each after its label.
    fn lines(self, labels: &[String], label_columns: usize) -> Vec<Line> {
        let rows = self.0.into_iter().zip(labels);
        let line = |(row, label): (Vec<(char, Paint)>, &String)| {
            let blanks = " ".repeat(label_columns.saturating_sub(width(label)));
            let axis = if label.is_empty() { " │" } else { " ┤" };
            let mut line = Line::of(format!("{blanks}{label}{axis}"), Paint::Dim);
            let (mut run, mut of) = (String::new(), Paint::Plain);
            for (c, paint) in row {
                if paint != of {
                    line = line.and(std::mem::take(&mut run), of);
                    of = paint;
                }
                run.push(c);
            }
            line.and(run, of)
        };
        rows.map(line).collect()
    }
}

/// The time that a chart shows.
fn span(points: &[Point]) -> Option<(f64, f64)> {
    let (first, last) = (points.first()?.seconds, points.last()?.seconds);
    (first.is_finite() && last.is_finite() && last > first).then_some((first, last))
}

/// The foot of a chart: its first and last time.
fn foot((from, to): (f64, f64), label_columns: usize, columns: usize) -> Line {
    let (from, to) = (clock(from), clock(to));
    let level = columns.saturating_sub(width(&from) + width(&to) + 2);
    let blanks = " ".repeat(label_columns + 2);
    Line::of(format!("{blanks}{from} {} {to}", "─".repeat(level)), Paint::Dim)
}

/// The incumbent and the bound over time; nothing if neither is known yet, or there is no room.
/// Values are multiples of 10 to the power of minus `decimals`.
pub fn values(points: &[Point], decimals: u32, (columns, rows): Size) -> Vec<Line> {
    let Some(time) = span(points).filter(|_| columns >= LEAST.0 && rows >= LEAST.1) else {
        return Vec::new();
    };
    let all = points.iter().flat_map(|point| [point.best, point.bound]).flatten();
    let (Some(high), Some(low)) = (all.clone().max(), all.min()) else { return Vec::new() };
    let rows = rows - 2;
    let mut labels = vec![String::new(); rows];
    labels[0] = written(high, decimals);
    if low < high {
        labels[rows - 1] = written(low, decimals);
    }
    let label_columns = labels.iter().map(|label| width(label)).max().unwrap_or(0);
    let wide = columns.saturating_sub(label_columns + 2);
    let mut canvas = Canvas::new((wide, rows));
    let scale = (low as f64, high as f64);
    for (curve, value) in
        [(BOUND, bound as fn(&Point) -> Option<i64>), (BEST, best as fn(&Point) -> Option<i64>)]
    {
        let row = |value: i64| {
            let part = (scale.1 - value as f64) / (scale.1 - scale.0).max(1.0);
            (part * (rows - 1) as f64).round() as usize
        };
        let at = |column| at_column(points, time, (column, wide), value).map(row);
        draw(&mut canvas, curve, wide, at);
    }
    let last = points.last();
    let mut head = Line::of(" ".repeat(label_columns - 1), Paint::Plain);
    for (curve, name, value) in
        [(BEST, "best", last.and_then(best)), (BOUND, "bound", last.and_then(bound))]
    {
        if let Some(value) = value {
            let mark = format!("   {0}{0} ", curve.strokes[0]);
            let said = format!("{name} {}", written(value, decimals));
            head = head.and(mark, curve.paint).and(said, Paint::Plain);
        }
    }
    let mut lines = vec![head];
    lines.extend(canvas.lines(&labels, label_columns));
    lines.push(foot(time, label_columns, wide));
    lines.into_iter().map(|line| line.cut(columns)).collect()
}

fn best(point: &Point) -> Option<i64> {
    point.best
}

fn bound(point: &Point) -> Option<i64> {
    point.bound
}

/// The value at the end of a column's time.
fn at_column(
    points: &[Point],
    (from, to): (f64, f64),
    (column, columns): (usize, usize),
    value: fn(&Point) -> Option<i64>,
) -> Option<i64> {
    let end = if column + 1 < columns {
        from + (to - from) * (column + 1) as f64 / columns as f64
    } else {
        f64::INFINITY
    };
    let known = points.partition_point(|point| point.seconds <= end);
    points[..known].last().and_then(value)
}

/// Draws a curve in steps.
fn draw(canvas: &mut Canvas, curve: Curve, columns: usize, at: impl Fn(usize) -> Option<usize>) {
    let Curve { paint, strokes: [level, from_above, down, from_below, up, upright] } = curve;
    let mut before: Option<usize> = None;
    for column in 0..columns {
        let Some(row) = at(column) else { continue };
        match before {
            Some(last) if last < row => {
                canvas.put((column, last), down, paint);
                (last + 1..row).for_each(|between| canvas.put((column, between), upright, paint));
                canvas.put((column, row), from_above, paint);
            }
            Some(last) if last > row => {
                canvas.put((column, last), up, paint);
                (row + 1..last).for_each(|between| canvas.put((column, between), upright, paint));
                canvas.put((column, row), from_below, paint);
            }
            _ => canvas.put((column, row), level, paint),
        }
        before = Some(row);
    }
}

/// Nodes, or units of a loop, a second over time; nothing if there is no room.
pub fn rates(points: &[Point], what: &str, (columns, rows): Size) -> Vec<Line> {
    let Some((from, to)) = span(points).filter(|_| columns >= LEAST.0 && rows >= LEAST.1) else {
        return Vec::new();
    };
    let rows = rows - 2;
    // The label is as wide as the widest number.
    let label_columns = 6;
    let wide = columns - label_columns - 2;
    let amounts: Vec<f64> = (0..=wide)
        .map(|column| amount_at(points, from + (to - from) * column as f64 / wide as f64))
        .collect();
    let each_s = (to - from) / wide as f64;
    let rates: Vec<f64> =
        amounts.windows(2).map(|two| ((two[1] - two[0]) / each_s).max(0.0)).collect();
    let most = rates.iter().copied().filter(|rate| rate.is_finite()).fold(0.0, f64::max);
    let mut canvas = Canvas::new((wide, rows));
    for (column, rate) in rates.iter().enumerate() {
        let part = if most > 0.0 && rate.is_finite() { rate / most } else { 0.0 };
        let eighths = (part * (rows * 8) as f64).round() as usize;
        for row in 0..rows {
            let here = eighths.saturating_sub(8 * row).min(8);
            let c = eighth(here, ['▁', '▂', '▃', '▄', '▅', '▆', '▇']);
            if let Some(c) = c.or((here == 8).then_some('█')) {
                canvas.put((column, rows - 1 - row), c, Paint::Bar);
            }
        }
    }
    let mut labels = vec![String::new(); rows];
    if most > 0.0 {
        labels[0] = compact(most);
    }
    labels[rows - 1] = "0".into();
    let blanks = " ".repeat(label_columns + 2);
    let mut lines = vec![Line::of(format!("{blanks}{what} a second"), Paint::Plain)];
    lines.extend(canvas.lines(&labels, label_columns));
    lines.push(foot((from, to), label_columns, wide));
    lines.into_iter().map(|line| line.cut(columns)).collect()
}

/// The amount done by a time, interpolated between two points.
fn amount_at(points: &[Point], seconds: f64) -> f64 {
    let after = points.partition_point(|point| point.seconds < seconds);
    let last = points.len() - 1;
    let (before, after) = (points[after.min(last).saturating_sub(1)], points[after.min(last)]);
    let all = after.seconds - before.seconds;
    let part = if all > 0.0 { ((seconds - before.seconds) / all).clamp(0.0, 1.0) } else { 1.0 };
    let (before, after) = (before.amount as f64, after.amount as f64);
    before + (after - before) * part
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(lines: &[Line]) -> Vec<String> {
        lines.iter().map(|line| line.text().trim_end().to_string()).collect()
    }

    fn point(seconds: f64, amount: u64, best: Option<i64>, bound: Option<i64>) -> Point {
        Point { seconds, amount, best, bound }
    }

    #[test]
    fn incumbent_and_bound_are_steps() {
        let points = [
            point(0.0, 0, None, None),
            point(2.0, 0, Some(20), Some(10)),
            point(5.0, 0, Some(15), Some(10)),
            point(10.0, 0, Some(15), Some(12)),
        ];
        let drawn = texts(&values(&points, 0, (28, 8)));
        let seen = [
            "    ━━ best 15   ── bound 12",
            "20 ┤    ━━━━━━━┓",
            "   │           ┃",
            "   │           ┃",
            "   │           ┗━━━━━━━━━━━━",
            "   │                       ┌",
            "10 ┤    ───────────────────┘",
            "    0.0 s ─────────── 10.0 s",
        ];
        assert_eq!(drawn, seen);
    }

    #[test]
    fn rates_are_columns() {
        let points =
            [point(0.0, 0, None, None), point(5.0, 500, None, None), point(10.0, 600, None, None)];
        let drawn = texts(&rates(&points, "nodes", (28, 6)));
        assert!(drawn[0].ends_with("nodes a second"), "{drawn:#?}");
        assert_eq!(drawn[1], "   100 ┤██████████");
        assert_eq!(drawn[4], "     0 ┤██████████▆▆▆▆▆▆▆▆▆▆");
    }

    #[test]
    fn charts_fit_whatever_they_show() {
        let odd = [f64::NAN, -1.0, 0.0, 1e-300, 3.0, f64::MAX, f64::INFINITY];
        let numbers = [None, Some(i64::MIN), Some(-1), Some(i64::MAX)];
        let mut all = Vec::new();
        for seconds in odd {
            for (i, amount) in [0, u64::MAX, 1, 5].into_iter().enumerate() {
                all.push(point(seconds, amount, numbers[i], numbers[3 - i]));
            }
        }
        let tame: Vec<Point> = all[4..24].to_vec();
        for points in [Vec::new(), all, tame] {
            for size in [(0, 0), (1, 1), (24, 4), (25, 40), (300, 3), (300, 80)] {
                for lines in [values(&points, 9, size), rates(&points, "nodes", size)] {
                    assert!(lines.len() <= size.1, "{size:?}");
                    assert!(lines.iter().all(|line| line.width() <= size.0), "{size:?}");
                }
            }
        }
    }
}
