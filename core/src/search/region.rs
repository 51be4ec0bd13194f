//! [`Region`]: an explored part of a tree, from the nodes where it begins down to those where it ends.
//!
//! Regions prove that a whole tree was explored, and nothing twice, if each is what the tree has between its nodes, and
//! if regions begin at the root and at each node where one ends, exactly as often. The rest of a partly explored node
//! can be split in several ways, so only the counts of all rests must be equal on both sides.

use crate::search::depth_first::TreeExplorer;
use crate::search::explorer::{Explorer, Progress};
use crate::search::tree::{Counts, Solution, Tree, WrongBound, read};
use crate::search::work::{Entry, Malformed, Pack, Pool, distance};
use std::collections::HashMap;

/// An explored part of a tree.
#[derive(Clone, Debug, Default, PartialEq, Pack)]
pub struct Region {
    /// The work that it began with.
    pub begins: Vec<Vec<u8>>,
    /// The work that was left.
    pub ends: Vec<Vec<u8>>,
    /// What was explored between them.
    pub counts: Counts,
}

/// What exploring a region again has found.
#[derive(Clone, Debug, Default)]
pub struct Walk {
    /// What was explored.
    pub counts: Counts,
    /// How many of the nodes where the region ends are not below those where it begins.
    pub unreached: u64,
    /// A solution that is better than the value to beat.
    pub found: Option<Solution>,
    /// A bound that turned out to be wrong.
    pub fault: Option<WrongBound>,
}

/// A node with its depth and bound, as bytes.
pub type NodeKey = Vec<u8>;

/// What a piece of work consists of. Instead of the rest of a node that was counted before, it has the nodes below it,
/// since rests can be split in several ways, and what expanding them counts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WholeNodes {
    /// The nodes.
    pub keys: Vec<NodeKey>,
    /// What expanding rests of nodes counts.
    pub rests: Counts,
}

/// The whole nodes of a piece of work, where solutions must beat the score `best`.
///
/// # Errors
/// If the bytes are not a pool of this tree's nodes, or a rest of a node has a better solution or a wrong bound.
pub fn whole_nodes<T: Tree>(tree: &T, work: &[u8], best: i64) -> Result<WholeNodes, Malformed> {
    let mut open = read(tree, work)?.into_entries();
    let mut nodes = WholeNodes::default();
    let mut explorer = TreeExplorer::new(tree);
    while let Some(entry) = open.pop() {
        if tree.weight(&entry.node) > 0 {
            nodes.keys.push(key(&entry));
            continue;
        }
        explorer.put_pool(Pool::new(vec![entry]));
        let progress = explorer.run(1, best);
        if progress.found.is_some() || progress.fault.is_some() {
            return Err(Malformed::Range);
        }
        nodes.rests = nodes.rests.plus(&progress.counts).ok_or(Malformed::Range)?;
        open.append(&mut explorer.take_pool().into_entries());
    }
    Ok(nodes)
}

fn key<N: Pack>(entry: &Entry<N>) -> NodeKey {
    let mut bytes = Vec::new();
    (entry.depth, distance(entry.bound)).pack(&mut bytes);
    entry.node.pack(&mut bytes);
    bytes
}

/// Explores a region again, where solutions must beat the score `best`, node by node with the tree's own code; `None` if
/// `may_continue` ended it.
///
/// # Errors
/// If the region's work is not made of this tree's nodes.
pub fn walk<T: Tree>(
    tree: &T,
    region: &Region,
    best: i64,
    may_continue: &dyn Fn() -> bool,
) -> Result<Option<Walk>, Malformed> {
    let mut open = Vec::new();
    for work in &region.begins {
        open.append(&mut read(tree, work)?.into_entries());
    }
    let (mut ends, mut not_here) = (HashMap::<NodeKey, u64>::new(), Counts::default());
    for work in &region.ends {
        let WholeNodes { keys, rests } = whole_nodes(tree, work, best)?;
        not_here = not_here.plus(&rests).ok_or(Malformed::Range)?;
        keys.into_iter().for_each(|key| *ends.entry(key).or_default() += 1);
    }
    let mut progress = Progress::default();
    let mut explorer = TreeExplorer::new(tree);
    while let Some(entry) = open.pop() {
        if !may_continue() {
            return Ok(None);
        }
        if let Some(left) = ends.get_mut(&key(&entry)).filter(|left| **left > 0) {
            *left -= 1;
            continue;
        }
        explorer.put_pool(Pool::new(vec![entry]));
        progress.add(explorer.run(1, best));
        if progress.found.is_some() || progress.fault.is_some() {
            break;
        }
        open.append(&mut explorer.take_pool().into_entries());
    }
    let unreached = ends.into_values().sum();
    let Progress { counts, found, fault, .. } = progress;
    let counts = counts.without(&not_here).ok_or(Malformed::Range)?;
    Ok(Some(Walk { counts, unreached, found, fault }))
}
