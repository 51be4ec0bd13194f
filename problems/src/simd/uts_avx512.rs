//! UTS with AVX-512: one child of each of 16 parents at a time.

use crate::uts::columns::{Columns, PAD};
use crate::uts::rules::{ROW, Rules};
use crate::uts::sha1::{KEYS, START};
use crate::uts::wide::{Kernel, RunCounts};
use std::arch::x86_64::*;

/// The kernel for one tree; exists only if the processor supports the instructions.
pub struct WideKernel<'r> {
    rules: &'r Rules,
    rule: Rule,
    g: u32,
}

/// Ways to get a node's number of children from its random value.
#[derive(Clone, Copy)]
enum Rule {
    /// All or none.
    Binomial,
    /// One row of thresholds for all depths above the limit.
    OneRow,
    /// The same number for all depths above the limit.
    Balanced(u32),
    /// A row of thresholds per depth, and binomial from some depth on.
    Rows,
    /// Some depths have no row: evaluated one by one.
    Asked,
}

impl<'r> WideKernel<'r> {
    /// The kernel, if the processor supports it.
    #[must_use]
    pub fn new(rules: &'r Rules, g: u32) -> Option<Self> {
        let rule = if let Some(n) = rules.balanced() {
            Rule::Balanced(n)
        } else if rules.binomial_from == 0 {
            Rule::Binomial
        } else if !rules.complete() {
            Rule::Asked
        } else if rules.rows.len() == 1 && rules.binomial_from == u32::MAX {
            Rule::OneRow
        } else {
            Rule::Rows
        };
        crate::simd::Level::Avx512.works().then_some(Self { rules, rule, g })
    }
}

impl Kernel for WideKernel<'_> {
    fn run(&mut self, columns: &mut Columns, fuel: u64) -> RunCounts {
        // SAFETY: a `WideKernel` exists only if the processor supports the instructions.
        unsafe { run(self, columns, fuel) }
    }
}

/// Sixteen parents: their states, children left and depths, and which lanes hold one.
#[derive(Clone, Copy)]
struct Batch {
    state: [__m512i; 5],
    left: __m512i,
    depth: __m512i,
    lanes: __mmask16,
}

/// Takes up to sixteen nodes from the top of the columns.
#[inline]
#[target_feature(enable = "avx512f")]
fn take(columns: &mut Columns) -> Batch {
    let n = columns.len().min(16);
    let from = columns.len() - n;
    columns.set_len(from);
    let load = |column: &Vec<u32>| {
        // SAFETY: columns are padded, so sixteen words can be read from any node on.
        unsafe { _mm512_loadu_si512(column.as_ptr().add(from).cast()) }
    };
    Batch {
        state: [0, 1, 2, 3, 4].map(|word| load(&columns.state[word])),
        left: load(&columns.left),
        depth: load(&columns.depth),
        lanes: ((1u32 << n) - 1) as __mmask16,
    }
}

/// Pushes the lanes that are set onto the columns, which must have their padding free.
#[inline]
#[target_feature(enable = "avx512f")]
fn put(columns: &mut Columns, batch: &Batch) {
    let to = columns.len();
    let store = |column: &mut Vec<u32>, values: __m512i| {
        let packed = _mm512_maskz_compress_epi32(batch.lanes, values);
        // SAFETY: columns are padded, so sixteen words can be written from the end on.
        unsafe { _mm512_storeu_si512(column.as_mut_ptr().add(to).cast(), packed) }
    };
    for (column, &values) in columns.state.iter_mut().zip(&batch.state) {
        store(column, values);
    }
    store(&mut columns.left, batch.left);
    store(&mut columns.depth, batch.depth);
    columns.set_len(to + batch.lanes.count_ones() as usize);
}

