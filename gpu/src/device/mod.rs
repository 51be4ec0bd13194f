//! [`Device`]: memory with many stacks of nodes or intervals, and kernels that explore all of them at once.

mod transfer;

use super::device_work::DeviceWork;
use super::form::{BuiltKernel, Handling};
use super::memory::Memory;
use super::slots::Slots;
use super::{DeviceError, Exchange, Givers, Inside, Round, RoundReport};
use pleach_core::search::device::Layout;
use pleach_core::search::tree::Counts;
use pleach_core::search::work::Nodes;
use pleach_kernels::launch::{
    FOUND, KernelEntry, Launch, LaunchReport, Move, ONE_LEAF, PAGE, StealRule, height,
};
use pleach_runtime::activity::Phases;
use std::time::Instant;

/// Pages take at most this fraction (1/n) of the memory.
const PART: u64 = 2;
/// The maximum number of pages that one explorer can own.
const MOST_SPAN: u32 = 8192;
/// Backups that travel while kernels run take at most this fraction (1/n) of the memory.
const STAGED_PART: u64 = 16;
/// Words per transfer; more only if a single node is larger.
const MOVED_WORDS: usize = 1 << 22;

/// Memory with many stacks of nodes, and kernels that explore all of them at once. If work is held as intervals, each
/// explorer has at most one of them instead of a stack.
pub struct Device {
    memory: Box<dyn Memory>,
    launch: Launch,
    held: DeviceWork,
    /// Words per node, words per solution record, and nodes per transfer.
    words: usize,
    found: usize,
    room: usize,
    /// The array that gathers everything to be sent off, and how many nodes it has room for.
    staged: (u64, usize),
    /// Its size in nodes or leaves.
    size: f64,
    /// Participating explorers that hold intervals.
    holding: u32,
    giving_at_once: u32,
    phases: Phases,
    /// How work comes and leaves.
    exchange: Exchange,
    /// The explorer from which the search for a giver starts.
    drawn: u32,
    /// Roughly how long an exchange takes.
    exchange_ns: u64,
    /// The window of [`Inside::Adapt`]: its start and its width.
    window: (u32, u32),
}

fn nanos_since(start: Instant) -> u64 {
    start.elapsed().as_nanos() as u64
}

impl Device {
    /// A device without work.
    pub(super) fn new(memory: impl Memory + 'static) -> Self {
        let (memory, launch) = (Box::new(memory), Launch::default());
        let phases = Phases::default();
        let (words, found, room, size, holding) = (1, 0, 0, 0.0, 0);
        let (held, exchange_ns, window) = (DeviceWork::new(&Layout::default()), 0, (0, 1));
        Self {
            memory,
            launch,
            held,
            words,
            found,
            room,
            staged: (0, 0),
            size,
            holding,
            giving_at_once: 0,
            phases,
            exchange: Exchange::default(),
            drawn: 0,
            exchange_ns,
            window,
        }
    }

    /// The number of its explorers.
    #[must_use]
    pub fn explorers(&self) -> u32 {
        self.launch.explorers
    }

    /// The number of its nodes, or the number of leaves in its intervals.
    #[must_use]
    pub fn size(&self) -> f64 {
        self.size
    }

    /// How many explorers can run at once if they give nodes to one another.
    #[must_use]
    pub fn giving_at_once(&self) -> u32 {
        self.giving_at_once
    }

    /// Whether this many explorers could use more work: some have no interval, or there are fewer than two nodes for
    /// each.
    #[must_use]
    pub fn wants_more(&self, explorers: u32) -> bool {
        if self.held.is_intervals() {
            self.holding < explorers
        } else {
            self.size < 2.0 * f64::from(explorers)
        }
    }

    /// Whether the device has the kernel of a layout, built as the user wants it.
    pub(super) fn has_kernel(&self, layout: &Layout, handling: Handling) -> bool {
        self.memory.has_kernel(layout, handling)
    }

    /// Sets how the next kernels are built and how long they may run, and how work arrives and leaves.
    pub fn configure(&mut self, handling: Handling, exchange: Exchange) {
        self.exchange = exchange;
        self.memory.configure(handling);
    }

    /// What the device did besides exploring since the last call.
    pub fn take_phases(&mut self) -> Phases {
        std::mem::take(&mut self.phases)
    }

    /// The form of its kernels, if there are several.
    #[must_use]
    pub fn built(&self) -> Option<BuiltKernel> {
        self.memory.built()
    }

