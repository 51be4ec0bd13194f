//! [`Explorer`], which the engine drives.

use crate::search::found::{Counts, Solution, WrongBound};
use crate::search::work::{Malformed, Work};
use std::borrow::Borrow;
use std::sync::Arc;

/// The result of a stretch of exploring.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Progress {
    /// What was counted.
    pub counts: Counts,
    /// The fuel used: one for each child made, and one for each node that made none.
    pub used: u64,
    /// The best solution of the stretch, if it beats the incumbent.
    pub found: Option<Solution>,
    /// A bound that turned out to be wrong: the search no longer proves anything.
    pub fault: Option<WrongBound>,
}

impl Progress {
    /// Adds the result of the next stretch.
    pub fn add(&mut self, later: Progress) {
        self.counts.add(&later.counts);
        self.used += later.used;
        self.found = later.found.or(self.found.take());
        self.fault = self.fault.or(later.fault);
    }
}

/// A search that can be run for a while, split and fed.
///
/// The layout of its work is its own. Work that enters or leaves it is canonical, so that explorers of different kinds
/// can exchange it. The laws are in [`crate::search::laws`].
pub trait Explorer: Send {
    /// Adds work. If it is malformed, the work that is already here stays.
    fn add_work(&mut self, work: &[u8]) -> Result<(), Malformed>;

    /// Open nodes, or leaves below them where work is intervals: 0 without work, at least 2 if a split can give
    /// something.
    fn size(&self) -> f64;

    /// Open nodes in memory. Memory grows with these, even where sizes count something else.
    fn open_nodes(&self) -> f64 {
        self.size()
    }

    /// The least bound over all open nodes.
    fn least_bound(&self) -> Option<i64>;

    /// The part of the whole tree that is open here, if known.
    fn open_share(&self) -> Option<f64>;

    /// Explores about `fuel` nodes, fewer if the work ends or a solution is found.
    ///
    /// Nodes whose bound is `best` or more are dropped.
    fn run(&mut self, fuel: u64, best: i64) -> Progress;

    /// Splits off a share of the work. Where that takes time, as on a device, it may give nothing at first.
    fn split(&mut self, share: f64) -> Option<Work>;

    /// Memory is short: from now on, keeps no more open nodes than it has, apart from those on paths down. A search
    /// that is always depth first has nothing to change.
    fn go_deep(&mut self) {}

    /// Hands over all work.
    fn drain(&mut self) -> Work;

    /// Whether [`Explorer::trim`] is supported, as it is where work is intervals.
    fn trims(&self) -> bool {
        false
    }

    /// Drops the leaves that are also in other work.
    ///
    /// # Errors
    /// If the bytes are not such work, or this kind of work cannot be compared.
    fn trim(&mut self, _away: &[u8]) -> Result<(), Malformed> {
        Err(Malformed::Range)
    }

    /// A copy of what [`Explorer::drain`] would return, for a snapshot of a run that continues.
    fn copy(&mut self) -> Work {
        let all = self.drain();
        self.add_work(&all.bytes).expect("an explorer takes its own work back");
        all
    }
}

/// How many pieces are joined at a time.
const GROUP: usize = 8;

/// Joins pieces of work into one, with an explorer that has no work, and has none afterwards. Does not read a piece
/// that is the only one.
///
/// An explorer keeps its nodes in order, so adding pieces one by one takes time in proportion to pieces × nodes. Joining
/// them in groups, and those again in groups, takes nodes × log(pieces).
///
/// # Errors
/// If a piece is malformed, or overlaps with another one.
pub fn joined(
    explorer: &mut dyn Explorer,
    pieces: &[impl Borrow<Work>],
) -> Result<Work, Malformed> {
    if let [alone] = pieces {
        return Ok(alone.borrow().clone());
    }
    let mut left = in_groups(explorer, pieces)?;
    while left.len() > 1 {
        left = in_groups(explorer, &left)?;
    }
    Ok(left.pop().unwrap_or_else(|| explorer.drain()))
}

fn in_groups(
    explorer: &mut dyn Explorer,
    pieces: &[impl Borrow<Work>],
) -> Result<Vec<Work>, Malformed> {
    let mut join = |group: &[_]| {
        group
            .iter()
            .try_for_each(|piece| explorer.add_work(&Borrow::<Work>::borrow(piece).bytes))?;
        Ok(explorer.drain())
    };
    pieces.chunks(GROUP).map(&mut join).collect()
}

/// Checks pieces of work from elsewhere, with an explorer that has no work, and has none afterwards: that they can be
/// read and, where work is intervals, that they share no leaves, and lie within what was `given` if that is known.
/// Where work is open nodes, there is no cheap way to tell whether one lies below another.
///
/// # Errors
/// If a piece is malformed, overlaps with another one, or exceeds what was given.
pub fn check_division(
    explorer: &mut dyn Explorer,
    pieces: &[&Work],
    given: Option<&[Arc<Work>]>,
) -> Result<(), Malformed> {
    let checked = if explorer.trims() {
        divide(explorer, pieces, given)
    } else {
        pieces.iter().try_for_each(|piece| {
            explorer.add_work(&piece.bytes)?;
            explorer.drain();
            Ok(())
        })
    };
    explorer.drain();
    checked
}

/// As [`check_division`], for work that can be trimmed. May leave work in the explorer.
fn divide(
    explorer: &mut dyn Explorer,
    pieces: &[&Work],
    given: Option<&[Arc<Work>]>,
) -> Result<(), Malformed> {
    let given = given.map(|given| joined(explorer, given)).transpose()?;
    let all = joined(explorer, pieces)?;
    explorer.add_work(&all.bytes)?;
    let Some(given) = given else { return Ok(()) };
    explorer.trim(&given.bytes)?;
    if explorer.size() == 0.0 { Ok(()) } else { Err(Malformed::Range) }
}
