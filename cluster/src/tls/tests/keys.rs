//! Key files: private, created once, never shown.

use crate::tls::{Key, KeyError};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

fn folder(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("pleach-cluster-{name}-{}", std::process::id()));
    fs::create_dir(&path).unwrap();
    path
}

#[test]
fn a_key_is_created_once_and_private() {
    let folder = folder("once");
    let path = folder.join("run.key");
    let made = Key::make(&path).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(Key::make(&path).unwrap() == made && Key::read(&path).unwrap() == made);
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "something is left over");
    assert_eq!(format!("{made:?}"), "Key(..)");
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn files_that_others_can_read_are_refused() {
    let folder = folder("private");
    let path = folder.join("run.key");
    Key::make(&path).unwrap();
    for mode in [0o640, 0o604, 0o620, 0o601] {
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        let error = Key::make(&path).unwrap_err();
        assert_eq!(error, KeyError::Open { path: path.clone() });
        assert_eq!(error, Key::read(&path).unwrap_err());
        assert_eq!(error.to_string().lines().count(), 1);
    }
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn another_file_is_refused_and_not_shown() {
    let folder = folder("other");
    let path = folder.join("run.key");
    for text in ["", "secret", "pleach-key-1 secret", &"x".repeat(5000), "pleach-key-1 +1"] {
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        let error = Key::make(&path).unwrap_err();
        assert_eq!(error, KeyError::NoKey { path: path.clone() });
        assert!(!error.to_string().contains("secret"));
        assert_eq!(fs::read_to_string(&path).unwrap(), text, "a foreign file was changed");
    }
    assert!(matches!(Key::make(&folder.join("no/such")), Err(KeyError::CannotMake { .. })));
    assert!(matches!(Key::read(&folder.join("none")), Err(KeyError::CannotRead { .. })));
    assert!(matches!(Key::read(&folder), Err(KeyError::NoKey { .. })));
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn of_many_concurrent_creators_one_wins() {
    let folder = folder("race");
    for round in 0..50 {
        let path = folder.join(format!("{round}.key"));
        let make = || Key::make(&path).unwrap();
        let keys = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(make)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect::<Vec<_>>()
        });
        assert!(keys.iter().all(|key| *key == Key::read(&path).unwrap()));
    }
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 50);
    fs::remove_dir_all(folder).unwrap();
}
