//! [`text`] and [`rows`]: read the files that the command line of a user's own command names, here and in processes
//! that join it.

use super::join;
use super::own_line::words;
use crate::rows::parse;
use std::cell::RefCell;
use std::collections::BTreeMap;

thread_local! {
    /// The texts that were read, by the names of their files, for processes that join without files.
    static READ: RefCell<BTreeMap<String, String>> = const { RefCell::new(BTreeMap::new()) };
}

/// The text of a file that the command line names.
///
/// In a process that has joined a search, this is the text that the root read; the file need not exist there.
///
/// # Errors
/// One line: which file, and why it cannot be read.
pub fn text(path: &str) -> Result<String, String> {
    let read = || crate::input::text_of(path).map_err(|why| format!("{path}: {why}"));
    let text = join::text_of_root(path).map_or_else(read, Ok)?;
    READ.with_borrow_mut(|read| read.insert(path.to_string(), text.clone()));
    Ok(text)
}

/// All texts that were read so far.
pub(super) fn texts() -> BTreeMap<String, String> {
    READ.with_borrow(Clone::clone)
}

/// The rows of the file that the first word on the command line names, `N` whole numbers each.
///
/// Numbers range from 0 to `most`. The first number of the first row is the number of rows that follow, at
/// most `most_rows`.
///
/// # Errors
/// One line: which file, line and value, and what was expected; or that there is a second word.
pub fn rows<const N: usize>(most: i64, most_rows: usize) -> Result<Vec<[i64; N]>, String> {
    let mut words = words().into_iter();
    let path = words.next().ok_or("expected a file")?;
    if let Some(word) = words.next() {
        return Err(format!("unexpected argument '{word}' after '{path}'"));
    }
    let text = text(&path)?;
    parse(&text, most, most_rows).map_err(|why| format!("{path}{why}"))
}
