//! [`Tables`] and [`Partial`]: an instance and a partial schedule in the layout of the search.
//!
//! Both ends of a schedule are treated alike by reading the instance from both sides at once: an
//! array over machines has two words per machine, `2k` for machine `k` seen from the front, and
//! `2k + 1` for machine `m − 1 − k` seen from the back. Reversing the array reverses the schedule.

use super::Node;
use super::instance::Instance;

/// A time in a search: as narrow as the sums of the instance allow.
pub trait Word: Copy + Ord + Send + Sync + std::fmt::Debug + 'static {
    /// The greatest value, which no bound reaches.
    const MOST: u32;

    /// Converts a value that is known to fit.
    fn narrow(value: u32) -> Self;

    /// The value.
    fn wide(self) -> u32;

    /// The sum; lanes that are never read may overflow.
    fn plus(self, other: Self) -> Self;

    /// The difference.
    fn minus(self, other: Self) -> Self;
}

macro_rules! words {
    ($($word:ty)*) => {$(
        impl Word for $word {
            const MOST: u32 = <$word>::MAX as u32;
            #[inline]
            fn narrow(value: u32) -> Self {
                value as $word
            }
            #[inline]
            fn wide(self) -> u32 {
                u32::from(self)
            }
            #[inline]
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            #[inline]
            fn minus(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }
        }
    )*};
}
words!(u16 u32);

/// An instance, seen from both sides.
#[derive(Clone, Debug)]
pub struct Tables<W> {
    /// Words in an array over machines: two per machine.
    pub width: usize,
    /// Allocated words of such an array.
    pub room: usize,
    /// Whether all sums, and thus all differences, fit signed words too.
    signed: bool,
    /// The times of each job.
    times: Vec<W>,
    /// Prefix sums of each job's times, up to and including each machine.
    sums: Vec<W>,
    /// Each job's total time after a machine (from the back: before it).
    tails: Vec<W>,
    /// Total time of all jobs by machine.
    all: Vec<W>,
    /// The least tail over all jobs.
    least: Vec<W>,
}

/// Words of two large vectors: arrays over machines are padded to this size if they are smaller.
const TWO_VECTORS: usize = 64;

impl<W: Word> Tables<W> {
    /// The tables of an instance whose longest path fits the word.
    pub fn new(instance: &Instance) -> Self {
        let (n, m) = (instance.jobs(), instance.machines());
        let width = 2 * m;
        let room = width.max(TWO_VECTORS);
        let none = W::narrow(0);
        let [mut times, mut sums, mut tails] = [(); 3].map(|()| vec![none; n * room]);
        let (mut all, mut least) = (vec![0; room], vec![u32::MAX; room]);
        least[width..].fill(0);
        for job in 0..n {
            let row = job * room..(job + 1) * room;
            let (times, sums, tails) =
                (&mut times[row.clone()], &mut sums[row.clone()], &mut tails[row]);
            let total: u32 = instance.job(job).iter().sum();
            let mut before = 0;
            for (k, &time) in instance.job(job).iter().enumerate() {
                let after = total - before - time;
                // From the front, and from the back.
                for (at, before, after) in
                    [(2 * k, before, after), (width - 1 - 2 * k, after, before)]
                {
                    times[at] = W::narrow(time);
                    sums[at] = W::narrow(before + time);
                    tails[at] = W::narrow(after);
                    all[at] += time;
                    least[at] = least[at].min(after);
                }
                before += time;
            }
        }
        let narrow = |words: Vec<u32>| words.into_iter().map(W::narrow).collect();
        Self {
            width,
            room,
            signed: instance.longest_path() <= u64::from(W::MOST / 2),
            times,
            sums,
            tails,
            all: narrow(all),
            least: narrow(least),
        }
    }

    /// The times of a job.
    #[inline]
    pub fn job(&self, job: u16) -> &[W] {
        &self.times[usize::from(job) * self.room..][..self.width]
    }

