//! Checks the laws of leases after every move, from outside the protocol.

use super::bits::Bits;
use super::lease_model::LeaseModel;
use pleach_core::lease::{Content, HoldingId, Lease, LeaseMessage, ProgressReport};
use pleach_core::search::tree::Solution;

impl LeaseModel {
    /// The units that a name stands for.
    fn units(&self, held: HoldingId) -> Result<u8, String> {
        match held {
            None => Ok(self.units),
            Some(lease) => self.names.get(&lease).copied().ok_or(format!("{lease:?} is unknown")),
        }
    }

    /// A progress report must divide the work that its name stands for: nothing missing, nothing twice.
    fn divides(
        &self,
        held: HoldingId,
        progress_report: &ProgressReport<Bits>,
    ) -> Result<(), String> {
        let content = progress_report.content;
        let (mut seen, mut twice) = (content.all(), content.twice | content.done & content.open);
        for (&lease, rec) in &progress_report.subs {
            let units = self.units(Some(lease))?;
            twice |= seen & units;
            seen |= units;
            self.divides(Some(lease), &ProgressReport::of(*rec.given))?;
            if rec.given.done != 0 {
                return Err(format!("{lease:?} was given although part of it is done: {rec:?}"));
            }
            if let Some(latest) = &rec.latest {
                self.divides(Some(lease), latest)?;
            }
        }
        if twice != 0 || seen != self.units(held)? {
            return Err(format!(
                "a progress report of {held:?} does not divide it: {progress_report:?}"
            ));
        }
        Ok(())
    }

    /// If the optimum counts as done, its solution must be known.
    fn has_solution(
        &self,
        progress_report: &ProgressReport<Bits>,
        best: Option<&Solution>,
    ) -> Result<(), String> {
        let planned = best.is_some_and(|best| !best.solution.is_empty());
        if does(progress_report, self.optimum()) && !planned && !self.cutoff {
            return Err("the optimum is done but its solution is missing".into());
        }
        Ok(())
    }

    /// Checks all laws for everything that any site holds or says.
    pub(super) fn judge(&self) -> Result<(), String> {
        for process in self.processes.iter().flatten() {
            let best = process.site.best();
            for holding in process.site.holdings() {
                let mut whole = holding.part().clone();
                if process.in_hand == Some(holding.held()) {
                    whole.content.add(&process.hand);
                }
                self.divides(holding.held(), &whole)?;
                self.has_solution(&whole, best)?;
            }
            if let Some((held, progress_report)) = &process.cut {
                self.divides(*held, progress_report)?;
                self.has_solution(progress_report, best)?;
            }
        }
        for packet in &self.in_flight {
            match &packet.message {
                LeaseMessage::Work { lease, content, .. } => {
                    self.divides(Some(*lease), &ProgressReport::of(*content))?;
                }
                LeaseMessage::Commit { lease, progress_report, best }
                | LeaseMessage::Return { lease, progress_report, best } => {
                    self.divides(Some(*lease), progress_report)?;
                    self.has_solution(progress_report, best.as_ref())?;
                }
                _ => {}
            }
        }
        if let Some((progress_report, best)) = &self.file {
            self.divides(None, progress_report)?;
            self.has_solution(progress_report, best.as_ref())?;
        }
        Ok(())
    }

    /// Whether the search has ended; fails if it ended wrongly.
    pub(super) fn over(&self) -> Result<bool, String> {
        self.ends_rightly(self.places)?;
        self.ends_rightly(0)
    }

    /// Whether the root at this place has ended; fails if it ended wrongly.
    fn ends_rightly(&self, place: usize) -> Result<bool, String> {
        let root = self.processes.get(place).and_then(Option::as_ref);
        let Some(root) = root.filter(|root| root.site.finished()) else { return Ok(false) };
        let done = root.site.holding(None).map_or(0, |whole| whole.part().content.done);
        if done != self.units {
            return Err(format!("the search ended with the units {done:#b} done"));
        }
        if root.site.best().is_none_or(|best| best.solution.is_empty()) && !self.cutoff {
            return Err("the search ended without the solution".into());
        }
        Ok(true)
    }

    /// Whether a living site, or the file, lists a lease at any depth.
    pub(super) fn is_listed(&self, lease: Lease) -> bool {
        let holdings = self.processes.iter().flatten().flat_map(|process| process.site.holdings());
        let file = self.file.iter().filter(|_| self.processes[0].is_none()).map(|(whole, _)| whole);
        holdings.map(|holding| holding.part()).chain(file).any(|part| lists(part, lease))
    }
}

fn lists(progress_report: &ProgressReport<Bits>, lease: Lease) -> bool {
    progress_report.nested().any(|(sub, _)| sub == lease)
}

fn does(progress_report: &ProgressReport<Bits>, unit: u8) -> bool {
    progress_report.content.done & unit != 0
        || progress_report.nested().any(|(_, rec)| rec.content().done & unit != 0)
}
