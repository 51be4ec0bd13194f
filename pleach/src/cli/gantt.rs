//! A schedule as a picture: machines from top to bottom, time from left to right.

use pleach_problems::flowshop::instance::Instance;
use std::fmt::Write;

/// Width of the part that shows time, and height of a machine's row.
const WIDTH: f64 = 1600.0;
const ROW: f64 = 30.0;
/// Room for the names of machines, for the title, and for the scale of time.
const LEFT: f64 = 60.0;
const TOP: f64 = 40.0;
const BOTTOM: f64 = 40.0;
/// A bar narrower than this has no room for a number.
const NUMBERED: f64 = 15.0;

/// Draws a schedule as SVG.
pub fn draw(name: &str, instance: &Instance, order: &[u16]) -> String {
    let ends = instance.ends(order);
    let makespan = instance.makespan(order);
    let scale = WIDTH / f64::from(makespan.max(1));
    let machines = instance.machines();
    let (width, height) = (LEFT + WIDTH + 20.0, TOP + ROW * machines as f64 + BOTTOM);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         width=\"{width}\" height=\"{height}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n\
         <text x=\"{LEFT}\" y=\"24\" font-size=\"16\">{}: {} jobs on {machines} machines, makespan \
         {makespan}</text>\n",
        escaped(name),
        order.len(),
    );
    axis(&mut svg, makespan, scale, TOP + ROW * machines as f64);
    for k in 0..machines {
        let row = |(ends, &job): (&Vec<u32>, &u16)| (ends[k], instance.job(job.into())[k], job);
        let y = TOP + ROW * k as f64;
        let _ = writeln!(
            svg,
            "<text x=\"{}\" y=\"{}\" text-anchor=\"end\">M{}</text>",
            LEFT - 8.0,
            y + ROW * 0.65,
            k + 1
        );
        for (end, time, job) in ends.iter().zip(order).map(row) {
            let start = f64::from(end - time);
            bar(&mut svg, LEFT + start * scale, y + 2.0, f64::from(time) * scale, job, order.len());
        }
    }
    svg += "</svg>";
    svg
}

/// One operation: a bar in its job's colour, its number where there is room, and words on hovering.
fn bar(svg: &mut String, x: f64, y: f64, width: f64, job: u16, jobs: usize) {
    if width <= 0.0 {
        return;
    }
    // Colours of neighbours in number lie far apart on the circle.
    let hue = (f64::from(job) * 137.508) % 360.0;
    let light = if jobs > 40 && job % 2 == 1 { 62 } else { 74 };
    let height = ROW - 4.0;
    let _ = write!(
        svg,
        "<rect x=\"{x:.2}\" y=\"{y:.1}\" width=\"{width:.2}\" height=\"{height:.0}\" \
         fill=\"hsl({hue:.0},60%,{light}%)\" stroke=\"white\" stroke-width=\"0.6\">\
         <title>job {}</title></rect>",
        job + 1
    );
    if width >= NUMBERED {
        let _ = write!(
            svg,
            "<text x=\"{:.2}\" y=\"{:.1}\" text-anchor=\"middle\" font-size=\"11\">{}</text>",
            x + width / 2.0,
            y + height * 0.65,
            job + 1
        );
    }
    svg.push('\n');
}

/// The scale of time below the rows: a round step, about ten of them.
fn axis(svg: &mut String, makespan: u32, scale: f64, bottom: f64) {
    let rough = f64::from(makespan.max(1)) / 10.0;
    let decade = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|n| n * decade).into_iter().find(|&step| step >= rough);
    let step = step.unwrap_or(rough).max(1.0);
    let mut at = 0.0;
    while at <= f64::from(makespan) {
        let x = LEFT + at * scale;
        let _ = writeln!(
            svg,
            "<line x1=\"{x:.2}\" y1=\"{TOP}\" x2=\"{x:.2}\" y2=\"{bottom}\" stroke=\"#ddd\"/>\
             <text x=\"{x:.2}\" y=\"{}\" text-anchor=\"middle\">{at}</text>",
            bottom + 18.0
        );
        at += step;
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
