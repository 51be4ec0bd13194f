//! Instances by name: those of TSPLIB (Reinelt 1991) with up to 100 cities, with their optima.

use super::instance::Instance;
use super::random;
use super::read::read;
use crate::files::files;

files! {
    include_str("atsp", ".atsp" "") -> str;
    "br17" 39, "ft53" 6905, "ft70" 38673, "ftv33" 1286, "ftv35" 1473, "ftv38" 1530, "ftv44" 1613,
    "ftv47" 1776, "ftv55" 1608, "ftv64" 1839, "ftv70" 1950, "kro124p" 36230, "p43" 5620,
    "ry48p" 14422,
}

/// Whether a word is a name or has the form `class:cities:seed`; otherwise it is a file name.
#[must_use]
pub fn is_name(word: &str) -> bool {
    file(word).is_some() || random::is_class(word)
}

/// The instance with this name, with or without `.atsp`, or the random one given by
/// `class:cities:seed`; `None` if the word is neither.
#[must_use]
pub fn named(word: &str) -> Option<Result<Instance, String>> {
    match file(word) {
        Some((_, _, text)) => Some(read(text)),
        None => random::made(word),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_has_an_instance() {
        assert_eq!(names().count(), 14);
        for name in names() {
            let instance = named(name).unwrap().unwrap();
            let order: Vec<u16> = (0..instance.cities() as u16).collect();
            assert!(instance.length(&order) >= optimum(name).unwrap(), "{name}");
            assert_eq!(named(&format!("{name}.atsp")), Some(Ok(instance)));
        }
        assert_eq!(named("ftv33").unwrap().unwrap().cities(), 34);
        assert!(named("ftv34").is_none() && optimum("crane:9:1").is_none());
    }
}
