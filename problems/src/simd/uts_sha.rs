//! UTS with the SHA instructions: the children of eight parents at a time, in passes over memory.
//!
//! The message schedule is linear over exclusive-or, so the schedule of child i is that of child 0
//! combined with a fixed pattern for i. The SHA instructions are a bottleneck and are left with
//! nothing but rounds: plain vector code makes the schedules and counts children. The first rounds,
//! which do not depend on the child, are done once per parent; all others are done for every child,
//! leaf or not. No branch waits for a hash.

use crate::uts::columns::Columns;
use crate::uts::rules::{ROW, Rules};
use crate::uts::sha1::{self, START};
use crate::uts::wide::{Kernel, RunCounts};
use std::arch::x86_64::*;

/// Children made from one schedule; a parent with more is visited several times.
const BLOCK: usize = 16;
/// Parents per batch.
const PARENTS: usize = 8;
/// Children hashed at a time.
const LANES: usize = 2;
/// The most children of a batch, plus room for stores beyond the last.
const ROOM: usize = PARENTS * BLOCK + BLOCK;

/// The words of all rounds, four per register.
type Schedule = [__m128i; 20];

/// The kernel for one tree; exists only if the processor supports the instructions.
pub struct ShaKernel<'r> {
    tree: Tree<'r>,
    /// Kept between runs: runs are short, and clearing it takes long.
    batch: Box<Batch>,
}

/// What all nodes share.
struct Tree<'r> {
    rules: &'r Rules,
    g: u32,
    patterns: Box<[Schedule; BLOCK]>,
}

impl<'r> ShaKernel<'r> {
    /// The kernel, if the processor supports it.
    #[must_use]
    pub fn new(rules: &'r Rules, g: u32) -> Option<Self> {
        let works = crate::simd::Level::Avx2.works() && is_x86_feature_detected!("sha");
        works.then(|| {
            let pattern = |number: usize| {
                let mut message = [0; 16];
                message[5] = number as u32;
                pack(&sha1::schedule(message))
            };
            let patterns = Box::new(std::array::from_fn(pattern));
            Self { batch: Box::new(Batch::new(&patterns[0])), tree: Tree { rules, g, patterns } }
        })
    }
}

impl Kernel for ShaKernel<'_> {
    fn run(&mut self, columns: &mut Columns, fuel: u64) -> RunCounts {
        let mut counted = RunCounts::default();
        while counted.nodes < fuel && columns.len() > 0 {
            // SAFETY: a `ShaKernel` exists only if the processor supports the instructions.
            unsafe { self.batch.run(&self.tree, columns, &mut counted) }
        }
        counted
    }
}

/// Packs four words per register, the first in the highest lane.
fn pack(words: &[u32; 80]) -> Schedule {
    std::array::from_fn(|i| {
        let [a, b, c, d] = [0, 1, 2, 3].map(|k| words[4 * i + k] as i32);
        // SAFETY: SSE2 is part of the architecture.
        unsafe { _mm_set_epi32(a, b, c, d) }
    })
}

/// Data passed between passes, aligned so that no register crosses a cache line.
#[repr(align(64))]
struct Batch {
    /// The words of all rounds, of all parents.
    words: [[u32; PARENTS]; 80],
    /// The same by parent; [`heads`] replaces the first two entries by its results.
    schedules: [Schedule; PARENTS],
    /// The depth of each parent's children.
    depths: [u32; PARENTS],
    /// The children to be made: parent times [`BLOCK`], plus number.
    jobs: [u32; ROOM],
    /// The first four words of each child's state before and after the last four rounds.
    made: [[__m128i; 2]; ROOM],
    /// The children that have children.
    inner: [u32; ROOM],
}

