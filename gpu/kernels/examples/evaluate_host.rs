//! Measures what the host does for each parent in evaluate mode: `evaluate_host [INSTANCE]`.
//!
//! The bounds come from the emulated device, whose time is not counted.

use pleach_core::search::evaluate::Parents;
use pleach_core::search::problem::Problem;
use pleach_kernels::bounding::Bounding;
use pleach_kernels::emulated::bound;
use pleach_problems::flowshop::Flowshop;
use pleach_problems::flowshop::named::{best_known, named};
use pleach_problems::simd::Level;
use std::time::{Duration, Instant};

const PARENTS: usize = 1024;
const BATCHES: u64 = 300;

fn main() {
    let name = std::env::args().nth(1).unwrap_or_else(|| "ta021".into());
    let (Some(instance), Some((best, _))) = (named(&name), best_known(&name)) else {
        eprintln!("'{name}': expected a built-in instance");
        std::process::exit(2);
    };
    let mut flowshop = Flowshop::new(instance, Level::best());
    flowshop.reference = best;
    let mut host = match flowshop.evaluation() {
        Ok(host) => host,
        Err(why) => {
            eprintln!("'{name}': no kernel bounds with {why}");
            std::process::exit(2);
        }
    };
    host.add_work(&Problem::root(&flowshop).bytes).expect("the root is canonical");
    let layout = host.layout();
    let two = |words: &[u32]| u64::from(words[0]) | u64::from(*words.get(1).unwrap_or(&0)) << 32;
    let tables: Vec<u64> = layout.tables.chunks(2).map(two).collect();
    let (mut sending, mut branching) = (Duration::ZERO, Duration::ZERO);
    let (mut parents, mut children) = (0, 0);
    let mut batch = Parents::default();
    for seed in 0..BATCHES {
        let start = Instant::now();
        let (number, _) = host.send(PARENTS, best, &mut batch);
        sending += start.elapsed();
        if batch.is_empty() {
            break;
        }
        let mut bounds = vec![0; batch.children() as usize];
        let record = Bounding {
            starts: batch.starts.as_ptr() as u64,
            parents: batch.words.as_ptr() as u64,
            bounds: bounds.as_mut_ptr() as u64,
            tables: tables.as_ptr() as u64,
            count: batch.len() as u32,
            children: batch.children(),
            sizes: layout.constants(),
        };
        // SAFETY: the arrays are those of the record, and outlive the launch.
        unsafe { bound(layout.kernel, &record, seed) }.expect("the kernel runs");
        let start = Instant::now();
        host.receive(number, &bounds, best);
        branching += start.elapsed();
        parents += batch.len();
        children += bounds.len();
    }
    let each = |time: Duration| time.as_nanos() as f64 / parents as f64;
    println!(
        "{name}: {parents} parents with {:.1} children each: {:.0} ns to send, {:.0} ns to branch",
        children as f64 / parents as f64,
        each(sending),
        each(branching)
    );
}
