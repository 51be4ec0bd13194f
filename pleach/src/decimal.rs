//! [`Decimal`]: an exact decimal number; [`written`]: a whole number as a multiple of a power of ten.

pub(crate) use pleach_core::search::real::written;

/// The most decimals of a number.
pub(crate) const MOST_DECIMALS: u32 = 9;
/// The most decimals of a product of two numbers.
pub(crate) const MOST_OF_PRODUCT: u32 = 2 * MOST_DECIMALS;
/// Numbers are below this.
const BELOW: u64 = 10_000_000_000;

/// A decimal number that is not negative.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Decimal {
    /// The number as a multiple of 10 to the power of minus `decimals`.
    digits: u64,
    /// How many decimals it needs.
    pub decimals: u32,
}

impl Decimal {
    /// Reads digits, and decimals after a mark. `None` for anything else, and for numbers that are too long.
    pub fn parse(word: &str, mark: char) -> Option<Self> {
        let number = Self::parse_product(word, mark)?;
        let whole = number.digits / 10u64.pow(number.decimals);
        (number.decimals <= MOST_DECIMALS && whole < BELOW).then_some(number)
    }

    /// Reads what may be a product of two numbers, or a sum of such products.
    pub fn parse_product(word: &str, mark: char) -> Option<Self> {
        let (whole, part) = word.split_once(mark).unwrap_or((word, "0"));
        let are_digits = |word: &str| word.bytes().all(|byte| byte.is_ascii_digit());
        let empty = whole.is_empty() || part.is_empty();
        if empty || !are_digits(whole) || !are_digits(part) {
            return None;
        }
        let (whole, part) = (whole.trim_start_matches('0'), part.trim_end_matches('0'));
        let decimals = u32::try_from(part.len()).ok().filter(|&n| n <= MOST_OF_PRODUCT)?;
        Some(Self { digits: format!("0{whole}{part}").parse().ok()?, decimals })
    }

    /// The number as a multiple of 10 to the power of minus `decimals`, of which it needs no more.
    pub fn scaled(self, decimals: u32) -> Option<u64> {
        self.digits.checked_mul(10u64.pow(decimals.checked_sub(self.decimals)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_exact() {
        let scaled = |word, decimals| Decimal::parse(word, '.').and_then(|it| it.scaled(decimals));
        assert_eq!(scaled("12", 0), Some(12));
        assert_eq!(scaled("12.50", 1), Some(125));
        assert_eq!(scaled("0.1", 9), Some(100_000_000));
        assert_eq!(scaled("007.000", 0), Some(7));
        assert_eq!(scaled("0", 3), Some(0));
        assert_eq!(scaled("0.12", 1), None, "it needs two decimals");
        let product = |word, decimals| Decimal::parse_product(word, '.')?.scaled(decimals);
        assert_eq!(product("0.123456789012345678", 18), Some(123_456_789_012_345_678));
        assert_eq!(product("125000000000.5", 1), Some(1_250_000_000_005));
        assert_eq!(scaled("9999999999.999999999", 9), Some(9_999_999_999_999_999_999));
        assert_eq!(Decimal::parse("3,25", ','), Decimal::parse("3.25", '.'));
        for bad in [
            "",
            ".",
            "1.",
            ".5",
            "-1",
            "+1",
            "1e3",
            "1.2.3",
            "1,5",
            "0x1",
            " 1",
            "１",
            "nan",
            "1_0",
            "10000000000.1",
            "99999999999999999999999",
            "0.0000000001",
        ] {
            assert_eq!(Decimal::parse(bad, '.'), None, "{bad}");
        }
    }

    #[test]
    fn multiples_of_powers_of_ten_are_written() {
        for (value, decimals, said) in [
            (125, 0, "125"),
            (125, 1, "12.5"),
            (120, 1, "12.0"),
            (5, 3, "0.005"),
            (0, 2, "0.00"),
            (-5, 1, "-0.5"),
            (i64::MIN, 0, "-9223372036854775808"),
        ] {
            assert_eq!(written(value, decimals), said);
        }
    }
}
