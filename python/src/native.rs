//! Trees whose nodes compiled code explores, through the address of a C function.

#![allow(unsafe_code)]

use crate::own::{goal, solved};
use crate::run::{Limits, Search};
use pleach::{
    Children, Entry, Explorer, Goal, Malformed, Plain, Pool, Progress, Tree, Work, WrongBound,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::cell::RefCell;
use std::panic::resume_unwind;

/// The compiled loop of a depth-first search: data, how many numbers these are, stack, children, what was found, the
/// node, and the state. It returns why it has stopped.
///
/// # Safety
/// It must read and write inside these arrays alone.
type Explore = unsafe extern "C" fn(
    *const i64,
    i64,
    *mut i64,
    *mut i64,
    *mut i64,
    *mut i64,
    *mut State,
) -> i64;

/// What the compiled loop is given, and what it leaves. `explore` in native.py knows the same order.
#[repr(C)]
#[derive(Default)]
struct State {
    /// Nodes on the stack, and how many it has room for. Below 0 if the loop has ended early.
    top: i64,
    room: i64,
    /// How many nodes to explore.
    fuel: i64,
    /// The score that solutions must beat.
    cutoff: i64,
    /// -1 if a score is the complement of its value, otherwise 0.
    flip: i64,
    /// Whether children have bounds of their own.
    bounded_children: i64,
    used: i64,
    branched: i64,
    bounded: i64,
    total: i64,
    depth: i64,
    /// The bound of the node at which a solution was found.
    bound: i64,
    /// A number that is wrong.
    wrong: i64,
}

/// Why the loop has stopped, apart from 0: without fuel, work or room.
const SOLVED: i64 = 1;
// 2: a mark has changed.
const WRONG_CHILDREN: i64 = 3;
const WRONG_LEAVES: i64 = 4;
const WRONG_COUNT: i64 = 5;
const WRONG_VALUE: i64 = 6;

/// The maximum fuel, so that what is used has 63 bits.
const MOST_FUEL: i64 = 1 << 61;

/// The places in what was found: its value, its length, its numbers.
const VALUE: usize = 3;
const LENGTH: usize = 4;
const SOLUTION: usize = 5;

/// A row of the stack: bound, depth and share of the tree, then the numbers of the node.
const NODE: usize = 3;

/// The greatest depth of open work, as in other trees: deeper nodes count as equally deep.
const DEEPEST: i64 = (u32::MAX / 2) as i64;

/// The share of the whole tree.
const WHOLE: f64 = (1_i64 << 62) as f64;

/// A mark after the children and after what was found, which stays intact unless a function has written too far.
const MARK: i64 = 0x506c_6561_6368_2121;
/// How often the mark is repeated after what was found; after the children, it takes a whole row.
const MARKS: usize = 8;

/// A tree whose nodes are numbers.
struct NativeTree<const GOAL: u8> {
    explore: Explore,
    /// Keeps the compiled code in memory.
    _code: Py<PyAny>,
    /// What tells the code from other code.
    code_print: Vec<u8>,
    data: Vec<i64>,
    root: Vec<i64>,
    /// The maximum numbers of children of a node, and of numbers in a solution.
    most: usize,
    longest: usize,
}

#[cold]
#[inline(never)]
fn fail(why: String) -> ! {
    resume_unwind(Box::new(PyValueError::new_err(why)))
}

/// A stack of open nodes, and what the loop writes apart from it.
#[derive(Default)]
struct Stack {
    rows: Vec<i64>,
    top: usize,
    children: Vec<i64>,
    found: Vec<i64>,
    node: Vec<i64>,
}

impl Stack {
    /// Adds a node to explore next.
    fn push(&mut self, bound: i64, depth: u32, share: i64, node: &[i64]) {
        let width = NODE + node.len();
        let from = self.top * width;
        // Rows above the top stay: the loop uses them again.
        self.rows.resize(self.rows.len().max(from + width), 0);
        let row = &mut self.rows[from..][..width];
        row[..NODE].copy_from_slice(&[bound, depth.into(), share]);
        row[NODE..].copy_from_slice(node);
        self.top += 1;
    }

    /// Replaces the open nodes.
    fn set_entries<N: AsRef<[i64]>>(&mut self, entries: Vec<Entry<N>>) {
        self.top = 0;
        for Entry { bound, depth, share, node } in entries {
            self.push(bound, depth, (f64::from(share) * WHOLE) as i64, node.as_ref());
        }
    }
}

/// The open nodes in rows, the next to explore last.
fn entries(rows: &[i64], width: usize) -> impl Iterator<Item = Entry<&[i64]>> {
    rows.chunks_exact(width).map(|row| Entry {
        bound: row[0],
        depth: row[1].min(DEEPEST) as u32,
        share: (row[2] as f64 / WHOLE) as f32,
        node: &row[NODE..],
    })
}

thread_local! {
    /// The stack of nodes that are expanded one by one.
    static ALONE: RefCell<Stack> = RefCell::default();
}

impl<const GOAL: u8> NativeTree<GOAL> {
    /// The numbers in a row of the stack.
    fn width(&self) -> usize {
        NODE + self.root.len()
    }

    /// The open nodes of a stack, the next to explore last.
    fn entries<'s>(&self, stack: &'s Stack) -> impl Iterator<Item = Entry<&'s [i64]>> {
        entries(&stack.rows[..stack.top * self.width()], self.width())
    }

    /// Explores until the fuel, the work or the room is used up, or a solution is found. Returns the state, and whether
    /// there is a solution.
    fn explore(&self, stack: &mut Stack, fuel: u64, cutoff: i64) -> (State, bool) {
        // The loop expands a node only if there is room for all its children.
        let rows = (stack.top + 1 + self.most).next_power_of_two();
        if stack.rows.len() < rows * self.width() {
            // New memory is zero already, however large.
            let used = ..stack.top * self.width();
            let before = std::mem::replace(&mut stack.rows, vec![0; rows * self.width()]);
            stack.rows[used].copy_from_slice(&before[used]);
        }
        let row = 1 + self.root.len();
        let (children, found) = (self.most * row, SOLUTION + self.longest);
        for (buffer, len, marks) in
            [(&mut stack.children, children, row), (&mut stack.found, found, MARKS)]
        {
            buffer.resize(len, 0);
            buffer.resize(len + marks, MARK);
        }
        stack.node.resize(self.root.len(), 0);
        let goal = Self::GOAL;
        let mut state = State {
            top: stack.top as i64,
            room: (stack.rows.len() / self.width()) as i64,
            fuel: i64::try_from(fuel).unwrap_or(MOST_FUEL).min(MOST_FUEL),
            cutoff,
            flip: if goal == Goal::Maximise { -1 } else { 0 },
            bounded_children: matches!(goal, Goal::Minimise | Goal::Maximise).into(),
            ..State::default()
        };
        // SAFETY: `pleach.native` has compiled the loop for these sizes, and `_code` keeps it in memory. Like all
        // compiled code, the function in the loop must not write elsewhere; if it has written right after a buffer, the
        // marks show it.
        let why = unsafe {
            (self.explore)(
                self.data.as_ptr(),
                self.data.len() as i64,
                stack.rows.as_mut_ptr(),
                stack.children.as_mut_ptr(),
                stack.found.as_mut_ptr(),
                stack.node.as_mut_ptr(),
                &raw mut state,
            )
        };
        let (wrong, most) = (state.wrong, self.most);
        let changed = |behind: &[i64]| behind.iter().any(|&number| number != MARK);
        let why_not = match why {
            _ if changed(&stack.children[children..]) || changed(&stack.found[found..]) => {
                "expand wrote beyond its arrays".into()
            }
            WRONG_CHILDREN => {
                format!("expand returned {wrong}, expected from 0 to {most} children")
            }
            WRONG_LEAVES => format!("found[LEAVES]: {wrong}, expected from 0 to 2**40"),
            WRONG_COUNT => format!("found[COUNT]: {wrong}, expected from 0 to 2**61"),
            WRONG_VALUE => format!("found[VALUE]: {wrong}, expected one that is better than none"),
            // An exception leaves the loop before it writes the state.
            _ if state.top < 0 => "expand raised an exception, printed above".into(),
            _ => String::new(),
        };
        if !why_not.is_empty() {
            fail(format!("{why_not}; preview shows where: the node is {:?}", stack.node));
        }
        stack.top = state.top as usize;
        (state, why == SOLVED)
    }

    /// The numbers of the solution that the loop has found.
    fn solution(&self, found: &[i64]) -> Vec<i64> {
        let (length, most) = (found[LENGTH], self.longest);
        match usize::try_from(length) {
            Ok(length) if length <= most => found[SOLUTION..][..length].to_vec(),
            _ => fail(format!("a solution of {length} numbers, expected at most {most}")),
        }
    }
}

