//! Instances by name: small ones of QAPLIB (Burkard, Karisch and Rendl 1997), with their optima.

use super::instance::Instance;
use super::read::read;
use crate::files::files;

files! {
    include_str("qap", ".dat" "") -> str;
    "chr12a" 9552, "chr12b" 9742, "chr12c" 11156, "chr15a" 9896, "chr15b" 7990, "chr15c" 9504,
    "chr18a" 11098, "chr18b" 1534, "chr20a" 2192, "chr20b" 2298, "chr20c" 14142, "chr22a" 6156,
    "chr22b" 6194, "els19" 17212548, "esc16a" 68, "esc16b" 292, "esc16c" 160, "esc16d" 16,
    "esc16e" 28, "esc16f" 0, "esc16g" 26, "esc16h" 996, "esc16i" 14, "esc16j" 8, "had12" 1652,
    "had14" 2724, "had16" 3720, "had18" 5358, "nug12" 578, "nug14" 1014, "nug15" 1150,
    "nug16a" 1610, "nug16b" 1240, "nug17" 1732, "nug18" 1930, "nug20" 2570, "rou12" 235528,
    "rou15" 354210, "scr12" 31410, "scr15" 51140, "scr20" 110030, "tai12a" 224416,
    "tai12b" 39464925, "tai15a" 388214, "tai15b" 51765268, "tai17a" 491812,
}

/// Whether a word is a name; otherwise it is a file name.
#[must_use]
pub fn is_name(word: &str) -> bool {
    file(word).is_some()
}

/// The instance with this name, with or without `.dat`.
#[must_use]
pub fn named(word: &str) -> Option<Result<Instance, String>> {
    file(word).map(|(_, _, text)| read(text))
}