#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn run(kernel: &WideKernel<'_>, columns: &mut Columns, fuel: u64) -> RunCounts {
    let mut counted = RunCounts::default();
    let mut deepest = _mm512_setzero_si512();
    let one = _mm512_set1_epi32(1);
    if columns.len() == 0 {
        return counted;
    }
    let mut batch = take(columns);
    loop {
        // Take the next batch before storing this one: loads that overlap fresh stores stall.
        let more = counted.nodes < fuel;
        let early = (more && columns.len() >= 16).then(|| take(columns));
        let number = _mm512_sub_epi32(batch.left, one);
        let depth = _mm512_add_epi32(batch.depth, one);
        for _ in 1..kernel.g {
            std::hint::black_box(hash(std::hint::black_box(&batch.state), number));
        }
        let state = hash(&batch.state, number);
        let left = children(kernel, state[4], depth, batch.lanes);
        let inner = _mm512_mask_test_epi32_mask(batch.lanes, left, left);
        counted.nodes += u64::from(batch.lanes.count_ones());
        counted.inner += u64::from(inner.count_ones());
        deepest = _mm512_mask_max_epu32(deepest, batch.lanes, deepest, depth);
        // A batch taken early was on top, but what this one leaves must still fit above it.
        while columns.left.len() < columns.len() + 2 * PAD {
            columns.grow();
        }
        let unfinished = _mm512_mask_test_epi32_mask(batch.lanes, number, number);
        put(columns, &Batch { left: number, lanes: unfinished, ..batch });
        put(columns, &Batch { state, left, depth, lanes: inner });
        batch = match early {
            Some(next) => next,
            None if more && columns.len() > 0 => take(columns),
            None => break,
        };
    }
    counted.depth = _mm512_reduce_max_epu32(deepest);
    counted
}

/// The number of children of each lane's node, from the last word of its state and its depth.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
fn children(kernel: &WideKernel<'_>, word: __m512i, depth: __m512i, lanes: __mmask16) -> __m512i {
    let rules = kernel.rules;
    let value = _mm512_and_si512(word, _mm512_set1_epi32(i32::MAX));
    let set = |word: u32| _mm512_set1_epi32(word as i32);
    let above = || _mm512_mask_cmplt_epu32_mask(lanes, depth, set(rules.limit));
    match kernel.rule {
        Rule::Binomial => binomial(rules, value, lanes),
        Rule::Balanced(n) => _mm512_maskz_mov_epi32(above(), set(n)),
        Rule::OneRow => match above() {
            0 => _mm512_setzero_si512(),
            lanes => one_row(&rules.rows[0], value, lanes),
        },
        Rule::Rows => {
            let last = rules.row_of.len() as u32 - 1;
            let at = _mm512_min_epu32(depth, set(last));
            // SAFETY: no depth looked up exceeds the last.
            let row = unsafe { _mm512_i32gather_epi32::<4>(at, rules.row_of.as_ptr().cast()) };
            let deep = _mm512_cmpge_epu32_mask(depth, set(rules.binomial_from));
            let geometric = rows(&rules.rows, row, value, above() & !deep);
            _mm512_or_si512(geometric, binomial(rules, value, lanes & deep))
        }
        Rule::Asked => {
            let (values, depths) = (words(value), words(depth));
            let ask = |lane| match lanes >> lane & 1 {
                1 => rules.children(depths[lane], values[lane]),
                _ => 0,
            };
            let n: [u32; 16] = std::array::from_fn(ask);
            // SAFETY: the array is as long as the register.
            unsafe { _mm512_loadu_si512(n.as_ptr().cast()) }
        }
    }
}

#[inline]
#[target_feature(enable = "avx512f")]
fn words(register: __m512i) -> [u32; 16] {
    let mut words = [0; 16];
    // SAFETY: the array is as long as the register.
    unsafe { _mm512_storeu_si512(words.as_mut_ptr().cast(), register) };
    words
}

#[inline]
#[target_feature(enable = "avx512f")]
fn binomial(rules: &Rules, value: __m512i, lanes: __mmask16) -> __m512i {
    let has = _mm512_mask_cmplt_epu32_mask(lanes, value, _mm512_set1_epi32(rules.below as i32));
    _mm512_maskz_mov_epi32(has, _mm512_set1_epi32(rules.m as i32))
}