impl Batch {
    fn new(zero: &Schedule) -> Self {
        let mut words = [[0; PARENTS]; 80];
        words[6] = [1 << 31; PARENTS];
        words[15] = [192; PARENTS];
        Self {
            words,
            schedules: [*zero; PARENTS],
            depths: [0; PARENTS],
            jobs: [0; ROOM],
            made: [[zero[0]; 2]; ROOM],
            inner: [0; ROOM],
        }
    }

    /// Makes a block of children of each of the topmost nodes.
    ///
    /// AVX2 and the SHA instructions, which use the legacy encoding, stay in separate functions:
    /// mixing the two is very slow.
    ///
    /// # Safety
    /// The processor must support AVX2 and the SHA instructions.
    unsafe fn run(&mut self, tree: &Tree<'_>, columns: &mut Columns, counted: &mut RunCounts) {
        let count = columns.len().min(PARENTS);
        let from = columns.len() - count;
        // SAFETY: as the caller guarantees.
        unsafe { schedules(self, columns, from) };
        let n = self.jobs(columns, from, count);
        counted.depth =
            self.depths[..count].iter().fold(counted.depth, |most, &depth| most.max(depth));
        columns.reserve(n);
        // SAFETY: as the caller guarantees.
        let inner = unsafe {
            heads(self);
            for _ in 0..tree.g.max(1) {
                hash(tree, std::hint::black_box(&mut *self), n);
            }
            let inner = children(tree.rules, self, columns, n);
            finish(self, columns, inner);
            inner
        };
        columns.set_len(columns.len() + inner);
        counted.nodes += n as u64;
        counted.inner += inner as u64;
    }

