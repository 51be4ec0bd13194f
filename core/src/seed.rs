//! [`seed`]: the top of a tree explored down to a depth, so that there are many pieces to share.

use crate::explorer::{Explorer, Progress, TreeExplorer, read};
use crate::tree::Tree;
use crate::work::{Malformed, Pool, Work};

/// Explores work from the top until every open node is at this depth or below.
///
/// # Errors
/// If the work is not a pool of this tree's nodes.
pub fn seed<T: Tree>(
    tree: &T,
    work: &[u8],
    depth: u32,
    best: i64,
) -> Result<(Work, Progress), Malformed> {
    let mut waiting = read(tree, work)?.into_entries();
    let (mut deep, mut progress, mut best) = (Vec::new(), Progress::default(), best);
    let mut explorer = TreeExplorer::new(tree);
    // The last one is the next to be explored, and so are its children.
    while let Some(entry) = waiting.pop() {
        if entry.depth >= depth {
            deep.push(entry);
            continue;
        }
        explorer.put_pool(Pool::new(vec![entry]));
        let done = explorer.run(1, best);
        best = done.found.as_ref().map_or(best, |found| found.score.min(best));
        progress.add(done);
        waiting.extend(explorer.take_pool().into_entries());
    }
    deep.reverse();
    Ok((Pool::new(deep).to_work(), progress))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laws::run_to_end;
    use crate::tree::{Children, Goal};

    /// Words over three letters; those with two equal ones in a row are dead ends.
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
        explorer.put(&root.bytes).unwrap();
        let whole = run_to_end(&mut explorer, i64::MAX);
        let mut sizes = Vec::new();
        for depth in 0..9 {
            let (work, top) = seed(&Words, &root.bytes, depth, i64::MAX).unwrap();
            let entries = read(&Words, &work.bytes).unwrap().into_entries();
            assert!(entries.iter().all(|entry| entry.depth == depth));
            explorer.put(&work.bytes).unwrap();
            let mut all = top;
            all.add(run_to_end(&mut explorer, i64::MAX));
            assert_eq!(all.counts, whole.counts, "depth {depth}");
            sizes.push(entries.len());
        }
        assert_eq!(sizes, [1, 3, 9, 18, 36, 72, 144, 0, 0]);
        assert!(seed(&Words, &[9; 9], 2, i64::MAX).is_err());
    }
}
