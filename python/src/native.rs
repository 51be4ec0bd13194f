//! Trees whose nodes compiled code expands, through the address of a C function.

#![allow(unsafe_code)]

use crate::own::{goal, solved};
use crate::run::{Limits, Search};
use pleach::{Children, Goal, Plain, Tree};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::cell::RefCell;
use std::panic::resume_unwind;

/// The compiled function: data, how many numbers these are, node, value to beat, children, what was found.
/// It returns the number of children.
///
/// # Safety
/// It must read and write inside these arrays alone.
type Expand = unsafe extern "C" fn(*const i64, i64, *const i64, i64, *mut i64, *mut i64) -> i64;

/// The places in what was found: leaves, count, whether there is a solution, its value, its length, its numbers.
const LEAVES: usize = 0;
const COUNT: usize = 1;
const SOLVED: usize = 2;
const VALUE: usize = 3;
const LENGTH: usize = 4;
const SOLUTION: usize = 5;

/// Stands behind each buffer, and is still there unless a function has written too far.
const MARK: i64 = 0x506c_6561_6368_2121;

thread_local! {
    /// Room for the children of a node and for what was found.
    static ROOM: RefCell<(Vec<i64>, Vec<i64>)> = const { RefCell::new((Vec::new(), Vec::new())) };
}

/// A tree of nodes of up to N numbers.
struct NativeTree<const GOAL: u8, const N: usize> {
    expand: Expand,
    /// Keeps the compiled code in memory.
    _code: Py<PyAny>,
    data: Vec<i64>,
    root: [i64; N],
    /// Numbers of a node, children of a node at most, numbers of a solution at most.
    words: usize,
    most: usize,
    longest: usize,
}

fn fail(why: String) -> ! {
    resume_unwind(Box::new(PyValueError::new_err(why)))
}

impl<const GOAL: u8, const N: usize> NativeTree<GOAL, N> {
    /// The size of the buffer for children, and of the one for what was found.
    fn sizes(&self) -> (usize, usize) {
        (self.most * (1 + self.words), SOLUTION + self.longest)
    }

    /// Calls the function. Returns the number of children.
    fn call(&self, node: &[i64; N], best: i64, children: &mut [i64], found: &mut [i64]) -> usize {
        let data = self.data.as_ptr();
        let length = self.data.len() as i64;
        // SAFETY: `pleach.native` has compiled the function for these buffers, whose sizes it knows, and keeps it in
        // memory by `_code`. Like all compiled code, it must not write beyond them; if it has written right behind
        // one, the marks show it.
        let made = unsafe {
            (self.expand)(
                data,
                length,
                node.as_ptr(),
                best,
                children.as_mut_ptr(),
                found.as_mut_ptr(),
            )
        };
        let ends = [children.last(), found.last()];
        if ends != [Some(&MARK); 2] {
            fail("expand wrote beyond its arrays; run it as plain Python to see where".into());
        }
        match usize::try_from(made) {
            Ok(made) if made <= self.most => made,
            _ => fail(format!("expand returned {made}, expected from 0 to {} children", self.most)),
        }
    }
}

impl<const GOAL: u8, const N: usize> Tree for NativeTree<GOAL, N> {
    type Node = [i64; N];
    const GOAL: Goal = goal(GOAL);

    fn root(&self) -> [i64; N] {
        self.root
    }

    fn expand(&self, node: &[i64; N], best: Option<i64>, out: &mut Children<'_, Self>) {
        ROOM.with_borrow_mut(|(children, found)| {
            let (all, more) = self.sizes();
            if children.len() != all + 1 || found.len() != more + 1 {
                *children = vec![0; all + 1];
                *found = vec![0; more + 1];
                (children[all], found[more]) = (MARK, MARK);
            }
            found[..SOLUTION].fill(0);
            let worst = Self::GOAL.value(i64::MAX);
            let made = self.call(node, best.unwrap_or(worst), children, found);
            for child in children[..all].chunks_exact(1 + self.words).take(made) {
                let mut node = [0; N];
                node[..self.words].copy_from_slice(&child[1..]);
                if GOAL < 2 {
                    out.child_within(child[0], node);
                } else {
                    out.child(node);
                }
            }
            let amount = |at: usize| {
                u64::try_from(found[at])
                    .unwrap_or_else(|_| fail(format!("found[{at}] is negative")))
            };
            out.leaves(amount(LEAVES));
            out.count(amount(COUNT));
            if found[SOLVED] != 0 {
                let length = amount(LENGTH) as usize;
                if length > self.longest {
                    let most = self.longest;
                    fail(format!("a solution of {length} numbers, expected at most {most}"));
                }
                out.solution(found[VALUE], || found[SOLUTION..][..length].to_vec());
            }
        });
    }

    fn fingerprint(&self) -> Option<u64> {
        // The trees of Python are neither saved nor sent.
        Some(0)
    }
}

/// A compiled tree as Python describes it.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Compiled {
    address: usize,
    code: Py<PyAny>,
    data: Vec<i64>,
    root: Vec<i64>,
    most: usize,
    longest: usize,
    goal: u8,
    best: Option<i64>,
}

/// Searches a tree that compiled code expands.
#[pyfunction]
pub fn native(tree: Compiled, limits: Limits) -> PyResult<Search> {
    let Compiled { goal, .. } = tree;
    match goal {
        0 => sized::<0>(tree, limits),
        1 => sized::<1>(tree, limits),
        2 => sized::<2>(tree, limits),
        _ => sized::<3>(tree, limits),
    }
}

/// Chooses the type of nodes with enough room.
fn sized<const GOAL: u8>(tree: Compiled, limits: Limits) -> PyResult<Search> {
    match tree.root.len() {
        0..=2 => start::<GOAL, 2>(tree, limits),
        3..=4 => start::<GOAL, 4>(tree, limits),
        5..=8 => start::<GOAL, 8>(tree, limits),
        9..=16 => start::<GOAL, 16>(tree, limits),
        17..=32 => start::<GOAL, 32>(tree, limits),
        33..=64 => start::<GOAL, 64>(tree, limits),
        n => Err(PyValueError::new_err(format!("root: {n} numbers, expected at most 64"))),
    }
}

fn start<const GOAL: u8, const N: usize>(tree: Compiled, limits: Limits) -> PyResult<Search> {
    let Compiled { address, code, data, root: numbers, most, longest, best, .. } = tree;
    if address == 0 {
        return Err(PyValueError::new_err("the function has no address"));
    }
    // SAFETY: the address is that of a function with this signature, which `pleach.native` has compiled.
    let expand = unsafe { std::mem::transmute::<usize, Expand>(address) };
    let words = numbers.len();
    let mut root = [0; N];
    root[..words].copy_from_slice(&numbers);
    let tree = NativeTree::<GOAL, N> { expand, _code: code, data, root, words, most, longest };
    Search::start(limits, move |search| solved(Plain(tree), best, search))
}
