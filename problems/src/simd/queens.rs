//! The common loop of all queens kernels, generic over their vector operations.

/// Defines a kernel: its name, level, features, word type, lanes and sets of lanes.
///
/// Sets take turns, so that one can proceed while another waits for its results.
///
/// The calling module provides the type `Vector` and its operations: `load`, `store`, `zero`, `or`,
/// `up` and `down` (shifts by one column), `none` (the squares in none of three words), `lowest`
/// (the lowest square of each lane, and the others), `open` and `spent` (a bit for each lane that
/// is nonzero, or zero), `compress` (moves the lanes of a mask to the front), `expand` (fills the
/// lanes of a mask from the front of another vector) and `fill` (replaces the lanes that are zero,
/// which the mask also marks, by another vector's).
macro_rules! kernel {
    ($kernel:ident: $level:expr, $features:literal, $word:ty, $lanes:literal * $sets:literal) => {
        proof!($kernel: $level);

        impl Kernel for $kernel {
            type Word = $word;
            const LANES: usize = $lanes * $sets;

            fn visit(
                &self,
                here: &mut Layer<$word>,
                below: Option<&mut Layer<$word>>,
                limits: Limits,
            ) -> VisitCounts {
                const { assert!($lanes <= PAD) };
                assert!(here.len <= here.room(), "a stack and its padding");
                if below.is_none() {
                    // SAFETY: `new` checked for the instructions; the stack
                    // is padded; nothing is stored.
                    return unsafe { visit::<true>(here, below, limits) };
                }
                let room = below.as_ref().map_or(0, |below| below.room());
                assert!(limits.below + Self::SLACK <= room, "a layer too small");
                // SAFETY: `new` checked for the instructions; the stack is
                // padded; `below` has room for what a round may add beyond the limit.
                unsafe { visit::<false>(here, below, limits) }
            }
        }

        /// One visit. In the last layer (`LAST`) children are only counted.
        ///
        /// # Safety
        /// `here` must be padded; unless this is the last layer, `below` must be present and have
        /// room for `limits.below` boards and one more round.
        #[target_feature(enable = $features)]
        unsafe fn visit<const LAST: bool>(
            here: &mut Layer<$word>,
            mut below: Option<&mut Layer<$word>>,
            limits: Limits,
        ) -> VisitCounts {
            let mut counted = VisitCounts::default();
            let mut sets = resume(here);
            let from = here.stack.each_ref().map(|words| words.as_ptr());
            let (to, mut end) = match &mut below {
                Some(below) => (below.stack.each_mut().map(|words| words.as_mut_ptr()), below.len),
                None => ([std::ptr::null_mut(); 3], 0),
            };
            let mut top = here.len;
            let mut made = 1;
            while counted.made < limits.made
                && end <= limits.below
                && (top > 0 || limits.finish && made > 0)
            {
                made = 0;
                for [columns, left, right, free] in &mut sets {
                    let spent = spent(*free);
                    let want = spent.count_ones() as usize;
                    let taken = want.min(top);
                    // SAFETY: at most one vector of lanes is wanted, and that many entries of
                    // padding lie below the lowest board and above the highest.
                    let new = from.map(|words| unsafe { load(words.add(PAD + top - want)) });
                    [*columns, *left, *right] = expand([*columns, *left, *right], spent, new);
                    *free = fill(*free, spent, none(*columns, *left, *right));
                    top -= taken;
                    made += ($lanes - want + taken) as u64;

                    let (bit, others) = lowest(*free);
                    *free = others;
                    let next = [or(*columns, bit), up(or(*left, bit)), down(or(*right, bit))];
                    // Lanes without a board have all columns taken, so they contribute nothing.
                    let kept = open(none(next[0], next[1], next[2]));
                    counted.kept += u64::from(kept.count_ones());
                    if !LAST {
                        for (words, next) in to.iter().zip(compress(kept, next)) {
                            // SAFETY: the limit held before this round, and there is room for one.
                            unsafe { store(words.add(PAD + end), next) };
                        }
                        end += kept.count_ones() as usize;
                    }
                }
                counted.made += made;
            }
            here.len = top;
            pause(here, &sets);
            if let Some(below) = below {
                below.len = end;
            }
            counted
        }

        /// The boards in lanes, as the last visit left them.
        #[target_feature(enable = $features)]
        #[inline]
        fn resume(here: &Layer<$word>) -> [[Vector; 4]; $sets] {
            let mut sets = [[zero(); 4]; $sets];
            for (word, words) in (0..4).zip(&here.lanes) {
                for (set, words) in words.as_chunks::<$lanes>().0.iter().enumerate() {
                    // SAFETY: there are as many words as the vector has lanes.
                    sets[set][word] = unsafe { load(words.as_ptr()) };
                }
            }
            sets
        }

        /// Stores the boards in lanes for the next visit.
        #[target_feature(enable = $features)]
        #[inline]
        fn pause(here: &mut Layer<$word>, sets: &[[Vector; 4]; $sets]) {
            here.live = sets.iter().map(|set| open(set[3]).count_ones() as usize).sum();
            for (word, words) in (0..4).zip(&mut here.lanes) {
                for (set, words) in words.as_chunks_mut::<$lanes>().0.iter_mut().enumerate() {
                    // SAFETY: there are as many words as the vector has lanes.
                    unsafe { store(words.as_mut_ptr(), sets[set][word]) };
                }
            }
        }
    };
}
pub(crate) use kernel;
