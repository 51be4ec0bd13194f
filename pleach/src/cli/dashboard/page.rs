//! [`page`]: the dashboard of a run, as lines for a terminal of any size.

use super::history::{Held, History, Row, Sample};
use super::table::{Cell, table};
use super::text::{Line, Paint, bar, clean, clock, compact, cut, percent};
use super::{chart, table};
use crate::decimal::written;
use crate::report::{estimate, gap, grouped};
use pleach_runtime::{SiteEnd, SiteSnapshot, SitesSnapshot};

/// The title of a page.
#[derive(Clone, Debug, Default)]
pub struct Title {
    /// The program's name.
    pub program: String,
    /// The problem or the loop, and the words for the instance.
    pub words: Vec<String>,
    /// The number of this run, and of all runs.
    pub run: (u64, u64),
    /// The number of this loop in the run.
    pub nth_loop: usize,
}

/// Everything that a page shows.
#[derive(Clone, Copy, Debug)]
pub struct Scene<'a> {
    pub title: &'a Title,
    pub history: &'a History,
    /// Values are multiples of 10 to the power of minus this.
    pub decimals: u32,
    /// Time since the start.
    pub seconds: f64,
    /// Whether the user has asked to stop.
    pub stopping: bool,
    /// Notes of the command, the newest last.
    pub notes: &'a [String],
}

/// Columns and rows.
type Size = (usize, usize);

/// Blanks between two fields of the header.
const GAP: usize = 3;
/// The maximum number of rows of the chart of the incumbent and the bound, and of the chart of the
/// rate.
const CHARTS: Size = (20, 14);
/// The fewest rows for a useful chart.
const CHART: usize = 5;
/// The columns of a table of workers that is split into parts side by side.
const BESIDE: usize = 60;

/// The lines that show a run, within this many columns and rows.
pub fn page(scene: &Scene<'_>, (columns, rows): Size) -> Vec<Line> {
    let none = Sample::default();
    let sample = scene.history.last().unwrap_or(&none);
    let most = match rows {
        0..=2 => 1,
        3..=9 => 3,
        _ => 6,
    };
    let mut lines = vec![title(scene, columns)];
    lines.extend(packed(fields(scene, sample), columns, most - 1));
    let notes = notes(scene.notes, (columns, if rows >= 20 { 3 } else { rows / 8 }));
    let gap = usize::from(rows >= 18);
    let below = if notes.is_empty() { 0 } else { notes.len() + gap };
    let room = rows.saturating_sub(lines.len() + below);
    let for_chart = match room {
        17.. => 8 + gap,
        11.. => CHART,
        _ => 0,
    };
    let for_tables = room - for_chart;
    let tables = tables(scene.history, sample, (columns, for_tables), gap);
    let chart = charts(scene, sample, (columns, room.saturating_sub(tables.len())), gap);
    lines.extend(chart);
    lines.extend(tables);
    if !notes.is_empty() {
        lines.resize(rows.saturating_sub(notes.len()).max(lines.len()), Line::default());
        lines.extend(notes);
    }
    lines.truncate(rows);
    lines.into_iter().map(|line| line.cut(columns)).collect()
}

/// The first line: the title and the time.
fn title(scene: &Scene<'_>, columns: usize) -> Line {
    let Title { program, words, run: (run, runs), nth_loop } = scene.title;
    let mut about = clean(&words.join(" "));
    if *runs > 1 {
        about += &format!("   run {run} of {runs}");
    }
    if *nth_loop > 1 {
        about += &format!("   loop {nth_loop}");
    }
    let time = clock(scene.seconds);
    let line = Line::of(format!("{} ", clean(program)), Paint::Dim).and(about, Paint::Head);
    let room = columns.saturating_sub(time.chars().count() + 1);
    if room < 12 {
        return line.cut(columns);
    }
    line.cut(room).padded(room).and(format!(" {time}"), Paint::Plain)
}

