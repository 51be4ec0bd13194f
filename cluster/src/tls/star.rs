//! [`Star`]: the network of one site as its caller sees it.

use super::logic::{Delivery, HubCommand, HubEvent, Limits};
use super::queues::{CallerMailbox, Orders, QueuedCommand};
use crate::{Arrival, Members, NetError, Network, Rank};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::thread::JoinHandle;
use std::time::Duration;

/// The network of the root and all that have joined it.
pub struct Star {
    me: Rank,
    /// The number of each place's connection, as far as the caller knows, or 0.
    places: Vec<u32>,
    limits: Limits,
    orders: Arc<Orders>,
    mailbox: Arc<CallerMailbox>,
    /// Messages to this site itself.
    own: VecDeque<Vec<u8>>,
    failed: Option<NetError>,
    finished: bool,
    gone: Option<String>,
    /// Wakes the thread that listens.
    acceptor: Option<mio::Waker>,
    threads: Vec<JoinHandle<()>>,
}

impl Star {
    pub(super) fn new(
        (me, places): (Rank, u32),
        limits: Limits,
        orders: Arc<Orders>,
        mailbox: Arc<CallerMailbox>,
        acceptor: Option<mio::Waker>,
        threads: Vec<JoinHandle<()>>,
    ) -> Self {
        Self {
            me,
            places: vec![0; places as usize],
            limits,
            orders,
            mailbox,
            own: VecDeque::new(),
            failed: None,
            finished: false,
            gone: None,
            acceptor,
            threads,
        }
    }

    /// Adds a thread, which ends with the network.
    pub(super) fn add_thread(&mut self, thread: JoinHandle<()>) {
        self.threads.push(thread);
    }

    /// The number of this site's connections: at the root one for each joiner, at a joiner one to the root and those to
    /// joiners that it writes to directly.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.orders.connections.load(Ordering::Relaxed)
    }

    fn check(&self, to: Rank, length: usize) -> Result<(), NetError> {
        let lengths = (length, self.limits.message);
        NetError::check_message((to, self.sites()), self.finished, lengths)
    }

    fn post(&mut self, to: Rank, bytes: Vec<u8>) -> Result<(), NetError> {
        self.check(to, bytes.len())?;
        let number = self.places[to as usize];
        if to == self.me {
            self.own.push_back(bytes);
        } else if to == 0 || number != 0 {
            self.orders.push(QueuedCommand::Command(HubCommand::Send { to, number, bytes }));
        }
        Ok(())
    }

    fn arrival(&mut self, delivery: Delivery) -> Arrival {
        match delivery {
            Delivery::Message { from, bytes, .. } => Arrival::Message { from, bytes },
            Delivery::Joined { site, number, bytes } => {
                self.places[site as usize] = number;
                Arrival::Joined { site, bytes }
            }
            Delivery::Lost { site } => {
                self.places[site as usize] = 0;
                Arrival::Lost(site)
            }
            Delivery::End => Arrival::End,
        }
    }

    fn stop(&mut self) {
        self.orders.stop();
        if let Some(acceptor) = &self.acceptor {
            // This fails only without memory.
            let _ = acceptor.wake();
        }
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

impl Network for Star {
    fn me(&self) -> Rank {
        self.me
    }

    fn sites(&self) -> u32 {
        self.places.len() as u32
    }

    fn members(&self) -> Members {
        Members::Changing
    }

    fn name(&self) -> &str {
        "TLS"
    }

    fn send(&mut self, to: Rank, bytes: Vec<u8>) {
        if self.failed.is_none() {
            self.failed = self.post(to, bytes).err();
        }
    }

    fn send_shared(&mut self, to: Rank, bytes: &Arc<[u8]>) {
        let number = self.places.get(to as usize).copied().unwrap_or_default();
        if self.me != 0 || number == 0 {
            return self.send(to, bytes.to_vec());
        }
        if self.failed.is_none() {
            self.failed = self.check(to, bytes.len()).err();
        }
        if self.failed.is_none() {
            let bytes = Arc::clone(bytes);
            self.orders.push(QueuedCommand::Command(HubCommand::SendShared { to, number, bytes }));
        }
    }

    fn poll(&mut self) -> Result<Option<Arrival>, NetError> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        if let Some(bytes) = self.own.pop_front() {
            return Ok(Some(Arrival::Message { from: self.me, bytes }));
        }
        let delivery = self.mailbox.pop();
        Ok(delivery.map(|delivery| self.arrival(delivery)))
    }

    fn arriving(&mut self) -> Option<Rank> {
        self.mailbox.take_arriving()
    }

    fn loss_reason(&mut self) -> Option<&str> {
        if self.me != 0 {
            while let Some(event) = self.mailbox.take_event() {
                if let HubEvent::Gone(why) = event {
                    self.gone = Some(why);
                }
            }
        }
        self.gone.as_deref()
    }

    fn rest(&self) -> Option<Duration> {
        let waits = !self.own.is_empty() || self.failed.is_some() || self.mailbox.has_arrivals();
        waits.then_some(Duration::ZERO)
    }

    fn finish(&mut self) {
        if !self.finished && self.failed.is_none() {
            self.finished = true;
            self.orders.push(QueuedCommand::Command(HubCommand::Finish));
        }
    }

    fn abort(&mut self, _: i32) {
        self.stop();
    }
}

impl Drop for Star {
    fn drop(&mut self) {
        self.stop();
    }
}
