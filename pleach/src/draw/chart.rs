//! [`Chart`]: values of several series over numbers or names, as lines or bars, with published values alongside.

use super::axis::{Scale, corner, levels, mark_text};
use super::svg::{Anchor, Svg, escaped};
use crate::report::columns::digits;

/// The whole picture, and the margins around the part that shows data.
const SIZE: (f64, f64) = (860.0, 520.0);
const LEFT: f64 = 78.0;
const TOP: f64 = 56.0;
const RIGHT: f64 = 230.0;
const BOTTOM: f64 = 64.0;
/// The height of a row of labels below the axis, and the maximum number of rows of names.
const ROW: f64 = 14.0;
const MOST_ROWS: usize = 3;
/// From this ratio of the largest to the least value on, a scale is logarithmic.
const WIDE: f64 = 8.0;
/// Colours that are distinct even without telling red from green.
const COLOURS: [&str; 8] =
    ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000", "#999999"];
/// The colour of ideal values.
const IDEAL: &str = "#777";
/// The maximum number of points on a line that are marked individually.
const MOST_MARKED: usize = 60;
/// The fraction of a group's width that its bars take.
const FILLED: f64 = 0.8;

/// What to draw.
#[derive(Default)]
pub struct Chart {
    pub title: String,
    /// A smaller line below the title.
    pub below: String,
    /// The names of the axes and of what distinguishes the series.
    pub x_name: String,
    pub y_name: String,
    pub series_name: String,
    /// The values on the horizontal axis.
    pub places: Vec<String>,
    pub series: Vec<Series>,
    /// The best possible values by place, if known; bars do not show them.
    pub ideal: Vec<(usize, f64)>,
    /// Whether values are fractions of a whole.
    pub parts: bool,
    /// Whether to draw bars instead of lines.
    pub bars: bool,
    /// Whether equal steps on the vertical axis stand for equal factors.
    pub log: bool,
    /// Whether lines are steps: each value holds up to the next place. The horizontal axis then has round marks.
    pub steps: bool,
}

/// One line, or the bars of one colour.
#[derive(Default)]
pub struct Series {
    pub name: String,
    /// Place, value and spread.
    pub points: Vec<(usize, f64, f64)>,
    /// Published values by place.
    pub published: Vec<(usize, f64)>,
}

impl Series {
    /// The one of several that has this name; it is added if it is new.
    pub fn of<'s>(all: &'s mut Vec<Self>, name: &str) -> &'s mut Self {
        let known = all.iter().position(|series| series.name == name);
        let known = known.unwrap_or_else(|| {
            all.push(Self { name: name.into(), ..Self::default() });
            all.len() - 1
        });
        &mut all[known]
    }
}

/// The scales of a chart.
struct Scales {
    x: Scale,
    y: Scale,
    /// The position of each place on the horizontal scale.
    at: Vec<f64>,
    /// The row of each place's label; none if there is no room for it.
    rows: Vec<Option<usize>>,
    /// The height of further rows of labels.
    extra: f64,
}

impl Chart {
    /// The chart as SVG.
    pub fn draw(&self) -> String {
        let scales = self.scales();
        let mut svg = Svg::new(SIZE.0, SIZE.1);
        svg.text((LEFT, 24.0), Anchor::Start, "font-size=\"15\"", &self.title);
        svg.text((LEFT, 42.0), Anchor::Start, "fill=\"#555\"", &self.below);
        self.axes(&mut svg, &scales);
        self.draw_ideal(&mut svg, &scales);
        for (i, series) in self.series.iter().enumerate() {
            let colour = COLOURS[i % COLOURS.len()];
            if self.bars {
                self.bars(&mut svg, (i, series), colour, &scales);
            } else {
                self.line(&mut svg, series, colour, dash(i), &scales);
            }
        }
        // No other bar may hide them.
        for (i, series) in self.series.iter().enumerate() {
            for &(place, value) in &series.published {
                let at = (self.middle(i, place, &scales), scales.y.at(value));
                diamond(&mut svg, at, COLOURS[i % COLOURS.len()]);
            }
        }
        self.legend(&mut svg);
        svg.finish()
    }