/// Number of thresholds at or below each value, in one row: the first 31 by bisection within two
/// registers.
#[inline]
#[target_feature(enable = "avx512f")]
fn one_row(row: &[u32; ROW], value: __m512i, lanes: __mmask16) -> __m512i {
    // SAFETY: a row is longer than two registers.
    let (low, high) = unsafe {
        let row = row.as_ptr();
        (_mm512_loadu_si512(row.cast()), _mm512_loadu_si512(row.add(16).cast()))
    };
    let mut n = _mm512_setzero_si512();
    for step in [16, 8, 4, 2, 1] {
        let probe = _mm512_add_epi32(n, _mm512_set1_epi32(step - 1));
        let threshold = _mm512_permutex2var_epi32(low, probe, high);
        let reached = _mm512_mask_cmpge_epu32_mask(lanes, value, threshold);
        n = _mm512_mask_add_epi32(n, reached, n, _mm512_set1_epi32(step));
    }
    let mut beyond = _mm512_mask_cmpeq_epi32_mask(lanes, n, _mm512_set1_epi32(31));
    for &threshold in &row[31..] {
        if beyond == 0 {
            break;
        }
        beyond = _mm512_mask_cmpge_epu32_mask(beyond, value, _mm512_set1_epi32(threshold as i32));
        n = _mm512_mask_add_epi32(n, beyond, n, _mm512_set1_epi32(1));
    }
    n
}

/// Number of thresholds at or below each value, with a row per lane, by bisection.
#[inline]
#[target_feature(enable = "avx512f")]
fn rows(rows: &[[u32; ROW]], row: __m512i, value: __m512i, lanes: __mmask16) -> __m512i {
    let start = _mm512_mullo_epi32(row, _mm512_set1_epi32(ROW as i32));
    let mut n = _mm512_setzero_si512();
    for step in [64, 32, 16, 8, 4, 2, 1] {
        let probe = _mm512_add_epi32(n, _mm512_set1_epi32(step - 1));
        let at = _mm512_add_epi32(start, probe);
        // SAFETY: the rows lie one after the other, and no probe goes past the end of its row.
        let threshold = unsafe {
            let all = _mm512_set1_epi32(-1);
            _mm512_mask_i32gather_epi32::<4>(all, lanes, at, rows.as_ptr().cast())
        };
        let reached = _mm512_mask_cmpge_epu32_mask(lanes, value, threshold);
        n = _mm512_mask_add_epi32(n, reached, n, _mm512_set1_epi32(step));
    }
    n
}

/// One round by its number: the message word, the mix of b, c and d, the rotation of the five
/// words.
macro_rules! round {
    ($w:ident, $s:ident, $mix:literal, $key:expr, $t:expr) => {{
        if $t >= 16 {
            let far = _mm512_xor_si512($w[($t + 2) & 15], $w[$t & 15]);
            let near = _mm512_xor_si512($w[($t + 13) & 15], $w[($t + 8) & 15]);
            $w[$t & 15] = _mm512_rol_epi32::<1>(_mm512_xor_si512(near, far));
        }
        let [a, b, c, d, e] = $s;
        let fed = _mm512_add_epi32(e, _mm512_add_epi32($w[$t & 15], $key));
        let mixed = _mm512_add_epi32(fed, _mm512_ternarylogic_epi32::<$mix>(b, c, d));
        let next = _mm512_add_epi32(mixed, _mm512_rol_epi32::<5>(a));
        $s = [next, a, _mm512_rol_epi32::<30>(b), c, d];
    }};
}

macro_rules! twenty {
    ($w:ident, $s:ident, $mix:literal, $key:expr, $from:expr) => {{
        let key = _mm512_set1_epi32($key as i32);
        twenty!(@ $w, $s, $mix, key, $from, 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19);
    }};
    (@ $w:ident, $s:ident, $mix:literal, $key:ident, $from:expr, $($t:literal)*) => {
        $(round!($w, $s, $mix, $key, $from + $t);)*
    };
}

/// SHA-1 of sixteen parents' states, each followed by a child's number.
#[inline]
#[target_feature(enable = "avx512f")]
fn hash(parent: &[__m512i; 5], number: __m512i) -> [__m512i; 5] {
    let set = |word: u32| _mm512_set1_epi32(word as i32);
    let zero = _mm512_setzero_si512();
    let [p0, p1, p2, p3, p4] = *parent;
    let mut w = [zero; 16];
    [w[0], w[1], w[2], w[3], w[4], w[5]] = [p0, p1, p2, p3, p4, number];
    w[6] = set(0x8000_0000);
    w[15] = set(192);
    let start = START.map(set);
    let mut s = start;
    twenty!(w, s, 0xca, KEYS[0], 0usize);
    twenty!(w, s, 0x96, KEYS[1], 20usize);
    twenty!(w, s, 0xe8, KEYS[2], 40usize);
    twenty!(w, s, 0x96, KEYS[3], 60usize);
    [0, 1, 2, 3, 4].map(|i| _mm512_add_epi32(s[i], start[i]))
}
