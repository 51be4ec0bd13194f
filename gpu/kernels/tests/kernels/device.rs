//! The simplest host loop: explore, balance and make room until nothing is left.

use pleach_core::search::device::{Layout, OnDevice};
use pleach_core::search::evaluate::Parents;
use pleach_core::search::explorer::Progress;
use pleach_core::search::problem::Problem;
use pleach_core::search::tree::Counts;
use pleach_core::search::work::Work;
use pleach_kernels::bounding::Bounding;
use pleach_kernels::emulated::{self, Fault};
use pleach_kernels::launch::{FOUND, KernelEntry, Launch, LaunchReport, Move, PAGE, StealRule};

/// How the device is used.
#[derive(Clone, Copy, Debug)]
pub struct Use {
    pub explorers: usize,
    /// How many of them take part.
    pub active: usize,
    /// Pages beyond the one that each explorer owns.
    pub spare: usize,
    pub span: usize,
    pub budget: u32,
    pub trigger: u32,
    pub rule: StealRule,
    /// How many preceding explorers that rule looks at.
    pub width: u32,
    /// Whether explorers give nodes to one another inside a launch.
    pub giving: bool,
    pub seed: u64,
}

/// One launch on memory that these tests own.
pub fn run(kernel: &str, entry: KernelEntry, record: &Launch, seed: u64) -> Result<(), Fault> {
    // SAFETY: the records of these tests have addresses of vectors of the right size that nobody else uses, or belong
    // to a kernel that touches one word only.
    unsafe { emulated::launch(kernel, entry, record, seed) }
}

/// The bounds of all children, by the kernel.
pub fn bounds(layout: &Layout, parents: &Parents, seed: u64) -> Vec<u32> {
    bounds_by(layout, &mut tables(layout), parents, seed)
}

/// A kernel's tables as they are on a device.
pub fn tables(layout: &Layout) -> Vec<u64> {
    let two = |two: &[u32]| u64::from(two[0]) | two.get(1).map_or(0, |&word| u64::from(word) << 32);
    layout.tables.chunks(2).map(two).collect()
}

/// The same with tables that the kernel may change.
pub fn bounds_by(layout: &Layout, tables: &mut [u64], parents: &Parents, seed: u64) -> Vec<u32> {
    let mut bounds = vec![0xdead_beef; parents.children() as usize];
    let record = Bounding {
        starts: parents.starts.as_ptr() as u64,
        parents: parents.words.as_ptr() as u64,
        bounds: bounds.as_mut_ptr() as u64,
        tables: tables.as_mut_ptr() as u64,
        count: parents.len() as u32,
        children: parents.children(),
        sizes: layout.constants(),
    };
    // SAFETY: the arrays are those of the record, and outlive the launch.
    unsafe { emulated::bound(layout.kernel, &record, seed) }.unwrap();
    bounds
}

/// The memory of an emulated device.
pub struct Device {
    layout: Layout,
    how: Use,
    pages: Vec<u32>,
    rings: Vec<u32>,
    stacks: Vec<[u32; 2]>,
    pub heights: Vec<u32>,
    /// Reports need this alignment.
    said: Vec<u64>,
    found: Vec<u32>,
    free: Vec<u32>,
    mail: Vec<u32>,
    free_from: u32,
    free_pages: u32,
    unused: u32,
    pub best: i64,
    /// What the last launch reported.
    pub report: LaunchReport,
    launches: u64,
}

impl Device {
    pub fn new(problem: &dyn OnDevice, how: Use, best: i64) -> Self {
        let mut layout = problem.layout();
        layout.tables.push(0);
        let all = how.explorers + how.spare;
        let mut rings = vec![u32::MAX; how.explorers * how.span];
        (0..how.explorers).for_each(|e| rings[e] = e as u32);
        Self {
            pages: vec![0; all * PAGE as usize * layout.words],
            rings,
            stacks: vec![[0, 1]; how.explorers],
            heights: vec![0; how.explorers],
            said: vec![0; LaunchReport::WORDS / 2],
            found: vec![0; how.explorers * (FOUND + layout.plan)],
            free: vec![u32::MAX; 2 * all],
            mail: vec![0; how.explorers],
            free_from: 0,
            free_pages: how.spare as u32,
            unused: how.spare as u32,
            report: LaunchReport::default(),
            launches: 0,
            best,
            layout,
            how,
        }
    }