    /// The places as numbers, if all are numbers; bars form groups of equal width instead.
    fn numbers(&self) -> Option<Vec<f64>> {
        let number = |place: &String| place.parse().ok().filter(|number: &f64| number.is_finite());
        let all = || self.places.iter().map(number).collect();
        if self.bars { None } else { all() }
    }

    fn scales(&self) -> Scales {
        let numbers = self.numbers();
        let is_numeric = numbers.is_some();
        let at = numbers.unwrap_or_else(|| (0..self.places.len()).map(|i| i as f64).collect());
        let (low_x, high_x) =
            if self.bars { (-0.5, self.places.len() as f64 - 0.5) } else { ends(&at) };
        let logarithmic = is_numeric && low_x > 0.0 && high_x / low_x >= WIDE;
        let margin = match (self.bars, logarithmic) {
            (true, _) => 0.0,
            (_, true) => 1.0,
            _ => 0.03 * (high_x - low_x).max(1e-9),
        };
        let x = Scale {
            low: if logarithmic { low_x * 0.93 } else { low_x - margin },
            high: if logarithmic { high_x * 1.07 } else { high_x + margin },
            logarithmic,
            decimals: 0,
            from: LEFT,
            to: SIZE.0 - RIGHT,
        };
        let rows = self.label_rows(&x, &at, is_numeric);
        let last = rows.iter().flatten().max().copied().unwrap_or(0);
        let extra = ROW * last as f64;
        let y = self.vertical(logarithmic, SIZE.1 - BOTTOM - extra);
        Scales { x, y, at, rows, extra }
    }

    /// The vertical scale; logarithmic if the horizontal one is, and ideal values then lie on a straight line.
    fn vertical(&self, beside_logarithmic: bool, bottom: f64) -> Scale {
        let own = self.series.iter().flat_map(|series| &series.points).map(|point| point.1);
        let published = self.series.iter().flat_map(|series| &series.published);
        let others = published.chain(self.shown_ideal()).map(|point| point.1);
        let (least, most) = ends(&own.chain(others).collect::<Vec<f64>>());
        let straight = beside_logarithmic && !self.shown_ideal().is_empty();
        let logarithmic = least > 0.0 && (self.log || (straight && most / least >= WIDE));
        let (low, high) = match (logarithmic, self.bars) {
            (false, _) => self.range(),
            (true, false) => (0.9 * least, 1.1 * most),
            // Each bar has some length.
            (true, true) => (10f64.powf((0.8 * least).log10().floor()), 1.1 * most),
        };
        Scale { low, high, logarithmic, decimals: 0, from: bottom, to: TOP }
    }

    /// The row of each place's label. Numbers can be read if some are left out; names stand in several rows.
    fn label_rows(&self, x: &Scale, at: &[f64], is_numeric: bool) -> Vec<Option<usize>> {
        let mut filled = vec![f64::MIN; if is_numeric { 1 } else { MOST_ROWS }];
        let row_of = |(label, &place): (&String, &f64)| {
            let (middle, half) = (x.at(place), 3.5 * label.chars().count() as f64 + 3.0);
            let row = filled.iter().position(|&end| middle - half >= end)?;
            filled[row] = middle + half;
            Some(row)
        };
        self.places.iter().zip(at).map(row_of).collect()
    }

    /// The ideal values that the chart shows: those of lines over numbers.
    fn shown_ideal(&self) -> &[(usize, f64)] {
        if self.numbers().is_some() { &self.ideal } else { &[] }
    }

    /// The ends of the vertical axis.
    fn range(&self) -> (f64, f64) {
        let own = self.series.iter().flat_map(|series| &series.points);
        let own = own.flat_map(|point| [point.1 - point.2, point.1 + point.2]);
        let published = self.series.iter().flat_map(|series| &series.published);
        let others = published.chain(self.shown_ideal()).map(|point| point.1);
        let values: Vec<f64> = own.chain(others).collect();
        let (low, high) = ends(&values);
        let part = self.parts && high <= 1.02;
        match (part, low.min(0.0)) {
            // If all fractions are large, lines zoom in on them; bars always start at 0.
            (true, _) if low > 0.5 && !self.bars && !self.steps => {
                (((low * 20.0).floor() / 20.0).min(0.95), 1.004)
            }
            (true, _) => (0.0, 1.02),
            (false, least) => (least, high + 0.04 * (high - least)),
        }
    }

