//! What the root does for a standby: it announces the standby's address, and sends it each save.

use super::gateway_thread::GatewayThread;
use super::message::{RootCopy, SessionMessage};
use pleach_core::lease::SiteId;

/// The largest file that a standby is sent, since other messages wait behind it, and the least time between two copies, per
/// byte.
const MOST_COPIED: u64 = 1 << 26;
const COPY_NS_A_BYTE: u64 = 100;

impl GatewayThread<'_> {
    /// At the root: informs all sites, or if only one has joined, that one, where a standby takes the root's place.
    pub(super) fn announce_standby(&mut self, joined: Option<SiteId>) {
        let Some((site, address)) = self.session.standby().filter(|_| self.cluster.is_root())
        else {
            return;
        };
        let message = SessionMessage::Standby(address.to_string());
        match joined.filter(|&joined| joined != site) {
            Some(newcomer) => drop(self.session.send(newcomer, &message)),
            None => {
                (self.copied, self.copy_on_its_way) = (None, false);
                self.session.send_all(&message);
            }
        }
    }

    /// At the root: sends a standby the file if it is newer than its copy.
    pub(super) fn copy_to_standby(&mut self) {
        let Some(saver) = self.run_state.saver().filter(|_| self.cluster.is_root()) else { return };
        let (saves, now_ns) = (saver.saves(), self.run_state.now_ns());
        let early = self.copy_on_its_way || now_ns < self.next_copy_ns;
        if self.copied == Some(saves) || early {
            return;
        }
        let Some((site, _)) = self.session.standby() else { return };
        self.copied = Some(saves);
        // If it cannot be read, the next save may be.
        let Ok(length) = saver.path().metadata().map(|file| file.len()) else { return };
        self.next_copy_ns = now_ns.saturating_add(length.saturating_mul(COPY_NS_A_BYTE));
        if length > MOST_COPIED {
            let (mib, most) = (length >> 20, MOST_COPIED >> 20);
            return self.run_state.warn(format!(
                "the checkpoint of {mib} MiB is not copied to the standby: expected at most {most} MiB"
            ));
        }
        let Ok(file) = std::fs::read(saver.path()) else { return };
        let left = self.time_limit.map(|limit| (limit.as_nanos() as u64).saturating_sub(now_ns));
        let before = self.run_state.before.counted().map_or(0, |counts| counts.bounded);
        let last_node = self.node_limit.map(|limit| before.saturating_add(limit));
        let places = self.session.places();
        let copy = RootCopy { file, left_ns: left, last_node, places };
        self.copy_on_its_way = self.session.send(site, &SessionMessage::Copy(copy));
    }
}