/// A name followed by its value.
fn field(name: &str, value: String, paint: Paint) -> Line {
    Line::of(format!("{name} "), Paint::Dim).and(value, paint)
}

/// A value followed by its unit.
fn amount(value: String, what: &str) -> Line {
    Line::of(value, Paint::Plain).and(format!(" {what}"), Paint::Dim)
}

/// Fields about the run as a whole, the most important first.
fn fields(scene: &Scene<'_>, sample: &Sample) -> Vec<Line> {
    let mut all = Vec::new();
    if scene.stopping {
        all.push(Line::of("stopping", Paint::Warning));
    }
    if scene.history.last().is_none() {
        all.push(Line::of("getting ready", Paint::Dim));
        return all;
    }
    if let Some(best) = sample.best {
        all.push(field("best", written(best, scene.decimals), Paint::Best));
    }
    if let Some(bound) = sample.bound {
        all.push(field("bound", written(bound, scene.decimals), Paint::Bound));
    }
    if let (Some(best), Some(bound)) = (sample.best, sample.bound) {
        all.push(field("gap", format!("{:.2} %", 100.0 * gap(best, bound)), Paint::Plain));
    }
    if let Some(done) = sample.done.filter(|done| done.is_finite()) {
        let drawn = Line::of(bar(done, 20), Paint::Bar);
        all.push(match sample.whole {
            Some(_) => {
                drawn.and(format!(" {} ", exact(done)), Paint::Plain).and("done", Paint::Dim)
            }
            None => drawn
                .and(" estimated ", Paint::Dim)
                .and(estimate(done), Paint::Plain)
                .and(" done", Paint::Dim),
        });
    }
    match sample.whole {
        Some(whole) => {
            let (done, whole) = (grouped(sample.amount.into()), grouped(whole.into()));
            all.push(amount(format!("{done} of {whole}"), "units"));
        }
        None => all.push(amount(grouped(sample.amount.into()), "nodes")),
    }
    let rate = scene.history.rate();
    if let Some(rate) = rate {
        all.push(amount(compact(rate), "a second"));
    }
    if let (Some(whole), Some(rate)) = (sample.whole, rate.filter(|rate| *rate > 0.0)) {
        let left = whole.saturating_sub(sample.amount) as f64 / rate;
        all.push(amount(format!("about {}", clock(left)), "left"));
    }
    if sample.counted > 0 && sample.counted != u128::from(sample.amount) {
        all.push(amount(grouped(sample.counted), "counted"));
    }
    if let Some(SitesSnapshot { sites, workers, busy }) = sample.all_sites {
        let many = if sites == 1 { "site" } else { "sites" };
        all.push(amount(sites.to_string(), many));
        all.push(amount(format!("{busy} of {workers}"), "workers busy"));
    } else if let Some(busy) = busy(scene.history, 0..sample.rows.len()) {
        all.push(amount(percent(busy), "busy"));
    }
    all
}

/// The fraction of a loop that is done; it shows 100 % only at the end.
fn exact(done: f64) -> String {
    if done >= 1.0 { "100 %".into() } else { estimate(done) }
}

/// The fraction of time for which these workers are busy.
fn busy(history: &History, workers: std::ops::Range<usize>) -> Option<f64> {
    let all: Vec<f64> = workers.filter_map(|at| Some(history.speed(at)?.1)).collect();
    let sum: f64 = all.iter().copied().filter(|busy| busy.is_finite()).sum();
    (!all.is_empty()).then(|| sum / all.len() as f64)
}

/// Fields side by side, on this many lines at most.
fn packed(fields: Vec<Line>, columns: usize, most: usize) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    for field in fields {
        let fits = |line: &&mut Line| line.width() + GAP + field.width() <= columns;
        if let Some(line) = lines.last_mut().filter(fits) {
            *line = std::mem::take(line).and(" ".repeat(GAP), Paint::Plain).then(field);
        } else if lines.len() < most {
            lines.push(field);
        } else {
            break;
        }
    }
    lines
}