    /// Lists the children to make of the parents from `from` on, and removes the parents that have
    /// no more. Returns the number of children.
    fn jobs(&mut self, columns: &mut Columns, from: usize, count: usize) -> usize {
        columns.set_len(from);
        let mut n = 0;
        for parent in 0..count {
            let first = self.words[5][parent];
            let block: &mut [u32; BLOCK] = self.jobs[n..].first_chunk_mut().expect("a block");
            *block = std::array::from_fn(|number| (parent * BLOCK + number) as u32);
            n += (columns.left[from + parent] - first) as usize;
            // What is kept never lies above the place from which it is read.
            if first > 0 {
                columns.keep(from + parent, first);
            }
        }
        n
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn load(words: &[u32]) -> __m256i {
    let words = &words[..8];
    // SAFETY: the slice was just checked to be as long as the register.
    unsafe { _mm256_loadu_si256(words.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "avx2")]
fn store(words: &mut [u32], register: __m256i) {
    let words = &mut words[..8];
    // SAFETY: the slice was just checked to be as long as the register.
    unsafe { _mm256_storeu_si256(words.as_mut_ptr().cast(), register) }
}

/// The schedules of the eight nodes from `from` on, each for the first child of its last block.
#[inline(never)]
#[target_feature(enable = "avx2")]
fn schedules(batch: &mut Batch, columns: &Columns, from: usize) {
    let one = _mm256_set1_epi32(1);
    store(&mut batch.depths, _mm256_add_epi32(load(&columns.depth[from..]), one));
    let last = _mm256_sub_epi32(load(&columns.left[from..]), one);
    let w = &mut batch.words;
    store(&mut w[5], _mm256_and_si256(last, _mm256_set1_epi32(-(BLOCK as i32))));
    for (word, column) in w.iter_mut().zip(&columns.state) {
        store(word, load(&column[from..]));
    }
    for i in 0..20 {
        for t in 4 * i..4 * i + 4 {
            // From word 32 on, the rule applied twice: a shorter chain of dependencies.
            match i {
                0..4 => {}
                4..8 => extend::<1, 31>(w, t, [16, 14, 8, 3]),
                _ => extend::<2, 30>(w, t, [32, 28, 16, 6]),
            }
        }
        // The first word goes into the highest lane.
        let [w3, w2, w1, w0] = [3, 2, 1, 0].map(|word| load(&w[4 * i + word]));
        let low = [_mm256_unpacklo_epi32(w3, w2), _mm256_unpacklo_epi32(w1, w0)];
        let high = [_mm256_unpackhi_epi32(w3, w2), _mm256_unpackhi_epi32(w1, w0)];
        let four = [
            _mm256_unpacklo_epi64(low[0], low[1]),
            _mm256_unpackhi_epi64(low[0], low[1]),
            _mm256_unpacklo_epi64(high[0], high[1]),
            _mm256_unpackhi_epi64(high[0], high[1]),
        ];
        for (parent, both) in four.into_iter().enumerate() {
            batch.schedules[parent][i] = _mm256_castsi256_si128(both);
            batch.schedules[parent + 4][i] = _mm256_extracti128_si256::<1>(both);
        }
    }
}

/// Makes word `t` from earlier ones at these distances: their exclusive-or, rotated left.
#[inline]
#[target_feature(enable = "avx2")]
fn extend<const LEFT: i32, const RIGHT: i32>(
    w: &mut [[u32; PARENTS]; 80],
    t: usize,
    back: [usize; 4],
) {
    let [first, second, third, last] = back.map(|back| load(&w[t - back]));
    let mix = _mm256_xor_si256(_mm256_xor_si256(_mm256_xor_si256(first, second), third), last);
    let turned = _mm256_or_si256(_mm256_slli_epi32::<LEFT>(mix), _mm256_srli_epi32::<RIGHT>(mix));
    store(&mut w[t], turned);
}

/// The words that every hash starts from: the first four, and the fifth.
#[inline]
#[target_feature(enable = "sse4.1")]
fn start() -> [__m128i; 2] {
    let [h0, h1, h2, h3, h4] = START.map(|word| word as i32);
    [_mm_set_epi32(h0, h1, h2, h3), _mm_set_epi32(h4, 0, 0, 0)]
}

/// Does each parent's first four rounds, and prepares the next four except for the child's number.
#[inline(never)]
#[target_feature(enable = "sha,sse4.1")]
fn heads(batch: &mut Batch) {
    let [start, start_e] = start();
    for schedule in &mut batch.schedules {
        let fed = _mm_add_epi32(start_e, schedule[0]);
        schedule[0] = _mm_sha1rnds4_epu32::<0>(start, fed);
        schedule[1] = _mm_sha1nexte_epu32(start, schedule[1]);
    }
}

/// Groups of four rounds for all lanes: message words in, five words rotated by four.
macro_rules! fours {
    ($base:ident, $pattern:ident, $a:ident, $e:ident, $mix:literal, $($i:literal)*) => {
        $(for lane in 0..LANES {
            // Between the number and the first word that it is mixed into, patterns are zero.
            let message = match $i {
                2 | 3 => $base[lane][$i],
                _ => _mm_xor_si128($base[lane][$i], $pattern[lane][$i]),
            };
            let fed = if $i == 1 { message } else { _mm_sha1nexte_epu32($e[lane], message) };
            $e[lane] = $a[lane];
            $a[lane] = _mm_sha1rnds4_epu32::<$mix>($a[lane], fed);
        })*
    };
}

/// All remaining rounds of `n` children.
#[inline(never)]
#[target_feature(enable = "sha,sse4.1")]
fn hash(tree: &Tree<'_>, batch: &mut Batch, n: usize) {
    let Batch { schedules, jobs, made, .. } = batch;
    let groups = jobs.chunks_exact(LANES).zip(made.chunks_exact_mut(LANES));
    for (jobs, made) in groups.take(n.div_ceil(LANES)) {
        let job = |lane: usize| jobs[lane] as usize;
        let base: [&Schedule; LANES] =
            std::array::from_fn(|lane| &schedules[job(lane) / BLOCK % PARENTS]);
        let pattern: [&Schedule; LANES] =
            std::array::from_fn(|lane| &tree.patterns[job(lane) % BLOCK]);
        let mut a = base.map(|base| base[0]);
        let mut e = a;
        fours!(base, pattern, a, e, 0, 1 2 3 4);
        fours!(base, pattern, a, e, 1, 5 6 7 8 9);
        fours!(base, pattern, a, e, 2, 10 11 12 13 14);
        fours!(base, pattern, a, e, 3, 15 16 17 18 19);
        for lane in 0..LANES {
            made[lane] = [e[lane], a[lane]];
        }
    }
}

/// Pushes those of `n` children that have children onto the columns, except for the first four
/// words of their states. May write beyond their end. Returns how many.
#[inline(never)]
#[target_feature(enable = "avx2,bmi2,popcnt")]
fn children(rules: &Rules, batch: &mut Batch, columns: &mut Columns, n: usize) -> usize {
    let to = columns.len();
    let mut inner = 0;
    let depths = load(&batch.depths);
    for at in (0..n).step_by(8) {
        let parents = _mm256_srli_epi32::<{ BLOCK.ilog2() as i32 }>(load(&batch.jobs[at..]));
        let depth = _mm256_permutevar8x32_epi32(depths, parents);
        let first = first_words(&batch.made[at..]);
        let turned = _mm256_or_si256(_mm256_slli_epi32::<30>(first), _mm256_srli_epi32::<2>(first));
        let fifth = _mm256_add_epi32(turned, _mm256_set1_epi32(START[4] as i32));
        let left = count(rules, depth, _mm256_and_si256(fifth, _mm256_set1_epi32(i32::MAX)));
        let none = _mm256_cmpeq_epi32(left, _mm256_setzero_si256());
        let present = 0xff >> (8 - (n - at).min(8));
        let lanes = present & !_mm256_movemask_ps(_mm256_castsi256_ps(none)) as u32;
        // The indices of the lanes that are set, one byte each, in the lowest bytes.
        let bytes = _pdep_u64(u64::from(lanes), 0x0101_0101_0101_0101) * 0xff;
        let packed = _pext_u64(0x0706_0504_0302_0100, bytes);
        let order = _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(packed as i64));
        let top = to + inner;
        store(&mut columns.state[4][top..], _mm256_permutevar8x32_epi32(fifth, order));
        store(&mut columns.left[top..], _mm256_permutevar8x32_epi32(left, order));
        store(&mut columns.depth[top..], _mm256_permutevar8x32_epi32(depth, order));
        store(&mut batch.inner[inner..], _mm256_add_epi32(order, _mm256_set1_epi32(at as i32)));
        inner += lanes.count_ones() as usize;
    }
    inner
}

/// The first words of eight states, as they are before the last four rounds.
#[inline]
#[target_feature(enable = "avx2")]
fn first_words(made: &[[__m128i; 2]]) -> __m256i {
    let word = |i: usize| _mm_extract_epi32::<3>(made[i][0]);
    _mm256_setr_epi32(word(0), word(1), word(2), word(3), word(4), word(5), word(6), word(7))
}

/// Which lanes of `a` are at least those of `b`.
#[inline]
#[target_feature(enable = "avx2")]
fn at_least(a: __m256i, b: __m256i) -> __m256i {
    _mm256_cmpeq_epi32(_mm256_max_epu32(a, b), a)
}

/// The numbers of children of nodes with these depths and values.
#[inline]
#[target_feature(enable = "avx2")]
fn count(rules: &Rules, depth: __m256i, value: __m256i) -> __m256i {
    let set = |word: u32| _mm256_set1_epi32(word as i32);
    let deep = at_least(depth, set(rules.binomial_from));
    let has = _mm256_andnot_si256(at_least(value, set(rules.below)), deep);
    let binomial = _mm256_and_si256(has, set(rules.m));
    let ended = _mm256_or_si256(deep, at_least(depth, set(rules.limit)));
    if _mm256_movemask_epi8(ended) == -1 {
        return binomial;
    }
    let geometric = if rules.rows.is_empty() || !rules.complete() {
        asked(rules, depth, value)
    } else if let [row] = &*rules.rows {
        one_row(row, _mm256_andnot_si256(ended, value))
    } else {
        rows(rules, depth, value)
    };
    _mm256_or_si256(binomial, _mm256_andnot_si256(ended, geometric))
}

/// Evaluates the rules lane by lane.
#[target_feature(enable = "avx2")]
fn asked(rules: &Rules, depth: __m256i, value: __m256i) -> __m256i {
    let (mut depths, mut values) = ([0; 8], [0; 8]);
    store(&mut depths, depth);
    store(&mut values, value);
    let n: [u32; 8] = std::array::from_fn(|lane| rules.children(depths[lane], values[lane]));
    load(&n)
}

/// Number of thresholds at or below each value, in one row; few values exceed many thresholds.
#[inline]
#[target_feature(enable = "avx2")]
fn one_row(row: &[u32; ROW], value: __m256i) -> __m256i {
    let mut n = _mm256_setzero_si256();
    for some in row.chunks_exact(16) {
        let mut reached = n;
        for &threshold in some {
            reached = at_least(value, _mm256_set1_epi32(threshold as i32));
            n = _mm256_sub_epi32(n, reached);
        }
        if _mm256_movemask_epi8(reached) == 0 {
            break;
        }
    }
    n
}

/// Number of thresholds at or below each value, with the row of each lane's depth, by bisection.
#[inline]
#[target_feature(enable = "avx2")]
fn rows(rules: &Rules, depth: __m256i, value: __m256i) -> __m256i {
    let last = _mm256_set1_epi32(rules.row_of.len() as i32 - 1);
    let at = _mm256_min_epu32(depth, last);
    // SAFETY: no depth looked up exceeds the last.
    let row = unsafe { _mm256_i32gather_epi32::<4>(rules.row_of.as_ptr().cast(), at) };
    let mut at = _mm256_mullo_epi32(row, _mm256_set1_epi32(ROW as i32));
    let start = at;
    for step in [64, 32, 16, 8, 4, 2, 1] {
        let probe = _mm256_add_epi32(at, _mm256_set1_epi32(step - 1));
        // SAFETY: the rows lie one after the other, and no probe goes past the end of its row.
        let threshold = unsafe { _mm256_i32gather_epi32::<4>(rules.rows.as_ptr().cast(), probe) };
        let reached = at_least(value, threshold);
        at = _mm256_add_epi32(at, _mm256_and_si256(reached, _mm256_set1_epi32(step)));
    }
    _mm256_sub_epi32(at, start)
}

/// Stores the first four words of the states of the children that have children.
#[inline(never)]
#[target_feature(enable = "sha,sse4.1")]
fn finish(batch: &Batch, columns: &mut Columns, inner: usize) {
    let to = columns.len();
    let [start, _] = start();
    for (four, children) in batch.inner.chunks_exact(4).take(inner.div_ceil(4)).enumerate() {
        let [s0, s1, s2, s3] = [0, 1, 2, 3].map(|i| {
            let [_, words] = batch.made[children[i] as usize % ROOM];
            _mm_add_epi32(start, words)
        });
        let low = [_mm_unpacklo_epi32(s0, s1), _mm_unpacklo_epi32(s2, s3)];
        let high = [_mm_unpackhi_epi32(s0, s1), _mm_unpackhi_epi32(s2, s3)];
        let words = [
            _mm_unpackhi_epi64(high[0], high[1]),
            _mm_unpacklo_epi64(high[0], high[1]),
            _mm_unpackhi_epi64(low[0], low[1]),
            _mm_unpacklo_epi64(low[0], low[1]),
        ];
        for (column, word) in columns.state.iter_mut().zip(words) {
            let column = &mut column[to + 4 * four..][..4];
            // SAFETY: the slice was just checked to be as long as the register.
            unsafe { _mm_storeu_si128(column.as_mut_ptr().cast(), word) }
        }
    }
}
