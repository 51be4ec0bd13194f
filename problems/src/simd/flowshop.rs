//! The common code of all flowshop kernels, generic over their vector operations.

/// Defines a kernel: its name, level, features, word type, number of lanes, and optionally its own
/// function to place a job.
///
/// The calling module provides the type `Vector` and its operations: `load`, `store`, `zero`, `all`
/// (a word in all lanes), `pair` (two words in even and odd lanes), `add`, `max`, `and`, `below` (a
/// bit for each lane that is less), `lead` (the sum of a mask's even lanes minus that of its odd
/// ones) and `least` (the first lane of a mask with the least word, and that word).
macro_rules! kernel {
    ($kernel:ident: $level:expr, $features:literal, $word:ty, $lanes:literal $(, $place:ident)?) => {
        proof!($kernel: $level, $features);

        impl Kernel for $kernel {
            type Word = $word;
            const JOBS: usize = $lanes / 2;

            #[inline]
            fn pass(
                &self,
                rows: &[$word],
                partial: &Partial<$word>,
                alive: u32,
                limits: Limits<$word>,
                bounds: &mut [$word],
            ) -> BlockStats {
                let words = rows.len() / $lanes * 2;
                let fits = partial.ends.len() >= words && partial.rest.len() >= words;
                assert!(fits, "two words for each row");
                assert!(bounds.len() == $lanes, "a word for each lane");
                // SAFETY: `new` checked for the instructions; the lengths fit.
                unsafe { pass(rows, partial, alive, limits, bounds) }
            }

            $(
                #[inline]
                fn place(
                    &self,
                    tables: &Tables<$word>,
                    before: &Partial<$word>,
                    job: u16,
                    back: bool,
                    after: &mut Partial<$word>,
                ) {
                    // SAFETY: `new` checked for the instructions.
                    unsafe { $place(tables, before, job, back, after) }
                }
            )?

            #[inline]
            fn stats(&self, bounds: &[$word], alive: u32, limits: Limits<$word>) -> BlockStats {
                assert!(bounds.len() == $lanes, "a word for each lane");
                // SAFETY: `new` checked for the instructions; the length fits.
                unsafe { stats(load(bounds.as_ptr()), alive, limits) }
            }

            #[inline]
            fn below(&self, bounds: &[$word], limit: $word) -> u32 {
                assert!(bounds.len() == $lanes, "a word for each lane");
                // SAFETY: `new` checked for the instructions; the length fits.
                unsafe { below(load(bounds.as_ptr()), all(limit)) }
            }

            #[inline]
            fn walk(
                &self,
                steps: &[Step<$word>],
                start: u16,
                free: [&[$word]; 2],
                after: [&[$word]; 2],
                bounds: &mut [$word],
            ) {
                let fits = free.iter().chain(&after).all(|all| all.len() == $lanes);
                assert!(fits && bounds.len() == $lanes, "a word for each lane");
                // SAFETY: `new` checked for the instructions; the lengths fit.
                unsafe { walk(steps, start, free, after, bounds) }
            }

            #[inline]
            fn least(&self, bounds: &[$word], open: u32) -> (usize, $word) {
                assert!(bounds.len() == $lanes, "a word for each lane");
                // SAFETY: `new` checked for the instructions; the length fits.
                unsafe { least(load(bounds.as_ptr()), open) }
            }
        }

        /// Bounds the children of one block.
        ///
        /// # Safety
        /// `rows` must consist of rows of all lanes, `ends` and `rest` must have two words for each
        /// of these, and `bounds` one word per lane.
        #[target_feature(enable = $features)]
        #[inline]
        unsafe fn pass(
            rows: &[$word],
            partial: &Partial<$word>,
            alive: u32,
            limits: Limits<$word>,
            bounds: &mut [$word],
        ) -> BlockStats {
            let (mut row, mut ends, mut most) = (rows.as_ptr(), zero(), zero());
            let (before, rest) = (partial.ends.as_ptr(), partial.rest.as_ptr());
            for k in (0..rows.len() / $lanes * 2).step_by(2) {
                // SAFETY: `k + 1` is within both arrays, and the row within `rows`.
                unsafe {
                    let begin = max(ends, pair(before.add(k)));
                    most = max(most, add(begin, pair(rest.add(k))));
                    ends = add(begin, load(row));
                    row = row.add($lanes);
                }
            }
            // SAFETY: `bounds` has one word per lane.
            unsafe { store(bounds.as_mut_ptr(), most) };
            stats(most, alive, limits)
        }

        #[target_feature(enable = $features)]
        #[inline]
        fn stats(bounds: Vector, alive: u32, limits: Limits<$word>) -> BlockStats {
            let kept = below(bounds, all(limits.reference)) & alive;
            let open = below(bounds, all(limits.best)) & alive;
            BlockStats {
                kept: SIDES.map(|side| (kept & side).count_ones()),
                open,
                n_open: SIDES.map(|side| (open & side).count_ones()),
                lead: lead(bounds, alive),
            }
        }

        /// For each job of a block a mask of the other lanes; the last entry is all lanes.
        static OTHERS: [[$word; $lanes]; $lanes / 2 + 1] = {
            let mut others = [[<$word>::MAX; $lanes]; $lanes / 2 + 1];
            let mut lane = 0;
            while lane < $lanes {
                others[lane / 2][lane] = 0;
                lane += 1;
            }
            others
        };

        /// Evaluates a pair of machines. A lane's own job gets no time, which skips it: the first
        /// machine is never free later than the second.
        ///
        /// # Safety
        /// All slices except `steps` must have one word per lane.
        #[target_feature(enable = $features)]
        unsafe fn walk(
            steps: &[Step<$word>],
            start: u16,
            free: [&[$word]; 2],
            after: [&[$word]; 2],
            bounds: &mut [$word],
        ) {
            // SAFETY: one word per lane.
            let [mut first, mut second] = unsafe { [load(free[0].as_ptr()), load(free[1].as_ptr())] };
            for Step { job, times: [before, lag, behind] } in steps {
                let others = &OTHERS[usize::from(job.wrapping_sub(start)).min($lanes / 2)];
                // SAFETY: one word per lane.
                let others = unsafe { load(others.as_ptr()) };
                first = add(first, and(all(*before), others));
                second = max(second, add(first, and(all(*lag), others)));
                second = add(second, and(all(*behind), others));
            }
            // SAFETY: one word per lane.
            unsafe {
                let first = add(first, load(after[0].as_ptr()));
                let second = add(second, load(after[1].as_ptr()));
                let most = max(load(bounds.as_ptr()), max(first, second));
                store(bounds.as_mut_ptr(), most);
            }
        }
    };
}
pub(super) use kernel;