    /// Builds a problem's kernels and creates this many explorers with empty stacks, or as many as can run at once.
    /// Discards whatever the device held.
    ///
    /// # Errors
    /// If memory is too small or a kernel cannot be built.
    pub fn prepare(&mut self, layout: &Layout, explorers: Option<u32>) -> Result<(), DeviceError> {
        self.clear()?;
        let (at_once, giving) = self.memory.build_kernels(layout)?;
        self.giving_at_once = giving;
        let explorers = explorers.unwrap_or(at_once);
        let intervals = layout.nodes == Nodes::Interval;
        // Depth first, each step adds only the children of the nodes it takes.
        let deepest = 2 * layout.width as u64 * (layout.depth as u64 + 1);
        let each = 2 * (deepest / u64::from(PAGE) + 2);
        let page = if intervals { 1 } else { PAGE };
        let bytes = 4 * layout.words as u64 * u64::from(page);
        let (there, least) = (self.memory.bytes() / PART / bytes, 2 * u64::from(explorers));
        if there < least {
            return Err(DeviceError::Memory(self.memory.bytes(), PART * bytes * least));
        }
        // An explorer keeps its interval where its first page would be.
        let (pages, span) = if intervals {
            (explorers, 4)
        } else {
            let pages = (each * u64::from(explorers)).min(there).min(u64::from(u32::MAX) / 4);
            (pages as u32, (4 * each).next_power_of_two().clamp(4, MOST_SPAN.into()) as u32)
        };
        let n = explorers as usize;
        self.held = DeviceWork::new(layout);
        (self.words, self.found) = (layout.words, FOUND + layout.plan);
        self.room = (MOVED_WORDS / layout.words).max(1);
        let mut allocate = |words: usize| self.memory.allocate(words.max(1));
        self.launch = Launch {
            pages: allocate(pages as usize * page as usize * layout.words)?,
            rings: allocate(n * span as usize)?,
            stacks: allocate(2 * n)?,
            heights: allocate(n)?,
            report: allocate(LaunchReport::WORDS)?,
            found: allocate(n * self.found)?,
            tables: allocate(layout.tables.len())?,
            free: allocate(2 * pages as usize)?,
            moves: allocate(Move::WORDS * n)?,
            moved: allocate(self.room * layout.words)?,
            mail: allocate(n)?,
            explorers,
            active: explorers,
            span,
            free_room: 2 * pages,
            free_from: 0,
            free_pages: pages - explorers,
            unused: pages - explorers,
            sizes: layout.constants(),
            ..Launch::default()
        };
        let held = pages as usize * page as usize;
        let staged = held.min((self.memory.bytes() / STAGED_PART / 4) as usize / layout.words);
        let staged = staged.min(u32::MAX as usize);
        // Without this array backups are copied at once.
        let array = self.memory.allocate((staged * layout.words).max(1));
        self.staged = array.map_or((0, 0), |array| (array, staged));
        let first: Vec<u32> = (0..explorers).collect();
        self.memory.write(self.launch.rings, &first)?;
        self.memory.write(self.launch.stacks, &[0, 1].repeat(n))?;
        self.memory.write(self.launch.heights, &vec![0; n])?;
        self.memory.write(self.launch.mail, &vec![0; n])?;
        self.memory.write(self.launch.found, &vec![0; n * self.found])?;
        self.memory.write(self.launch.tables, &layout.tables)
    }

    /// Frees everything it holds.
    ///
    /// # Errors
    /// If the device fails.
    pub fn clear(&mut self) -> Result<(), DeviceError> {
        (self.size, self.holding) = (0.0, 0);
        (self.launch, self.phases) = (Launch::default(), Phases::default());
        self.memory.clear()
    }

    /// Makes slots for batches, each of a single parent if the kernel is launched only `once`. Discards whatever the
    /// device held. Returns how many children it can bound at once.
    ///
    /// # Errors
    /// If memory is too small or the kernel cannot be built.
    pub fn make_slots(
        &mut self,
        layout: &Layout,
        slots: usize,
        most: usize,
        once: bool,
    ) -> Result<u32, DeviceError> {
        self.clear()?;
        self.memory.make_slots(layout, slots, most, once)
    }

    /// Its slots.
    pub fn slots(&mut self) -> &mut dyn Slots {
        &mut *self.memory
    }

    fn read(&mut self, from: u64, words: usize) -> Result<Vec<u32>, DeviceError> {
        let mut all = vec![0; words];
        self.memory.read(from, &mut all)?;
        Ok(all)
    }

    /// Launches a kernel and waits for its report.
    fn launch_and_read(
        &mut self,
        entry: KernelEntry,
        best: i64,
    ) -> Result<LaunchReport, DeviceError> {
        let mut words = LaunchReport::words(best);
        self.memory.run(entry, &self.launch, &mut words)?;
        let report = LaunchReport::read(&words);
        self.launch.turn(&report);
        Ok(report)
    }

