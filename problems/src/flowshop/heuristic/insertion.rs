//! [`Insert`]: the best place for one more job; [`Insertion`] finds it for the makespan.
//!
//! Taillard's acceleration (1990): with heads and tails, all places together cost no more than one
//! evaluation of the schedule. Arrays are stored by machine, so that the places of a row are
//! computed in parallel.

use super::super::instance::Instance;

/// Finds the best places of jobs in schedules.
pub trait Insert {
    /// Inserts a job where the value of the schedule is least; `tie` picks among equals. Returns the value. `known` is
    /// the value of some place, or more.
    fn insert(
        &mut self,
        order: &mut Vec<u16>,
        job: u16,
        known: i64,
        tie: impl FnOnce(usize) -> usize,
    ) -> i64;

    /// The number of machines.
    fn machines(&self) -> usize;

    /// Work so far: places times machines.
    fn work(&self) -> u64;
}

/// Overhead of trying all places of a job, in places times machines.
const CALL: u64 = 60;

/// Heads and tails of a schedule, and working memory.
#[derive(Clone, Debug)]
pub struct Insertion<'a> {
    instance: &'a Instance,
    /// Times by machine.
    times: Vec<u32>,
    /// By machine: when the job at each place ends; place 0 is before the first.
    heads: Vec<u32>,
    /// By machine: the least time from the start of each place to the end; one more place at the
    /// end.
    tails: Vec<u32>,
    /// By place: when the new job would end on the current machine, and the makespan.
    ends: Vec<u32>,
    makespans: Vec<u32>,
    stride: usize,
    work: u64,
}

impl<'a> Insertion<'a> {
    /// For schedules of an instance.
    pub fn new(instance: &'a Instance) -> Self {
        let (jobs, machines) = (instance.jobs(), instance.machines());
        let by_machine = (0..machines).flat_map(|k| (0..jobs).map(move |j| (j, k)));
        let stride = jobs + 2;
        Self {
            instance,
            times: by_machine.map(|(j, k)| instance.job(j)[k]).collect(),
            heads: vec![0; machines * stride],
            tails: vec![0; machines * stride],
            ends: vec![0; stride],
            makespans: vec![0; stride],
            stride,
            work: 0,
        }
    }

    /// Computes the heads and tails of an order.
    fn measure(&mut self, order: &[u16]) {
        let (n, stride, machines) = (order.len(), self.stride, self.instance.machines());
        let jobs = self.instance.jobs();
        // Heads go down the machines while tails go up: two independent chains in one loop.
        for k in 0..machines {
            let up = machines - 1 - k;
            let (above, heads) = self.heads[..(k + 1) * stride].split_at_mut(k * stride);
            let above = above.len().checked_sub(stride).map(|start| &above[start..]);
            let (tails, below) = self.tails[up * stride..].split_at_mut(stride);
            let (down_times, up_times) =
                (&self.times[k * jobs..][..jobs], &self.times[up * jobs..][..jobs]);
            let (mut head, mut tail) = (0, 0);
            tails[n] = 0;
            for i in 0..n {
                let before = above.map_or(0, |above| above[i + 1]);
                head = before.max(head) + down_times[usize::from(order[i])];
                heads[i + 1] = head;
                let last = n - 1 - i;
                let after = below.get(last).map_or(0, |&after| after);
                tail = tail.max(after) + up_times[usize::from(order[last])];
                tails[last] = tail;
            }
        }
        self.work += CALL + ((n + 1) * machines) as u64;
    }

    /// The makespans of the order with a job inserted at each place.
    pub fn makespans(&mut self, order: &[u16], job: u16) -> &[u32] {
        self.measure(order);
        let places = order.len() + 1;
        let (ends, makespans) = (&mut self.ends[..places], &mut self.makespans[..places]);
        ends.fill(0);
        makespans.fill(0);
        for (k, &time) in self.instance.job(job.into()).iter().enumerate() {
            let heads = &self.heads[k * self.stride..][..places];
            let tails = &self.tails[k * self.stride..][..places];
            for i in 0..places {
                let end = ends[i].max(heads[i]) + time;
                ends[i] = end;
                makespans[i] = makespans[i].max(end + tails[i]);
            }
        }
        makespans
    }
}

impl Insert for Insertion<'_> {
    fn insert(
        &mut self,
        order: &mut Vec<u16>,
        job: u16,
        _: i64,
        tie: impl FnOnce(usize) -> usize,
    ) -> i64 {
        let makespans = self.makespans(order, job);
        let (place, least) = least_place(makespans, tie);
        order.insert(place, job);
        least.into()
    }

    fn machines(&self) -> usize {
        self.instance.machines()
    }

    fn work(&self) -> u64 {
        self.work
    }
}

/// The place with the least value, and the value; `tie` picks among equals.
pub fn least_place<V: Copy + Ord + Default>(
    values: &[V],
    tie: impl FnOnce(usize) -> usize,
) -> (usize, V) {
    let least = values.iter().copied().min().unwrap_or_default();
    let ties = values.iter().filter(|&&value| value == least).count();
    let mut places = (0..).zip(values).filter(|&(_, &value)| value == least);
    (places.nth(tie(ties)).map_or(0, |(place, _)| place), least)
}
