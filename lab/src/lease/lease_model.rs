//! [`LeaseModel`]: a few sites, the messages between them and the root's file, as one comparable state.

use super::bits::Bits;
use crate::fingerprints::fingerprint;
use pleach_core::lease::{
    Content, Holding, HoldingId, Lease, LeaseAction, LeaseMessage, LeaseMutant, ProgressReport,
    Site, SiteId,
};
use pleach_core::search::tree::Solution;
use std::collections::{BTreeMap, BTreeSet};

/// Which events may happen in a model, and how often.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Budget {
    /// Work given by one site to another.
    pub gives: u8,
    /// Progress reports sent or written to the file, besides those that somebody asked for.
    pub commits: u8,
    /// Sites that join later.
    pub joins: u8,
    /// Sites that leave in an orderly way.
    pub leaves: u8,
    /// Sites that die, other than the root.
    pub deaths: u8,
    /// Deaths of the root, once it has written its file.
    pub root_deaths: u8,
    /// Roots that start another run after a death of the root, whether or not there is a file. The first run has the
    /// optimum as its value to beat, so that nobody finds it there; the next one has no such value.
    pub restarts: u8,
    /// Standbys that take the root's place, once it has written its file, although it is alive: it continues, and any
    /// message to the root may reach either of them.
    pub takeovers: u8,
    /// Leases and waits that time out although nobody is dead.
    pub suspicions: u8,
    /// Messages lost.
    pub losses: u8,
    /// Messages that arrive twice.
    pub doubles: u8,
    /// Whether each pair of sites exchanges messages in the order in which they were sent.
    pub ordered: bool,
    /// Whether sites report as little as they may: of work lent to others, only how it was given.
    pub trims: bool,
}

/// A message on its way.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct InFlight {
    pub from: SiteId,
    pub to: SiteId,
    pub message: LeaseMessage<Bits>,
}

/// A process: its site, and its units as one set of work.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Process {
    pub site: Site<Bits>,
    /// What the workers hold, and which holding it belongs to.
    pub hand: Bits,
    pub in_hand: Option<HoldingId>,
    /// A progress report that was taken but not sent yet.
    pub cut: Option<(HoldingId, ProgressReport<Bits>)>,
    /// Lenders that asked and wait for a progress report.
    pub owed: BTreeSet<Lease>,
    /// Whether its workers prune by a value to beat whose solution nobody knows.
    cutoff: bool,
}

/// The state of the whole model.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct LeaseModel {
    /// The processes by their places. Behind the last place is a root whose place a standby has taken.
    pub processes: Vec<Option<Process>>,
    pub places: usize,
    pub in_flight: Vec<InFlight>,
    pub file: Option<(ProgressReport<Bits>, Option<Solution>)>,
    /// The work that each name stands for.
    pub names: BTreeMap<Lease, u8>,
    pub units: u8,
    /// Units done at least once, unless there was a fault.
    done: u8,
    pub faulty: bool,
    started: u64,
    /// Whether the run has a value to beat whose solution nobody knows.
    pub cutoff: bool,
    pub left: Budget,
    pub mutant: LeaseMutant,
}

impl LeaseModel {
    /// A model with places for sites, the first few of them taken, in which the root holds all the work.
    pub fn new(
        places: usize,
        present: usize,
        units: u32,
        left: Budget,
        mutant: LeaseMutant,
    ) -> Self {
        let mut model = Self {
            processes: vec![None; places + usize::from(left.takeovers > 0)],
            places,
            in_flight: Vec::new(),
            file: None,
            names: BTreeMap::new(),
            units: ((1_u16 << units) - 1) as u8,
            done: 0,
            faulty: false,
            started: 0,
            cutoff: left.restarts > 0,
            left,
            mutant,
        };
        let whole = ProgressReport::of(Bits::open(model.units));
        let incarnation = model.incarnation();
        model.processes[0] = Some(model.process(Site::root(0, incarnation, whole, None)));
        (1..present).for_each(|place| model.join(place));
        model
    }

    /// The unit whose completion finds the solution: the last one, because it is given away most often.
    pub fn optimum(&self) -> u8 {
        self.units ^ (self.units >> 1)
    }

    fn incarnation(&mut self) -> u64 {
        self.started += u64::from(self.mutant != LeaseMutant::NoIncarnations);
        self.started
    }

    fn process(&self, mut site: Site<Bits>) -> Process {
        #[cfg(test)]
        {
            site.mutant = self.mutant;
        }
        if self.left.trims {
            site.set_max_report_bytes(0);
        }
        let (hand, owed) = (Bits::default(), BTreeSet::new());
        Process { site, hand, in_hand: None, cut: None, owed, cutoff: self.cutoff }
    }

    /// A new process takes a place.
    pub fn join(&mut self, place: usize) {
        let incarnation = self.incarnation();
        self.processes[place] = Some(self.process(Site::new(place as SiteId, incarnation)));
    }

    /// A site takes a place, whatever it holds.
    #[cfg(test)]
    pub fn place_site(&mut self, place: usize, site: Site<Bits>) {
        self.processes[place] = Some(self.process(site));
    }

    /// A new process resumes from the file.
    pub fn resume(&mut self) -> Result<(), String> {
        let (whole, best) = self.file.clone().ok_or("there is no file to resume from")?;
        let incarnation = self.incarnation();
        let process = self.process(Site::root(0, incarnation, whole, best));
        let mut actions = Vec::new();
        process.site.adopt_all(&mut actions);
        self.processes[0] = Some(process);
        self.carry_out(0, actions)
    }

    /// A standby takes the place of the root, which stays alive.
    pub fn take_over(&mut self) -> Result<(), String> {
        self.processes[self.places] = self.processes[0].take();
        self.resume()
    }