impl<const GOAL: u8> Tree for NativeTree<GOAL> {
    type Node = Vec<i64>;
    const GOAL: Goal = goal(GOAL);

    fn root(&self) -> Vec<i64> {
        self.root.clone()
    }

    fn expand(&self, node: &Vec<i64>, best: Option<i64>, out: &mut Children<'_, Self>) {
        let goal = Self::GOAL;
        ALONE.with_borrow_mut(|stack| {
            stack.top = 0;
            stack.push(i64::MIN, 0, 0, node);
            let cutoff = best.map_or(i64::MAX, |best| goal.score(best));
            let (state, solved) = self.explore(stack, 1, cutoff);
            let rows = &stack.rows[..stack.top * self.width()];
            for row in rows.chunks_exact(self.width()).rev() {
                let node = row[NODE..].to_vec();
                if state.bounded_children == 0 {
                    out.child(node);
                } else {
                    out.child_within(goal.value(row[0]), node);
                }
            }
            out.leaves(state.bounded as u64 - stack.top as u64);
            out.count(state.total as u64);
            // Where solutions are counted, none of them is kept.
            if solved && goal != Goal::Count {
                out.solution(stack.found[VALUE], || self.solution(&stack.found));
            }
        });
    }

    fn valid(&self, entry: &Entry<Vec<i64>>) -> bool {
        entry.node.len() == self.root.len()
    }