    fn run(
        &mut self,
        entry: KernelEntry,
        round: u32,
        moves: &mut [Move],
        moved: &mut [u32],
        leave: bool,
    ) -> Result<(), Fault> {
        self.launches += 1;
        self.said.fill(0);
        self.said[0] = self.best as u64;
        let open: u32 = self.heights.iter().sum();
        let mut record = Launch {
            pages: self.pages.as_mut_ptr() as u64,
            rings: self.rings.as_mut_ptr() as u64,
            stacks: self.stacks.as_mut_ptr() as u64,
            heights: self.heights.as_mut_ptr() as u64,
            report: self.said.as_mut_ptr() as u64,
            found: self.found.as_mut_ptr() as u64,
            tables: self.layout.tables.as_ptr() as u64,
            free: self.free.as_mut_ptr() as u64,
            moves: moves.as_mut_ptr() as u64,
            moved: moved.as_mut_ptr() as u64,
            mail: self.mail.as_mut_ptr() as u64,
            explorers: self.how.explorers as u32,
            active: self.how.active as u32,
            span: self.how.span as u32,
            free_room: self.free.len() as u32,
            free_from: self.free_from,
            free_pages: self.free_pages,
            unused: self.unused,
            budget: self.how.budget,
            trigger: self.how.trigger,
            steal_rule: self.how.rule as u32,
            round,
            width: self.how.width.min(self.how.explorers as u32),
            least: open / self.how.explorers as u32,
            leave: leave.into(),
            sizes: self.layout.constants(),
        };
        let seed = self.how.seed + 1000 * self.launches;
        let entry = match entry {
            KernelEntry::Explore if self.how.giving => KernelEntry::Give,
            entry => entry,
        };
        run(self.layout.kernel, entry, &record, seed)?;
        let words: Vec<u32> =
            self.said.iter().flat_map(|&two| [two as u32, (two >> 32) as u32]).collect();
        self.report = LaunchReport::read(words.first_chunk().unwrap());
        self.best = self.report.best;
        record.turn(&self.report);
        (self.free_from, self.free_pages) = (record.free_from, record.free_pages);
        self.unused = record.unused;
        self.check();
        Ok(())
    }

    /// Checks that every page has one owner or is free, and that every stack has pages for its nodes.
    fn check(&self) {
        let mut seen = vec![0; self.how.explorers + self.how.spare];
        for (explorer, &[base, owned]) in self.stacks.iter().enumerate() {
            assert!(self.heights[explorer] <= owned * PAGE && 0 < owned);
            assert!(owned as usize <= self.how.span);
            for i in 0..owned {
                let at = base.wrapping_add(i) as usize % self.how.span;
                seen[self.rings[at * self.how.explorers + explorer] as usize] += 1;
            }
        }
        for i in 0..self.free_pages {
            let page = if i < self.unused {
                seen.len() - (self.unused - i) as usize
            } else {
                self.free[(self.free_from + i) as usize % self.free.len()] as usize
            };
            seen[page] += 1;
        }
        assert!(seen.iter().all(|&times| times == 1), "{seen:?}, {:?}", self.how);
        // Nobody waits between launches, nor is about to get nodes.
        let waits = self.mail.iter().any(|&mail| mail >= u32::MAX - 1);
        assert!(!waits, "{:?}, {:?}", self.mail, self.how);
        assert_eq!(self.report.busy, 0, "{:?}", self.how);
    }

    /// One launch of `explore`, or of a round of `balance`.
    pub fn launch(&mut self, entry: KernelEntry, round: u32) -> Result<(), Fault> {
        self.run(entry, round, &mut [Move::default()], &mut [0], false)
    }

    /// Spreads nodes over the first stacks. Returns those that do not fit.
    pub fn put(&mut self, words: &[u32], stacks: usize) -> Vec<u32> {
        let size = self.layout.words;
        let nodes = words.len() / size;
        let each = nodes.div_ceil(stacks);
        let part = |explorer: usize| {
            let at = (explorer * each).min(nodes);
            let n = each.min(nodes - at) as u32;
            Move { nodes: n, at: at as u32, ..Move::default() }
        };
        let mut moves: Vec<Move> = (0..self.how.explorers).map(part).collect();
        let mut moved = words.to_vec();
        moved.push(0);
        self.run(KernelEntry::Put, 0, &mut moves, &mut moved, false).unwrap();
        let left = moves.iter().flat_map(|m| {
            &moved[(m.at + m.done) as usize * size..][..(m.nodes - m.done) as usize * size]
        });
        left.copied().collect()
    }