/// As many charts as fit.
fn charts(scene: &Scene<'_>, sample: &Sample, (columns, room): Size, gap: usize) -> Vec<Line> {
    let Scene { history, decimals, .. } = *scene;
    let blank = || std::iter::repeat_n(Line::default(), gap);
    let rows = room.saturating_sub(gap);
    if rows < CHART {
        return Vec::new();
    }
    // Rows that are too few for another chart go to this one.
    let alone = rows < CHARTS.0 + gap + CHART + 3;
    let values = if alone { rows } else { CHARTS.0 };
    let values = chart::values(history.points(), decimals, (columns, values));
    let rest = rows - values.len();
    let what = if sample.whole.is_some() { "units" } else { "nodes" };
    let mut lines: Vec<Line> = Vec::new();
    let room = if values.is_empty() { rest } else { rest.saturating_sub(gap) };
    let rates = if values.is_empty() || room >= CHART + 3 {
        chart::rates(history.points(), what, (columns, room.min(CHARTS.1)))
    } else {
        Vec::new()
    };
    for chart in [values, rates].into_iter().filter(|chart| !chart.is_empty()) {
        lines.extend(blank());
        lines.extend(chart);
    }
    lines
}

/// The tables of sites and of workers.
fn tables(history: &History, sample: &Sample, (columns, room): Size, gap: usize) -> Vec<Line> {
    let mut sites: Vec<&SiteSnapshot> =
        sample.sites.iter().filter(|_| sample.sites.len() > 1).collect();
    // In a long run, most of them are gone.
    sites.sort_by_key(|site| site.end.is_some());
    let wanted = |count: usize| if count == 0 { 0 } else { count + 1 + gap };
    let for_workers = wanted(sample.rows.len()).min(room - room / 2);
    let for_sites = wanted(sites.len()).min(room.saturating_sub(for_workers));
    let mut lines = Vec::new();
    let cells: Vec<Vec<Cell>> = sites.iter().map(|site| site_cells(history, site)).collect();
    with_gap(gap, of_sites(&cells, (columns, for_sites.saturating_sub(gap))), &mut lines);
    let left = room.saturating_sub(lines.len() + gap);
    with_gap(gap, of_workers(history, sample, (columns, left)), &mut lines);
    lines
}

fn with_gap(gap: usize, more: Vec<Line>, lines: &mut Vec<Line>) {
    if !more.is_empty() {
        lines.extend(std::iter::repeat_n(Line::default(), gap));
        lines.extend(more);
    }
}

fn of_sites(cells: &[Vec<Cell>], (columns, room): Size) -> Vec<Line> {
    const COLUMNS: [table::Column; 6] =
        [("site", 0), ("host", 3), ("workers busy", 2), ("nodes", 4), ("a second", 1), ("", 5)];
    if cells.is_empty() || room < 2 {
        return Vec::new();
    }
    let shown = if cells.len() < room { cells.len() } else { room - 2 };
    let mut lines = table(&COLUMNS, &cells[..shown], columns);
    if shown < cells.len() {
        lines.push(Line::of(format!("and {} more", cells.len() - shown), Paint::Dim));
    }
    lines
}

fn site_cells(history: &History, site: &SiteSnapshot) -> Vec<Cell> {
    let went = match (site.left_s, site.end) {
        (Some(at), Some(SiteEnd::Lost)) => format!("lost at {}", clock(at)),
        (Some(at), _) => format!("left at {}", clock(at)),
        (None, Some(SiteEnd::Lost)) => "lost".into(),
        (None, Some(SiteEnd::Left)) => "left".into(),
        (None, None) if site.joined_s > 0.0 => format!("joined at {}", clock(site.joined_s)),
        (None, None) => String::new(),
    };
    let rate = site.end.is_none().then(|| history.site_rate(&site.name)).flatten();
    vec![
        Cell::Word(clean(&site.name)),
        Cell::Word(clean(&site.host)),
        Cell::Number(format!("{} of {}", site.busy, site.workers)),
        Cell::Number(grouped(site.nodes.into())),
        Cell::Number(rate.map_or("–".into(), compact)),
        Cell::Word(went),
    ]
}

