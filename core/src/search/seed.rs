//! [`Top`]: explores the top of a tree down to a depth, so that there are many pieces to share, or down to given nodes.

use crate::search::depth_first::TreeExplorer;
use crate::search::explorer::{Explorer, Progress};
use crate::search::region::{Region, Walk, WholeNodes, walk, whole_nodes};
use crate::search::tree::{Goal, Tree, read};
use crate::search::work::{Malformed, Pool, Work};

/// The result of exploring the top of a tree for a while.
#[derive(Clone, Debug)]
pub struct SeedResult {
    /// The open nodes.
    pub work: Work,
    /// What was explored and found.
    pub progress: Progress,
    /// Whether every open node is deep enough.
    pub done: bool,
}

/// A tree whose top can be explored by itself.
pub trait Top: Sync {
    /// Explores the open nodes above a depth until the fuel is used up or `may_continue` returns false.
    ///
    /// # Errors
    /// If the work is not a pool of this tree's nodes.
    fn seed(
        &self,
        work: &[u8],
        depth: u32,
        best: i64,
        fuel: u64,
        may_continue: &dyn Fn() -> bool,
    ) -> Result<SeedResult, Malformed>;

    /// Explores a region again; see [`walk`].
    ///
    /// # Errors
    /// If its work is not made of this tree's nodes.
    fn walk(
        &self,
        region: &Region,
        best: i64,
        may_continue: &dyn Fn() -> bool,
    ) -> Result<Option<Walk>, Malformed>;

    /// The whole nodes of a piece of work; see [`whole_nodes`].
    ///
    /// # Errors
    /// As there.
    fn whole_nodes(&self, work: &[u8], best: i64) -> Result<WholeNodes, Malformed>;
}

impl<T: Tree> Top for T {
    fn seed(
        &self,
        work: &[u8],
        depth: u32,
        best: i64,
        fuel: u64,
        may_continue: &dyn Fn() -> bool,
    ) -> Result<SeedResult, Malformed> {
        let (mut open, mut deep): (Vec<_>, Vec<_>) =
            read(self, work)?.into_entries().into_iter().partition(|entry| entry.depth < depth);
        // The last one is the next to be explored, and so are its children.
        deep.reverse();
        let (mut progress, mut best) = (Progress::default(), best);
        let mut explorer = TreeExplorer::new(self);
        while progress.used < fuel && progress.fault.is_none() && may_continue() {
            if T::GOAL == Goal::Find && progress.found.is_some() {
                break;
            }
            let Some(entry) = open.pop() else { break };
            if entry.depth >= depth {
                deep.push(entry);
                continue;
            }
            explorer.put_pool(Pool::new(vec![entry]));
            let done = explorer.run(1, best);
            best = done.found.as_ref().map_or(best, |found| found.score.min(best));
            // A pruned node costs fuel, too.
            progress.used += u64::from(done.used == 0);
            progress.add(done);
            open.extend(explorer.take_pool().into_entries());
        }
        let done = open.iter().all(|entry| entry.depth >= depth);
        deep.reverse();
        open.append(&mut deep);
        Ok(SeedResult { work: Pool::new(open).to_work(), progress, done })
    }

    fn walk(
        &self,
        region: &Region,
        best: i64,
        may_continue: &dyn Fn() -> bool,
    ) -> Result<Option<Walk>, Malformed> {
        walk(self, region, best, may_continue)
    }

    fn whole_nodes(&self, work: &[u8], best: i64) -> Result<WholeNodes, Malformed> {
        whole_nodes(self, work, best)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::laws::run_to_end;
    use crate::search::tree::Children;

    /// Words over three letters; those with two equal letters in a row are dead ends.
    struct Words;

    impl Tree for Words {
        type Node = Vec<u8>;
        const GOAL: Goal = Goal::Count;

        fn root(&self) -> Vec<u8> {
            Vec::new()
        }

        fn expand(&self, word: &Vec<u8>, _: Option<i64>, out: &mut Children<'_, Self>) {
            if word.len() == 6 || word.windows(2).any(|two| two[0] == two[1]) {
                return out.count(1);
            }
            (0..3).for_each(|letter| out.child([&word[..], &[letter]].concat()));
        }
    }

    #[test]
    fn nothing_is_lost_at_any_depth() {
        let root = Pool::whole(Words.root()).to_work();
        let mut explorer = TreeExplorer::new(&Words);
        explorer.add_work(&root.bytes).unwrap();
        let whole = run_to_end(&mut explorer, i64::MAX);
        let mut sizes = Vec::new();
        for depth in 0..9 {
            for fuel in [1, 2, 7, u64::MAX] {
                let (mut work, mut all, mut done) = (root.clone(), Progress::default(), false);
                while !done {
                    let seeded = Words.seed(&work.bytes, depth, i64::MAX, fuel, &|| true).unwrap();
                    (work, done) = (seeded.work, seeded.done);
                    all.add(seeded.progress);
                }
                let entries = read(&Words, &work.bytes).unwrap().into_entries();
                assert!(entries.iter().all(|entry| entry.depth == depth));
                explorer.add_work(&work.bytes).unwrap();
                all.add(run_to_end(&mut explorer, i64::MAX));
                assert_eq!(all.counts, whole.counts, "depth {depth}, {fuel} at a time");
                sizes.push(entries.len());
            }
        }
        let wanted = [1, 3, 9, 18, 36, 72, 144, 0, 0].map(|size| [size; 4]);
        assert_eq!(sizes, wanted.concat());
        assert!(Words.seed(&[9; 9], 2, i64::MAX, 9, &|| true).is_err());
    }
}
