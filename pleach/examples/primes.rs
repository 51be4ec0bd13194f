//! A loop of unequal units in 20 lines: the number of primes below each power of ten.

fn main() -> Result<(), pleach::RunError> {
    let is_prime =
        |n: usize| n > 1 && (2..).take_while(|d| d * d <= n).all(|d| !n.is_multiple_of(d));
    let most: u32 = std::env::args().nth(1).and_then(|word| word.parse().ok()).unwrap_or(6);
    let n = 10usize.pow(most.min(9));
    // Larger numbers take longer to test, so threads take fewer and fewer of them at a time.
    let prime = pleach::map(n, is_prime)?;
    for power in 1..=most.min(9) {
        let below = 10usize.pow(power);
        let count = prime[..below].iter().filter(|&&prime| prime).count();
        println!("{count:>8} primes below {below}");
    }
    Ok(())
}
