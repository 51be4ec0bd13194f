//! [`GuardedDevice`]: a device whose work survives a failure.

use super::device_work::DeviceWork;
use super::pool::BorrowedDevice;
use super::{DeviceError, Givers, Round, RoundReport};
use pleach_core::search::device::Layout;
use pleach_core::search::tree::Counts;
use pleach_runtime::activity::Phases;
use std::cell::Cell;
use std::mem;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// The backup is renewed once this many times its cost has passed since the last renewal.
const RENEW_PART: u32 = 50;
/// The same multiple for the time it travelled, which takes bandwidth of the host's memory.
const TRAVEL_PART: u32 = 10;
/// This fraction (1/n) of all nodes is fetched ahead for the next thieves: the largest, if thieves come back soon; the
/// initial one; and the smallest.
const LARGEST_PART: f64 = 4.0;
const FIRST_PART: f64 = 64.0;
const SMALLEST_PART: f64 = 256.0;
/// How many rounds fetched work is kept for its thief; rounds within the first while do not count.
const PROMISED: u32 = 8;
const PROMISE_LASTS: Duration = Duration::from_millis(2);
/// How long to wait before asking again whether a copy has arrived.
const SHORT: Duration = Duration::from_micros(10);
/// A device without room gives back this fraction (1/n) of its nodes.
const RELIEF_PART: f64 = 8.0;

/// A device, a reserve of nodes or intervals on the host, and a backup: a copy of what the device held some time ago.
///
/// Counts of what was explored since then are held back until the backup is renewed, so backup, reserve and reported
/// counts always match: if the device fails, the search continues from them, and no node is lost or counted twice. A
/// caller that sees a failure takes [`GuardedDevice::all_work`].
///
/// A large backup travels while kernels run, together with work removed for the reserve. Until both have arrived, the
/// previous backup stands, which covers everything.
pub(super) struct GuardedDevice {
    device: BorrowedDevice,
    held: DeviceWork,
    reserve: Vec<u32>,
    /// Where the backup begins in its buffer, if it travelled.
    landed: Option<usize>,
    /// The rest of the backup.
    backup: Vec<u32>,
    /// The buffer of the backup; the other one is for the incoming backup.
    buffer: usize,
    /// The backup on its way.
    incoming: Option<IncomingBackup>,
    /// The least bound over the backup, computed on demand because that visits all nodes.
    backup_bound: Cell<Option<i64>>,
    /// Counts since the newest backup was made, even if that is still on its way.
    unreported: Counts,
    /// Counts covered by the backup and not yet reported.
    reportable: Counts,
    /// Whether the device holds exactly the nodes of the newest backup.
    backup_is_current: bool,
    made: Instant,
    /// How long the device was idle for the last backup, and how long that backup travelled.
    cost: Duration,
    travel: Duration,
    /// This fraction (1/n) of all nodes is fetched ahead for the next thieves.
    ahead_part: f64,
    /// How much to send off next, because a thief came away empty-handed.
    owed: f64,
    /// For how many more rounds the reserve is kept for a thief that should come back, and when it arrived.
    promised: u32,
    landed_at: Instant,
}

/// A backup on its way, preceded by the work removed for the reserve.
struct IncomingBackup {
    /// Words that were removed, and the size of that work.
    removed: usize,
    size: f64,
    /// Counts that the backup covers.
    counts: Counts,
}

impl GuardedDevice {
    /// A device without work, whose explorers hold work as this layout says.
    pub fn new(device: BorrowedDevice, layout: &Layout) -> Self {
        Self {
            device,
            held: DeviceWork::new(layout),
            reserve: Vec::new(),
            landed: None,
            backup: Vec::new(),
            buffer: 0,
            incoming: None,
            backup_bound: Cell::new(None),
            unreported: Counts::default(),
            reportable: Counts::default(),
            backup_is_current: true,
            made: Instant::now(),
            cost: Duration::ZERO,
            travel: Duration::ZERO,
            ahead_part: FIRST_PART,
            owed: 0.0,
            promised: 0,
            landed_at: Instant::now(),
        }
    }

    /// The reserve; arriving work is appended to it.
    pub fn reserve(&mut self) -> &mut Vec<u32> {
        &mut self.reserve
    }

    /// The number of nodes or intervals in the reserve.
    pub fn reserved(&self) -> usize {
        self.held.each(&self.reserve).count()
    }

    /// The number of nodes or leaves on the device, in the reserve and on their way there.
    pub fn size(&self) -> f64 {
        self.elsewhere() + self.held.size(&self.reserve)
    }

    /// The size of the work outside the reserve.
    fn elsewhere(&self) -> f64 {
        self.device.size() + self.incoming.as_ref().map_or(0.0, |incoming| incoming.size)
    }

