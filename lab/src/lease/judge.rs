//! The laws that are checked after every move, from outside the protocol.

use super::bits::Bits;
use super::room::Room;
use pleach_core::lease::{Certificate, Content, Held, Lease, LeaseMessage};
use pleach_core::search::tree::Solution;

impl Room {
    /// The units that a name stands for.
    fn units(&self, held: Held) -> Result<u8, String> {
        match held {
            None => Ok(self.all()),
            Some(lease) => {
                self.names.get(&lease).copied().ok_or(format!("{lease:?} names nothing"))
            }
        }
    }

    /// A certificate must divide what its name stands for: nothing missing, nothing twice.
    fn divides(&self, held: Held, certificate: &Certificate<Bits>) -> Result<(), String> {
        let content = certificate.content;
        let (mut seen, mut twice) = (content.all(), content.twice | content.done & content.open);
        for (&lease, rec) in &certificate.subs {
            let units = self.units(Some(lease))?;
            twice |= seen & units;
            seen |= units;
            self.divides(Some(lease), &Certificate::of(*rec.given))?;
            if rec.given.done != 0 {
                return Err(format!("{lease:?} was given with something done: {rec:?}"));
            }
            if let Some(heard) = &rec.heard {
                self.divides(Some(lease), heard)?;
            }
        }
        if twice != 0 || seen != self.units(held)? {
            return Err(format!("a certificate of {held:?} does not divide it: {certificate:?}"));
        }
        Ok(())
    }

    /// Where the optimum counts as done, its solution must be at hand.
    fn has_plan(
        &self,
        certificate: &Certificate<Bits>,
        best: Option<&Solution>,
    ) -> Result<(), String> {
        let planned = best.is_some_and(|best| !best.plan.is_empty());
        if does(certificate, self.optimum()) && !planned && !self.cutoff {
            return Err("the optimum is done, and its solution is not there".into());
        }
        Ok(())
    }

    /// All laws, about everything that anybody holds or says.
    pub(super) fn judge(&self) -> Result<(), String> {
        for seat in self.seats.iter().flatten() {
            let best = seat.site.best();
            for holding in seat.site.holdings() {
                let mut whole = holding.part().clone();
                if seat.in_hand == Some(holding.held()) {
                    whole.content.add(&seat.hand);
                }
                self.divides(holding.held(), &whole)?;
                self.has_plan(&whole, best)?;
            }
            if let Some((held, certificate)) = &seat.cut {
                self.divides(*held, certificate)?;
                self.has_plan(certificate, best)?;
            }
        }
        for packet in &self.mail {
            match &packet.message {
                LeaseMessage::Work { lease, content, .. } => {
                    self.divides(Some(*lease), &Certificate::of(*content))?;
                }
                LeaseMessage::Commit { lease, certificate, best }
                | LeaseMessage::Return { lease, certificate, best } => {
                    self.divides(Some(*lease), certificate)?;
                    self.has_plan(certificate, best.as_ref())?;
                }
                _ => {}
            }
        }
        if let Some((certificate, best)) = &self.file {
            self.divides(None, certificate)?;
            self.has_plan(certificate, best.as_ref())?;
        }
        Ok(())
    }

    /// Whether the search is over, and rightly so.
    pub(super) fn over(&self) -> Result<bool, String> {
        let Some(root) = self.seats[0].as_ref().filter(|root| root.site.finished()) else {
            return Ok(false);
        };
        let done = root.site.holding(None).map_or(0, |whole| whole.part().content.done);
        if done != self.all() {
            return Err(format!("the search ends with the units {done:#b} done"));
        }
        if root.site.best().is_none_or(|best| best.plan.is_empty()) && !self.cutoff {
            return Err("the search ends without the solution".into());
        }
        Ok(true)
    }

    /// Whether a site that lives, or the file, lists a lease at any depth.
    pub(super) fn is_listed(&self, lease: Lease) -> bool {
        let holdings = self.seats.iter().flatten().flat_map(|seat| seat.site.holdings());
        let file = self.file.iter().filter(|_| self.seats[0].is_none()).map(|(whole, _)| whole);
        holdings.map(|holding| holding.part()).chain(file).any(|part| lists(part, lease))
    }
}

fn lists(certificate: &Certificate<Bits>, lease: Lease) -> bool {
    certificate.nested().any(|(sub, _)| sub == lease)
}

fn does(certificate: &Certificate<Bits>, unit: u8) -> bool {
    certificate.content.done & unit != 0
        || certificate.nested().any(|(_, rec)| rec.content().done & unit != 0)
}
