//! Processes share loops through the library, whatever the others send.

use crate::outside::folder;
use pleach::{Each, Malformed, Pack, Processes, Reader, RunError};
use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// A value, and whether its process garbles it.
struct Garbled(usize, bool);

impl Pack for Garbled {
    const LEAST: usize = usize::LEAST;

    fn pack(&self, out: &mut Vec<u8>) {
        if !self.1 {
            self.0.pack(out);
        }
    }

    fn unpack(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        Pack::unpack(from).map(|unit| Self(unit, false))
    }
}

/// Others compute what an excluded process had, and nobody waits for it.
#[test]
fn a_process_that_garbles_values_is_excluded() {
    let key = folder("processes").join("garbled.key");
    let _ = std::fs::remove_file(&key);
    let first = Processes::listen("127.0.0.1:0", &key).unwrap();
    let address = first.address().unwrap().to_string();
    let joined = &AtomicBool::new(false);
    std::thread::scope(|scope| {
        let whole = scope.spawn(move || {
            let value = |unit| {
                while !joined.load(Ordering::Relaxed) {
                    std::thread::sleep(Duration::from_millis(1));
                }
                Garbled(unit, false)
            };
            Each::new(100).threads(1).map_across(&first, value).unwrap()
        });
        let second = Processes::join(&*address, &key).unwrap();
        let value = |unit| {
            joined.store(true, Ordering::Relaxed);
            Garbled(unit, true)
        };
        let part = Each::new(100).threads(1).map_across(&second, value);
        assert!(matches!(part, Err(RunError::Lost(_))), "{:?}", part.map(|(_, report)| report));
        let (values, report) = whole.join().unwrap();
        assert!(values.unwrap().iter().map(|value| value.0).eq(0..100));
        assert!(report.warnings.iter().any(|line| line.contains("was excluded")), "{report:?}");
    });
}

/// It used to wait in silence.
#[test]
fn a_process_that_waits_for_others_learns_why_one_cannot_join() {
    let folder = folder("processes-with-keys");
    let [key, other] = ["run.key", "other.key"].map(|name| folder.join(name));
    drop(Processes::listen("127.0.0.1:0", &other).unwrap());
    let first = Processes::listen("127.0.0.1:0", &key).unwrap();
    let address = first.address().unwrap().to_string();
    assert!(Processes::join(&*address, &other).is_err());
    let notes = RefCell::new(Vec::new());
    let note = |line| notes.borrow_mut().push(line);
    assert!(!first.wait_for(1, note, || notes.borrow().is_empty()).unwrap());
    let notes = notes.into_inner();
    assert!(notes[0].ends_with("it does not have this key"), "{notes:?}");
}
