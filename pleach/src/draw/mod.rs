//! Pictures as SVG: Gantt charts, searches over time, charts of simulations; and pages to hold them.

pub mod axis;
pub mod chart;
pub mod gantt;
pub mod lanes;
pub mod over_time;
pub mod page;
mod phases;
pub mod shares;
pub mod svg;