    fn axes(&self, svg: &mut Svg, scales: &Scales) {
        let Scales { x, y, at, rows, extra } = scales;
        let whole = self.steps && !self.parts;
        let marks = if whole { y.whole_marks() } else { y.marks() };
        levels(svg, y, &marks, (x.from, x.to));
        for mark in x.marks().into_iter().filter(|_| self.steps) {
            svg.line((x.at(mark), y.from), (x.at(mark), y.from + 5.0), "#333");
            svg.text((x.at(mark), y.from + 20.0), Anchor::Middle, "", &mark_text(mark));
        }
        for ((label, &place), row) in self.places.iter().zip(at).zip(rows) {
            if self.steps {
                break;
            }
            let at = x.at(place);
            // Marks without labels are left out if there are many.
            if row.is_some() || self.places.len() <= MOST_MARKED {
                svg.line((at, y.from), (at, y.from + 5.0), "#333");
            }
            if let Some(row) = row {
                let down = y.from + 20.0 + ROW * *row as f64;
                svg.text((at, down), Anchor::Middle, "", label);
            }
        }
        corner(svg, (x.from, y.to), (x.to, y.from));
        let how = |scale: &Scale| if scale.logarithmic { " (logarithmic)" } else { "" };
        let (middle_x, middle_y) = (0.5 * (x.from + x.to), 0.5 * (y.from + y.to));
        let size = "font-size=\"13\"";
        let name = format!("{}{}", self.x_name, how(x));
        svg.text((middle_x, y.from + 44.0 + extra), Anchor::Middle, size, &name);
        let turned = format!("transform=\"translate(20 {middle_y}) rotate(-90)\" {size}");
        svg.text((0.0, 0.0), Anchor::Middle, &turned, &format!("{}{}", self.y_name, how(y)));
    }

    /// The line of the best possible values.
    fn draw_ideal(&self, svg: &mut Svg, scales: &Scales) {
        let Scales { x, y, at, .. } = scales;
        let points = self.shown_ideal().iter();
        let points =
            points.map(|&(place, value)| format!("{:.1},{:.1}", x.at(at[place]), y.at(value)));
        let points = points.collect::<Vec<_>>().join(" ");
        if !points.is_empty() {
            svg.raw(format_args!(
                "<path d=\"M{points}\" fill=\"none\" stroke=\"{IDEAL}\" stroke-dasharray=\"2 4\"/>"
            ));
        }
    }

    /// Where a value of a series stands from left to right.
    fn middle(&self, i: usize, place: usize, scales: &Scales) -> f64 {
        let width = FILLED / self.series.len().max(1) as f64;
        let aside = if self.bars { (i as f64 + 0.5) * width - 0.5 * FILLED } else { 0.0 };
        scales.x.at(scales.at[place] + aside)
    }

    fn line(&self, svg: &mut Svg, series: &Series, colour: &str, dash: &str, scales: &Scales) {
        let Scales { x, y, at, .. } = scales;
        // Names have no order, so there is nothing between them.
        let dash = if self.numbers().is_some() { dash } else { "0 1" };
        let mut path: Vec<String> = Vec::new();
        for (i, &(place, value, _)) in series.points.iter().enumerate() {
            if self.steps && i > 0 {
                let before = series.points[i - 1].1;
                path.push(format!("{:.1},{:.1}", x.at(at[place]), y.at(before)));
            }
            path.push(format!("{:.1},{:.1}", x.at(at[place]), y.at(value)));
        }
        svg.raw(format_args!(
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\" \
             stroke-dasharray=\"{dash}\"/>",
            path.join(" ")
        ));
        let marked = if series.points.len() > MOST_MARKED { &[] } else { &series.points[..] };
        for &(place, value, spread) in marked {
            let right = x.at(at[place]);
            whisker(svg, right, (value, spread), y, colour);
            svg.raw(format_args!(
                "<circle cx=\"{right:.1}\" cy=\"{:.1}\" r=\"3.5\" fill=\"{colour}\"><title>{} {}</title></circle>",
                y.at(value),
                escaped(&series.name),
                digits(value)
            ));
        }
    }

