//! A loop that all processes of a launcher share: `mpiexec -n 4 target/release/examples/ranks`.

/// The steps of the Collatz sequence until it reaches 1.
fn steps(mut number: u64) -> u32 {
    let mut steps = 0;
    while number > 1 {
        number = if number.is_multiple_of(2) { number / 2 } else { 3 * number + 1 };
        steps += 1;
    }
    steps
}

fn main() -> Result<(), pleach::RunError> {
    let processes = pleach::Processes::launched()?;
    let (all, report) =
        pleach::Each::new(3_000_000).map_across(&processes, |unit| steps(unit as u64))?;
    let longest = all.iter().flatten().enumerate().max_by_key(|&(_, steps)| steps);
    if let Some((number, steps)) = longest.filter(|_| processes.is_first()) {
        println!("{number}: {steps} steps, by {} workers", report.parts.len());
    }
    Ok(())
}