    /// A job's times, their prefix sums, and the least tails, if arrays over machines fit two
    /// vectors of signed words; entries beyond the width are zero.
    #[inline]
    pub fn in_two_vectors(&self, job: u16) -> Option<[&[W; TWO_VECTORS]; 3]> {
        if self.room > TWO_VECTORS || !self.signed {
            return None;
        }
        let start = usize::from(job) * TWO_VECTORS;
        let times = self.times[start..].first_chunk()?;
        Some([times, self.sums[start..].first_chunk()?, self.least.first_chunk()?])
    }

    /// Total time of all jobs by machine.
    pub fn all(&self) -> &[W] {
        &self.all[..self.width]
    }

    /// The least tail over all jobs.
    #[inline]
    pub fn least(&self) -> &[W] {
        &self.least[..self.width]
    }

    /// A job's tail after each machine.
    #[inline]
    pub fn tail(&self, job: u16) -> &[W] {
        &self.tails[usize::from(job) * self.room..][..self.width]
    }

    /// Number of jobs.
    pub fn jobs(&self) -> usize {
        self.times.len() / self.room
    }
}

/// A partial schedule as arrays over machines: its two ends, and the jobs left between them.
#[derive(Clone, Debug, PartialEq)]
pub struct Partial<W> {
    /// Heads and tails: when each machine finishes the front, and how long before the end it starts
    /// the back.
    pub ends: Vec<W>,
    /// The work of the jobs left.
    pub left: Vec<W>,
    /// The least time from the start of a job left to the end: the work left and the least tail.
    pub rest: Vec<W>,
}

impl<W: Word> Partial<W> {
    /// Arrays of this size, to be filled.
    pub fn new(room: usize) -> Self {
        let zeros = vec![W::narrow(0); room];
        Self { ends: zeros.clone(), left: zeros.clone(), rest: zeros }
    }

    /// The schedule with no job placed.
    pub fn none(tables: &Tables<W>) -> Self {
        let mut partial = Self::new(tables.room);
        partial.left.clone_from(&tables.all);
        partial.look_ahead(tables.least());
        partial
    }

    /// A node's partial schedule.
    pub fn of(tables: &Tables<W>, node: &Node) -> Self {
        let mut partial = Self::none(tables);
        let mut before = partial.clone();
        let front = node.front.iter().map(|job| (job, false));
        for (&job, back) in front.chain(node.back.iter().map(|job| (job, true))) {
            std::mem::swap(&mut partial, &mut before);
            partial.place(&before, tables.job(job), back);
        }
        partial.look_ahead(tables.least());
        partial
    }

    /// Becomes `before` with a job added at one end.
    #[inline]
    pub fn place(&mut self, before: &Self, times: &[W], back: bool) {
        let width = times.len();
        let (ends, left) = (&mut self.ends[..width], &mut self.left[..width]);
        let old = &before.ends[..width];
        for ((left, &old), &time) in left.iter_mut().zip(&before.left[..width]).zip(times) {
            *left = old.minus(time);
        }
        let mut end = W::narrow(0);
        let pairs = ends.chunks_exact_mut(2).zip(old.chunks_exact(2)).zip(times.chunks_exact(2));
        if back {
            for ((new, old), times) in pairs {
                end = end.max(old[1]).plus(times[1]);
                (new[0], new[1]) = (old[0], end);
            }
        } else {
            for ((new, old), times) in pairs {
                end = end.max(old[0]).plus(times[0]);
                (new[0], new[1]) = (end, old[1]);
            }
        }
    }

    /// Computes `rest`, given the least tails.
    #[inline]
    pub fn look_ahead(&mut self, least: &[W]) {
        let width = least.len();
        let (ends, left, rest) =
            (&self.ends[..width], &self.left[..width], &mut self.rest[..width]);
        for (((rest, &left), &end), &least) in
            rest.iter_mut().zip(left).zip(ends.iter().rev()).zip(least)
        {
            *rest = left.plus(end.max(least));
        }
    }

    /// The makespan once the last job is placed.
    pub fn complete(&self, times: &[W]) -> u32 {
        let mut end = W::narrow(0);
        let mut makespan = W::narrow(0);
        for (k, time) in times.iter().enumerate().step_by(2) {
            end = end.max(self.ends[k]).plus(*time);
            makespan = makespan.max(end.plus(self.ends[times.len() - 1 - k]));
        }
        makespan.wide()
    }
}
