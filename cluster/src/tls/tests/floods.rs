//! Floods of unauthenticated peers: the run continues, and others can join.

use super::super::outbox::FrameOutbox;
use super::super::secure::Secure;
use super::super::wire::Wire;
use super::table::{LONG, Table};
use crate::tls::{Key, Limits, Star};
use crate::{Arrival, Network};
use std::io::Write;
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The median round-trip time of a message.
fn round_trip(table: &mut Table) -> Duration {
    let mut times = Vec::new();
    let start = Instant::now();
    while start.elapsed() < Duration::from_millis(400) {
        let start = Instant::now();
        table.star.send(1, vec![1; 64]);
        assert!(matches!(table.next(), Arrival::Message { .. }));
        times.push(start.elapsed());
    }
    times.sort_unstable();
    times[times.len() / 2]
}

/// Floods an address with connections of this kind until `stop` is set.
fn flood(kind: &str, address: SocketAddr, stop: &AtomicBool, count: &AtomicU64) {
    let secure = Secure::new(&Key::random().unwrap()).unwrap();
    let mut open = Vec::new();
    while !stop.load(Ordering::Relaxed) {
        let Ok(mut socket) = TcpStream::connect_timeout(&address, Duration::from_millis(100))
        else {
            continue;
        };
        match kind {
            "plain" => drop(socket.write_all(b"GET / HTTP/1.1\r\n\r\n")),
            "hello" => {
                let _ = socket.set_nonblocking(true);
                let socket = mio::net::TcpStream::from_std(socket.try_clone().unwrap());
                let tls = secure.client().unwrap();
                let mut wire = Wire::new(socket, tls.into(), Instant::now());
                let _ = wire.write(&mut FrameOutbox::default(), Instant::now());
            }
            _ => {}
        }
        count.fetch_add(1, Ordering::Relaxed);
        open.push(socket);
        if open.len() == 300 {
            open.clear();
        }
        // The test must not take all cores itself.
        std::thread::sleep(Duration::from_micros(300));
    }
}

#[test]
fn a_flood_of_unauthenticated_peers_slows_nobody() {
    let mut table = Table::new(3, Limits::default());
    let echo = |mut star: Star| {
        let start = Instant::now();
        while start.elapsed() < 3 * LONG {
            match super::table::next(&mut star) {
                Arrival::Message { from, bytes } => star.send(from, bytes),
                Arrival::Lost(0) => return,
                _ => {}
            }
        }
    };
    let threads = table.start_sites(vec![echo]);
    let calm = round_trip(&mut table);
    for kind in ["plain", "hello", "silent"] {
        let stop = Arc::new(AtomicBool::new(false));
        let count = Arc::new(AtomicU64::new(0));
        let (address, halt, counter) = (table.address(), stop.clone(), count.clone());
        let flooder = std::thread::spawn(move || flood(kind, address, &halt, &counter));
        let busy = round_trip(&mut table);
        // Others can still join.
        let join = table.joins(table.joining());
        let start = Instant::now();
        table.until_joined(2);
        let joined = start.elapsed();
        join.join().unwrap().unwrap();
        assert_eq!(table.next(), Arrival::Lost(2));
        stop.store(true, Ordering::Relaxed);
        flooder.join().unwrap();
        let unauthenticated = count.load(Ordering::Relaxed);
        println!(
            "{kind}: {unauthenticated} unauthenticated peers, {calm:?} became {busy:?}, joined in {joined:?}"
        );
        assert!(unauthenticated > 0, "{kind}: no peer connected");
    }
    drop(table);
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}
