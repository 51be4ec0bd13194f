//! Pictures as SVG: Gantt charts, searches over time, and charts of simulations.

pub mod axis;
pub mod chart;
pub mod gantt;
pub mod over_time;
mod phases;
pub mod svg;
