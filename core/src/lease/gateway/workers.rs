//! [`Workers`]: the interface of a gateway to its own site.

use super::message::GatewayMessage;
use crate::lease::gateway::Portion;
use crate::lease::{ProgressReport, SiteId};
use crate::search::tree::Solution;
use crate::search::work::Work;
use crate::steal::Event;
use std::sync::Arc;

/// A site as its gateway sees it.
pub trait Workers {
    /// The counts.
    type Done;
    /// Why the run cannot continue.
    type Error;

    /// The number of workers, without the gateway.
    fn workers(&self) -> u32;

    /// Open nodes of the gateway itself: the spare piece.
    fn spare(&self) -> f64;

    /// The approximate number of open nodes of the workers.
    fn in_hand(&self) -> f64;

    /// Whether some worker has nothing to do.
    fn has_idle_worker(&self) -> bool;

    /// Whether no worker has anything to do, and nothing is on its way between them.
    fn is_idle(&self) -> bool;

    /// Nodes explored since the last call, and the time that all workers together spent on them.
    fn spent(&mut self) -> (u64, u64);

    /// The nodes that the workers may still explore, where the search has a limit.
    fn allowed_nodes(&self) -> u64;

    /// Lets the workers explore this many more nodes.
    fn allow_nodes(&mut self, nodes: u64);

    /// Forbids the workers to explore until they are allowed more nodes.
    fn forbid_nodes(&mut self);

    /// Adds pieces of work to the spare piece.
    ///
    /// # Errors
    /// If one cannot be read.
    fn add_work(&mut self, pieces: &[Arc<Work>]) -> Result<(), Self::Error>;

    /// Passes an event to the gateway's inner peer: [`Event::Refilled`], [`Event::Stepped`] or [`Event::Short`].
    ///
    /// # Errors
    /// If an action of the peer fails.
    fn pass_to_inner_peer(&mut self, event: Event) -> Result<(), Self::Error>;

    /// Splits a share off the spare piece: all of it, if the share is 1 or it cannot be divided.
    fn split(&mut self, share: f64) -> Option<Work>;

    /// Divides a piece that the workers have not seen into the rest and a share; `None` if it cannot be divided.
    fn divide_piece(&self, piece: &Work, share: f64) -> Option<(Work, Work)>;

    /// Begins a cut of all workers: [`super::GatewayStep::handle_workers`] receives it once it is complete.
    ///
    /// # Errors
    /// If it cannot begin.
    fn begin_cut(&mut self) -> Result<(), Self::Error>;

    /// The best solution known to the workers.
    fn best(&self) -> Option<Solution>;

    /// The counts of the workers, which are idle, since the last call of this or of [`Workers::take_all`], or since the
    /// start.
    ///
    /// # Errors
    /// If the counts have decreased.
    fn take_counts(&mut self) -> Result<Self::Done, Self::Error>;

    /// Stops the workers where they are, and takes their done and open work.
    ///
    /// # Errors
    /// If the work cannot be written down.
    fn take_all(&mut self) -> Result<Portion<Self::Done>, Self::Error>;

    /// Has the workers look only for better solutions than this one.
    ///
    /// # Errors
    /// If an action of the gateway's peer fails.
    fn update_incumbent(&mut self, best: &Solution) -> Result<(), Self::Error>;

    /// Reports that another site was silent for a lease period, and that its work is taken back.
    fn report_lapsed_site(&mut self, site: SiteId);

    /// Sends a message to another site.
    fn send(&mut self, to: SiteId, message: GatewayMessage<Self::Done>);

    /// Schedules a call of [`super::GatewayStep::check_timers`], unless it is called earlier.
    fn wake_at(&mut self, at_ns: u64);

    /// Saves the root's progress report in its file.
    ///
    /// # Errors
    /// If it cannot be saved.
    fn save_report(
        &mut self,
        whole: &ProgressReport<Portion<Self::Done>>,
        best: Option<&Solution>,
    ) -> Result<(), Self::Error>;
}
