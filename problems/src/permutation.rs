//! Checks solutions that are permutations of 1 to n.

/// The order given by a solution of `n` things, counted from 0.
///
/// # Errors
/// If a thing is missing, unknown or repeated.
pub(crate) fn permutation(solution: &[i64], n: usize, thing: &str) -> Result<Vec<u16>, String> {
    let mut seen = vec![false; n];
    for &number in solution {
        let slot = usize::try_from(number).ok().and_then(|at| seen.get_mut(at.checked_sub(1)?));
        match slot {
            None => return Err(format!("{thing} {number}, expected 1 to {n}")),
            Some(seen) if *seen => return Err(format!("{thing} {number} appears twice")),
            Some(seen) => *seen = true,
        }
    }
    match seen.iter().position(|seen| !seen) {
        Some(missing) => Err(format!("{thing} {} is missing", missing + 1)),
        None => Ok(solution.iter().map(|&number| (number - 1) as u16).collect()),
    }
}