    fn bars(&self, svg: &mut Svg, (i, series): (usize, &Series), colour: &str, scales: &Scales) {
        let Scales { x, y, .. } = scales;
        let width = x.at(FILLED / self.series.len().max(1) as f64) - x.at(0.0);
        for &(place, value, spread) in &series.points {
            let middle = self.middle(i, place, scales);
            let (top, bottom) = (y.at(value.max(0.0)), y.at(value.min(0.0)));
            svg.raw(format_args!(
                "<rect x=\"{:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{:.1}\" fill=\"{colour}\" \
                 stroke=\"white\" stroke-width=\"0.5\"><title>{} {}</title></rect>",
                middle - 0.5 * width,
                bottom - top,
                escaped(&series.name),
                digits(value)
            ));
            whisker(svg, middle, (value, spread), y, "#333");
        }
    }

    fn legend(&self, svg: &mut Svg) {
        let left = SIZE.0 - RIGHT + 18.0;
        let mut top = TOP + 8.0;
        let named = |series: &Series| !series.name.is_empty();
        if self.series.iter().any(named) {
            svg.text((left, top), Anchor::Start, "fill=\"#555\"", &self.series_name);
            top += 20.0;
        }
        for (i, series) in self.series.iter().enumerate().filter(|(_, series)| named(series)) {
            let (colour, line) = (COLOURS[i % COLOURS.len()], top - 4.0);
            if self.bars {
                let corner = top - 11.0;
                svg.raw(format_args!(
                    "<rect x=\"{left}\" y=\"{corner:.1}\" width=\"22\" height=\"12\" fill=\"{colour}\"/>"
                ));
            } else {
                svg.raw(format_args!(
                    "<path d=\"M{left},{line:.1} h22\" stroke=\"{colour}\" stroke-width=\"2\" \
                     stroke-dasharray=\"{}\"/><circle cx=\"{}\" cy=\"{line:.1}\" r=\"3.5\" fill=\"{colour}\"/>",
                    dash(i),
                    left + 11.0
                ));
            }
            svg.text((left + 30.0, top), Anchor::Start, "", &series.name);
            top += 20.0;
        }
        if !self.shown_ideal().is_empty() {
            let line = top - 4.0;
            svg.raw(format_args!(
                "<path d=\"M{left},{line:.1} h22\" stroke=\"{IDEAL}\" stroke-dasharray=\"2 4\"/>"
            ));
            svg.text((left + 30.0, top), Anchor::Start, "", "ideal");
            top += 20.0;
        }
        if self.series.iter().any(|series| !series.published.is_empty()) {
            diamond(svg, (left + 11.0, top - 4.0), "#333");
            svg.text((left + 30.0, top), Anchor::Start, "", "published");
        }
    }
}

/// Every other line is dashed, so that lines on top of each other stay visible.
fn dash(i: usize) -> &'static str {
    ["none", "7 5"][i % 2]
}

/// The spread around a value.
fn whisker(svg: &mut Svg, right: f64, (value, spread): (f64, f64), y: &Scale, colour: &str) {
    if spread > 0.0 {
        let (above, below) = (y.at(value + spread), y.at(value - spread));
        svg.raw(format_args!(
            "<path d=\"M{right:.1},{above:.1} V{below:.1}\" stroke=\"{colour}\"/>"
        ));
    }
}

/// A published value, with a white edge so that it stands out from bars and lines.
fn diamond(svg: &mut Svg, (right, down): (f64, f64), colour: &str) {
    svg.raw(format_args!(
        "<path d=\"M{right:.1},{:.1} l8,8 l-8,8 l-8,-8 z\" fill=\"white\"/>\
         <path d=\"M{right:.1},{:.1} l5,5 l-5,5 l-5,-5 z\" fill=\"white\" stroke=\"{colour}\" stroke-width=\"1.6\"/>",
        down - 8.0,
        down - 5.0
    ));
}