/// The table of workers, in parts side by side if there are many and the terminal is wide.
fn of_workers(history: &History, sample: &Sample, (columns, room): Size) -> Vec<Line> {
    let rows = &sample.rows;
    if rows.is_empty() || room < 2 {
        return Vec::new();
    }
    let all: u64 = rows.iter().fold(0, |sum, row| sum.saturating_add(row.amount));
    let fit = room - 1;
    let parts = rows.len().div_ceil(fit).min(columns / BESIDE).max(1);
    let wide = (columns + GAP) / parts - if parts > 1 { GAP } else { 0 };
    let wide = wide.min(columns);
    let each = if rows.len() > parts * fit { fit - 1 } else { rows.len().div_ceil(parts) };
    let shown = rows.len().min(parts * each);
    let cells = rows[..shown].iter().enumerate();
    let cells: Vec<Vec<Cell>> = cells
        .map(|(at, row)| worker_cells(row, history.speed(at), sample.whole.map(|_| all)))
        .collect();
    let heads: &[table::Column] = if sample.whole.is_some() {
        &[("worker", 0), ("done", 4), ("share", 2), ("a second", 3), ("busy", 1), ("at", 5)]
    } else {
        &[("worker", 0), ("nodes", 3), ("a second", 1), ("busy", 2), ("holds", 4)]
    };
    let mut lines = table(heads, &cells, wide);
    let head = lines.remove(0);
    let beside = |i: usize| {
        let parts = (0..parts).map(|part| match i {
            0 => head.clone(),
            _ => lines.get(part * each + i - 1).cloned().unwrap_or_default(),
        });
        parts
            .enumerate()
            .fold(Line::default(), |line, (part, more)| line.padded(part * (wide + GAP)).then(more))
    };
    let mut beside: Vec<Line> = (0..=each).map(beside).collect();
    if shown < rows.len() {
        let busy = busy(history, shown..rows.len());
        let busy = busy.map_or(String::new(), |busy| format!(", {} busy", percent(busy)));
        beside.push(Line::of(format!("and {} more{busy}", rows.len() - shown), Paint::Dim));
    }
    beside
}

/// A worker's row in the table; `of` is what all workers have done in a loop.
fn worker_cells(row: &Row, speed: Option<(f64, f64)>, of: Option<u64>) -> Vec<Cell> {
    let rate = Cell::Number(speed.map_or("–".into(), |(rate, _)| compact(rate)));
    let mut cells = vec![Cell::Word(clean(&row.name)), Cell::Number(grouped(row.amount.into()))];
    if let Some(of) = of {
        let share = if of > 0 { row.amount as f64 / of as f64 } else { 0.0 };
        cells.push(Cell::Number(format!("{:.1} %", 100.0 * share)));
    }
    cells.extend([rate, Cell::Part(speed.map(|(_, busy)| busy))]);
    cells.push(match row.held {
        Held::Size(size) => Cell::Number(compact(size)),
        Held::Range(from, to) if from < to => {
            Cell::Number(format!("{}–{}", compact(from as f64), compact(to as f64)))
        }
        Held::Range(..) => Cell::Number(String::new()),
    });
    cells
}

/// The newest notes, a line each.
fn notes(all: &[String], (columns, most): Size) -> Vec<Line> {
    let newest = &all[all.len().saturating_sub(most)..];
    let line = |note: &String| {
        let paint = if note.contains("warning: ") { Paint::Warning } else { Paint::Plain };
        Line::of(cut(&clean(note), columns), paint)
    };
    newest.iter().map(line).collect()
}
