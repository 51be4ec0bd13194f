//! Every way to fail to join has its own message.

use super::table::{LONG, Table, rest};
use crate::tls::{JoinError, JoinOptions, Key, Limits};
use std::io::Write;
use std::net::TcpListener;
use std::time::{Duration, Instant};

/// Lets one joiner try while the root checks its entrance; nobody gets in.
fn refused(table: &mut Table, change: impl FnOnce(&mut JoinOptions)) -> JoinError {
    let mut joining = table.joining();
    change(&mut joining);
    let thread = table.joins(joining);
    let start = Instant::now();
    while !thread.is_finished() && start.elapsed() < LONG {
        table.serve_entrance(&mut Vec::new());
        rest();
    }
    let error = thread.join().unwrap().unwrap_err();
    assert_eq!(error.to_string().lines().count(), 1, "{error}");
    error
}

#[test]
fn the_root_refuses() {
    let mut table = Table::new(2, Limits::default());
    let error = refused(&mut table, |_| {});
    assert!(matches!(&error, JoinError::Busy { reason, .. } if reason == "full"), "{error}");
    assert!(error.may_pass(), "a place may become free");
    let error = refused(&mut table, |joining| joining.version = "2".into());
    let words = "the root is version 1, and this process is 2";
    assert!(matches!(&error, JoinError::WrongVersion { reason, .. } if reason == words), "{error}");
    table.noted(words);
    let other = Key::random().unwrap();
    let error = refused(&mut table, |joining| joining.key = other);
    assert!(matches!(error, JoinError::WrongKey { .. }), "{error}");
    table.noted("does not have this key");
    let error = refused(&mut table, |joining| joining.bytes = vec![0; 4097]);
    assert!(matches!(error, JoinError::Bytes { bytes: 4097, .. }), "{error}");
}

#[test]
fn the_search_is_over() {
    use crate::Network;
    let mut table = Table::new(2, Limits::default());
    table.star.finish();
    assert_eq!(table.next(), crate::Arrival::End);
    let error = refused(&mut table, |_| {});
    assert!(error.to_string().ends_with("the search is over"), "{error}");
}

#[test]
fn nobody_listens() {
    let mut table = Table::new(2, Limits::default());
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string();
    let error = refused(&mut table, |joining| joining.address = closed);
    assert!(matches!(error, JoinError::Unreachable { .. }), "{error}");
    for address in ["no.such.host.invalid:1", "127.0.0.1", "127.0.0.1:notaport"] {
        let error = refused(&mut table, |joining| joining.address = address.into());
        assert!(matches!(error, JoinError::NoSuchName { .. }), "{error}");
    }
}

#[test]
fn other_programs_listen() {
    let mut table = Table::new(2, Limits::default());
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = silent.local_addr().unwrap().to_string();
    let patience = Duration::from_secs(1);
    let error = refused(&mut table, |joining| {
        (joining.address, joining.patience) = (address.clone(), patience);
    });
    assert!(error.to_string().ends_with("to show its key"), "{error}");
    let web = std::thread::spawn(move || {
        // The first one belongs to the previous attempt.
        let connections: Vec<_> = (0..2).map(|_| silent.accept().unwrap().0).collect();
        (&connections[1]).write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").unwrap();
        connections
    });
    let error = refused(&mut table, |joining| joining.address = address);
    assert!(matches!(error, JoinError::NotPleach { .. }), "{error}");
    web.join().unwrap();
    // A root that never answers a join request.
    let patience = Duration::from_secs(3);
    let thread = table.joins(JoinOptions { patience, ..table.joining() });
    let error = thread.join().unwrap().unwrap_err();
    assert!(error.to_string().ends_with("to answer"), "{error}");
}