/// The least and the greatest of some values, always distinct.
fn ends(values: &[f64]) -> (f64, f64) {
    let finite = || values.iter().copied().filter(|value| value.is_finite());
    let (low, high) = (finite().fold(f64::MAX, f64::min), finite().fold(f64::MIN, f64::max));
    if low > high {
        (0.0, 1.0)
    } else if low == high {
        (low - 0.5 * low.abs().min(1.0), high + 0.5 * high.abs().max(1.0))
    } else {
        (low, high)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chart(bars: bool) -> Chart {
        let series = |name: &str, value: f64| Series {
            name: name.into(),
            points: vec![(0, value, 0.1), (1, 2.0 * value, 0.0)],
            published: vec![(1, 3.0)],
        };
        Chart {
            title: "a < b".into(),
            below: String::new(),
            x_name: "peers".into(),
            y_name: "time".into(),
            series_name: "balance".into(),
            places: vec!["1".into(), "16".into()],
            series: vec![series("one", 1.0), series("two", 2.0)],
            bars,
            ..Chart::default()
        }
    }

    #[test]
    fn lines_have_a_point_and_bars_a_rectangle_for_each_value() {
        let (lines, bars) = (chart(false).draw(), chart(true).draw());
        assert_eq!(lines.matches("<circle").count(), 4 + 2, "four points, two in the legend");
        assert_eq!(lines.matches("<polyline").count(), 2);
        assert_eq!(bars.matches("<rect").count(), 1 + 4 + 2, "the page, four bars, the legend");
        for svg in [lines, bars] {
            assert!(svg.contains("a &lt; b") && svg.contains("published"));
            assert_eq!(svg.matches(" l5,5 ").count(), 3, "two published values and the legend");
        }
    }

    #[test]
    fn parts_that_are_all_large_are_enlarged() {
        let part = |value| Chart {
            parts: true,
            series: vec![Series {
                points: vec![(0, value, 0.0), (1, value + 0.01, 0.0)],
                ..Series::default()
            }],
            ..chart(false)
        };
        assert_eq!(part(0.97).range(), (0.95, 1.004));
        assert_eq!(part(0.3).range(), (0.0, 1.02));
    }

    #[test]
    fn ideal_values_are_on_a_straight_line() {
        let speed_up = |ideal: &[f64]| Chart {
            places: ["1", "4", "16"].map(String::from).to_vec(),
            ideal: ideal.iter().copied().enumerate().collect(),
            ..chart(false)
        };
        let scales = speed_up(&[1.0, 4.0, 16.0]).scales();
        assert!(scales.x.logarithmic && scales.y.logarithmic);
        let slope = |from: f64, to: f64| {
            (scales.y.at(to) - scales.y.at(from)) / (scales.x.at(to) - scales.x.at(from))
        };
        assert!((slope(1.0, 4.0) / slope(4.0, 16.0) - 1.0).abs() < 1e-9);
        assert!(speed_up(&[1.0, 4.0, 16.0]).draw().contains(">ideal<"));
        // Values of one size need no logarithmic axis.
        assert!(!speed_up(&[1.0, 1.1, 1.2]).scales().y.logarithmic);
        assert!(!chart(true).draw().contains(">ideal<"));
    }

    #[test]
    fn bars_of_very_different_size_are_seen_on_a_logarithmic_axis() {
        let series = |value| Series { points: vec![(0, value, 0.0)], ..Series::default() };
        let bars = |log| Chart {
            series: vec![series(6e9), series(9e7)],
            places: vec!["16".into()],
            log,
            ..chart(true)
        };
        let height = |log: bool| {
            let y = bars(log).scales().y;
            y.from - y.at(9e7)
        };
        assert!(height(false) < 10.0 && height(true) > 100.0);
        assert!(bars(true).draw().contains("(logarithmic)"));
    }

    #[test]
    fn names_that_do_not_fit_in_one_row_stand_in_several() {
        let names = (0..10).map(|i| format!("a long name, {i}"));
        let bars = Chart { places: names.collect(), ..chart(true) };
        let svg = bars.draw();
        assert!((0..10).all(|i| svg.contains(&format!("a long name, {i}<"))), "{svg}");
        let rows = bars.scales().rows;
        assert_eq!(rows[..4], [Some(0), Some(1), Some(0), Some(1)]);
    }

    /// A diamond comes after all bars and has a white edge.
    #[test]
    fn published_values_are_in_front_of_bars() {
        let svg = chart(true).draw();
        let (bar, diamond) = (svg.rfind("<title>").unwrap(), svg.find(" l5,5 ").unwrap());
        assert!(bar < diamond);
        assert_eq!(svg.matches(" l8,8 ").count(), 3);
    }
}
