//! Trees whose nodes compiled code expands, through the address of a C function.

#![allow(unsafe_code)]

use crate::own::{goal, solved};
use crate::run::{Limits, Search};
use pleach::{Children, Goal, Plain, Tree};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use std::cell::UnsafeCell;
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

/// The numbers that a thread has room for: children of a node, and what was found.
const ROOM: usize = 1 << 14;

thread_local! {
    static NUMBERS: UnsafeCell<[i64; ROOM]> = const { UnsafeCell::new([0; ROOM]) };
}

/// A tree of nodes of up to N numbers.
struct NativeTree<const GOAL: u8, const N: usize> {
    expand: Expand,
    /// Keeps the compiled code in memory.
    _code: Py<PyAny>,
    /// What tells the code from other code.
    code_print: Vec<u8>,
    data: Vec<i64>,
    root: [i64; N],
    /// Children of a node at most, numbers of a solution at most.
    most: usize,
    longest: usize,
}

#[cold]
#[inline(never)]
fn fail(why: String) -> ! {
    resume_unwind(Box::new(PyValueError::new_err(why)))
}

/// A number that the function has found, which must not be negative.
#[inline]
fn amount(found: &[i64], at: usize) -> u64 {
    u64::try_from(found[at]).unwrap_or_else(|_| fail(format!("found[{at}] is negative")))
}

impl<const GOAL: u8, const N: usize> NativeTree<GOAL, N> {
    /// The numbers that children take, and that what was found takes, each with its mark.
    fn sizes(&self) -> (usize, usize) {
        (self.most * (1 + N) + 1, SOLUTION + self.longest + 1)
    }

    /// Calls the function. Returns the number of children.
    #[inline]
    fn call(&self, node: &[i64; N], best: i64, children: &mut [i64], found: &mut [i64]) -> usize {
        let (data, length) = (self.data.as_ptr(), self.data.len() as i64);
        let (Some(behind_children), Some(behind_found)) = (children.last_mut(), found.last_mut())
        else {
            return 0;
        };
        (*behind_children, *behind_found) = (MARK, MARK);
        let (to_children, to_found) = (children.as_mut_ptr(), found.as_mut_ptr());
        // SAFETY: `pleach.native` has compiled the function for these sizes, and `_code` keeps it in memory. Like all
        // compiled code, it must not write elsewhere; if it has written right behind a buffer, the marks show it.
        let made =
            unsafe { (self.expand)(data, length, node.as_ptr(), best, to_children, to_found) };
        if children.last() != Some(&MARK) || found.last() != Some(&MARK) {
            fail("expand wrote beyond its arrays; preview shows where".into());
        }
        match usize::try_from(made) {
            Ok(made) if made <= self.most => made,
            _ => fail(format!("expand returned {made}, expected from 0 to {} children", self.most)),
        }
    }

    /// Reports what a node has beside children.
    #[cold]
    #[inline(never)]
    fn report(&self, found: &[i64], out: &mut Children<'_, Self>) {
        out.leaves(amount(found, LEAVES));
        out.count(amount(found, COUNT));
        if found[SOLVED] != 0 {
            let length = amount(found, LENGTH) as usize;
            if length > self.longest {
                let most = self.longest;
                fail(format!("a solution of {length} numbers, expected at most {most}"));
            }
            out.solution(found[VALUE], || found[SOLUTION..][..length].to_vec());
        }
    }
}

impl<const GOAL: u8, const N: usize> Tree for NativeTree<GOAL, N> {
    type Node = [i64; N];
    const GOAL: Goal = goal(GOAL);

    fn root(&self) -> [i64; N] {
        self.root
    }

    #[inline]
    fn expand(&self, node: &[i64; N], best: Option<i64>, out: &mut Children<'_, Self>) {
        // A larger closure would keep the compiler from putting this into the explorer's loop.
        let numbers = NUMBERS.with(UnsafeCell::get);
        // SAFETY: the numbers are this thread's, and nothing that runs until this function returns calls it again.
        let numbers = unsafe { &mut *numbers };
        let (all, more) = self.sizes();
        let (children, rest) = numbers.split_at_mut(all);
        let found = &mut rest[..more];
        found[..SOLUTION].fill(0);
        let best = best.unwrap_or(Self::GOAL.value(i64::MAX));
        let made = self.call(node, best, children, found);
        for child in children.chunks_exact(1 + N).take(made) {
            let mut node = [0; N];
            node.copy_from_slice(&child[1..]);
            if GOAL < 2 {
                out.child_within(child[0], node);
            } else {
                out.child(node);
            }
        }
        if found[..SOLVED + 1] != [0; SOLVED + 1] {
            self.report(found, out);
        }
    }

    fn fingerprint(&self) -> Option<u64> {
        let code = (GOAL, self.code_print.clone());
        Some(pleach::fingerprint("native", &(code, self.data.clone(), self.root.to_vec())))
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

/// Runs code for the smallest size of nodes that has room for a number of words.
macro_rules! by_size {
    ($words:expr, $n:ident => $act:expr) => {
        by_size!(@ $words, $n => $act, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 24, 32, 48, 64)
    };
    (@ $words:expr, $n:ident => $act:expr, $($size:literal),*) => {
        match $words {
            $(0..=$size => {
                const $n: usize = $size;
                $act
            })*
            n => Err(PyValueError::new_err(format!("words: {n}, expected at most 64"))),
        }
    };
}

/// How many numbers the engine keeps for a node of this many.
#[pyfunction]
pub fn native_room(words: usize) -> PyResult<usize> {
    by_size!(words, N => Ok(N))
}

fn sized<const GOAL: u8>(tree: Compiled, limits: Limits) -> PyResult<Search> {
    by_size!(tree.root.len(), N => start::<GOAL, N>(tree, limits))
}

fn start<const GOAL: u8, const N: usize>(tree: Compiled, limits: Limits) -> PyResult<Search> {
    let Compiled { address, code, code_print, data, root: numbers, most, longest, best, .. } = tree;
    if address == 0 {
        return Err(PyValueError::new_err("the function has no address"));
    }
    // SAFETY: the address is that of a function with this signature, which `pleach.native` has compiled.
    let expand = unsafe { std::mem::transmute::<usize, Expand>(address) };
    let mut root = [0; N];
    root[..numbers.len()].copy_from_slice(&numbers);
    let tree = NativeTree::<GOAL, N> { expand, _code: code, code_print, data, root, most, longest };
    let (all, more) = tree.sizes();
    if all + more > ROOM {
        let why = format!("children and solution: {} numbers, expected at most {ROOM}", all + more);
        return Err(PyValueError::new_err(why));
    }
    Search::start(limits, move |search| solved(Plain(tree), best, search))
}
