//! [`DeviceHand`]: the work of a simulated device, in the hands of its explorers.

use super::parameters::{Device, Put};
use super::victims::Exchange;
use crate::chance::mix;
use crate::load::{Hand, Load, WorkDone, WorkResult};
use pleach_core::search::inside::Inside;
use pleach_core::search::work::{Malformed, Work};

/// A device's work. Costs and times are those of a machine of speed 1.
pub struct DeviceHand<H> {
    device: Device,
    speed: f64,
    explorers: Vec<H>,
    /// The size of each explorer's work.
    sizes: Vec<f64>,
    /// The sum of them between runs.
    held: f64,
    /// The cost of what each explorer has done ahead of time, since a node cannot be interrupted.
    ahead_ns: Vec<u64>,
    /// Work on the host.
    reserve: H,
    /// Holds work only while it is divided, put together or copied.
    scratch: H,
    /// Whether the host has yet to explore the reserve down to the cutoff.
    arrived: bool,
    exchange: Exchange,
    /// Copies for which the device has yet to wait.
    copies: u64,
    /// Random choices made.
    drawn: u64,
    seed: u64,
}

impl<H: Hand> DeviceHand<H> {
    /// A device without work.
    pub fn new<L: Load<Hand = H>>(load: &L, device: Device, speed: f64, seed: u64) -> Self {
        let all = device.explorers as usize;
        Self {
            device,
            speed,
            explorers: (0..all).map(|_| load.hand()).collect(),
            sizes: vec![0.0; all],
            ahead_ns: vec![0; all],
            held: 0.0,
            reserve: load.hand(),
            scratch: load.hand(),
            arrived: false,
            exchange: Exchange::new(device.inside),
            copies: 0,
            drawn: 0,
            seed,
        }
    }

    /// The cost of the work that the whole device could do in this time.
    fn cost(&self, time_ns: u64) -> u64 {
        (time_ns as f64 * self.speed) as u64
    }

    fn active(&self) -> usize {
        self.sizes.iter().filter(|&&size| size > 0.0).count()
    }

    fn recount(&mut self) {
        self.held = self.sizes.iter().sum();
    }

    fn give(&mut self, explorer: usize, work: &Work) {
        self.explorers[explorer].add_work(&work.bytes).expect("explorers read their own work");
        self.sizes[explorer] = self.explorers[explorer].size();
    }

    /// Moves work from the host to idle explorers, or to all if none is idle.
    fn feed(&mut self) {
        if self.reserve.size() == 0.0 {
            return;
        }
        let work = self.drain_reserve();
        match self.device.put {
            Put::One => self.give(0, &work),
            Put::Spread => {
                let mut among: Vec<usize> =
                    (0..self.sizes.len()).filter(|&i| self.sizes[i] == 0.0).collect();
                if among.is_empty() {
                    among = (0..self.sizes.len()).collect();
                }
                self.spread(&work, &among);
            }
        }
    }

    fn drain_reserve(&mut self) -> Work {
        self.reserve.split(1.0).expect("there is some")
    }

    /// Divides work into equal parts for these explorers.
    fn spread(&mut self, work: &Work, among: &[usize]) {
        if let [only] = among {
            return self.give(*only, work);
        }
        self.scratch.add_work(&work.bytes).expect("work from here");
        let (left, right) = among.split_at(among.len() / 2);
        let share = left.len() as f64 / among.len() as f64;
        let given = if self.scratch.size() < 2.0 { None } else { self.scratch.split(share) };
        let rest = self.scratch.split(1.0).expect("a split leaves some");
        match given {
            None => self.give(among[0], &rest),
            Some(given) => {
                self.spread(&given, left);
                self.spread(&rest, right);
            }
        }
    }

