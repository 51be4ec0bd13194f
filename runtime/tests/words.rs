//! A tree with counters of its own, for the tests of several crates.

use pleach_core::search::tree::{Children, Goal, Tree};

/// Words over three letters without a square, with counters of words by length and of letters.
pub struct Words(pub u8);

impl Tree for Words {
    type Node = Vec<u8>;
    const GOAL: Goal = Goal::Count;

    fn root(&self) -> Vec<u8> {
        Vec::new()
    }

    fn expand(&self, word: &Vec<u8>, _: Option<i64>, out: &mut Children<'_, Self>) {
        out.tally(word.len(), 1);
        for letter in 0..3 {
            out.tally(
                100 + usize::from(letter),
                word.iter().filter(|&&l| l == letter).count() as u64,
            );
        }
        if word.len() == usize::from(self.0) {
            return out.count(1);
        }
        for letter in 0..3 {
            let word = [&word[..], &[letter]].concat();
            let square =
                |half| word[word.len() - half..] == word[word.len() - 2 * half..word.len() - half];
            if !(1..=word.len() / 2).any(square) {
                out.child(word);
            }
        }
    }
}
