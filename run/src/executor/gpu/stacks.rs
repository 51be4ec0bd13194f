//! [`Stacks`]: the nodes of a device as the host knows them between two rounds.

/// The nodes of every explorer of a device, those at the bottom of a stack the shallowest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stacks {
    /// Words of a node.
    pub words: usize,
    /// Nodes of a stack at most.
    pub capacity: usize,
    stacks: Vec<Vec<u32>>,
    changed: Vec<bool>,
    /// Stacks in use, the first ones.
    used: usize,
}

impl Stacks {
    /// So many empty stacks.
    #[must_use]
    pub fn new(words: usize, explorers: usize, capacity: usize) -> Self {
        let (stacks, changed) = (vec![Vec::new(); explorers], vec![true; explorers]);
        Self { words, capacity, stacks, changed, used: explorers }
    }

    /// Stacks in use.
    #[must_use]
    pub fn len(&self) -> usize {
        self.used
    }

    /// Uses so many from now on; what was on others is returned.
    pub fn use_first(&mut self, used: usize) -> Vec<u32> {
        let mut left = Vec::new();
        for at in used..self.used {
            left.append(&mut self.stacks[at]);
        }
        for at in used.min(self.used)..used.max(self.used) {
            self.changed[at] = true;
        }
        self.used = used;
        left
    }

    /// Whether there are no nodes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.stacks.iter().all(Vec::is_empty)
    }

    /// Nodes of a stack.
    #[must_use]
    pub fn height(&self, at: usize) -> usize {
        self.stacks[at].len() / self.words
    }

    /// Nodes of all stacks.
    #[must_use]
    pub fn nodes(&self) -> usize {
        self.stacks.iter().map(Vec::len).sum::<usize>() / self.words.max(1)
    }

    /// The words of a stack, from the bottom.
    #[must_use]
    pub fn stack(&self, at: usize) -> &[u32] {
        &self.stacks[at]
    }

    /// All nodes, one after the other.
    pub fn each(&self) -> impl Iterator<Item = &[u32]> {
        self.stacks.iter().flat_map(|stack| stack.chunks_exact(self.words))
    }

    /// Takes over what the device has.
    pub fn replace(&mut self, at: usize, nodes: &[u32]) {
        self.stacks[at].clear();
        self.stacks[at].extend_from_slice(nodes);
        self.changed[at] = false;
    }

    /// The stacks that the device does not have as they are, from now on taken to be there.
    pub fn take_changed(&mut self) -> Vec<usize> {
        let changed: Vec<usize> = (0..self.len()).filter(|&at| self.changed[at]).collect();
        changed.iter().for_each(|&at: &usize| self.changed[at] = false);
        changed
    }

    /// Puts nodes on the lowest stacks, in turn: what arrives is spread over all at once. A stack is
    /// filled to a half at most, so that its explorer can begin; what does not fit stays.
    pub fn spread(&mut self, nodes: &mut Vec<u32>) {
        let room = self.capacity / 2;
        let mut lowest: Vec<usize> = (0..self.len()).collect();
        lowest.sort_by_key(|&at| self.height(at));
        let mut fitting = 0;
        while fitting < nodes.len() {
            let before = fitting;
            let level = self.height(lowest[0]);
            // All that are as low as the lowest get one each.
            for &at in &lowest {
                if fitting == nodes.len() || self.height(at) > level || self.height(at) >= room {
                    break;
                }
                let node = &nodes[fitting..fitting + self.words];
                // A node from elsewhere may be shallower than what is here, but is none the worse.
                self.stacks[at].splice(0..0, node.iter().copied());
                self.changed[at] = true;
                fitting += self.words;
            }
            if fitting == before {
                break;
            }
            lowest.sort_by_key(|&at| self.height(at));
        }
        nodes.drain(..fitting);
    }

    /// Takes so many nodes from the bottom of stacks, from the highest ones first.
    pub fn take(&mut self, mut nodes: usize) -> Vec<u32> {
        let mut taken = Vec::new();
        while nodes > 0 {
            let Some(highest) = (0..self.len()).max_by_key(|&at| self.height(at)) else { break };
            let height = self.height(highest);
            if height == 0 {
                break;
            }
            let share = nodes.min(height.div_ceil(2));
            taken.extend(self.stacks[highest].drain(..share * self.words));
            self.changed[highest] = true;
            nodes -= share;
        }
        taken
    }

    /// Takes half of every stack that has no room for another step of its explorer.
    pub fn relieve(&mut self, step: usize) -> Vec<u32> {
        let mut taken = Vec::new();
        for at in 0..self.len() {
            if self.height(at) + step > self.capacity {
                let half = self.height(at) / 2 * self.words;
                taken.extend(self.stacks[at].drain(..half));
                self.changed[at] = true;
            }
        }
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_lost_on_the_way() {
        let mut stacks = Stacks::new(2, 3, 8);
        let mut nodes: Vec<u32> = (0..40).collect();
        stacks.spread(&mut nodes);
        // Half of the room of three stacks.
        assert_eq!((stacks.nodes(), nodes.len()), (12, 16));
        assert!((0..3).all(|at| stacks.height(at) == 4));
        assert_eq!(stacks.take_changed(), [0, 1, 2]);
        let taken = stacks.take(5);
        assert_eq!((stacks.nodes(), taken.len()), (7, 10));
        let left = stacks.use_first(1);
        assert_eq!((stacks.len(), stacks.nodes() + left.len() / 2), (1, 7));
        assert!(stacks.use_first(3).is_empty());
        assert_eq!(stacks.take_changed(), [0, 1, 2]);
        let mut all: Vec<u32> = [taken, nodes, left, stacks.take(99)].concat();
        all.sort_unstable();
        assert_eq!(all, (0..40).collect::<Vec<u32>>());
        assert!(stacks.is_empty());
    }
}