    /// All explorers with work run for one step. Returns what they did, and the time in which the whole device could have
    /// done more.
    fn step(&mut self, step_ns: u64) -> WorkResult {
        let each_ns = (step_ns / self.explorers.len() as u64).max(1);
        let mut step = WorkResult::default();
        let mut longest_ns = 0;
        for (i, explorer) in self.explorers.iter_mut().enumerate() {
            let mut spent_ns = self.ahead_ns[i];
            while spent_ns < each_ns && self.sizes[i] > 0.0 {
                let ran = explorer.run(each_ns - spent_ns);
                spent_ns += ran.work_ns;
                step.work_ns += ran.work_ns;
                step.nodes += ran.nodes;
                step.found = step.found.into_iter().chain(ran.found).min();
                self.sizes[i] = explorer.size();
                if ran.found.is_some() {
                    break;
                }
            }
            longest_ns = longest_ns.max(spent_ns.min(each_ns));
            self.ahead_ns[i] = spent_ns.saturating_sub(each_ns);
        }
        // At the end all wait for the last one.
        if self.sizes.iter().all(|&size| size == 0.0) && self.reserve.size() == 0.0 {
            longest_ns += self.ahead_ns.iter().copied().max().unwrap_or(0);
            self.ahead_ns.fill(0);
        }
        step.time_ns = longest_ns * self.explorers.len() as u64;
        step
    }

    /// Lets idle explorers take work from others. Returns the number of launches.
    fn exchange(&mut self) -> u32 {
        let explorers = &mut self.explorers;
        self.exchange.run(&mut self.sizes, |thief, victim| {
            if let Some(work) = explorers[victim].split(0.5) {
                let read = explorers[thief].add_work(&work.bytes);
                read.expect("explorers read each other's work");
            }
            (explorers[thief].size(), explorers[victim].size())
        })
    }

    /// Explores the reserve on the host down to the cutoff, if that is still to be done.
    fn seed_reserve(&mut self) -> Option<WorkResult> {
        let depth = self.device.cutoff.filter(|_| std::mem::take(&mut self.arrived))?;
        self.seed_on_host(depth, u64::MAX, u64::MAX)
    }

    fn seed_on_host(&mut self, depth: u32, cost_ns: u64, nodes: u64) -> Option<WorkResult> {
        let mut ran = self.reserve.seed(depth, cost_ns, nodes)?;
        ran.time_ns = (ran.time_ns as f64 * self.speed / self.device.host_speed) as u64;
        self.share_incumbent(ran.found);
        Some(ran)
    }

    fn share_incumbent(&mut self, found: Option<i64>) {
        if let Some(score) = found {
            self.update_incumbent(score);
        }
    }

    /// Brings all work to the host.
    fn gather(&mut self) {
        for i in 0..self.explorers.len() {
            if self.sizes[i] > 0.0 {
                let work = self.explorers[i].split(1.0).expect("it has some");
                self.reserve.add_work(&work.bytes).expect("work from here");
                self.sizes[i] = 0.0;
            }
        }
        self.held = 0.0;
    }

    /// Takes work off explorers until there is as much as wanted: a share of each that can be split, otherwise all.
    fn fetch(&mut self, share: f64) -> Option<Work> {
        let all = self.explorers.len();
        self.drawn += 1;
        let first = (mix(self.seed, self.drawn, 1) % all as u64) as usize;
        if self.device.one_gives {
            if self.sizes[first] == 0.0 || self.active() < 2 {
                return None;
            }
            self.sizes[first] = 0.0;
            return self.explorers[first].split(1.0);
        }
        let wanted = (share * self.held).max(1.0);
        let (mut fetched, mut active) = (0.0, self.active());
        for splits in [true, false] {
            for i in (first..all).chain(0..first) {
                let size = self.sizes[i];
                // A single node goes whole, but not the last of all.
                if fetched >= wanted
                    || size == 0.0
                    || (size >= 2.0) != splits
                    || active < 2 && !splits
                {
                    continue;
                }
                let Some(work) = self.explorers[i].split(if splits { share } else { 1.0 }) else {
                    continue;
                };
                self.scratch.add_work(&work.bytes).expect("work from here");
                self.sizes[i] = self.explorers[i].size();
                fetched += size - self.sizes[i];
                active -= usize::from(self.sizes[i] == 0.0);
            }
        }
        self.scratch.split(1.0)
    }
}

