//! The loop that all queens kernels share, written once over the vector operations of each.

/// Defines a kernel: its name, the level and features it needs, its words, lanes and sets of lanes.
///
/// Sets take turns, so that one can go on while another waits for its results.
///
/// The module that calls this brings the type `Vector` and its operations: `load`, `store`, `zero`,
/// `or`, `up` and `down` (shifts by one column), `none` (the squares that none of three has),
/// `lowest` (the lowest square of each lane, and the others), `open` and `spent` (a bit for each
/// lane that is not zero, and that is), `compress` (the lanes of a mask moved to the front),
/// `expand` (the lanes of a mask taken from the front of others) and `fill` (the lanes that are
/// zero, which the mask tells too, taken from another).
macro_rules! kernel {
    ($kernel:ident: $level:expr, $features:literal, $word:ty, $lanes:literal * $sets:literal) => {
        /// Proof that the processor has the instructions.
        #[derive(Clone, Copy, Debug)]
        pub struct $kernel(());

        impl $kernel {
            /// The kernel, where it works.
            pub fn new() -> Option<Self> {
                $level.works().then_some(Self(()))
            }
        }

        impl Kernel for $kernel {
            type Word = $word;
            const LANES: usize = $lanes * $sets;

            fn visit(
                &self,
                here: &mut Layer<$word>,
                below: Option<&mut Layer<$word>>,
                limits: Limits,
            ) -> Tally {
                const { assert!($lanes <= PAD) };
                assert!(here.len <= here.room(), "a stack and its padding");
                if below.is_none() {
                    // SAFETY: `new` saw that the processor has the instructions; the stack is
                    // padded; nothing is stored.
                    return unsafe { visit::<true>(here, below, limits) };
                }
                let room = below.as_ref().map_or(0, |below| below.room());
                assert!(limits.below + Self::SLACK <= room, "a layer too small");
                // SAFETY: `new` saw that the processor has the instructions; the stack is padded;
                // there is room below for what a round may bring beyond the limit.
                unsafe { visit::<false>(here, below, limits) }
            }
        }

        /// One visit. In the last layer (`LAST`) children are only counted.
        ///
        /// # Safety
        /// `here` is padded, and unless it is the last layer, `below` is there and has room for
        /// `limits.below` boards and a round.
        #[target_feature(enable = $features)]
        unsafe fn visit<const LAST: bool>(
            here: &mut Layer<$word>,
            mut below: Option<&mut Layer<$word>>,
            limits: Limits,
        ) -> Tally {
            let mut tally = Tally::default();
            let mut sets = resume(here);
            let from = here.stack.each_ref().map(|words| words.as_ptr());
            let (to, mut end) = match &mut below {
                Some(below) => (below.stack.each_mut().map(|words| words.as_mut_ptr()), below.len),
                None => ([std::ptr::null_mut(); 3], 0),
            };
            let mut top = here.len;
            let mut made = 1;
            while tally.made < limits.made
                && end <= limits.below
                && (top > 0 || limits.finish && made > 0)
            {
                made = 0;
                for [columns, left, right, free] in &mut sets {
                    let spent = spent(*free);
                    let want = spent.count_ones() as usize;
                    let taken = want.min(top);
                    // SAFETY: at most a vector's lanes are wanted, and as many entries of padding
                    // lie below the lowest board and above the highest.
                    let new = from.map(|words| unsafe { load(words.add(PAD + top - want)) });
                    [*columns, *left, *right] = expand([*columns, *left, *right], spent, new);
                    *free = fill(*free, spent, none(*columns, *left, *right));
                    top -= taken;
                    made += ($lanes - want + taken) as u64;

                    let (bit, others) = lowest(*free);
                    *free = others;
                    let next = [or(*columns, bit), up(or(*left, bit)), down(or(*right, bit))];
                    // Lanes without a board have all columns taken, so nothing comes of them.
                    let kept = open(none(next[0], next[1], next[2]));
                    tally.kept += u64::from(kept.count_ones());
                    if !LAST {
                        for (words, next) in to.iter().zip(compress(kept, next)) {
                            // SAFETY: the limit held before this round, and there is room for one.
                            unsafe { store(words.add(PAD + end), next) };
                        }
                        end += kept.count_ones() as usize;
                    }
                }
                tally.made += made;
            }
            here.len = top;
            pause(here, &sets);
            if let Some(below) = below {
                below.len = end;
            }
            tally
        }

        /// The boards in lanes, as the last visit left them.
        #[target_feature(enable = $features)]
        #[inline]
        fn resume(here: &Layer<$word>) -> [[Vector; 4]; $sets] {
            let mut sets = [[zero(); 4]; $sets];
            for (word, words) in (0..4).zip(&here.lanes) {
                for (set, words) in words.as_chunks::<$lanes>().0.iter().enumerate() {
                    // SAFETY: the words are as many as the vector has lanes.
                    sets[set][word] = unsafe { load(words.as_ptr()) };
                }
            }
            sets
        }

        /// Leaves the boards in lanes to the next visit.
        #[target_feature(enable = $features)]
        #[inline]
        fn pause(here: &mut Layer<$word>, sets: &[[Vector; 4]; $sets]) {
            here.live = sets.iter().map(|set| open(set[3]).count_ones() as usize).sum();
            for (word, words) in (0..4).zip(&mut here.lanes) {
                for (set, words) in words.as_chunks_mut::<$lanes>().0.iter_mut().enumerate() {
                    // SAFETY: the words are as many as the vector has lanes.
                    unsafe { store(words.as_mut_ptr(), sets[set][word]) };
                }
            }
        }
    };
}
pub(crate) use kernel;
