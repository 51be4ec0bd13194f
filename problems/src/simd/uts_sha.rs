//! UTS with the SHA instructions: two children at a time, of parents taken up some time before.
//!
//! The message schedule is linear over exclusive-or, so that the schedule of child i is that of
//! child 0 with a fixed pattern of i flipped in. Schedules of eight parents are made together, with
//! plain vector code: the SHA instructions, which do only one thing at a time, have the rounds.
//! No branch waits for a hash: children are stored whether they have children or not, and the end
//! of the columns moves on only if they do.

use crate::uts::sha1::{self, START};
use crate::uts::{Columns, Kernel, ROW, Rules, Tally};
use std::arch::x86_64::*;

/// Children made from one schedule; a parent of more is taken up several times.
const BLOCK: u32 = 16;
/// Parents taken up at a time.
const PARENTS: usize = 8;

/// The words of all rounds, four to a register.
type Schedule = [__m128i; 20];

/// The schedules of eight parents: register by register, parents in the order of [`slot`].
type Schedules = [[__m128i; PARENTS]; 20];

/// Where a parent's words lie, as the transposition leaves them.
fn slot(parent: usize) -> usize {
    parent % 4 * 2 + parent / 4
}

/// The kernel for one tree: exists only where the processor has the instructions.
pub struct ShaKernel<'r> {
    rules: &'r Rules,
    g: u32,
    patterns: Box<[Schedule; BLOCK as usize]>,
}

impl<'r> ShaKernel<'r> {
    /// Where the processor has the instructions.
    #[must_use]
    pub fn new(rules: &'r Rules, g: u32) -> Option<Self> {
        let works = crate::simd::Level::Avx2.works() && is_x86_feature_detected!("sha");
        works.then(|| {
            let pattern = |number: usize| {
                let mut message = [0; 16];
                message[5] = number as u32;
                pack(&sha1::schedule(message))
            };
            Self { rules, g, patterns: Box::new(std::array::from_fn(pattern)) }
        })
    }
}

impl Kernel for ShaKernel<'_> {
    fn run(&self, columns: &mut Columns, fuel: u64) -> Tally {
        let mut tally = Tally::default();
        while tally.nodes < fuel && columns.len() > 0 {
            // SAFETY: a `ShaKernel` exists only where the instructions do.
            unsafe { batch(self, columns, &mut tally) }
        }
        tally
    }
}

/// Four words to a register, the first in the highest lane.
fn pack(words: &[u32; 80]) -> Schedule {
    std::array::from_fn(|i| {
        let [a, b, c, d] = [0, 1, 2, 3].map(|k| words[4 * i + k] as i32);
        // SAFETY: SSE2 is part of the architecture.
        unsafe { _mm_set_epi32(a, b, c, d) }
    })
}

/// The children to be made at a time: parent and number each, one more for an odd end.
type Jobs = [(u8, u8); PARENTS * BLOCK as usize + 1];

/// Makes a block of children of each of the topmost nodes.
///
/// # Safety
/// The processor must have AVX2 and the SHA instructions.
unsafe fn batch(kernel: &ShaKernel<'_>, columns: &mut Columns, tally: &mut Tally) {
    let count = columns.len().min(PARENTS);
    let from = columns.len() - count;
    let parents: [usize; PARENTS] = std::array::from_fn(|parent| from + parent);
    let left = parents.map(|at| columns.left[at]);
    let depths = parents.map(|at| columns.depth[at].wrapping_add(1));
    let firsts = left.map(|left| left.wrapping_sub(1) / BLOCK * BLOCK);
    // SAFETY: the caller's.
    let schedules = unsafe { schedules(columns, from, &firsts) };
    let mut jobs: Jobs = [(0, 0); PARENTS * BLOCK as usize + 1];
    let mut n = 0;
    columns.set_len(from);
    for parent in 0..count {
        tally.depth = tally.depth.max(depths[parent]);
        for number in 0..left[parent] - firsts[parent] {
            jobs[n] = (parent as u8, number as u8);
            n += 1;
        }
        // What is kept never lies above the place it is read from.
        if firsts[parent] > 0 {
            columns.keep(from + parent, firsts[parent]);
        }
    }
    // With an odd number the last is made twice, and stored once.
    jobs[n] = jobs[n.max(1) - 1];
    columns.reserve(n);
    tally.nodes += n as u64;
    // SAFETY: the caller's.
    tally.inner += unsafe { make(kernel, columns, &schedules, &depths, &jobs, n) };
}

/// Makes `n` children; returns how many have children. No AVX here: the SHA instructions are of the
/// older encoding, and mixing the two is very slow.
#[target_feature(enable = "sha,sse4.1")]
fn make(
    kernel: &ShaKernel<'_>,
    columns: &mut Columns,
    schedules: &Schedules,
    depths: &[u32; PARENTS],
    jobs: &Jobs,
    n: usize,
) -> u64 {
    let mut inner = 0;
    for at in (0..n).step_by(2) {
        let two = [jobs[at], jobs[at + 1]];
        let parents = two.map(|(parent, _)| usize::from(parent) % PARENTS);
        let slots = parents.map(slot);
        let pattern = two.map(|(_, number)| &kernel.patterns[usize::from(number) % BLOCK as usize]);
        for _ in 1..kernel.g {
            std::hint::black_box(pair(std::hint::black_box(schedules), slots, pattern));
        }
        let states = pair(schedules, slots, pattern);
        for i in 0..2 {
            let depth = depths[parents[i]];
            let left = children(kernel.rules, depth, states[i][4] & (u32::MAX >> 1));
            let kept = left > 0 && at + i < n;
            columns.push_if(kept, &states[i], left, depth);
            inner += u64::from(kept);
        }
    }
    inner
}