impl<H: Hand> Hand for DeviceHand<H> {
    fn add_work(&mut self, work: &[u8]) -> Result<(), Malformed> {
        self.reserve.add_work(work)?;
        self.arrived = true;
        self.copies += 1;
        Ok(())
    }

    fn size(&self) -> f64 {
        self.reserve.size() + self.held
    }

    fn ahead_ns(&self) -> Option<u64> {
        None
    }

    fn run(&mut self, cost_ns: u64) -> WorkResult {
        if let Some(ran) = self.seed_reserve() {
            return ran;
        }
        let copies = std::mem::take(&mut self.copies);
        let waits_ns = self.cost(copies * self.device.copy_ns);
        let mut all = WorkResult { time_ns: waits_ns, ..WorkResult::default() };
        let (launch_ns, step_ns) =
            (self.cost(self.device.launch_ns), self.cost(self.device.step_ns));
        let mut first = true;
        while all.found.is_none() && self.size() > 0.0 && (first || all.time_ns < cost_ns) {
            first = false;
            // A round.
            all.time_ns += launch_ns;
            loop {
                self.feed();
                let step = self.step(step_ns);
                all.work_ns += step.work_ns;
                all.time_ns += step.time_ns;
                all.nodes += step.nodes;
                all.found = all.found.into_iter().chain(step.found).min();
                let active = self.active();
                let idle = self.explorers.len() - active;
                let triggers =
                    self.device.inside != Inside::None && idle > self.device.trigger as usize;
                if all.found.is_some() || active == 0 || triggers || all.time_ns >= cost_ns {
                    break;
                }
            }
            if self.active() > 0 {
                all.time_ns += launch_ns * u64::from(self.exchange());
            }
            self.recount();
        }
        self.share_incumbent(all.found);
        all
    }

    fn seed(&mut self, depth: u32, cost_ns: u64, nodes: u64) -> Option<WorkResult> {
        self.gather();
        self.seed_on_host(depth, cost_ns, nodes)
    }

    fn may_give_nothing(&self) -> bool {
        self.device.one_gives
    }

    fn split(&mut self, share: f64) -> Option<Work> {
        if share >= 1.0 {
            self.gather();
            return (self.reserve.size() > 0.0).then(|| self.drain_reserve());
        }
        let here = self.reserve.size();
        if here > 0.0 {
            // Work that is not on the device yet goes first, but what is left must not be nothing.
            let wanted = (share * self.size()).max(1.0);
            if here >= 2.0 {
                return self.reserve.split((wanted / here).min(1.0 - 1.0 / here));
            }
            if self.held > 0.0 {
                return Some(self.drain_reserve());
            }
        }
        self.copies += 1;
        let fetched = self.fetch(share);
        self.recount();
        fetched
    }

    fn trim(&mut self, away: &[u8]) -> Result<(), Malformed> {
        self.gather();
        self.reserve.trim(away)
    }

    fn copy(&mut self) -> Work {
        let reserve = std::iter::once(&mut self.reserve);
        for holder in self.explorers.iter_mut().chain(reserve).filter(|holder| holder.size() > 0.0)
        {
            self.scratch.add_work(&holder.copy().bytes).expect("work from here");
        }
        self.scratch.split(1.0).unwrap_or_default()
    }

    fn update_incumbent(&mut self, score: i64) {
        self.reserve.update_incumbent(score);
        self.explorers.iter_mut().for_each(|explorer| explorer.update_incumbent(score));
    }

    fn best(&self) -> i64 {
        self.reserve.best()
    }

    fn done(&self) -> WorkDone {
        let mut done = self.reserve.done();
        self.explorers.iter().for_each(|explorer| done.add(&explorer.done()));
        done
    }
}
