//! The results of commands as JSON: one schema, by which they are written and read.

mod loops;
mod number;
mod read;
mod run;
mod simulation;
mod trace;

pub use crate::provenance::VERSION;
pub use loops::{LoopData, PartData, SplitData};
pub use number::{JsonInteger, JsonNumber, Seconds, checked};
pub use read::{in_short, read};
pub use run::{
    BalanceData, NodesData, PhasesData, RepeatsData, RunData, SiteData, SpreadData, TrialData,
    WorkerData, how_ended, is_thread,
};
pub use simulation::{CellData, DepthData, FigureData, Paper, SimulationData};
pub use trace::{MomentData, TraceData, TracedWorker};
