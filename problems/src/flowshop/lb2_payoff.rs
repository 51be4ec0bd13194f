//! [`Lb2Payoff`]: decides whether LB2 pays off, from its record at each number of jobs left.

/// Nodes between two decisions.
const LOOK_EVERY: u32 = 4096;
/// Nodes with the same number of jobs left that get LB2 before the first decision.
const FIRST: u32 = 32;
/// If LB2 does not pay, it is still sampled, at a cost of this fraction (1/n) of all branching.
const SAMPLES: f64 = 50.0;

/// The record for one number of jobs left.
#[derive(Clone, Copy, Debug, Default)]
struct Account {
    nodes: u32,
    /// Nodes that got LB2, their children pruned by it, and the pairs of machines evaluated.
    tried: u32,
    closed: u32,
    walked: u64,
    pays: bool,
    /// If LB2 does not pay, one node out of this many still gets it.
    sample: u32,
}

/// The records of a search.
#[derive(Clone, Debug)]
pub struct Lb2Payoff {
    accounts: Vec<Account>,
    machines: usize,
    until_look: u32,
}

impl Lb2Payoff {
    /// An empty record.
    pub fn new(jobs: usize, machines: usize) -> Self {
        Self { accounts: vec![Account::default(); jobs + 1], machines, until_look: LOOK_EVERY }
    }

    /// Counts a node, and returns whether its children should get LB2.
    pub fn try_it(&mut self, jobs: usize) -> bool {
        self.until_look -= 1;
        if self.until_look == 0 {
            self.look();
        }
        let account = &mut self.accounts[jobs];
        account.nodes += 1;
        account.pays || account.tried < FIRST || account.nodes.is_multiple_of(account.sample)
    }

    /// Records the outcome of LB2 at a node.
    pub fn note(&mut self, jobs: usize, closed: usize, walked: usize) {
        let account = &mut self.accounts[jobs];
        account.tried += 1;
        account.closed += closed as u32;
        account.walked += walked as u64;
    }

    /// Updates the decisions, and halves the records so that old ones fade.
    fn look(&mut self) {
        self.until_look = LOOK_EVERY;
        // Nodes with fewer jobs left, per node with this many: what pruning a child saves.
        let mut below = 0.0;
        let mut saved = 0.0;
        for (jobs, account) in self.accounts.iter_mut().enumerate() {
            // Costs are in units of branching one node, fitted for all code paths.
            let pair = 4.0 * (1.3 * jobs as f64 + 10.0) / (self.machines as f64 + 65.0);
            let spent = account.walked as f64 * pair;
            account.pays = f64::from(account.closed) * saved > spent;
            let each = SAMPLES * spent / f64::from(account.tried.max(1));
            account.sample = (each as u32).saturating_add(1);
            below += f64::from(account.nodes);
            saved = if account.nodes == 0 { saved } else { below / f64::from(account.nodes) };
            account.nodes /= 2;
            if account.tried >= 2 * FIRST {
                account.tried /= 2;
                account.closed /= 2;
                account.walked /= 2;
            }
        }
    }
}