    fn own_explorer(&self) -> Option<Box<dyn Explorer + '_>> {
        Some(Box::new(NativeExplorer { tree: self, stack: Stack::default() }))
    }

    fn fingerprint(&self) -> Option<u64> {
        let code = (GOAL, self.code_print.clone());
        Some(pleach::fingerprint("native", &(code, self.data.clone(), self.root.clone())))
    }
}

/// Depth-first search by a compiled loop.
struct NativeExplorer<'t, const GOAL: u8> {
    tree: &'t NativeTree<GOAL>,
    stack: Stack,
}

impl<const GOAL: u8> NativeExplorer<'_, GOAL> {
    fn entries(&self) -> impl Iterator<Item = Entry<&[i64]>> {
        self.tree.entries(&self.stack)
    }

    /// All open nodes.
    fn pool(&self) -> Pool<Vec<i64>> {
        owned(self.entries())
    }
}

/// Copies nodes into a pool.
fn owned<'a>(entries: impl Iterator<Item = Entry<&'a [i64]>>) -> Pool<Vec<i64>> {
    let owned = |Entry { bound, depth, share, node }: Entry<&[i64]>| Entry {
        bound,
        depth,
        share,
        node: node.to_vec(),
    };
    Pool::new(entries.map(owned).collect())
}

impl<const GOAL: u8> Explorer for NativeExplorer<'_, GOAL> {
    fn add_work(&mut self, work: &[u8]) -> Result<(), Malformed> {
        let more = Pool::from_bytes(work)?;
        if !more.entries().iter().all(|entry| self.tree.valid(entry)) {
            return Err(Malformed::Range);
        }
        let mut all = self.pool();
        all.append(more);
        self.stack.set_entries(all.into_entries());
        Ok(())
    }

    fn size(&self) -> f64 {
        self.stack.top as f64
    }

    fn least_bound(&self) -> Option<i64> {
        self.entries().map(|row| row.bound).min()
    }

    fn open_share(&self) -> Option<f64> {
        Some(self.entries().map(|row| f64::from(row.share)).sum())
    }

    fn run(&mut self, fuel: u64, best: i64) -> Progress {
        let goal = NativeTree::<GOAL>::GOAL;
        let mut all = Progress::default();
        while self.stack.top > 0 && all.used < fuel {
            let (state, solved) = self.tree.explore(&mut self.stack, fuel - all.used, best);
            let mut progress = Progress { used: state.used as u64, ..Progress::default() };
            progress.counts.branched = state.branched as u64;
            progress.counts.bounded = state.bounded as u64;
            progress.counts.total = state.total as u128;
            progress.counts.depth = state.depth.min(DEEPEST) as u32;
            all.add(progress);
            if solved && goal != Goal::Count {
                let value = self.stack.found[VALUE];
                if goal != Goal::Find && goal.score(value) < state.bound {
                    let bound = goal.value(state.bound);
                    let tree = "the tree";
                    all.fault = Some(WrongBound { tree, bound, value, decimals: 0 });
                } else {
                    all.found = Some(goal.solution(value, self.tree.solution(&self.stack.found)));
                }
                break;
            }
        }
        all
    }

    fn split(&mut self, share: f64) -> Option<Work> {
        let rows = std::mem::take(&mut self.stack.rows);
        let width = self.tree.width();
        let mut kept = Pool::new(entries(&rows[..self.stack.top * width], width).collect());
        let given =
            kept.split(share).map(|given| owned(given.into_entries().into_iter()).to_work());
        self.stack.set_entries(kept.into_entries());
        given
    }

    fn drain(&mut self) -> Work {
        let all = self.copy();
        self.stack.top = 0;
        all
    }

    fn copy(&mut self) -> Work {
        self.pool().to_work()
    }
}

/// A compiled tree as Python describes it.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Compiled {
    address: usize,
    code: Py<PyAny>,
    code_print: Vec<u8>,
    data: Vec<i64>,
    root: Vec<i64>,
    most: usize,
    longest: usize,
    goal: u8,
    best: Option<i64>,
}

/// Searches a tree that compiled code explores.
#[pyfunction]
pub fn native(tree: Compiled, limits: Limits) -> PyResult<Search> {
    match tree.goal {
        0 => start::<0>(tree, limits),
        1 => start::<1>(tree, limits),
        2 => start::<2>(tree, limits),
        _ => start::<3>(tree, limits),
    }
}

fn start<const GOAL: u8>(tree: Compiled, limits: Limits) -> PyResult<Search> {
    let Compiled { address, code, code_print, data, root, most, longest, best, .. } = tree;
    if address == 0 {
        return Err(PyValueError::new_err("the function has no address"));
    }
    // SAFETY: the address is that of a function with this signature, which `pleach.native` has compiled.
    let explore = unsafe { std::mem::transmute::<usize, Explore>(address) };
    let tree = NativeTree::<GOAL> { explore, _code: code, code_print, data, root, most, longest };
    Search::start(limits, move |search| solved(Plain(tree), best, search))
}