    /// Runs a round of kernels.
    ///
    /// # Errors
    /// If the device fails.
    pub fn run(&mut self, round: &Round) -> Result<RoundReport, DeviceError> {
        (self.launch.budget, self.launch.trigger) = (round.budget, round.trigger);
        self.launch.active = round.explorers.min(self.launch.explorers);
        let entry = if round.giving { KernelEntry::Give } else { KernelEntry::Explore };
        let start = Instant::now();
        let report = self.launch_and_read(entry, round.best)?;
        let round_ns = nanos_since(start);
        self.holding = self.launch.active - report.idle;
        self.size = match self.held.is_intervals() {
            true => f64::from_bits(report.nodes),
            false => report.nodes as f64,
        };
        let found = if report.found > 0 { self.take_solution()? } else { None };
        let mut exchange_ns = 0;
        if self.exchange_pays(round, &report, round_ns) {
            let start = Instant::now();
            self.exchange(round.inside, report.idle)?;
            exchange_ns = nanos_since(start);
            self.exchange_ns = (self.exchange_ns + exchange_ns) / 2;
            self.phases.exchange_ns += exchange_ns;
        }
        let LaunchReport { branched, bounded, total, depth, idle, full, steps, .. } = report;
        let counts = Counts {
            branched,
            bounded,
            total: total.into(),
            depth: depth as u32,
            ..Counts::default()
        };
        Ok(RoundReport { counts, round_ns, exchange_ns, steps, idle, full, found })
    }

    /// Whether an exchange costs less time than idle explorers would lose in another round like this one.
    fn exchange_pays(&self, round: &Round, report: &LaunchReport, round_ns: u64) -> bool {
        let active = u64::from(self.launch.active);
        let lost_ns = u128::from(round_ns) * u128::from(report.idle) / u128::from(active);
        // A round that ended early would end early again, and a round without busy explorers would do nothing.
        let called_off = report.idle >= round.trigger || u64::from(report.idle) >= active;
        report.idle > 0 && (called_off || lost_ns >= self.exchange_ns.into())
    }

    /// The best solution that any explorer recorded; clears all records.
    fn take_solution(&mut self) -> Result<Option<(i64, Vec<u32>)>, DeviceError> {
        let all = self.launch.explorers as usize * self.found;
        let words = self.read(self.launch.found, all)?;
        self.memory.write(self.launch.found, &vec![0; all])?;
        let written = words.chunks_exact(self.found).filter(|found| found[0] == 1);
        let score = |found: &[u32]| (u64::from(found[2]) | u64::from(found[3]) << 32).cast_signed();
        let scored = written.map(|found| (score(found), found[FOUND..].to_vec()));
        Ok(scored.min_by_key(|(score, _)| *score))
    }

    /// Moves nodes from full stacks to empty ones.
    fn exchange(&mut self, inside: Inside, idle: u32) -> Result<(), DeviceError> {
        let (all, mean) = (self.launch.explorers, self.size / f64::from(self.launch.active));
        let intervals = self.held.is_intervals();
        let (rule, window, longer) = match inside {
            Inside::Windows => (StealRule::Windows, (0, 0), true),
            Inside::Hypercube => (StealRule::Hypercube, (0, 0), true),
            Inside::Ring => (StealRule::Before, self.next_in_ring(), false),
            Inside::Search(width) => (StealRule::Before, (0, width.min(all)), false),
            Inside::Large(width) => (StealRule::Before, (0, width.min(all)), true),
            Inside::Adapt => (StealRule::Before, self.move_window(idle), true),
            Inside::None => return Ok(()),
        };
        (self.launch.round, self.launch.width) = window;
        self.launch.steal_rule = rule as u32;
        self.launch.least = match (longer, intervals) {
            (true, true) => height(mean).max(ONE_LEAF),
            (true, false) => mean as u32,
            (false, true) => ONE_LEAF,
            (false, false) => 0,
        };
        let moves = self.size > f64::from(u8::from(self.launch.active == all));
        for round in 0..if moves { rule.rounds(all) } else { 0 } {
            if rule == StealRule::Hypercube {
                self.launch.round = round;
            }
            self.memory.launch(KernelEntry::Balance, &self.launch)?;
        }
        self.memory.wait()
    }

    /// Advances to the next victim of each explorer, round the ring.
    fn next_in_ring(&mut self) -> (u32, u32) {
        let (from, _) = self.window;
        self.window.0 = (from + 1) % (self.launch.explorers - 1).max(1);
        (from, 1)
    }

    /// Advances the window and adapts its width to this many idle explorers.
    fn move_window(&mut self, idle: u32) -> (u32, u32) {
        let all = self.launch.explorers;
        let (from, width) = self.window;
        let many = u64::from(idle) * 10 > u64::from(all);
        let width = if many { width.saturating_mul(2) } else { width / 2 }.clamp(1, all);
        self.window = ((from + width) % all, width);
        (from % all, width)
    }

    /// Which explorers give.
    #[must_use]
    pub fn givers(&self) -> Givers {
        self.exchange.gives
    }
}
