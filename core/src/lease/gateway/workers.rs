//! [`Workers`]: what a gateway needs from the site around it.

use super::message::GatewayMessage;
use crate::lease::gateway::Portion;
use crate::lease::{ProgressReport, SiteId};
use crate::search::tree::Solution;
use crate::search::work::Work;
use crate::steal::Event;

/// A site, as its gateway sees it.
pub trait Workers {
    /// What is counted.
    type Done;
    /// Why the run cannot continue.
    type Error;

    /// How many units there are, without the gateway.
    fn units(&self) -> u32;

    /// Open nodes of the gateway's own: the spare piece.
    fn spare(&self) -> f64;

    /// About how many open nodes the units have.
    fn in_hand(&self) -> f64;

    /// Whether some unit has nothing to do.
    fn has_idle_unit(&self) -> bool;

    /// Whether no unit has anything to do, and nothing is on its way between them.
    fn is_idle(&self) -> bool;

    /// Nodes explored since the last call, and the time that this took all units together.
    fn spent(&mut self) -> (u64, u64);

    /// How many nodes the units may still explore, where the search has a limit.
    fn allowed(&self) -> u64;

    /// Lets the units explore this many more nodes.
    fn allow(&mut self, nodes: u64);

    /// Lets the units explore nothing until they are allowed to.
    fn forbid(&mut self);

    /// Adds work to the spare piece.
    ///
    /// # Errors
    /// If it cannot be read.
    fn put(&mut self, work: &Work) -> Result<(), Self::Error>;

    /// Tells the gateway's peer inside of an event: [`Event::Refilled`], [`Event::Stepped`] or [`Event::Short`].
    ///
    /// # Errors
    /// If what it does about it fails.
    fn tell(&mut self, event: Event) -> Result<(), Self::Error>;

    /// Splits a share off the spare piece: all of it, if the share is 1 or it cannot be divided.
    fn split(&mut self, share: f64) -> Option<Work>;

    /// Divides a piece that the units have not seen: what is left of it, and a share; `None` if it cannot be
    /// divided.
    fn divide(&self, piece: &Work, share: f64) -> Option<(Work, Work)>;

    /// Begins a cut of all units: [`super::Gateway::turn`] is told once it is complete.
    ///
    /// # Errors
    /// If it cannot begin.
    fn begin_cut(&mut self) -> Result<(), Self::Error>;

    /// The best solution that a unit has found, or was told of.
    fn best(&self) -> Option<Solution>;

    /// What the units have done since this, [`Workers::empty`] or the beginning. They are idle.
    ///
    /// # Errors
    /// If that is less than nothing.
    fn settle(&mut self) -> Result<Self::Done, Self::Error>;

    /// Stops the units where they are, and takes from them what they have done and what is open.
    ///
    /// # Errors
    /// If the work cannot be written down.
    fn empty(&mut self) -> Result<Portion<Self::Done>, Self::Error>;

    /// Units are to look only for better solutions than this one.
    ///
    /// # Errors
    /// If what the gateway's peer does about it fails.
    fn beat(&mut self, best: &Solution) -> Result<(), Self::Error>;

    /// Another site was silent for a lease, and what it held is taken back.
    fn lapsed(&mut self, site: SiteId);

    /// Sends to another site.
    fn send(&mut self, to: SiteId, message: GatewayMessage<Self::Done>);

    /// Calls [`super::Gateway::check_timers`] at a time, unless it is called before.
    fn wake_at(&mut self, at_ns: u64);

    /// The root's progress report: for its file.
    ///
    /// # Errors
    /// If it cannot be kept.
    fn save(
        &mut self,
        whole: &ProgressReport<Portion<Self::Done>>,
        best: Option<&Solution>,
    ) -> Result<(), Self::Error>;
}