/// How many children a node has, without a branch that depends on its value.
#[inline]
fn children(rules: &Rules, depth: u32, value: u32) -> u32 {
    if depth >= rules.binomial_from {
        return u32::from(value < rules.below) * rules.m;
    }
    if depth >= rules.limit {
        return 0;
    }
    let Some(&row) = rules.row_of.get(depth as usize) else {
        return rules.children(depth, value);
    };
    let row: &[u32; ROW] = &rules.rows[row as usize];
    let mut n = 0;
    for step in [64, 32, 16, 8, 4, 2, 1] {
        n += step * usize::from(row[n + step - 1] <= value);
    }
    n as u32
}

/// The schedules of the eight nodes from `from` on, each for the child of the number given.
#[inline(never)]
#[target_feature(enable = "avx2")]
fn schedules(columns: &Columns, from: usize, numbers: &[u32; PARENTS]) -> Schedules {
    let load = |words: &[u32]| {
        let words = &words[..PARENTS];
        // SAFETY: the slice was just seen to be as long as the register.
        unsafe { _mm256_loadu_si256(words.as_ptr().cast()) }
    };
    let mut w = [_mm256_setzero_si256(); 80];
    for (word, column) in w.iter_mut().zip(&columns.state) {
        *word = load(&column[from..]);
    }
    w[5] = load(numbers);
    w[6] = _mm256_set1_epi32(i32::MIN);
    w[15] = _mm256_set1_epi32(192);
    for t in 16..80 {
        let near = _mm256_xor_si256(w[t - 3], w[t - 8]);
        let mix = _mm256_xor_si256(near, _mm256_xor_si256(w[t - 14], w[t - 16]));
        w[t] = _mm256_or_si256(_mm256_slli_epi32::<1>(mix), _mm256_srli_epi32::<31>(mix));
    }
    let mut schedules = [[_mm_setzero_si128(); PARENTS]; 20];
    for (out, w) in schedules.iter_mut().zip(w.chunks_exact(4)) {
        // The first word goes into the highest lane.
        let low = [_mm256_unpacklo_epi32(w[3], w[2]), _mm256_unpacklo_epi32(w[1], w[0])];
        let high = [_mm256_unpackhi_epi32(w[3], w[2]), _mm256_unpackhi_epi32(w[1], w[0])];
        let four = [
            _mm256_unpacklo_epi64(low[0], low[1]),
            _mm256_unpackhi_epi64(low[0], low[1]),
            _mm256_unpacklo_epi64(high[0], high[1]),
            _mm256_unpackhi_epi64(high[0], high[1]),
        ];
        for (pair, both) in out.chunks_exact_mut(2).zip(four) {
            pair[0] = _mm256_castsi256_si128(both);
            pair[1] = _mm256_extracti128_si256::<1>(both);
        }
    }
    schedules
}

/// Groups of four rounds for both children: message words in, five words turned by four.
macro_rules! fours {
    ($base:ident, $slot:ident, $pattern:ident, $a:ident, $e:ident, $mix:literal, $($i:literal)*) => {
        $(for lane in 0..2 {
            let message = _mm_xor_si128($base[$i][$slot[lane]], $pattern[lane][$i]);
            let fed = if $i == 0 {
                _mm_add_epi32($e[lane], message)
            } else {
                _mm_sha1nexte_epu32($e[lane], message)
            };
            $e[lane] = $a[lane];
            $a[lane] = _mm_sha1rnds4_epu32::<$mix>($a[lane], fed);
        })*
    };
}

/// The states of two children, given their parents' schedules and their own patterns.
#[inline]
#[target_feature(enable = "sha,sse4.1")]
fn pair(base: &Schedules, slot: [usize; 2], pattern: [&Schedule; 2]) -> [sha1::State; 2] {
    let [h0, h1, h2, h3, h4] = START.map(|word| word as i32);
    let start = _mm_set_epi32(h0, h1, h2, h3);
    let start_e = _mm_set_epi32(h4, 0, 0, 0);
    let (mut a, mut e) = ([start; 2], [start_e; 2]);
    fours!(base, slot, pattern, a, e, 0, 0 1 2 3 4);
    fours!(base, slot, pattern, a, e, 1, 5 6 7 8 9);
    fours!(base, slot, pattern, a, e, 2, 10 11 12 13 14);
    fours!(base, slot, pattern, a, e, 3, 15 16 17 18 19);
    [0, 1].map(|lane| {
        let words = _mm_add_epi32(a[lane], start);
        let last = _mm_sha1nexte_epu32(e[lane], start_e);
        [
            _mm_extract_epi32::<3>(words) as u32,
            _mm_extract_epi32::<2>(words) as u32,
            _mm_extract_epi32::<1>(words) as u32,
            _mm_extract_epi32::<0>(words) as u32,
            _mm_extract_epi32::<3>(last) as u32,
        ]
    })
}