    /// A new process starts another run. All connections are broken, and a site that comes back starts over.
    pub fn restart(&mut self) {
        self.cutoff = false;
        self.in_flight.clear();
        self.file = None;
        let incarnation = self.incarnation();
        let whole = ProgressReport::of(Bits::open(self.units));
        self.processes[0] = Some(self.process(Site::root(0, incarnation, whole, None)));
        self.processes.truncate(self.places);
        for place in 1..self.places {
            if self.processes[place].is_some() && self.mutant != LeaseMutant::ContinuesOtherRuns {
                self.join(place);
            }
        }
    }

    /// The number of the site at this place: two roots have the same.
    fn site_at(&self, place: usize) -> SiteId {
        if place == self.places { 0 } else { place as SiteId }
    }

    /// The process at this place.
    pub fn at(&mut self, place: usize) -> Result<&mut Process, String> {
        self.processes[place].as_mut().ok_or(format!("there is no process at {place}"))
    }

    /// Calls a site and carries out the actions it returns.
    pub fn act(
        &mut self,
        place: usize,
        act: impl FnOnce(&mut Site<Bits>, &mut Vec<LeaseAction<Bits>>),
    ) -> Result<(), String> {
        let mut actions = Vec::new();
        act(&mut self.at(place)?.site, &mut actions);
        self.carry_out(place, actions)
    }

    fn carry_out(&mut self, place: usize, actions: Vec<LeaseAction<Bits>>) -> Result<(), String> {
        let mutant = self.mutant;
        for action in actions {
            match action {
                LeaseAction::Send { to, message } => {
                    if let LeaseMessage::Work { lease, content, .. } = message
                        && self.names.insert(lease, content.open).is_some()
                    {
                        return Err(format!("{lease:?} is named twice"));
                    }
                    let from = self.site_at(place);
                    self.send(InFlight { from, to, message });
                }
                LeaseAction::Dropped { lease, .. } => {
                    let process = self.at(place)?;
                    process.owed.remove(&lease);
                    if process.in_hand == Some(Some(lease)) {
                        process.in_hand = None;
                        let done = Bits { done: process.hand.done, ..Bits::default() };
                        let keeps = mutant == LeaseMutant::KeepsCountsAfterDrop;
                        process.hand = if keeps { done } else { Bits::default() };
                    }
                }
                LeaseAction::Owed { lease } => {
                    self.at(place)?.owed.insert(lease);
                }
                LeaseAction::Came { .. }
                | LeaseAction::Arrived { .. }
                | LeaseAction::TakenOver { .. }
                | LeaseAction::Lapsed { .. }
                | LeaseAction::Better => {}
            }
        }
        Ok(())
    }

    /// Sends a packet. Packets stay unordered, except between the same two sites if the model is ordered.
    fn send(&mut self, packet: InFlight) {
        let pair = |one: &InFlight| (one.from, one.to);
        let at = if self.left.ordered {
            self.in_flight.partition_point(|other| pair(other) <= pair(&packet))
        } else {
            let print = fingerprint(&packet);
            self.in_flight.partition_point(|other| fingerprint(other) <= print)
        };
        self.in_flight.insert(at, packet);
    }

    /// The packets that may arrive next.
    pub fn deliverable(&self) -> impl Iterator<Item = usize> {
        let first = |at: usize| {
            let (packet, before) = (&self.in_flight[at], &self.in_flight[..at]);
            let same = |other: &InFlight| (other.from, other.to) == (packet.from, packet.to);
            if self.left.ordered { !before.iter().any(same) } else { !before.contains(packet) }
        };
        (0..self.in_flight.len()).filter(move |&at| first(at))
    }

    /// Delivers a packet to a place. If there is no process at it, the packet is dropped.
    pub fn deliver(&mut self, packet: InFlight, place: usize) -> Result<(), String> {
        let InFlight { from, message, .. } = packet;
        if self.processes[place].is_none() {
            return Ok(());
        }
        self.act(place, |site, actions| site.handle_message(from, message, actions))
    }

    /// Returns what the workers hold to their site.
    pub fn settle(&mut self, place: usize) -> Result<(), String> {
        let process = self.at(place)?;
        if let Some(held) = process.in_hand.take() {
            let hand = std::mem::take(&mut process.hand);
            process.site.change_content(held, |content| content.add(&hand));
            process.site.set_in_use(held, false);
        }
        Ok(())
    }

    /// Does a unit of work.
    pub fn work(&mut self, place: usize) -> Result<(), String> {
        let (before, faulty, optimum) = (self.done, self.faulty, self.optimum());
        let process = self.at(place)?;
        if !process.hand.has_open() {
            let held = process.site.current_holding().map(Holding::held);
            let held = held.ok_or("there is no holding to work on")?;
            let taken = process.site.change_content(held, |content| content.take(8));
            let taken = taken.ok_or("there is no open unit")?;
            process.site.set_in_use(held, true);
            process.hand.add(&taken);
            process.in_hand = Some(held);
        }
        let unit = 1 << process.hand.open.trailing_zeros();
        process.hand.open ^= unit;
        process.hand.done |= unit;
        if unit == optimum && process.site.best().is_none() && !process.cutoff {
            let solution = Solution { score: 0, solution: vec![1] };
            self.act(place, |site, actions| site.record_solution(&solution, actions))?;
        }
        if !faulty && before & unit != 0 {
            return Err(format!("the unit {unit:#b} is done twice without a fault"));
        }
        self.done |= unit;
        if !self.at(place)?.hand.has_open() {
            self.settle(place)?;
        }
        Ok(())
    }

    /// Allows work to be done twice from now on.
    pub fn fault(&mut self) {
        self.faulty = true;
        self.done = 0;
    }
}
