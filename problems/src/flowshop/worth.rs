//! [`Worth`]: whether two-machine bounds pay, by what they did so far at each number of jobs left.

/// Nodes between two looks at the accounts.
const LOOK_EVERY: u32 = 4096;
/// Nodes with the same number of jobs left that are tried before anything is known.
const FIRST: u32 = 32;
/// Afterwards, where it does not pay, one node is tried for so many times what a try costs.
const SAMPLES: f64 = 50.0;

/// What was seen of the nodes with some number of jobs left.
#[derive(Clone, Copy, Debug, Default)]
struct Account {
    nodes: u32,
    /// Nodes whose children were tried, the children closed, and the pairs walked.
    tried: u32,
    closed: u32,
    walked: u64,
    pays: bool,
    /// Where it does not pay, one of so many nodes is tried all the same.
    sample: u32,
}

/// The accounts of a search.
#[derive(Clone, Debug)]
pub struct Worth {
    accounts: Vec<Account>,
    machines: usize,
    until_look: u32,
}

impl Worth {
    /// Nothing seen yet.
    pub fn new(jobs: usize, machines: usize) -> Self {
        Self { accounts: vec![Account::default(); jobs + 1], machines, until_look: LOOK_EVERY }
    }

    /// Takes note of a node, and says whether to try its children.
    pub fn try_it(&mut self, jobs: usize) -> bool {
        self.until_look -= 1;
        if self.until_look == 0 {
            self.look();
        }
        let account = &mut self.accounts[jobs];
        account.nodes += 1;
        account.pays || account.tried < FIRST || account.nodes.is_multiple_of(account.sample)
    }

    /// Takes note of a try.
    pub fn note(&mut self, jobs: usize, closed: usize, walked: usize) {
        let account = &mut self.accounts[jobs];
        account.tried += 1;
        account.closed += closed as u32;
        account.walked += walked as u64;
    }

    /// Decides anew, and forgets half of what was seen.
    fn look(&mut self) {
        self.until_look = LOOK_EVERY;
        // Nodes with fewer jobs left, for each of these: what closing a child saves.
        let mut below = 0.0;
        let mut saved = 0.0;
        for (jobs, account) in self.accounts.iter_mut().enumerate() {
            // In units of what branching one node costs, on any code path.
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
