//! [`OfflineNetwork`], the network of a site that has lost the root, and [`Reconnect`], its attempt to come back.

use super::message::RootCopy;
use super::waker::Waker;
use crate::{Arrival, Members, NetError, Network};
use pleach_core::lease::SiteId;
use std::panic::{RefUnwindSafe, UnwindSafe};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::time::Duration;

/// A joined network, and the welcome.
pub type Admission = (Box<dyn Network>, Vec<u8>);

/// Joins the network again, at the former place if it is free. Returns an error if that is impossible. May take long.
pub type Rejoin =
    Arc<dyn Fn(&Return) -> Result<Admission, String> + Send + Sync + UnwindSafe + RefUnwindSafe>;

/// Keeps what a standby needs to take the root's place. Returns soon.
pub type KeepCopy = Arc<dyn Fn(RootCopy) + Send + Sync + UnwindSafe + RefUnwindSafe>;

/// What a site knows when it has lost the root.
#[derive(Clone, Debug, Default)]
pub struct Return {
    /// Its place.
    pub place: SiteId,
    /// The run, and the term of its root.
    pub search: (u64, u32),
    /// The address at which a standby takes the root's place, if there is one.
    pub standby: Option<String>,
    /// The number of other sites that the lost root had.
    pub others: u32,
    /// Whether the search had ended for this site, or the root had stopped it.
    pub over: bool,
}

/// A network that reaches nobody.
pub(super) struct OfflineNetwork {
    pub me: SiteId,
    pub places: u32,
}

impl Network for OfflineNetwork {
    fn me(&self) -> SiteId {
        self.me
    }

    fn sites(&self) -> u32 {
        self.places
    }

    fn members(&self) -> Members {
        Members::Changing
    }

    fn name(&self) -> &str {
        "nothing"
    }

    fn send(&mut self, _to: SiteId, _bytes: Vec<u8>) {}

    fn poll(&mut self) -> Result<Option<Arrival>, NetError> {
        Ok(None)
    }

    fn rest(&self) -> Option<Duration> {
        None
    }

    fn finish(&mut self) {}

    fn abort(&mut self, _code: i32) {}
}

/// An attempt to come back, under way on its own thread.
pub(super) struct Reconnect(Receiver<Result<Admission, String>>);

impl Reconnect {
    /// Starts to come back. Wakes the waker when that has succeeded or failed.
    pub fn start(enter: &Rejoin, back: Return, waker: &Arc<Waker>) -> Self {
        let (sender, receiver) = channel();
        let (enter, waker) = (Arc::clone(enter), Arc::clone(waker));
        let go = move || {
            // Sending fails if nobody waits any more.
            let _ = sender.send(enter(&back));
            waker.wake();
        };
        // Without a thread nothing is ever sent, which `result` reports.
        let _ = std::thread::Builder::new().name("return".into()).spawn(go);
        Self(receiver)
    }

    /// The result, once the attempt has ended.
    pub fn result(&self) -> Option<Result<Admission, String>> {
        match self.0.try_recv() {
            Ok(end) => Some(end),
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Disconnected) => Some(Err("cannot start a thread".into())),
        }
    }
}
