//! A host's loop, as plain as can be: explore, balance, and make room, until nothing is left.

use pleach_core::device::{Layout, OnDevice};
use pleach_core::explorer::Progress;
use pleach_core::problem::Problem;
use pleach_core::tree::Counts;
use pleach_kernels::emulated::{self, Fault};
use pleach_kernels::{COUNTS, Entry, FOUND, Kind, Launch};

/// How the device is used.
#[derive(Clone, Copy, Debug)]
pub struct Use {
    pub explorers: usize,
    pub capacity: usize,
    pub budget: u32,
    pub trigger: u32,
    pub kind: Kind,
    pub seed: u64,
}

/// One launch, of memory that the tests here own.
pub fn run(kernel: &str, entry: Entry, record: &Launch, seed: u64) -> Result<(), Fault> {
    // SAFETY: the records of these tests have addresses of vectors of the right size, which
    // nobody else uses, or belong to a kernel that touches one word only.
    unsafe { emulated::launch(kernel, entry, record, seed) }
}

/// The memory of an emulated device.
pub struct Device {
    layout: Layout,
    how: Use,
    stacks: Vec<u32>,
    pub heights: Vec<u32>,
    counts: Vec<u64>,
    pub best: i64,
    found: Vec<u32>,
    pub idle: [u32; 2],
    launches: u64,
}

impl Device {
    pub fn new(problem: &dyn OnDevice, how: Use, best: i64) -> Self {
        let layout = problem.layout();
        Self {
            stacks: vec![0; how.explorers * how.capacity * layout.words],
            heights: vec![0; how.explorers],
            counts: vec![0; how.explorers * COUNTS],
            found: vec![0; how.explorers * (FOUND + layout.plan)],
            idle: [0; 2],
            launches: 0,
            best,
            layout,
            how,
        }
    }

    fn stack(&mut self, explorer: usize) -> &mut [u32] {
        let size = self.how.capacity * self.layout.words;
        &mut self.stacks[explorer * size..][..size]
    }

    /// Puts nodes onto stacks, on each what there is room for; `false` if some were left over.
    pub fn put(&mut self, mut words: &[u32]) -> bool {
        let size = self.layout.words;
        for explorer in 0..self.how.explorers {
            let height = self.heights[explorer] as usize;
            let room = (self.how.capacity - height).min(words.len() / size);
            let (now, later) = words.split_at(room * size);
            self.stack(explorer)[height * size..][..now.len()].copy_from_slice(now);
            self.heights[explorer] += room as u32;
            words = later;
        }
        words.is_empty()
    }

    /// Takes all nodes of a stack.
    pub fn take(&mut self, explorer: usize) -> Vec<u32> {
        let n = std::mem::take(&mut self.heights[explorer]) as usize * self.layout.words;
        self.stack(explorer)[..n].to_vec()
    }

    pub fn launch(&mut self, entry: Entry, round: u32) -> Result<(), Fault> {
        self.idle = [0; 2];
        self.launches += 1;
        let mut sizes = [0; 9];
        sizes[..self.layout.sizes.len()].copy_from_slice(&self.layout.sizes);
        let mut tables = self.layout.tables.clone();
        tables.push(0);
        let open: u32 = self.heights.iter().sum();
        let record = Launch {
            stacks: self.stacks.as_mut_ptr() as u64,
            heights: self.heights.as_mut_ptr() as u64,
            counts: self.counts.as_mut_ptr() as u64,
            best: &raw mut self.best as u64,
            found: self.found.as_mut_ptr() as u64,
            tables: tables.as_ptr() as u64,
            idle: self.idle.as_mut_ptr() as u64,
            explorers: self.how.explorers as u32,
            capacity: self.how.capacity as u32,
            budget: self.how.budget,
            trigger: self.how.trigger,
            kind: self.how.kind as u32,
            round,
            least: open / self.how.explorers as u32,
            sizes,
        };
        let seed = self.how.seed + 1000 * self.launches;
        run(self.layout.kernel, entry, &record, seed)
    }

    /// Lets explorers take from each other, in all rounds that there are.
    pub fn balance(&mut self) -> Result<(), Fault> {
        let before: u32 = self.heights.iter().sum();
        for round in 0..self.how.kind.rounds(self.how.explorers as u32) {
            self.launch(Entry::Balance, round)?;
            let height = self.heights.iter().max();
            assert!(height.is_none_or(|&height| height as usize <= self.how.capacity));
        }
        assert_eq!(self.heights.iter().sum::<u32>(), before, "nodes were lost or doubled");
        Ok(())
    }

    /// Sums and forgets what was counted.
    pub fn counted(&mut self) -> Counts {
        let mut sum = Counts::default();
        for counts in self.counts.chunks_exact(COUNTS) {
            let &[branched, bounded, total, depth] = counts else { unreachable!() };
            sum.add(&Counts { branched, bounded, total: total.into(), depth: depth as u32 });
        }
        self.counts.fill(0);
        sum
    }

    /// The best solution written down, as score and words of the plan.
    fn found(&mut self) -> Option<(i64, Vec<u32>)> {
        let records = self.found.chunks_exact(FOUND + self.layout.plan);
        let solutions = records.filter(|record| record[0] == 1).map(|record| {
            let score = u64::from(record[3]) << 32 | u64::from(record[2]);
            (score as i64, record[FOUND..].to_vec())
        });
        let best = solutions.min();
        self.found.fill(0);
        best
    }
}

/// Explores a problem's whole tree on an emulated device.
pub fn explore(problem: &dyn Problem, how: Use, best: i64) -> Progress {
    let on_device = problem.on_device().expect("the problem has a kernel");
    let mut device = Device::new(on_device, how, best);
    let mut words = Vec::new();
    on_device.to_words(&problem.root().bytes, &mut words).unwrap();
    assert!(device.put(&words));
    let mut sum = Progress::default();
    let mut aside: Vec<Vec<u32>> = Vec::new();
    loop {
        device.launch(Entry::Explore, 0).unwrap();
        sum.counts.add(&device.counted());
        if let Some((score, plan)) = device.found() {
            assert_eq!(score, device.best, "{how:?}");
            sum.found = Some(on_device.solution(score, &plan));
        }
        aside.extend(make_room(&mut device, on_device));
        if device.heights.iter().all(|&height| height == 0) {
            let Some(words) = aside.pop() else { return sum };
            assert!(device.put(&words));
        }
        device.balance().unwrap();
    }
}

/// Takes full stacks off the device, by way of bytes, but for the node that was to come next.
fn make_room(device: &mut Device, problem: &dyn OnDevice) -> Vec<Vec<u32>> {
    let mut aside = Vec::new();
    let full = device.how.capacity - device.how.capacity.min(device.layout.width);
    for explorer in 0..device.how.explorers {
        if device.heights[explorer] as usize <= full.max(1) {
            continue;
        }
        let words = device.take(explorer);
        let keep = words.len() - device.layout.words;
        let mut back = Vec::new();
        problem.to_words(&problem.to_work(&words[..keep]).bytes, &mut back).unwrap();
        for nodes in back.chunks(device.layout.words * device.how.capacity) {
            aside.push(nodes.to_vec());
        }
        let size = device.layout.words;
        device.stack(explorer)[..size].copy_from_slice(&words[keep..]);
        device.heights[explorer] = 1;
    }
    aside
}
