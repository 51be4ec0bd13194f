//! Measures the network between two processes: `mpiexec -n 2 ping [LIBRARY]`.
//!
//! One way is half a round trip. Both sides poll, and rest as the network says.

use pleach_net::mpi::{self, Choice};
use pleach_net::{Arrival, Network};
use std::time::Instant;

/// Round trips, of which the first tenth does not count.
const ROUNDS: usize = 20_000;
const LONG: usize = 8 << 20;
const LONGS: usize = 30;

type Link = Box<dyn Network>;

fn receive(network: &mut Link) -> Arrival {
    loop {
        if let Some(arrival) = network.poll().unwrap_or_else(|error| panic!("{error}")) {
            return arrival;
        }
        if let Some(rest) = network.rest().filter(|rest| !rest.is_zero()) {
            std::thread::sleep(rest);
        }
    }
}

/// Prints the middle and the worst hundredth of one way.
fn round_trips(network: &mut Link, length: usize) {
    let mut times = Vec::with_capacity(ROUNDS);
    for _ in 0..ROUNDS {
        let start = Instant::now();
        if network.me() == 0 {
            network.send(1, vec![1; length]);
        }
        let Arrival::Letter { bytes, .. } = receive(network) else { panic!("no letter") };
        if network.me() == 1 {
            network.send(0, bytes);
        }
        times.push(start.elapsed() / 2);
    }
    times.drain(..ROUNDS / 10);
    times.sort_unstable();
    if network.me() == 0 {
        let micros = |part: usize| times[times.len() * part / 100].as_secs_f64() * 1e6;
        println!(
            "one way, {length:5} B       p50 {:7.2} µs   p99 {:7.2} µs",
            micros(50),
            micros(99)
        );
    }
}

/// Prints how many bytes a second go one way in long letters.
fn stream(network: &mut Link) {
    let start = Instant::now();
    if network.me() == 0 {
        let letter = vec![1; LONG];
        (0..LONGS).for_each(|_| network.send(1, letter.clone()));
        receive(network);
        let rate = (LONG * LONGS) as f64 / start.elapsed().as_secs_f64();
        println!("letters of 8 MiB        {:.2} GB/s", rate / 1e9);
    } else {
        (0..LONGS).for_each(|_| drop(receive(network)));
        network.send(0, Vec::new());
    }
}

fn main() {
    let choice = std::env::args().nth(1).unwrap_or("auto".into());
    let choice: Choice = choice.parse().unwrap_or_else(|error| panic!("{error}"));
    let network = mpi::open(&choice, LONG).unwrap_or_else(|error| panic!("{error}"));
    let mut network = network.expect("two processes: mpiexec -n 2 ping");
    if network.me() == 0 {
        println!("{}", network.name());
    }
    if network.me() < 2 {
        round_trips(&mut network, 64);
        round_trips(&mut network, 8 << 10);
        stream(&mut network);
    }
    network.finish();
    while receive(&mut network) != Arrival::End {}
}