    /// The part of the backup that travelled.
    fn travelled(&self) -> &[u32] {
        self.landed.map_or(&[], |from| &self.device.staged(self.buffer)[from..])
    }

    /// The least bound over the backup and the reserve, which bounds all work left.
    pub fn least_bound(&self, bound: impl Fn(&[u32]) -> i64) -> Option<i64> {
        let least = |nodes: &[u32]| self.held.each(nodes).map(&bound).min();
        let both = || least(self.travelled()).into_iter().chain(least(&self.backup)).min();
        let backup = self.backup_bound.get().or_else(both);
        self.backup_bound.set(backup);
        backup.into_iter().chain(least(&self.reserve)).min()
    }

    /// Marks the device as failed; it will not be used again.
    pub fn mark_failed(&mut self) {
        self.device.mark_failed();
    }

    /// What the device did besides exploring since the last call.
    pub fn take_phases(&mut self) -> Phases {
        self.device.take_phases()
    }

    /// Takes the counts that can be reported now.
    pub fn take_counts(&mut self) -> Counts {
        mem::take(&mut self.reportable)
    }

    /// Feeds the device from the reserve if this many explorers could use more work.
    pub fn feed(&mut self, explorers: u32) -> Result<(), DeviceError> {
        self.receive_backup(self.device.size() == 0.0)?;
        let promised = self.promised > 0;
        let fed = self.device.size() > 0.0 && (promised || !self.device.wants_more(explorers));
        if self.reserve.is_empty() || fed {
            return Ok(());
        }
        // Work put onto the device belongs to the backup from now on.
        self.receive_backup(true)?;
        // A device that has run dry leaves part of the promised work in the reserve.
        let all = self.reserve.len();
        let some = if promised { self.held.half(&self.reserve) } else { all };
        let left = self.device.put(&self.reserve[..some])?;
        if left.is_empty() {
            self.backup.extend(self.reserve.drain(..some));
            self.backup_bound.set(None);
        } else if left.len() < some {
            self.backup_is_current = false;
            self.renew_backup()?;
            self.reserve.splice(..some, left);
        }
        Ok(())
    }

    /// Runs a round of kernels, and renews the backup if it is old.
    pub fn run(&mut self, round: &Round) -> Result<RoundReport, DeviceError> {
        let returned = self.device.run(round)?;
        self.unreported.add(&returned.counts);
        self.backup_is_current = false;
        let landed = self.receive_backup(self.device.size() == 0.0)?;
        if landed && self.landed_at.elapsed() >= PROMISE_LASTS {
            self.promised = self.promised.saturating_sub(1);
        }
        if self.device.size() == 0.0 {
            self.owed = 0.0;
            self.set_backup(Vec::new());
        } else if returned.full > 0 {
            self.receive_backup(true)?;
            self.fetch_to_reserve((self.device.size() / RELIEF_PART).ceil(), Givers::Even)?;
        } else if landed && (self.owed > 0.0 || self.is_old()) {
            let owed = mem::take(&mut self.owed).min((self.device.size() / 2.0).floor());
            if !self.send_off(owed)? {
                self.renew_backup()?;
            }
        }
        Ok(returned)
    }

    /// Whether the backup is old enough to be renewed.
    fn is_old(&self) -> bool {
        let pause = (RENEW_PART * self.cost).max(TRAVEL_PART * self.travel);
        self.made.elapsed() >= pause
    }

    /// Sends off this much work for the reserve, with a backup of the rest. Returns whether there was enough for that.
    /// A failure leaves everything here unchanged.
    fn send_off(&mut self, size: f64) -> Result<bool, DeviceError> {
        let before = self.device.size();
        let sent = self.device.send_off(size, 1 - self.buffer)?;
        let Some((removed, cost)) = sent else { return Ok(false) };
        let size = before - self.device.size();
        let counts = mem::take(&mut self.unreported);
        self.incoming = Some(IncomingBackup { removed, size, counts });
        if removed > 0 {
            self.promised = PROMISED;
        }
        self.backup_is_current = true;
        (self.made, self.cost) = (Instant::now(), cost);
        Ok(true)
    }

    /// Takes in the incoming backup if it has arrived; otherwise waits for it if `wait`. Returns whether nothing is on
    /// its way.
    fn receive_backup(&mut self, wait: bool) -> Result<bool, DeviceError> {
        if self.incoming.is_none() {
            return Ok(true);
        }
        while !self.device.have_arrived()? {
            if !wait {
                return Ok(false);
            }
            sleep(SHORT);
        }
        if let Some(IncomingBackup { removed, counts, .. }) = self.incoming.take() {
            self.buffer = 1 - self.buffer;
            self.reserve.extend(&self.device.staged(self.buffer)[..removed]);
            (self.landed, self.backup) = (Some(removed), Vec::new());
            self.backup_bound.set(None);
            self.reportable.add(&counts);
            self.travel = self.made.elapsed();
            self.landed_at = Instant::now();
        }
        Ok(true)
    }