    /// Takes the lowest nodes of each stack; `nodes` maps an explorer and its height to their
    /// number.
    pub fn take(&mut self, nodes: impl Fn(usize, u32) -> u32, leave: bool) -> Vec<u32> {
        let mut at = 0;
        let mut moves = Vec::new();
        for (explorer, &height) in self.heights.iter().enumerate() {
            let nodes = nodes(explorer, height);
            moves.push(Move { nodes, at, ..Move::default() });
            at += nodes;
        }
        let mut moved = vec![0; at as usize * self.layout.words + 1];
        self.run(KernelEntry::Take, 0, &mut moves, &mut moved, leave).unwrap();
        moved.pop();
        moved
    }

    /// Lets explorers steal from each other, in one round.
    pub fn balance_in(&mut self, round: u32) -> Result<(), Fault> {
        self.launch(KernelEntry::Balance, round)
    }

    /// Lets explorers steal from each other, in all rounds.
    pub fn balance(&mut self) -> Result<(), Fault> {
        let before: u32 = self.heights.iter().sum();
        for round in 0..self.how.rule.rounds(self.how.explorers as u32) {
            self.launch(KernelEntry::Balance, round)?;
        }
        assert_eq!(self.heights.iter().sum::<u32>(), before, "nodes were lost or doubled");
        Ok(())
    }

    /// The counts of the last launch.
    pub fn counted(&self) -> Counts {
        let LaunchReport { branched, bounded, total, depth, .. } = self.report;
        Counts { branched, bounded, total: total.into(), depth: depth as u32, ..Counts::default() }
    }

    /// The best solution recorded, as score and words of the plan.
    fn found(&mut self) -> Option<(i64, Vec<u32>)> {
        let records = self.found.chunks_exact(FOUND + self.layout.plan);
        let solutions = records.filter(|record| record[0] == 1).map(|record| {
            let score = u64::from(record[3]) << 32 | u64::from(record[2]);
            (score as i64, record[FOUND..].to_vec())
        });
        let best = solutions.min();
        assert_eq!(best.is_some(), self.report.found > 0);
        self.found.fill(0);
        best
    }
}

/// Explores a problem's whole tree on an emulated device.
pub fn explore(problem: &dyn Problem, how: Use, best: i64) -> Progress {
    explore_from(problem, &problem.root(), how, best)
}

/// Explores work on an emulated device.
pub fn explore_from(problem: &dyn Problem, work: &Work, how: Use, best: i64) -> Progress {
    let on_device = problem.on_device().expect("the problem has a kernel");
    run_to_end(on_device, Device::new(on_device, how, best), work, how)
}

/// Explores a problem's whole tree with the kernel that has its sizes compiled in.
pub fn explore_sized(problem: &dyn Problem, kernel: &'static str, how: Use, best: i64) -> Progress {
    let on_device = problem.on_device().expect("the problem has a kernel");
    let mut device = Device::new(on_device, how, best);
    let sizes = device.layout.sizes.iter().map(|size| format!(" {size}")).collect::<String>();
    assert_eq!(format!("{}{sizes}", device.layout.kernel), kernel);
    device.layout.kernel = kernel;
    run_to_end(on_device, device, &problem.root(), how)
}

fn run_to_end(on_device: &dyn OnDevice, mut device: Device, work: &Work, how: Use) -> Progress {
    let mut aside = Vec::new();
    on_device.to_words(&work.bytes, &mut aside).unwrap();
    let mut sum = Progress::default();
    loop {
        if device.heights.iter().all(|&height| height == 0) {
            if aside.is_empty() {
                return sum;
            }
            aside = device.put(&aside, how.active);
        }
        device.launch(KernelEntry::Explore, 0).unwrap();
        let open: u32 = device.heights.iter().sum();
        assert_eq!(device.report.nodes, u64::from(open));
        sum.counts.add(&device.counted());
        if let Some((score, plan)) = device.found() {
            assert_eq!(score, device.best, "{how:?}");
            sum.found = Some(on_device.solution(score, &plan));
        }
        if device.report.full > 0 {
            // Takes all but one node of each stack off the device and through bytes.
            let words = device.take(|_, height| height.saturating_sub(1), false);
            on_device.to_words(&on_device.to_work(&words).bytes, &mut aside).unwrap();
        }
        device.balance().unwrap();
    }
}