    /// Renews the backup at once; a failure leaves everything here unchanged.
    pub fn renew_backup(&mut self) -> Result<(), DeviceError> {
        self.receive_backup(true)?;
        if self.backup_is_current {
            return Ok(());
        }
        let start = Instant::now();
        let mut backup = Vec::new();
        self.device.copy(&mut backup)?;
        self.set_backup(backup);
        (self.made, self.cost) = (Instant::now(), start.elapsed());
        Ok(())
    }

    /// Gives away a share of all nodes or leaves, from the reserve as far as that suffices. Gives nothing while that
    /// work is still on its way.
    pub fn split(&mut self, share: f64) -> Result<Option<Vec<u32>>, DeviceError> {
        let nothing_comes = self.receive_backup(self.device.givers() == Givers::Each)?;
        let promised = self.promised > 0 && nothing_comes;
        let size = self.size();
        if self.device.givers() == Givers::Each && size >= 2.0 {
            // What the explorers keep returns to the device with the next round.
            self.fetch_to_reserve(f64::INFINITY, Givers::Even)?;
            let given = self.held.split_each(&mut self.reserve, share);
            if !given.is_empty() {
                return Ok(Some(given));
            }
        }
        let mut wanted = self.held.portion(share, size);
        let missing = wanted - self.held.size(&self.reserve);
        let one = self.device.givers() == Givers::One;
        if missing > 0.0 && one {
            // One explorer gives little or nothing, so a copy while the device explores would not pay.
            if nothing_comes {
                self.fetch_to_reserve(missing, Givers::One)?;
            }
        } else if missing > 0.0 && !nothing_comes {
            self.owed = missing.max(self.owed);
        } else if missing > 0.0 {
            // The backup is renewed each time, at the same cost for few nodes as for many: the sooner thieves come
            // back, the more is fetched for them.
            let soon = self.made.elapsed() < RENEW_PART * self.cost;
            let part = if soon { self.ahead_part / 2.0 } else { 2.0 * self.ahead_part };
            self.ahead_part = part.clamp(LARGEST_PART, SMALLEST_PART);
            let size = missing + (size / self.ahead_part).floor();
            // The device needs work until the copy has arrived.
            if !self.send_off(size.min((self.device.size() / 2.0).ceil()))? {
                self.fetch_to_reserve(size, Givers::Even)?;
            }
        }
        let reserved = self.held.size(&self.reserve);
        let elsewhere = self.elsewhere() > 0.0;
        if one && elsewhere {
            wanted = reserved;
        } else if self.incoming.is_some() {
            // Prefer nothing to little: the rest will be here when the thief comes back. But a thief comes back only
            // once.
            let little = 2.0 * reserved < wanted && !promised;
            wanted = if little { 0.0 } else { wanted.min(reserved) };
        }
        if wanted == 0.0 {
            return Ok(None);
        }
        (self.promised, self.owed) = (0, 0.0);
        Ok(Some(self.held.split(&mut self.reserve, wanted, elsewhere)))
    }

    /// Moves this much work from the device to the reserve at once. No backup may be on its way.
    fn fetch_to_reserve(&mut self, size: f64, gives: Givers) -> Result<(), DeviceError> {
        let mut fetched = Vec::new();
        self.device.take_work(size, gives, &mut fetched)?;
        if fetched.is_empty() {
            return Ok(());
        }
        self.backup_is_current = false;
        self.renew_backup()?;
        self.reserve.append(&mut fetched);
        Ok(())
    }

    /// Takes all work.
    pub fn drain(&mut self) -> Result<Vec<u32>, DeviceError> {
        self.receive_backup(true)?;
        let mut all = Vec::new();
        self.device.take_work(f64::INFINITY, Givers::Even, &mut all)?;
        all.append(&mut self.reserve);
        self.set_backup(Vec::new());
        (self.promised, self.owed) = (0, 0.0);
        Ok(all)
    }

    /// All remaining work as of the backup: the search continues from it without the device.
    pub fn all_work(&self) -> Vec<u32> {
        [self.travelled(), &self.backup, &self.reserve].concat()
    }

    /// Replaces the backup by the current one. No backup may be on its way.
    fn set_backup(&mut self, backup: Vec<u32>) {
        (self.landed, self.backup, self.backup_is_current) = (None, backup, true);
        self.backup_bound.set(None);
        self.reportable.add(&mem::take(&mut self.unreported));
    }
}
